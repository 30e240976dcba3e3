//! A compiled agent: assembles contexts.

use std::sync::Arc;

use ctx_anchors::Preset;
use ctx_pipeline::{Origin, Pipeline, ProcessorSetting, SettingsLayer};
use ctx_tokens::{ModelFacts, ModelTable};
use ctx_types::{Agent, Diagnostic, Session, TurnInput, UserProfile};
use serde_json::Value;

use crate::assembly::{AssembleError, Assembly, Ports};
use crate::context::Context;
use crate::engine::{Compile, Engine};
use crate::switches::Switches;

/// An agent that was compiled once and assembles any number of contexts. `Send + Sync`; cheap to share
/// behind an `Arc`.
#[derive(Debug)]
pub struct CompiledAgent {
    agent: Agent,
    profile: Option<UserProfile>,
    pipeline: Pipeline,
    models: Arc<ModelTable>,
    diagnostics: Vec<Diagnostic>,
}

impl CompiledAgent {
    pub(crate) fn new(engine: &Engine, agent: &Agent, with: &Compile) -> Self {
        let mut diagnostics = Vec::new();
        let layers = layers(agent, with, &mut diagnostics);
        let pipeline = Pipeline::compile(&engine.processors(), agent, &layers);
        diagnostics.extend_from_slice(pipeline.diagnostics());
        if !pipeline.order().any(|id| id == "injection-assembler") {
            // The preset is checked also where it is not used.
            diagnostics.extend(Preset::compile(agent, &engine.anchors).1);
        }
        let (agent, profile) = (agent.clone(), with.profile.clone());
        Self { agent, profile, pipeline, models: engine.models.clone(), diagnostics }
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

    /// Returns the pipeline, with the settings of every processor.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Assembles the context of one turn.
    ///
    /// Equal sessions and turns give equal contexts. The cost depends on what is sent, not on the length of the
    /// conversation; see the guide on performance for what still walks what.
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
    pub(crate) fn model(&self, turn: &TurnInput) -> (ModelFacts, Option<Diagnostic>) {
        match self.model_name(turn) {
            Some(name) => self.models.lookup(name),
            None => (ModelFacts::unknown(""), None),
        }
    }

    /// Returns the name of the model of a turn: the turn's own, else the agent's.
    pub fn model_name<'a>(&'a self, turn: &'a TurnInput) -> Option<&'a str> {
        turn.model.as_deref().or(self.agent.model_id.as_deref()).filter(|name| !name.is_empty())
    }

    /// Returns how many tokens the agent's own settings allow (AIO Hub's `contextManagement`).
    pub(crate) fn context_tokens(&self) -> Option<i64> {
        let management = self.agent.parameters.as_ref()?.get("contextManagement")?;
        let is_on = management.get("enabled").and_then(Value::as_bool) == Some(true);
        management.get("maxContextTokens").and_then(Value::as_i64).filter(|tokens| is_on && *tokens > 0)
    }

    /// Tells whether something drops messages that do not fit.
    pub(crate) fn limits_tokens(&self) -> bool {
        self.pipeline.order().any(|id| id == "token-limiter")
    }
}

/// Reads the layers of settings: user, model, agent, switches of this run.
fn layers(agent: &Agent, with: &Compile, diagnostics: &mut Vec<Diagnostic>) -> Vec<SettingsLayer> {
    let mut layers = Vec::new();
    let stored = [
        (Origin::User, with.user_parameters.as_ref(), "user settings"),
        (Origin::Model, with.model_parameters.as_ref(), "model settings"),
        (Origin::Agent, agent.parameters.as_ref(), ""),
    ];
    for (origin, parameters, document) in stored {
        let Some(parameters) = parameters else { continue };
        let (layer, found) = SettingsLayer::of_parameters(origin, parameters, "/parameters");
        diagnostics.extend(found.into_iter().map(|diagnostic| match document {
            "" => diagnostic,
            document => diagnostic.in_document(document),
        }));
        layers.push(layer);
    }
    layers.push(switch_layer(&with.switches));
    layers
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
