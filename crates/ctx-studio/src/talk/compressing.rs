//! Compression of conversations: what would be hidden, and hiding it behind a summary.

use ctx_compress::mask::{MaskConfig, MaskLevel, MaskSettings, MaskTotals, MaskTrigger};
use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::{ConfigValue, SourcedValue};
use ctx_project::chat::now;
use ctx_project::compress::{MaskChoice, MaskOutcome, MaskPlanned, Masking, SummaryWriter, settings_of};
use ctx_project::counting::TokenCounting;
use ctx_project::inputs::AgentFile;
use ctx_project::options::{SummarizerChoice, SummarizerOptions};
use ctx_project::session_file::Target;
use ctx_project::{Config, CountingOptions, Sources};
use ctx_types::{Diagnostic, phrase};

use super::open;
use crate::api::Finding;
use crate::api_talk::{
    CompressRange, CompressRequest, CompressionLayer, CompressionPlan, CompressionRequest,
    CompressionSettings, StepTaken,
};
use crate::call::{Call, Refusal};
use crate::codes;
use crate::handlers::about::said;
use crate::server::Server;

/// Tells what would be compressed.
pub(crate) fn plan(server: &Server, call: &Call) -> Result<CompressionPlan, Refusal> {
    let asked: CompressRequest = call.json()?;
    let session = server.talks.read(server, call.part("f"))?.file;
    let masking = masking(server, asked.agent.as_deref(), &asked.range)?;
    let config = &masking.settings.config;
    let totals = MaskTotals::of(&session.session, &masking.counting.counter);
    let trigger = MaskTrigger::check(config, totals);
    let (trigger, fires) = (call.language.say(&trigger.phrase()), trigger.fires());
    let ids = |ids: &[ctx_types::session::NodeId]| ids.iter().map(ToString::to_string).collect();
    Ok(match masking.plan(&session.session)? {
        MaskPlanned::Nothing(nothing) => CompressionPlan {
            told: call.language.say(&nothing.reason),
            is_needed: false,
            ids: Vec::new(),
            summaries: Vec::new(),
            tokens: 0,
            trigger,
            fires,
        },
        MaskPlanned::Plan(plan) => CompressionPlan {
            told: call.language.say(&plan.phrase()),
            is_needed: true,
            ids: ids(&plan.range.messages),
            summaries: ids(&plan.range.covered),
            tokens: plan.replaced_tokens,
            trigger,
            fires,
        },
    })
}

/// Hides messages behind a summary of their own sentences; one step.
pub(crate) fn compress(server: &Server, call: &Call) -> Result<StepTaken, Refusal> {
    let asked: CompressRequest = call.json()?;
    let id = call.part("f");
    let _writing = server.talks.begin();
    let file = open(server, id, &asked.base)?;
    let masking = masking(server, asked.agent.as_deref(), &asked.range)?;
    let by = SummarizerOptions::new(SummarizerChoice::Extractive);
    let writer = SummaryWriter::of(&by, &masking.settings.config, &Config::default())?;
    let masked = pollster::block_on(masking.mask_open(file, &writer, &mut Sources::default()))?;
    match masked.outcome {
        MaskOutcome::Summarized(new) => {
            let hash = super::told(server, id, masked.file);
            let told = call.language.say(&new.notice.phrase());
            Ok(StepTaken { hash, told, id: Some(new.id.to_string()), view: None })
        }
        MaskOutcome::Nothing(nothing) => Err(Refusal::unusable(nothing.reason)),
        MaskOutcome::Failed { failure, .. } => Err(Refusal::unusable(failure.phrase())),
        MaskOutcome::Stale { stale, .. } => Err(Refusal::unusable(stale.phrase())),
    }
}

/// Reads what is compressed, and by which settings.
pub(super) fn masking(
    server: &Server,
    agent: Option<&str>,
    range: &CompressRange,
) -> Result<Masking, Refusal> {
    let mut sources = server.sources();
    let config = server.config(&mut sources)?;
    let settings = settings_for(server, &config, agent)?;
    let counting = TokenCounting::of(&CountingOptions::default(), &config, &mut sources, &mut Vec::new())?;
    let choice = match range {
        CompressRange::All => MaskChoice::All,
        CompressRange::Auto => MaskChoice::Auto,
        CompressRange::RollUp => MaskChoice::RollUp,
        CompressRange::Between { from, to } => {
            MaskChoice::Between { from: Some(from.clone()), to: Some(to.clone()) }
        }
    };
    Ok(Masking { choice, settings, counting, target: Target::InPlace, at_millis: now() })
}

/// Merges the settings that hold for an agent as it is edited.
pub(super) fn settings_for(
    server: &Server,
    config: &Config,
    id: Option<&str>,
) -> Result<MaskSettings, Refusal> {
    let agent = agent(server, id)?.map(|file| file.agent).unwrap_or_default();
    Ok(settings_of(config.compression(), &agent))
}

/// Tells the settings that hold, and in which files they can be set.
pub(crate) fn settings(server: &Server, call: &Call) -> Result<CompressionSettings, Refusal> {
    let CompressionRequest { agent: id } = call.json()?;
    let config = server.config(&mut server.sources())?;
    let file = agent(server, id.as_deref())?;
    let place = file.as_ref().and_then(|file| {
        let found = Diagnostic::info(codes::UNUSABLE, phrase!("")).at_pointer("/parameters");
        file.lead_back(vec![found]).pop()?.location.pointer
    });
    let of_agent = id.zip(place).map(|(file, parameters)| CompressionLayer {
        origin: SettingOrigin::Agent,
        file,
        base: parameters + "/contextCompression",
    });
    let of_all = server.desk.id("ctx.toml").map(|file| CompressionLayer {
        origin: SettingOrigin::User,
        file,
        base: "/compression".to_owned(),
    });
    let settings = settings_of(config.compression(), &file.map(|file| file.agent).unwrap_or_default());
    let values = settings.values.into_iter().map(|held| ConfigValue {
        key: held.key.to_string(),
        setting: SourcedValue { value: held.value, origin: origin(held.level) },
    });
    Ok(CompressionSettings {
        fields: MaskConfig::fields().iter().map(|field| said(call.language, field)).collect(),
        values: values.collect(),
        layers: of_agent.into_iter().chain(of_all).collect(),
        findings: server.below(Finding::all(call.language, &settings.diagnostics)),
    })
}

const fn origin(level: MaskLevel) -> SettingOrigin {
    match level {
        MaskLevel::BuiltIn => SettingOrigin::BuiltIn,
        MaskLevel::Global => SettingOrigin::User,
        MaskLevel::Agent => SettingOrigin::Agent,
        MaskLevel::Call => SettingOrigin::CommandLine,
    }
}

/// Reads an agent as it is edited; none for none.
fn agent(server: &Server, id: Option<&str>) -> Result<Option<AgentFile>, Refusal> {
    let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(None) };
    let (path, bytes) = (server.desk.path(id)?, server.desk.bytes(id)?);
    let file = AgentFile::parse(&bytes, &path, &server.engine);
    file.map(Some).map_err(|_| Refusal::unusable(phrase!("`{path}` is not an agent", path)))
}
