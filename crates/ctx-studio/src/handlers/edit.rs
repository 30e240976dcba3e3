//! Files: shown, edited, saved.

use ctx_types::phrase;

use crate::api_files::{Edits, FileView, Fix, Resolve, Save, Step};
use crate::call::{Call, Refusal, Reply};
use crate::desk::{By, DraftStep};
use crate::guard::only;
use crate::server::Server;

pub(crate) fn view(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    reply(server.desk.view(call.part("f"), call.language))
}

pub(crate) fn findings(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&server.desk.findings(call.part("f"), call.language)?)
}

pub(crate) fn edits(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&server.desk.edit(call.part("f"), call.json::<Edits>()?, by(call))?)
}

pub(crate) fn undo(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    step(server, call, DraftStep::Undo)
}

pub(crate) fn redo(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    step(server, call, DraftStep::Redo)
}

pub(crate) fn discard(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    step(server, call, DraftStep::Discard)
}

pub(crate) fn fix(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    reply(server.desk.fix(call.part("f"), &call.json::<Fix>()?, by(call)))
}

pub(crate) fn resolve(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    reply(server.desk.resolve(call.part("f"), &call.json::<Resolve>()?, by(call)))
}

/// Saves a draft. `If-Match` names the version that the page saw.
pub(crate) fn save(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let Save { overwrite } = call.json()?;
    let tag = only(&call.headers, &axum::http::header::IF_MATCH).ok().flatten();
    let tag = tag.and_then(|tag| tag.strip_prefix('"')?.strip_suffix('"'));
    let tag = tag.ok_or_else(|| {
        Refusal::malformed(phrase!("`If-Match` must contain the quoted version of the file"))
    })?;
    // What is kept is never older than the file: it is written before, and again before the page hears of it.
    server.keep();
    let saved = server.desk.save(call.part("f"), tag, overwrite, by(call));
    if saved.is_ok() {
        server.keep();
    }
    reply(saved)
}

fn step(server: &Server, call: &Call, step: DraftStep) -> Result<Reply, Refusal> {
    let Step { base } = call.json()?;
    reply(server.desk.step(call.part("f"), (step, base), by(call)))
}

fn by(call: &Call) -> By<'_> {
    By { window: call.window.as_deref(), language: call.language }
}

fn reply(view: Result<FileView, Refusal>) -> Result<Reply, Refusal> {
    let view = view?;
    Ok(Reply::json(&view)?.with_tag(&view.hash))
}
