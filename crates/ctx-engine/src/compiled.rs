//! A compiled agent: assembles contexts.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_anchors::Preset;
use ctx_macros::{Dialect, Registry};
use ctx_pipeline::{Origin, Pipeline, ProcessorSetting, SettingsLayer, Surroundings};
use ctx_tokens::{MAX_TOKENS, ModelFacts, ModelTable, read_tokens};
use ctx_types::{
    Agent, Content, Diagnostic, Fix, LoadedWorldbook, Message, Placement, PresetMessage, Session, TextMemory,
    TurnInput, UserProfile, excerpt,
};
use serde_json::Value;

use crate::assembly::{AssembleError, Assembly, Ports};
use crate::codes;
use crate::context::Context;
use crate::engine::{Compile, Engine};
use crate::limiting;
use crate::prepared_input::InputMacros;
use crate::switches::Switches;

/// An agent that was compiled once and assembles any number of contexts. `Send + Sync`; cheap to share
/// behind an `Arc`.
#[derive(Debug)]
pub struct CompiledAgent {
    agent: Agent,
    profile: Option<UserProfile>,
    worldbooks: Vec<LoadedWorldbook>,
    pipeline: Pipeline,
    models: Arc<ModelTable>,
    context_tokens: Option<i64>,
    diagnostics: Vec<Diagnostic>,
    /// The positions of entries whose place is counted from the end of the conversation.
    moving: BTreeSet<usize>,
    /// What expands the user's own text.
    input_macros: InputMacros,
    /// What formatters and plug-ins wrote, and what else is counted: mostly the same each turn.
    memory: TextMemory,
}

impl CompiledAgent {
    pub(crate) fn new(engine: &Engine, agent: &Agent, with: &Compile) -> Self {
        let mut diagnostics = Vec::new();
        let layers = layers(agent, with, &mut diagnostics);
        let context_tokens = context_tokens(agent, with, &mut diagnostics);
        let around = Surroundings { profile: with.profile.as_ref(), worldbooks: &with.worldbooks };
        let pipeline = Pipeline::compile_for(&engine.processors(), agent, around, &layers);
        let pipeline = match with.time_limit {
            Some(limit) => pipeline.with_limit(limit),
            None => pipeline,
        };
        diagnostics.extend_from_slice(pipeline.diagnostics());
        diagnostics.extend(limiting::too_early(&pipeline));
        if !pipeline.order().any(|id| id == "injection-assembler") {
            // The preset is checked also where it is not used.
            diagnostics.extend(Preset::compile(agent, &engine.anchors).1);
        }
        let diagnostics = diagnostics.into_iter().map(in_document).collect();
        Self {
            agent: agent.clone(),
            profile: with.profile.clone(),
            worldbooks: with.worldbooks.clone(),
            pipeline,
            models: engine.models.clone(),
            context_tokens,
            diagnostics,
            moving: moving(agent),
            input_macros: InputMacros::new(engine, agent),
            memory: TextMemory::default(),
        }
    }

    /// Returns everything that is wrong with the agent and its settings, whatever the conversation.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the person who chats.
    pub fn profile(&self) -> Option<&UserProfile> {
        self.profile.as_ref()
    }

    /// Returns the worldbooks that hold whatever the conversation: global ones, and those that the agent or the person
    /// who chats asks for.
    pub(crate) fn worldbooks(&self) -> impl Iterator<Item = &LoadedWorldbook> {
        let profile = self.profile.iter().flat_map(|profile| &profile.worldbook_ids);
        let asked: Vec<&str> = self.agent.worldbook_ids.iter().chain(profile).map(|id| &**id).collect();
        let is_asked =
            move |book: &LoadedWorldbook| asked.contains(&&*book.id) || asked.contains(&&*book.name);
        self.worldbooks.iter().filter(move |book| book.is_global || is_asked(book))
    }

    /// Returns the positions of the preset's entries whose place is counted from the end of the conversation.
    pub(crate) const fn moving(&self) -> &BTreeSet<usize> {
        &self.moving
    }

    /// Returns the macros that its texts may use, and how they are read.
    pub(crate) const fn macros(&self) -> (&Registry, Dialect) {
        (&self.input_macros.registry, self.input_macros.dialect)
    }

    pub(crate) const fn input_macros(&self) -> &InputMacros {
        &self.input_macros
    }

    /// Shares the texts that were written for a context with those of earlier turns, which are counted already.
    pub(crate) fn share_texts(&self, messages: &mut [Message]) {
        for message in messages.iter_mut().filter(|message| !message.written.is_empty()) {
            let Content::Text(text) = &message.content else { continue };
            let known = self.memory.share(text.clone());
            if !known.is_shared_with(text) {
                message.content = Content::Text(known);
            }
        }
    }

    /// Returns what is shared between turns; it changes no result.
    pub(crate) fn memory(&self) -> &TextMemory {
        &self.memory
    }

    /// Returns the pipeline, with the settings of every processor.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Assembles the context of one turn.
    ///
    /// Equal sessions and turns give equal contexts. The cost depends on what is sent, not on the length of the
    /// conversation; `docs/performance.md` says what still walks what.
    pub async fn assemble(&self, session: &Session, turn: &TurnInput) -> Result<Context, AssembleError> {
        self.assemble_with(session, turn, Ports::default()).await
    }

    /// Assembles the context of one turn with what the host lends.
    pub async fn assemble_with(
        &self,
        session: &Session,
        turn: &TurnInput,
        ports: Ports<'_>,
    ) -> Result<Context, AssembleError> {
        Assembly::new(self, session, turn, ports)?.run().await
    }

    /// Assembles the context of one turn for callers without a runtime; the thread waits.
    pub fn assemble_blocking(&self, session: &Session, turn: &TurnInput) -> Result<Context, AssembleError> {
        pollster::block_on(self.assemble(session, turn))
    }

    /// Returns what is known about the model of a turn: the turn's own, else the agent's.
    ///
    /// Without a name, or for one that is not known, that is what holds for any model, and a finding.
    pub fn model(&self, turn: &TurnInput) -> (ModelFacts, Option<Diagnostic>) {
        match self.model_name(turn) {
            Some(name) => self.models.lookup(name),
            None => (ModelFacts::unknown(""), None),
        }
    }

    /// Returns the name of the model of a turn: the turn's own, else the agent's.
    pub fn model_name<'a>(&'a self, turn: &'a TurnInput) -> Option<&'a str> {
        turn.model.as_deref().or(self.agent.model_id.as_deref()).filter(|name| !name.is_empty())
    }

    /// Returns how many tokens settings allow a context to have; 0 means the model's window.
    pub(crate) fn context_tokens(&self) -> Option<i64> {
        self.context_tokens
    }
}

fn moving(agent: &Agent) -> BTreeSet<usize> {
    let is_moving = |entry: &PresetMessage| match Placement::of(entry).0 {
        Placement::Depth { .. } => true,
        Placement::Index { at, .. } => at < 0,
        _ => false,
    };
    let entries = agent.preset_messages.iter().enumerate();
    entries.filter(|(_, entry)| is_moving(entry)).map(|(index, _)| index).collect()
}

/// Reads the layers of settings: user, model, agent, switches of this run.
fn layers(agent: &Agent, with: &Compile, diagnostics: &mut Vec<Diagnostic>) -> Vec<SettingsLayer> {
    let mut layers = Vec::new();
    for (origin, parameters) in stored(agent, with) {
        let (layer, found) = SettingsLayer::of_parameters(origin, parameters, &root(origin));
        diagnostics.extend(found);
        layers.push(layer);
    }
    layers.push(switch_layer(&with.switches));
    layers
}

/// The document that findings about [`Compile::user_parameters`] name; their pointers lead into that object.
pub const USER_SETTINGS: &str = "user settings";

/// The document that findings about [`Compile::model_parameters`] name; their pointers lead into that object.
pub const MODEL_SETTINGS: &str = "model settings";

/// The pointer at which the settings of a layer are read: one of its own, by which whatever is found in them
/// later, when layers are merged, is known again.
fn root(origin: Origin) -> String {
    match document(origin) {
        Some(document) => format!("/{document}"),
        None => "/parameters".to_owned(),
    }
}

/// Returns the document that holds the settings of a layer; none for the agent's, which stand in its file.
const fn document(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::User => Some(USER_SETTINGS),
        Origin::Model => Some(MODEL_SETTINGS),
        _ => None,
    }
}

/// Leads a finding below the [`root`] of a layer into the document of that layer.
fn in_document(mut diagnostic: Diagnostic) -> Diagnostic {
    for document in [Origin::User, Origin::Model].into_iter().filter_map(document) {
        let pointer = diagnostic.location.pointer.as_deref();
        let below = pointer.and_then(|pointer| pointer.strip_prefix('/')?.strip_prefix(document));
        if let Some(below) = below.filter(|below| below.is_empty() || below.starts_with('/')) {
            diagnostic.location.pointer = Some(below.to_owned());
            return diagnostic.in_document(document);
        }
    }
    diagnostic
}

/// Returns the parameters that exist, the ones that win last.
fn stored<'a>(agent: &'a Agent, with: &'a Compile) -> impl DoubleEndedIterator<Item = (Origin, &'a Value)> {
    let stored = [
        (Origin::User, with.user_parameters.as_ref()),
        (Origin::Model, with.model_parameters.as_ref()),
        (Origin::Agent, agent.parameters.as_ref()),
    ];
    stored.into_iter().filter_map(|(origin, parameters)| Some((origin, parameters?)))
}

/// Reads how many tokens AIO Hub's `contextManagement` allows: that of the highest layer that has one, whole.
///
/// 0 means the model's window. What is no number of tokens is reported in every layer, and allows nothing.
fn context_tokens(agent: &Agent, with: &Compile, diagnostics: &mut Vec<Diagnostic>) -> Option<i64> {
    let mut allowed = None;
    for (origin, parameters) in stored(agent, with) {
        let Some(management) = parameters.get("contextManagement").filter(|value| value.is_object()) else {
            continue;
        };
        let value = management.get("maxContextTokens").filter(|value| !value.is_null());
        let tokens = value.and_then(read_tokens);
        diagnostics.extend(value.filter(|_| tokens.is_none()).map(|value| bad_tokens(origin, value)));
        let is_on = management.get("enabled").and_then(Value::as_bool) == Some(true);
        allowed = tokens.filter(|_| is_on).map(i64::from);
    }
    allowed
}

fn bad_tokens(origin: Origin, value: &Value) -> Diagnostic {
    let shown = value.to_string();
    let message = format!(
        "expected a whole number from 0 to {MAX_TOKENS} as `maxContextTokens`, found `{}`",
        excerpt(&shown)
    );
    let unquoted = value.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
    let meant = unquoted.as_ref().and_then(read_tokens);
    let help = match meant {
        Some(number) => format!("write `{number}` without quotes; in quotes it is ignored"),
        None => "it is ignored; 0 means the model's window".to_owned(),
    };
    let mut wrong = Diagnostic::error(codes::CONTEXT_TOKENS, message).with_help(help);
    wrong.fix = meant.map(|number| Box::new(Fix::value(number)));
    wrong.at_pointer(format!("{}/contextManagement/maxContextTokens", root(origin)))
}

fn switch_layer(switches: &Switches) -> SettingsLayer {
    let setting = |id: &String, enabled| ProcessorSetting {
        id: id.as_str().into(),
        enabled: Some(enabled),
        ..ProcessorSetting::default()
    };
    // Of two entries with one id the later counts: switching off wins.
    let on = switches.enable.iter().map(|id| setting(id, true));
    let off = switches.disable.iter().map(|id| setting(id, false));
    SettingsLayer { origin: Origin::CommandLine, settings: on.chain(off).collect() }
}
