use crate::phrase;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::fields::write_number;
use crate::persist::{Field, Reader, loose_field, put_if_changed};

/// A number, also in quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numeric(pub f64);

/// A boolean, also 1 or 0, or in quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

/// A list of texts, or one text with commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyList(pub Vec<Arc<str>>);

loose_field!(
    Numeric,
    "a number",
    |_| crate::schema::simple("number"),
    |value| value.as_f64().map(Numeric),
    |value| quoted(value).map(Numeric),
    |number| write_number(number.0)
);

loose_field!(
    Flag,
    "true or false",
    |_| crate::schema::simple("boolean"),
    |value| value.as_bool().map(Flag),
    loose_flag,
    |flag| Value::from(flag.0)
);

pub(super) fn quoted(value: &Value) -> Option<f64> {
    let number = value.as_str()?.trim().parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| quoted(value))
}

fn loose_flag(value: &Value) -> Option<Flag> {
    match value {
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Flag(true)),
            "false" | "0" | "" => Some(Flag(false)),
            _ => None,
        },
        _ => value.as_f64().map(|number| Flag(number != 0.0)),
    }
}

impl Deref for KeyList {
    type Target = [Arc<str>];

    fn deref(&self) -> &[Arc<str>] {
        &self.0
    }
}

impl KeyList {
    /// Maximum keys in one text: a few megabytes would become a list of gigabytes.
    pub const MAX_IN_TEXT: usize = 1_000;
}

impl<T: Into<Arc<str>>> FromIterator<T> for KeyList {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().map(Into::into).collect())
    }
}

fn list(keys: &KeyList) -> Value {
    Value::Array(keys.0.iter().map(|text| Value::from(&**text)).collect())
}

impl Field for KeyList {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        match slot {
            Some(Value::String(text)) => {
                if text.bytes().filter(|byte| *byte == b',').count() >= Self::MAX_IN_TEXT {
                    let expected =
                        phrase!("a list, or text with at most {most} keys", most = Self::MAX_IN_TEXT);
                    reader.wrong_type(expected, &Value::from(text.as_str()));
                    return Self::default();
                }
                let keys: Self = split_keys(text).collect();
                if !keys.is_empty() {
                    reader.loose_type("a list of strings", &Value::from(text.as_str()), list(&keys));
                }
                keys
            }
            slot => Self(Field::take(slot, reader)),
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        if map.get(key).is_some_and(Value::is_string) {
            return put_if_changed(self, map, key, Some(list(self)));
        }
        self.0.put(map, key);
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Text with keys is reported; other text is an empty list.
        schemars::json_schema!({
            "type": ["array", "string", "null"], "items": { "type": "string" }, "pattern": r"^[\s,]*$",
        })
    }
}

fn split_keys(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}
