//! Settings of processors in layers, and where each value comes from.

use std::fmt;
use std::sync::Arc;

use ctx_types::{Diagnostic, closest};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::codes;
use crate::processor::Descriptor;

/// Who set a value; later ones win, each entry whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::CommandLine => "command-line",
        })
    }
}

/// What one layer says about one processor; absent fields take the built-in default, not a lower layer's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessorSetting {
    /// The processor.
    pub id: Arc<str>,
    /// Whether it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// When it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Its settings by key.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// The settings of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsLayer {
    /// Who set them.
    pub origin: Origin,
    /// One for each processor that the layer says something about; of two with one id the later counts.
    pub settings: Vec<ProcessorSetting>,
}

impl SettingsLayer {
    /// Reads the list of `parameters.processors`: `[{id, enabled, priority, config}]`.
    ///
    /// What cannot be read is a diagnostic at `pointer`, and left out.
    pub fn read(origin: Origin, list: &Value, pointer: &str) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let mut settings = Vec::new();
        match list.as_array() {
            Some(items) => {
                for (index, item) in items.iter().enumerate() {
                    settings.extend(read_setting(item, &format!("{pointer}/{index}"), &mut diagnostics));
                }
            }
            None if list.is_null() => {}
            None => diagnostics.push(wrong_type(pointer, "a list of processor settings")),
        }
        (Self { origin, settings }, diagnostics)
    }

    fn get(&self, id: &str) -> Option<&ProcessorSetting> {
        self.settings.iter().rev().find(|setting| canonical_id(&setting.id) == id)
    }
}

/// A value and who set it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Who set it.
    pub origin: Origin,
}

/// What holds for one processor after all layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveSetting {
    /// The processor.
    pub id: Arc<str>,
    /// Whether it runs.
    pub enabled: Sourced<bool>,
    /// When it runs.
    pub priority: Sourced<i64>,
    /// Its settings, in the order of its fields, then keys that it has no field for.
    pub config: Config,
}

/// The settings of one processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Config(Vec<ConfigValue>);

/// One setting of a processor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigValue {
    /// Its key.
    pub key: String,
    /// Its value and who set it.
    #[serde(flatten)]
    pub setting: Sourced<Value>,
}

impl Config {
    /// Returns all settings.
    pub fn values(&self) -> &[ConfigValue] {
        &self.0
    }

    /// Returns a setting.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|value| value.key == key).map(|value| &value.setting.value)
    }

    /// Returns a text; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a number; 0 if there is none.
    pub fn number(&self, key: &str) -> f64 {
        self.get(key).and_then(Value::as_f64).unwrap_or_default()
    }

    /// Returns a count: a number cut to a whole one, 0 if it is negative or absent.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates as documented")]
    pub fn count(&self, key: &str) -> usize {
        self.number(key) as usize
    }

    /// Tells whether a switch is on.
    pub fn is_on(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or_default()
    }
}

/// Merges the layers for one processor: the highest layer that names it wins whole.
///
/// A value that its field does not take is a diagnostic, and the built-in default holds.
pub(crate) fn merge(
    descriptor: &Descriptor,
    layers: &[SettingsLayer],
    diagnostics: &mut Vec<Diagnostic>,
) -> EffectiveSetting {
    let named = layers.iter().filter_map(|layer| Some((layer.origin, layer.get(&descriptor.id)?)));
    let winner = named.max_by_key(|(origin, _)| *origin);
    let sourced = |set: Option<i64>, default: i64| match (winner, set) {
        (Some((origin, _)), Some(value)) => Sourced { value, origin },
        _ => Sourced { value: default, origin: Origin::BuiltIn },
    };
    let setting = winner.map(|(_, setting)| setting);
    let enabled = sourced(setting.and_then(|s| s.enabled).map(i64::from), i64::from(descriptor.default_enabled));
    EffectiveSetting {
        id: descriptor.id.clone(),
        enabled: Sourced { value: enabled.value != 0, origin: enabled.origin },
        priority: sourced(setting.and_then(|s| s.priority), descriptor.priority),
        config: merge_config(descriptor, winner, diagnostics),
    }
}

fn merge_config(
    descriptor: &Descriptor,
    winner: Option<(Origin, &ProcessorSetting)>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Config {
    let mut values = Vec::new();
    for field in &descriptor.config_fields {
        let set = winner.and_then(|(origin, setting)| Some((origin, setting.config.get(&*field.key)?)));
        let default = || Sourced { value: field.default.clone(), origin: Origin::BuiltIn };
        let setting = match set.filter(|(_, value)| !value.is_null()) {
            None => default(),
            Some((origin, value)) => match field.check(value) {
                Ok(()) => Sourced { value: value.clone(), origin },
                Err(expected) => {
                    let message = format!(
                        "`{}` of processor `{}` is `{value}` (set by {origin}), expected {expected}",
                        field.key, descriptor.id
                    );
                    let wrong = Diagnostic::warning(codes::SETTING_TYPE, message);
                    diagnostics.push(wrong.with_help(format!("its default `{}` is used", field.default)));
                    default()
                }
            },
        };
        values.push(ConfigValue { key: field.key.to_string(), setting });
    }
    let Some((origin, setting)) = winner else { return Config(values) };
    for (key, value) in &setting.config {
        if descriptor.config_fields.iter().any(|field| *field.key == **key) {
            continue;
        }
        let known = descriptor.config_fields.iter().map(|field| &*field.key);
        let unknown = Diagnostic::warning(
            codes::UNKNOWN_SETTING,
            format!("processor `{}` has no setting `{key}`", descriptor.id),
        );
        diagnostics.push(match closest(key, known) {
            Some(near) => unknown.with_help(format!("did you mean `{near}`?")),
            None => unknown,
        });
        values.push(ConfigValue { key: key.clone(), setting: Sourced { value: value.clone(), origin } });
    }
    Config(values)
}

/// Returns the id that a spelling means.
///
/// AIO Hub prefixes ids with `primary:` or `post:`; seed 002 names the four formatters as one group.
pub fn canonical_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("primary:").or_else(|| id.strip_prefix("post:")).unwrap_or(id)
}

fn read_setting(item: &Value, pointer: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<ProcessorSetting> {
    let Some(id) = item.get("id").and_then(Value::as_str) else {
        diagnostics.push(wrong_type(pointer, "an object with the `id` of a processor"));
        return None;
    };
    let given = |key: &str| item.get(key).filter(|value| !value.is_null());
    let mut setting = ProcessorSetting { id: Arc::from(id), ..ProcessorSetting::default() };
    if let Some(value) = given("enabled") {
        setting.enabled = value.as_bool();
        if setting.enabled.is_none() {
            diagnostics.push(wrong_type(&format!("{pointer}/enabled"), "true or false"));
        }
    }
    if let Some(value) = given("priority") {
        setting.priority = value.as_i64();
        if setting.priority.is_none() {
            diagnostics.push(wrong_type(&format!("{pointer}/priority"), "a whole number"));
        }
    }
    if let Some(value) = given("config") {
        match value.as_object() {
            Some(config) => setting.config = config.clone(),
            None => diagnostics.push(wrong_type(&format!("{pointer}/config"), "an object")),
        }
    }
    Some(setting)
}

fn wrong_type(pointer: &str, expected: &str) -> Diagnostic {
    Diagnostic::warning(codes::SETTING_TYPE, format!("expected {expected}; it is ignored")).at_pointer(pointer)
}
