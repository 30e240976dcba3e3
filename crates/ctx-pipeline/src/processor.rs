use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, ConfigField, Diagnostic, UserProfile};
use serde::Serialize;

use crate::context::PipelineContext;
use crate::error::ProcessorError;
use crate::settings::Config;

/// One step from a conversation to the messages of a request. `prepare` runs once per agent, `execute` once
/// per turn.
#[async_trait]
pub trait ContextProcessor: Send + Sync {
    /// Returns the id, defaults, and declared settings.
    fn descriptor(&self) -> Descriptor;

    /// Creates data that all runs share, such as regexes; none by default.
    fn prepare(&self, _agent: &Agent, _config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        PreparedData::default()
    }

    /// Changes the draft of one turn.
    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError>;
}

/// Identity and defaults of a processor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Descriptor {
    /// Id in settings and reports.
    pub id: Arc<str>,
    /// Display name.
    pub name: Arc<str>,
    /// Description for users.
    pub description: Arc<str>,
    /// Position in the pipeline: lower runs earlier. Default of plug-ins: 900.
    pub priority: i64,
    /// Whether its failure ends the run.
    pub is_core: bool,
    /// Whether it is enabled by default.
    pub default_enabled: bool,
    /// Declared settings.
    pub config_fields: Vec<ConfigField>,
    /// Whether it handles each message separately, and so also messages appended after an assembly.
    pub per_message: bool,
}

impl Descriptor {
    /// Describes a plug-in with priority 900, enabled, without settings.
    pub fn new(id: &str, name: &str, description: &str) -> Self {
        Self {
            id: Arc::from(id),
            name: Arc::from(name),
            description: Arc::from(description),
            priority: 900,
            is_core: false,
            default_enabled: true,
            config_fields: Vec::new(),
            per_message: false,
        }
    }

    /// Returns the descriptor after `set` changed it.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

/// Data that a processor prepared for an agent.
#[derive(Clone, Default)]
pub struct PreparedData(Option<Arc<dyn Any + Send + Sync>>);

impl PreparedData {
    /// Stores a value for the runs.
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// Returns the value, if it has this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

ctx_types::opaque!(PreparedData);

/// Inputs of `prepare` other than the agent, and its diagnostics.
#[derive(Debug, Default)]
pub struct PrepareContext {
    profile: Option<UserProfile>,
    worldbooks: Vec<LoadedWorldbook>,
    diagnostics: Vec<Diagnostic>,
}

/// Data other than the agent for compiling.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileContext<'a> {
    /// The user profile.
    pub profile: Option<&'a UserProfile>,
    /// Available worldbooks.
    pub worldbooks: &'a [LoadedWorldbook],
}

impl PrepareContext {
    pub(crate) fn new(around: CompileContext<'_>) -> Self {
        let CompileContext { profile, worldbooks } = around;
        Self { profile: profile.cloned(), worldbooks: worldbooks.to_vec(), diagnostics: Vec::new() }
    }

    /// Returns the user profile, if known when the agent is compiled.
    pub fn profile(&self) -> Option<&UserProfile> {
        self.profile.as_ref()
    }

    /// Returns the available worldbooks, including unused ones.
    pub fn worldbooks(&self) -> &[LoadedWorldbook] {
        &self.worldbooks
    }

    /// Reports a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}
