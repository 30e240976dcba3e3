use serde::Serialize;
use serde_json::Value;

use super::SourcedValue;

/// The settings of one processor: the value of each field, then unknown keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Config(Vec<ConfigValue>);

/// A setting of a processor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigValue {
    /// Key of the setting.
    pub key: String,
    /// Value and its origin.
    #[serde(flatten)]
    pub setting: SourcedValue<Value>,
}

impl Config {
    pub(super) fn new(values: Vec<ConfigValue>) -> Self {
        Self(values)
    }

    /// Returns all settings.
    pub fn values(&self) -> &[ConfigValue] {
        &self.0
    }

    /// Returns a setting. O(settings of the processor).
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|value| value.key == key).map(|value| &value.setting.value)
    }

    /// Returns a text; empty by default.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a number; 0 by default.
    pub fn number(&self, key: &str) -> f64 {
        self.get(key).and_then(Value::as_f64).unwrap_or_default()
    }

    /// Returns a number truncated to an integer; 0 if negative or missing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn count(&self, key: &str) -> usize {
        self.number(key) as usize
    }

    /// Returns a boolean; `false` by default.
    pub fn is_on(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or_default()
    }
}
