use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use ctx_anchors::Preset;
use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::{CompileContext, Pipeline, ProcessorSetting, SettingsLayer};
use ctx_processors::internal::{AgentMacros, ids};
use ctx_tokens::{ModelFacts, ModelTable};
use ctx_types::internal::TextCache;
use ctx_types::session::Session;
use ctx_types::{
    Agent, Content, Diagnostic, EncodingId, Message, Placement, PresetMessage, TurnInput, UserProfile,
};
use serde_json::Value;

use crate::append_only::preset_fingerprint;
use crate::assembly::{AssembleError, Assembly, Ports};
use crate::context::Context;
use crate::context_limit::ContextLimit;
use crate::engine::{Compile, Engine};
use crate::limiter;
use crate::recall::LONG;
use crate::switches::Switches;

/// A compiled agent, which assembles any number of contexts. `Send + Sync`; share it in an `Arc`.
#[derive(Debug)]
pub struct CompiledAgent {
    agent: Agent,
    profile: Option<UserProfile>,
    pipeline: Pipeline,
    models: Arc<ModelTable>,
    pub(crate) limit: ContextLimit,
    diagnostics: Vec<Diagnostic>,
    /// Indexes of preset entries whose position is counted from the end of the conversation.
    pub(crate) moving: BTreeSet<usize>,
    pub(crate) macros: AgentMacros,
    has_worldbooks: bool,
    /// Computed by the first append-only turn.
    preset_fingerprint: OnceLock<Arc<str>>,
    /// Texts of formatters, plug-ins, and macros, mostly equal each turn.
    pub(crate) memory: Arc<TextCache>,
}

impl CompiledAgent {
    pub(crate) fn new(engine: &Engine, agent: &Agent, with: &Compile) -> Self {
        let shared = with.texts.as_ref().map(|texts| share_preset_texts(agent, texts));
        let agent = shared.as_ref().unwrap_or(agent);
        let mut diagnostics = Vec::new();
        let layers = layers(agent, with, &mut diagnostics);
        let limit = ContextLimit::read(agent, with, &mut diagnostics);
        let around = CompileContext { profile: with.profile.as_ref(), worldbooks: &with.worldbooks };
        let pipeline = Pipeline::compile(&engine.processors(), agent, around, &layers);
        let pipeline = match with.time_limit {
            Some(limit) => pipeline.with_limit(limit),
            None => pipeline,
        };
        diagnostics.extend_from_slice(pipeline.diagnostics());
        diagnostics.extend(limiter::too_early(&pipeline));
        if !pipeline.order().any(|id| id == ids::INJECTION_ASSEMBLER) {
            // Check the preset even if no processor uses it.
            diagnostics.extend(Preset::compile(agent, &engine.anchors).1);
        }
        let diagnostics = diagnostics.into_iter().map(in_document).collect();
        Self {
            agent: agent.clone(),
            profile: with.profile.clone(),
            pipeline,
            models: engine.models.clone(),
            limit,
            diagnostics,
            moving: moving(agent),
            // Diagnostics about macros are reported with the preset.
            macros: AgentMacros::new(agent, &engine.macro_parts(), &mut |_| ()),
            has_worldbooks: !with.worldbooks.is_empty(),
            preset_fingerprint: OnceLock::new(),
            memory: with.texts.clone().unwrap_or_default(),
        }
    }

    /// Returns the problems of the agent and its settings, independent of any conversation.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the fingerprint of the text before the conversation.
    pub(crate) fn preset_fingerprint(&self) -> Arc<str> {
        let compute = || preset_fingerprint(&self.agent, &self.moving, self.profile.as_ref());
        self.preset_fingerprint.get_or_init(compute).clone()
    }

    /// Returns the user profile.
    pub fn profile(&self) -> Option<&UserProfile> {
        self.profile.as_ref()
    }

    /// Returns whether requests can have text that later requests lack: entries at a depth, worldbooks, recalled lines.
    pub(crate) fn adds_changing_text(&self) -> bool {
        let is_enabled = |id: &str| self.pipeline.order().any(|enabled| enabled == id);
        !self.moving.is_empty() || self.has_worldbooks || is_enabled(ids::RECALL)
    }

    /// Reuses equal texts of earlier turns, whose tokens are counted.
    pub(crate) fn share_texts(&self, messages: &mut [Message], encoding: EncodingId) {
        for message in messages.iter_mut().filter(|message| !message.written.is_empty()) {
            let Content::Text(text) = &message.content else { continue };
            // Lines of long texts have cached counts.
            if text.len() >= LONG && text.known_tokens(encoding).is_some() {
                continue;
            }
            let known = self.memory.share(text.clone());
            if !known.is_shared_with(text) {
                message.content = Content::Text(known);
            }
        }
    }

    /// Returns the pipeline with the settings of every processor.
    #[doc(hidden)]
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Assembles the context of one turn.
    ///
    /// Equal sessions and turns give equal contexts. The cost depends on the size of the context, not of the
    /// conversation; see `docs/performance.md`.
    pub async fn assemble(&self, session: &Session, turn: &TurnInput) -> Result<Context, AssembleError> {
        self.assemble_with(session, turn, Ports::default()).await
    }

    /// Assembles the context of one turn with services of the host.
    pub async fn assemble_with(
        &self,
        session: &Session,
        turn: &TurnInput,
        ports: Ports<'_>,
    ) -> Result<Context, AssembleError> {
        Assembly::new(self, session, turn, ports)?.run().await
    }

    /// Assembles the context of one turn, blocking the thread, for callers without an async runtime.
    pub fn assemble_blocking(&self, session: &Session, turn: &TurnInput) -> Result<Context, AssembleError> {
        pollster::block_on(self.assemble(session, turn))
    }

    /// Returns the facts about the model of a turn (see [`Self::model_name`]).
    ///
    /// An unknown name gives facts that fit any model, and a diagnostic.
    pub fn model(&self, turn: &TurnInput) -> (ModelFacts, Option<Diagnostic>) {
        match self.model_name(turn) {
            Some(name) => self.models.lookup(name),
            None => (ModelFacts::unknown(""), None),
        }
    }

    /// Returns the token limit of a turn's context, with the limit of the settings as fallback. 0 is the model's context
    /// window.
    pub fn context_tokens(&self, turn: &TurnInput) -> Option<i64> {
        self.limit.request(turn, 0).context_tokens
    }

    /// Returns the model name of a turn, with the agent's as fallback.
    pub fn model_name<'a>(&'a self, turn: &'a TurnInput) -> Option<&'a str> {
        turn.model.as_deref().or(self.agent.model_id.as_deref()).filter(|name| !name.is_empty())
    }
}

fn share_preset_texts(agent: &Agent, texts: &TextCache) -> Agent {
    let mut agent = agent.clone();
    for entry in &mut agent.preset_messages {
        if let Some(Content::Text(text)) = &mut entry.content {
            *text = texts.share(text.clone());
        }
    }
    agent
}

fn moving(agent: &Agent) -> BTreeSet<usize> {
    let is_moving = |entry: &PresetMessage| match Placement::read(entry).0 {
        Placement::Depth { .. } => true,
        Placement::Index { at, .. } => at < 0,
        _ => false,
    };
    let entries = agent.preset_messages.iter().enumerate();
    entries.filter(|(_, entry)| is_moving(entry)).map(|(index, _)| index).collect()
}

/// In increasing precedence: user, model, agent, switches of this run.
fn layers(agent: &Agent, with: &Compile, diagnostics: &mut Vec<Diagnostic>) -> Vec<SettingsLayer> {
    let mut layers = Vec::new();
    for (origin, parameters) in stored(agent, with) {
        let (layer, found) = SettingsLayer::from_parameters(origin, parameters, &root(origin));
        diagnostics.extend(found);
        layers.push(layer);
    }
    layers.push(switch_layer(&with.switches));
    layers
}

/// Document name in diagnostics about [`Compile::user_parameters`]; pointers are relative to that object.
pub const USER_SETTINGS: &str = "user settings";

/// Document name in diagnostics about [`Compile::model_parameters`]; pointers are relative to that object.
pub const MODEL_SETTINGS: &str = "model settings";

/// The root identifies the layer in diagnostics after layers are merged.
pub(crate) fn root(origin: SettingOrigin) -> String {
    match document(origin) {
        Some(document) => format!("/{document}"),
        None => "/parameters".to_owned(),
    }
}

/// The agent's settings are in the agent file.
const fn document(origin: SettingOrigin) -> Option<&'static str> {
    match origin {
        SettingOrigin::User => Some(USER_SETTINGS),
        SettingOrigin::Model => Some(MODEL_SETTINGS),
        _ => None,
    }
}

/// Replaces the [`root`] of a layer by its document name.
fn in_document(mut diagnostic: Diagnostic) -> Diagnostic {
    for document in [SettingOrigin::User, SettingOrigin::Model].into_iter().filter_map(document) {
        let pointer = diagnostic.location.pointer.as_deref();
        let below = pointer.and_then(|pointer| pointer.strip_prefix('/')?.strip_prefix(document));
        if let Some(below) = below.filter(|below| below.is_empty() || below.starts_with('/')) {
            diagnostic.location.pointer = Some(below.to_owned());
            return diagnostic.in_document(document);
        }
    }
    diagnostic
}

pub(crate) fn stored<'a>(
    agent: &'a Agent,
    with: &'a Compile,
) -> impl DoubleEndedIterator<Item = (SettingOrigin, &'a Value)> {
    let stored = [
        (SettingOrigin::User, with.user_parameters.as_ref()),
        (SettingOrigin::Model, with.model_parameters.as_ref()),
        (SettingOrigin::Agent, agent.parameters.as_ref()),
    ];
    stored.into_iter().filter_map(|(origin, parameters)| Some((origin, parameters?)))
}

fn switch_layer(switches: &Switches) -> SettingsLayer {
    let setting = |id: &String, enabled| ProcessorSetting {
        id: id.as_str().into(),
        enabled: Some(enabled),
        ..ProcessorSetting::default()
    };
    // If two settings have the same id, the later applies.
    let on = switches.enable.iter().map(|id| setting(id, true));
    let off = switches.disable.iter().map(|id| setting(id, false));
    SettingsLayer { origin: SettingOrigin::CommandLine, settings: on.chain(off).collect() }
}
