//! A compiled agent: assembles contexts.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_anchors::Preset;
use ctx_macros::{Dialect, Registry};
use ctx_pipeline::{Origin, Pipeline, ProcessorSetting, SettingsLayer, Surroundings};
use ctx_processors::InjectionAssembler;
use ctx_tokens::{ModelFacts, ModelTable};
use ctx_types::{
    Agent, Content, Diagnostic, EncodingId, LoadedWorldbook, Message, Placement, PresetMessage, Session,
    TextMemory, TurnInput, UserProfile,
};
use serde_json::Value;

use crate::assembly::{AssembleError, Assembly, Ports};
use crate::context::Context;
use crate::context_limit::ContextLimit;
use crate::engine::{Compile, Engine};
use crate::limiting;
use crate::memory::ConversationMemory;
use crate::prepared_input::InputMacros;
use crate::recall::LONG;
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
    limit: ContextLimit,
    diagnostics: Vec<Diagnostic>,
    /// The positions of entries whose place is counted from the end of the conversation.
    moving: BTreeSet<usize>,
    /// What expands the user's own text.
    input_macros: InputMacros,
    /// What formatters and plug-ins wrote, and what else is counted: mostly the same each turn.
    memory: Arc<TextMemory>,
    /// Tells it from all others, those of equal files too.
    identity: Arc<()>,
}

impl CompiledAgent {
    pub(crate) fn new(engine: &Engine, agent: &Agent, with: &Compile) -> Self {
        let shared = with.texts.as_ref().map(|texts| remembered(agent, texts));
        let agent = shared.as_ref().unwrap_or(agent);
        let mut diagnostics = Vec::new();
        let layers = layers(agent, with, &mut diagnostics);
        let limit = ContextLimit::read(agent, with, &mut diagnostics);
        let around = Surroundings { profile: with.profile.as_ref(), worldbooks: &with.worldbooks };
        let pipeline = Pipeline::compile_for(&engine.processors(), agent, around, &layers);
        let pipeline = match with.time_limit {
            Some(limit) => pipeline.with_limit(limit),
            None => pipeline,
        };
        diagnostics.extend_from_slice(pipeline.diagnostics());
        diagnostics.extend(limiting::too_early(&pipeline));
        if !pipeline.order().any(|id| id == InjectionAssembler::ID) {
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
            limit,
            diagnostics,
            moving: moving(agent),
            input_macros: InputMacros::new(engine, agent),
            memory: with.texts.clone().unwrap_or_default(),
            identity: Arc::default(),
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
        let asked: BTreeSet<&str> = self.agent.worldbook_ids.iter().chain(profile).map(|id| &**id).collect();
        let is_asked = move |book: &LoadedWorldbook| asked.contains(&*book.id) || asked.contains(&*book.name);
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

    /// Returns what tells it from all other agents, as long as somebody holds it.
    pub(crate) const fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    pub(crate) const fn input_macros(&self) -> &InputMacros {
        &self.input_macros
    }

    /// Shares the texts that were written for a context with those of earlier turns, which are counted already: of the
    /// same conversation, or of any.
    pub(crate) fn share_texts(
        &self,
        messages: &mut [Message],
        conversation: Option<&ConversationMemory>,
        encoding: EncodingId,
    ) {
        for message in messages.iter_mut().filter(|message| !message.written.is_empty()) {
            let Content::Text(text) = &message.content else { continue };
            let known = match conversation.and_then(|conversation| conversation.known_text(text)) {
                Some(known) => known,
                // The lines of a long one are remembered.
                None if text.len() >= LONG && text.known_tokens(encoding).is_some() => continue,
                None => self.memory.share(text.clone()),
            };
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

    /// Returns what settings say of the size of a context.
    pub(crate) const fn limit(&self) -> ContextLimit {
        self.limit
    }
}

/// Returns an agent with the texts of one that was compiled before, where they are equal.
fn remembered(agent: &Agent, texts: &TextMemory) -> Agent {
    let mut agent = agent.clone();
    for entry in &mut agent.preset_messages {
        if let Some(Content::Text(text)) = &mut entry.content {
            *text = texts.share(text.clone());
        }
    }
    agent
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
pub(crate) fn root(origin: Origin) -> String {
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
pub(crate) fn stored<'a>(
    agent: &'a Agent,
    with: &'a Compile,
) -> impl DoubleEndedIterator<Item = (Origin, &'a Value)> {
    let stored = [
        (Origin::User, with.user_parameters.as_ref()),
        (Origin::Model, with.model_parameters.as_ref()),
        (Origin::Agent, agent.parameters.as_ref()),
    ];
    stored.into_iter().filter_map(|(origin, parameters)| Some((origin, parameters?)))
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
