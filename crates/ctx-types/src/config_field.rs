use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::did_you_mean;
use crate::phrase;
use crate::phrasing::{Argument, Divider, Phrase};
use crate::suggest::{closest, nearest};

/// A setting of a processor or a feature, with the data that a settings page needs.
///
/// ```
/// use ctx_types::ConfigField;
/// use serde_json::json;
///
/// let field = ConfigField::number("keep", "Messages to keep", 5).between(0.0, 100.0);
/// assert!(field.check(&json!(7)).is_ok());
/// assert_eq!(field.check(&json!(101)).unwrap_err(), "a number from 0 to 100");
/// assert_eq!(field.suggest(&json!("7")).unwrap(), "write `7` without quotes");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigField {
    /// JSON key of the setting.
    pub key: Arc<str>,
    /// Display title.
    pub label: Arc<str>,
    /// Description of the effect for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// Placeholder of an empty input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Arc<str>>,
    /// Default value.
    pub default: Value,
    /// Choices of a [`FieldKind::Select`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FieldOption>,
    /// Minimum of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Maximum of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether a number must be an integer.
    #[serde(skip_serializing_if = "is_false")]
    pub is_whole: bool,
    /// Whether blank text is invalid.
    pub is_required: bool,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// Any text.
    Text,
    /// A number within the field's range.
    Number,
    /// True or false.
    Boolean,
    /// One of the field's options.
    Select,
    /// A list. The processor checks its items.
    List,
}

/// A choice of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldOption {
    /// Display title.
    pub label: Arc<str>,
    /// Stored value, of any JSON type.
    pub value: Value,
}

impl FieldOption {
    /// Creates an option.
    pub fn new(value: impl Into<Value>, label: &str) -> Self {
        Self { label: Arc::from(label), value: value.into() }
    }
}

impl ConfigField {
    /// Creates a text field.
    pub fn text(key: &str, label: &str, default: &str) -> Self {
        Self::new(key, label, FieldKind::Text, Value::from(default))
    }

    /// Creates a number field.
    pub fn number(key: &str, label: &str, default: impl Into<serde_json::Number>) -> Self {
        Self::new(key, label, FieldKind::Number, Value::Number(default.into()))
    }

    /// Creates an integer field; it also accepts `10.0`.
    pub fn integer(key: &str, label: &str, default: impl Into<serde_json::Number>) -> Self {
        Self { is_whole: true, ..Self::number(key, label, default) }
    }

    /// Creates a number field from 0 to 1.
    pub fn share(key: &str, label: &str, default: f64) -> Self {
        Self::new(key, label, FieldKind::Number, Value::from(default)).between(0.0, 1.0)
    }

    /// Creates a boolean field.
    pub fn boolean(key: &str, label: &str, default: bool) -> Self {
        Self::new(key, label, FieldKind::Boolean, Value::from(default))
    }

    /// Creates a choice of `(value, label)` pairs. Default: the first.
    pub fn select(key: &str, label: &str, options: &[(&str, &str)]) -> Self {
        Self::choice(
            key,
            label,
            options.iter().map(|(value, label)| FieldOption::new(*value, label)).collect(),
        )
    }

    /// Creates a choice of JSON values. Default: the first.
    pub fn choice(key: &str, label: &str, options: Vec<FieldOption>) -> Self {
        let default = options.first().map_or(Value::Null, |option| option.value.clone());
        Self { options, ..Self::new(key, label, FieldKind::Select, default) }
    }

    /// Creates a list field. Default: empty.
    pub fn list(key: &str, label: &str) -> Self {
        Self::new(key, label, FieldKind::List, Value::Array(Vec::new()))
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
            is_whole: false,
            is_required: false,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: &str) -> Self {
        self.description = Some(Arc::from(description));
        self
    }

    /// Sets the placeholder of an empty input.
    #[must_use]
    pub fn with_placeholder(mut self, placeholder: &str) -> Self {
        self.placeholder = Some(Arc::from(placeholder));
        self
    }

    /// Sets the default value.
    #[must_use]
    pub fn with_default(mut self, default: impl Into<Value>) -> Self {
        self.default = default.into();
        self
    }

    /// Limits a number to a range, both ends included.
    #[must_use]
    pub fn between(mut self, minimum: f64, maximum: f64) -> Self {
        self.minimum = Some(minimum);
        self.maximum = Some(maximum);
        self
    }

    /// Rejects blank text.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Checks a value. The error describes the valid values.
    pub fn check(&self, value: &Value) -> Result<(), Phrase> {
        let fits = match self.kind {
            FieldKind::Text => {
                value.as_str().is_some_and(|text| !self.is_required || !text.trim().is_empty())
            }
            FieldKind::Boolean => value.is_boolean(),
            FieldKind::Number => value.as_f64().is_some_and(|number| self.is_within(number)),
            FieldKind::Select => self.options.iter().any(|option| option.value == *value),
            FieldKind::List => value.is_array(),
        };
        if fits { Ok(()) } else { Err(self.expectation()) }
    }

    /// Suggests a correction of an invalid value.
    pub fn suggest(&self, value: &Value) -> Option<Phrase> {
        match (self.kind, value) {
            (FieldKind::Boolean | FieldKind::Number, Value::String(_)) => {
                let meant = self.find_correction(value)?.to_string();
                Some(phrase!("write `{value}` without quotes", value = meant))
            }
            (FieldKind::Number, Value::Number(number)) => Some(phrase!(
                "use `{value}`, the nearest valid value",
                value = self.clamp_number(number.as_f64()?).to_string()
            )),
            (FieldKind::Text, Value::Number(_) | Value::Bool(_)) => {
                Some(phrase!("write `\"{value}\"`, with quotes", value = value.to_string()))
            }
            (FieldKind::Select, Value::String(text)) => {
                let known = self.options.iter().filter_map(|option| option.value.as_str());
                closest(text.trim(), known).map(did_you_mean)
            }
            _ => None,
        }
    }

    /// Returns the JSON Schema of valid values. `null` means unset.
    #[cfg(feature = "schema")]
    pub fn schema(&self) -> schemars::Schema {
        let mut schema = match self.kind {
            FieldKind::Text => crate::schema::simple("string"),
            FieldKind::Boolean => crate::schema::simple("boolean"),
            FieldKind::List => crate::schema::simple("array"),
            FieldKind::Number => crate::schema::simple(if self.is_whole { "integer" } else { "number" }),
            FieldKind::Select => crate::schema::described_values(
                self.options.iter().map(|option| (option.value.clone(), &*option.label)),
            ),
        };
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                schema.insert(key.to_owned(), value);
            }
        };
        set("title", Some(Value::from(&*self.label)));
        set("description", self.description.as_deref().map(Value::from));
        set("minimum", self.minimum.map(crate::fields::write_number));
        set("maximum", self.maximum.map(crate::fields::write_number));
        set("pattern", self.is_required.then(|| Value::from(r"\S")));
        set("default", Some(self.default.clone()));
        schema
    }

    /// Returns the only possible correction: the value with or without quotes, or the only similar option.
    pub fn find_correction(&self, value: &Value) -> Option<Value> {
        let meant = match (self.kind, value) {
            (FieldKind::Boolean | FieldKind::Number, Value::String(text)) => {
                serde_json::from_str(text.trim()).ok()?
            }
            (FieldKind::Text, Value::Number(_) | Value::Bool(_)) => Value::from(value.to_string()),
            (FieldKind::Select, Value::String(text)) => {
                let known = self.options.iter().filter_map(|option| option.value.as_str());
                Value::from(nearest(text.trim(), known).filter(|near| near.is_certain)?.name)
            }
            _ => return None,
        };
        self.check(&meant).ok().map(|()| meant)
    }

    fn is_within(&self, number: f64) -> bool {
        !(self.is_whole && number.fract() != 0.0)
            && self.minimum.is_none_or(|minimum| number >= minimum)
            && self.maximum.is_none_or(|maximum| number <= maximum)
    }

    fn clamp_number(&self, number: f64) -> f64 {
        let number = if self.is_whole { number.round() } else { number };
        number.max(self.minimum.unwrap_or(f64::MIN)).min(self.maximum.unwrap_or(f64::MAX))
    }

    fn expectation(&self) -> Phrase {
        match self.kind {
            FieldKind::Text if self.is_required => phrase!("non-blank text"),
            FieldKind::Text => phrase!("a string"),
            FieldKind::Boolean => phrase!("true or false"),
            FieldKind::List => phrase!("a list"),
            FieldKind::Number => {
                let number = if self.is_whole { phrase!("a whole number") } else { phrase!("a number") };
                match (self.minimum, self.maximum) {
                    (Some(minimum), Some(maximum)) => {
                        phrase!("{number} from {minimum} to {maximum}", number, minimum, maximum)
                    }
                    (Some(minimum), None) => phrase!("{number} of at least {minimum}", number, minimum),
                    (None, Some(maximum)) => phrase!("{number} of at most {maximum}", number, maximum),
                    (None, None) => number,
                }
            }
            FieldKind::Select => {
                let options = self.options.iter().map(|option| plain(&option.value));
                phrase!("one of {options}", options = Argument::names(options, Divider::Comma))
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_false(value: &bool) -> bool {
    !value
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
