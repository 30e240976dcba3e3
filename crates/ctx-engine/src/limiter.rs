use ctx_pipeline::internal::{EffectiveSetting, Pipeline};
use ctx_processors::Cause;
use ctx_processors::internal::{WindowSize, compress_window, ids};
use ctx_types::{Diagnostic, phrase};

use crate::codes;

/// Default priority of request compression.
const RECOUNT_FROM: i64 = 390;

/// A compressor or limiter with a lower priority moves the start of a rerun.
pub(crate) fn recount_from(pipeline: &Pipeline) -> i64 {
    let limiter = setting(pipeline, ids::TOKEN_LIMITER).filter(|_| unlimited(pipeline).is_none());
    let stages = [limiter, compressor(pipeline)].into_iter().flatten();
    stages.map(|stage| stage.priority.value).fold(RECOUNT_FROM, i64::min)
}

/// `None` loads everything. With compression the size is final.
pub(crate) fn first_window(pipeline: &Pipeline, available: Option<u32>) -> Option<WindowSize> {
    if let Some(compressor) = compressor(pipeline) {
        let tokens = compress_window(&compressor.config, available)?;
        return Some(WindowSize { tokens, is_final: true });
    }
    let available = available.filter(|_| unlimited(pipeline).is_none())?;
    Some(WindowSize { tokens: available.into(), is_final: false })
}

fn compressor(pipeline: &Pipeline) -> Option<&EffectiveSetting> {
    let place = |wanted| pipeline.order().position(|id| id == wanted);
    let is_after_loader = place(ids::REQUEST_COMPRESSOR)? > place(ids::SESSION_LOADER)?;
    setting(pipeline, ids::REQUEST_COMPRESSOR).filter(|_| is_after_loader)
}

pub(crate) fn unlimited(pipeline: &Pipeline) -> Option<Cause> {
    let limiter = setting(pipeline, ids::TOKEN_LIMITER)?;
    if !limiter.enabled.value {
        return Some(Cause::SwitchedOff { by: limiter.enabled.origin });
    }
    let place = |wanted| pipeline.order().position(|id| id == wanted);
    let (limiter_place, loader_place) = (place(ids::TOKEN_LIMITER)?, place(ids::SESSION_LOADER)?);
    let loader = setting(pipeline, ids::SESSION_LOADER).filter(|_| limiter_place < loader_place)?;
    Some(Cause::TooEarly { limiter: limiter.priority.value, loader: loader.priority.value })
}

pub(crate) fn too_early(pipeline: &Pipeline) -> Option<Diagnostic> {
    let Some(Cause::TooEarly { limiter, loader }) = unlimited(pipeline) else { return None };
    let message = phrase!(
        "`{limiter}` (at {priority}) has no effect: it runs before `{loader}` (at {later}) loads messages",
        limiter = ids::TOKEN_LIMITER,
        priority = limiter,
        loader = ids::SESSION_LOADER,
        later = loader
    );
    let help = phrase!("set its priority above that of `injection-assembler`");
    Some(Diagnostic::warning(codes::LIMITER_TOO_EARLY, message).with_help(help))
}

/// Returns the priority from which on attachments are loaded.
pub(crate) fn attachments_from(pipeline: &Pipeline) -> i64 {
    setting(pipeline, ids::ASSET_RESOLVER).map_or(i64::MAX, |resolver| resolver.priority.value)
}

fn setting<'p>(pipeline: &'p Pipeline, id: &str) -> Option<&'p EffectiveSetting> {
    pipeline.settings().iter().find(|setting| &*setting.id == id)
}
