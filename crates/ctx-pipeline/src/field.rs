//! Configuration fields: what a processor can be told, and the checks of what it was told.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

/// One setting of a processor, with all that a settings page needs to show it.
///
/// ```
/// use ctx_pipeline::ConfigField;
/// use serde_json::json;
///
/// let field = ConfigField::number("keep", "Messages to keep", 5).between(0.0, 100.0);
/// assert_eq!(field.check(&json!(7)), Ok(()));
/// assert!(field.check(&json!("seven")).is_err());
/// assert!(field.check(&json!(101)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigField {
    /// The key in the processor's `config`.
    pub key: Arc<str>,
    /// The title shown to people.
    pub label: Arc<str>,
    /// What it does, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// Which values it takes.
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// What an empty input shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Arc<str>>,
    /// The value where nothing is set.
    pub default: Value,
    /// The choices of a [`FieldKind::Select`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FieldOption>,
    /// The smallest number allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
}

/// Which values a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// Any text.
    Text,
    /// A number within the field's bounds.
    Number,
    /// True or false.
    Boolean,
    /// One of the field's options.
    Select,
}

/// One choice of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldOption {
    /// The title shown to people.
    pub label: Arc<str>,
    /// The value that is stored.
    pub value: Value,
}

impl ConfigField {
    /// Declares a text.
    pub fn text(key: &str, label: &str, default: &str) -> Self {
        Self::new(key, label, FieldKind::Text, Value::from(default))
    }

    /// Declares a number.
    pub fn number(key: &str, label: &str, default: impl Into<serde_json::Number>) -> Self {
        Self::new(key, label, FieldKind::Number, Value::Number(default.into()))
    }

    /// Declares a switch.
    pub fn boolean(key: &str, label: &str, default: bool) -> Self {
        Self::new(key, label, FieldKind::Boolean, Value::from(default))
    }

    /// Declares a choice between texts, each with its title; the default is the first.
    pub fn select(key: &str, label: &str, options: &[(&str, &str)]) -> Self {
        let default = options.first().map_or(Value::Null, |(value, _)| Value::from(*value));
        let option = |(value, label): &(&str, &str)| FieldOption {
            label: Arc::from(*label),
            value: Value::from(*value),
        };
        let options = options.iter().map(option).collect();
        Self { options, ..Self::new(key, label, FieldKind::Select, default) }
    }

    fn new(key: &str, label: &str, kind: FieldKind, default: Value) -> Self {
        Self {
            key: Arc::from(key),
            label: Arc::from(label),
            description: None,
            kind,
            placeholder: None,
            default,
            options: Vec::new(),
            minimum: None,
            maximum: None,
        }
    }

    /// Says what the setting does.
    #[must_use]
    pub fn with_description(mut self, description: &str) -> Self {
        self.description = Some(Arc::from(description));
        self
    }

    /// Bounds a number, both ends included.
    #[must_use]
    pub fn between(mut self, minimum: f64, maximum: f64) -> Self {
        self.minimum = Some(minimum);
        self.maximum = Some(maximum);
        self
    }

    /// Tells whether the field takes a value; if not, what it would take.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            FieldKind::Text => value.is_string(),
            FieldKind::Boolean => value.is_boolean(),
            FieldKind::Number => value.as_f64().is_some_and(|number| self.bounds_hold(number)),
            FieldKind::Select => self.options.iter().any(|option| option.value == *value),
        };
        if fits { Ok(()) } else { Err(self.expectation()) }
    }

    fn bounds_hold(&self, number: f64) -> bool {
        self.minimum.is_none_or(|minimum| number >= minimum) && self.maximum.is_none_or(|maximum| number <= maximum)
    }

    fn expectation(&self) -> String {
        match self.kind {
            FieldKind::Text => "a text".to_owned(),
            FieldKind::Boolean => "true or false".to_owned(),
            FieldKind::Number => match (self.minimum, self.maximum) {
                (Some(minimum), Some(maximum)) => format!("a number from {minimum} to {maximum}"),
                (Some(minimum), None) => format!("a number of at least {minimum}"),
                (None, Some(maximum)) => format!("a number of at most {maximum}"),
                (None, None) => "a number".to_owned(),
            },
            FieldKind::Select => {
                let options: Vec<String> = self.options.iter().map(|option| format!("`{}`", plain(&option.value))).collect();
                format!("one of {}", options.join(", "))
            }
        }
    }
}

/// A text without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
