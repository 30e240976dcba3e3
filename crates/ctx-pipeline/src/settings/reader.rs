use ctx_types::{ConfigField, Role};
use serde_json::Value;

use super::{Config, SettingOrigin};

/// Declares the settings of a processor, and reads their values.
#[derive(Debug, Default)]
pub struct SettingsReader<'a> {
    config: Option<&'a Config>,
    fields: Vec<ConfigField>,
}

impl<'a> SettingsReader<'a> {
    /// Creates a reader. The default reader returns the default of each setting.
    pub fn new(config: &'a Config) -> Self {
        Self { config: Some(config), fields: Vec::new() }
    }

    /// Returns the declared settings.
    pub fn finish(self) -> Vec<ConfigField> {
        self.fields
    }

    /// Declares and reads a setting.
    pub fn read<T: SettingValue>(&mut self, field: ConfigField) -> T {
        let value = self.config.and_then(|config| config.get(&field.key)).unwrap_or(&field.default);
        let value = T::from_setting(value, &field);
        self.fields.push(field);
        value
    }

    /// Returns whether the agent or the command line sets this value.
    pub fn is_set_by_agent(&self, key: &str) -> bool {
        let values = self.config.map(Config::values).unwrap_or_default();
        values.iter().any(|value| value.key == key && value.setting.origin >= SettingOrigin::Agent)
    }
}

/// A type of settings: `bool` also for a choice of two options, where the last one is `true`.
pub trait SettingValue {
    /// Converts a value that the field accepts.
    fn from_setting(value: &Value, field: &ConfigField) -> Self;
}

macro_rules! setting_values {
    ($($type:ty: |$value:ident, $field:pat_param| $read:expr,)*) => {$(
        impl SettingValue for $type {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            fn from_setting($value: &Value, $field: &ConfigField) -> Self { $read }
        }
    )*};
}

setting_values! {
    Value: |value, _| value.clone(),
    String: |value, _| value.as_str().unwrap_or_default().to_owned(),
    bool: |value, field| value.as_bool().unwrap_or_else(|| is_last(value, field)),
    f64: |value, _| value.as_f64().unwrap_or_default(),
    i64: |value, _| value.as_f64().unwrap_or_default() as Self,
    u64: |value, _| value.as_f64().unwrap_or_default() as Self,
    usize: |value, _| value.as_f64().unwrap_or_default() as Self,
    Role: |value, _| value.as_str().and_then(Self::parse).unwrap_or(Self::System),
    Vec<String>: |value, _| {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    },
}

fn is_last(value: &Value, field: &ConfigField) -> bool {
    field.options.last().is_some_and(|last| last.value == *value)
}
