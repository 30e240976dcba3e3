//! The contract of a processor.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use ctx_types::{Agent, ConfigField, Diagnostic, LoadedWorldbook, UserProfile};
use serde::Serialize;

use crate::context::PipelineContext;
use crate::error::ProcessorError;
use crate::settings::Config;

/// One step from a conversation to the messages that are sent.
///
/// Object-safe; a pipeline holds processors behind `Arc`. Everything that can be made once per agent is made
/// by `prepare`; everything of one turn is in the context.
#[async_trait]
pub trait ContextProcessor: Send + Sync {
    /// Names who the processor is and when it runs.
    fn descriptor(&self) -> Descriptor;

    /// Makes, once per agent, what every run needs: regexes, automata, templates. By default nothing.
    fn prepare(&self, _agent: &Agent, _config: &Config, _cx: &mut PrepareContext) -> Prepared {
        Prepared::default()
    }

    /// Changes the draft of one turn.
    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError>;
}

/// Who a processor is, and when it runs unless settings say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Descriptor {
    /// The id, by which settings and reports name it.
    pub id: Arc<str>,
    /// The name shown to people.
    pub name: Arc<str>,
    /// What it does, for people.
    pub description: Arc<str>,
    /// When it runs: smaller is earlier; 900 for plug-ins that say nothing.
    pub priority: i64,
    /// A name or address of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<Arc<str>>,
    /// Whether it cannot be unregistered, and its failure ends the run.
    pub is_core: bool,
    /// Whether it runs where nothing is set.
    pub default_enabled: bool,
    /// The name of a settings page of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_component: Option<Arc<str>>,
    /// Its settings.
    pub config_fields: Vec<ConfigField>,
    /// Whether it works on each message by itself, so that it also runs on messages appended after an assembly.
    pub per_message: bool,
}

impl Descriptor {
    /// The priority of plug-ins that say nothing.
    pub const PLUGIN_PRIORITY: i64 = 900;

    /// Describes a plug-in: priority 900, on, without settings.
    pub fn new(id: &str, name: &str, description: &str) -> Self {
        Self {
            id: Arc::from(id),
            name: Arc::from(name),
            description: Arc::from(description),
            priority: Self::PLUGIN_PRIORITY,
            icon: None,
            is_core: false,
            default_enabled: true,
            config_component: None,
            config_fields: Vec::new(),
            per_message: false,
        }
    }

    /// Returns the descriptor with fields that `set` has set.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

/// What a processor made of an agent; read by its runs.
#[derive(Clone, Default)]
pub struct Prepared(Option<Arc<dyn Any + Send + Sync>>);

impl Prepared {
    /// Keeps a value for the runs.
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// Returns the value, if one of this type was kept.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Prepared(…)" } else { "Prepared" })
    }
}

/// What `prepare` sees beside the agent, and where it reports what is wrong.
#[derive(Debug, Default)]
pub struct PrepareContext {
    profile: Option<UserProfile>,
    worldbooks: Vec<LoadedWorldbook>,
    diagnostics: Vec<Diagnostic>,
}

/// What is known beside an agent when it is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// The person who chats.
    pub profile: Option<&'a UserProfile>,
    /// The worldbooks that are at hand.
    pub worldbooks: &'a [LoadedWorldbook],
}

impl PrepareContext {
    /// Begins to prepare for an agent among what is known beside it.
    pub fn new(around: Surroundings<'_>) -> Self {
        let Surroundings { profile, worldbooks } = around;
        Self { profile: profile.cloned(), worldbooks: worldbooks.to_vec(), diagnostics: Vec::new() }
    }

    /// Returns the person who chats, if that is known when the agent is compiled.
    pub fn profile(&self) -> Option<&UserProfile> {
        self.profile.as_ref()
    }

    /// Returns the worldbooks that are at hand, also those that nobody asks for.
    pub fn worldbooks(&self) -> &[LoadedWorldbook] {
        &self.worldbooks
    }

    /// Reports a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Returns what was reported.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}
