mod config;
mod findings;
mod merge;
mod old;
mod read;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

pub use config::{Config, ConfigValue};
pub(crate) use merge::resolve;
pub use read::MAX_PRIORITY;

/// Who set a value; later ones win, each entry whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The processor itself.
    BuiltIn,
    /// The user's own file (`ctx.toml`, or an application's settings).
    User,
    /// The model's settings.
    Model,
    /// The agent's settings.
    Agent,
    /// The command line, or an application's switch for this run.
    CommandLine,
}

impl Origin {
    /// Returns the name used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::CommandLine => "command-line",
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "default",
            Self::CommandLine => "the command line",
            origin => origin.as_str(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one layer says about one processor; absent fields take the built-in default, not a lower layer's.
///
/// `message-formatters` is the group of the four formatters: it speaks for each of them that the layer does not name
/// itself, and each takes the settings that it has fields for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProcessorSetting {
    /// The processor.
    pub id: Arc<str>,
    /// Whether it runs; of a group, only `false` counts: whether each member is on is its own setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// When it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Its settings by key.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Where a file has it, if one does.
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
///
/// ```
/// use ctx_pipeline::{Origin, SettingsLayer};
/// use serde_json::json;
///
/// let parameters = json!({ "processors": [{ "id": "token-limiter", "enabled": false }] });
/// let (layer, diagnostics) = SettingsLayer::of_parameters(Origin::Agent, &parameters, "/parameters");
/// assert_eq!(layer.settings[0].enabled, Some(false));
/// assert!(diagnostics.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsLayer {
    /// Origin of the settings.
    pub origin: Origin,
    /// Settings by processor. If two have the same id, the later applies.
    pub settings: Vec<ProcessorSetting>,
}

/// A value and who set it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Who set it.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    fn built_in(value: T) -> Self {
        Self { value, origin: Origin::BuiltIn }
    }
}

/// What holds for one processor after all layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EffectiveSetting {
    /// The processor.
    pub id: Arc<str>,
    /// Whose entry counts, as a whole; absent if nobody has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Origin>,
    /// Who else has an entry, the highest layer first: nothing in it counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrules: Vec<Origin>,
    /// Whether it runs.
    pub enabled: Sourced<bool>,
    /// When it runs.
    pub priority: Sourced<i64>,
    /// Its settings, in the order of its fields, then keys that it has no field for.
    pub config: Config,
}
