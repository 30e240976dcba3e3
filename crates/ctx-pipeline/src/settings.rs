mod config;
mod findings;
mod merge;
mod old;
mod read;
mod reader;

use std::sync::Arc;

use ctx_types::words;
use serde::Serialize;
use serde_json::{Map, Value};

pub use config::{Config, ConfigValue};
pub use read::MAX_PRIORITY;
pub use reader::{SettingValue, SettingsReader};

words! {
    /// The origin of a value. Later origins override entire entries of earlier ones.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "Origin"))]
    #[serde(rename_all = "kebab-case")]
    pub enum SettingOrigin: [as_str] {
        /// Default of the processor.
        BuiltIn = "built-in",
        /// User settings: `ctx.toml`, or the settings of an application.
        User = "user",
        /// Settings of the model.
        Model = "model",
        /// Settings of the agent.
        Agent = "agent",
        /// Command line, or an application's setting for this run.
        CommandLine = "command-line",
    }
}

impl SettingOrigin {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "default",
            Self::CommandLine => "the command line",
            origin => origin.as_str(),
        }
    }
}

/// The settings of one processor in one layer. Missing fields have the built-in default, not the value of a
/// lower layer.
///
/// `message-formatters` is the group of the four formatters. It applies to each formatter that the layer does
/// not name. Each formatter uses only its own settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProcessorSetting {
    /// Processor id.
    pub id: Arc<str>,
    /// Whether the processor runs. For a group, only `false` has an effect; enable each member separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Position in the run: processors run in ascending priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Settings by key.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Location in a file, if known.
    #[serde(skip)]
    pub place: Option<SettingPlace>,
}

/// JSON pointers to a processor's setting in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingPlace {
    /// Whole entry.
    pub entry: Arc<str>,
    /// Object with the settings by key.
    pub config: Arc<str>,
}

impl ProcessorSetting {
    /// Creates a setting that enables or disables a processor.
    pub fn switch(id: &str, enabled: bool) -> Self {
        Self { id: Arc::from(id), enabled: Some(enabled), ..Self::default() }
    }
}

/// Settings of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsLayer {
    /// Origin of the settings.
    pub origin: SettingOrigin,
    /// Settings by processor. If two have the same id, the later applies.
    pub settings: Vec<ProcessorSetting>,
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Sourced"))]
pub struct SourcedValue<T> {
    /// Value.
    pub value: T,
    /// Origin of the value.
    pub origin: SettingOrigin,
}

impl<T> SourcedValue<T> {
    fn built_in(value: T) -> Self {
        Self { value, origin: SettingOrigin::BuiltIn }
    }
}

/// The settings of one processor after all layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EffectiveSetting {
    /// Processor id.
    pub id: Arc<str>,
    /// Layer of the entry that applies. Missing if no layer has an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<SettingOrigin>,
    /// Other layers with an entry, highest first. Their entries are ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrules: Vec<SettingOrigin>,
    /// Whether the processor runs.
    pub enabled: SourcedValue<bool>,
    /// Position in the run: processors run in ascending priority.
    pub priority: SourcedValue<i64>,
    /// Settings in the order of the processor's fields, then unknown keys.
    pub config: Config,
}
