//! How each type of field reads and writes its slot; see [`crate::persist`].

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use crate::message::{Content, ContentPart, Role};
use crate::persist::{Field, Persist, Reader, put_if_changed, put_value};
use crate::text::Text;

/// Reads a slot that holds nothing, null or a string; moves the string out and leaves `""`.
fn take_string(slot: Option<&mut Value>, reader: &mut Reader) -> Option<String> {
    match slot {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(std::mem::take(text)),
        Some(other) => {
            reader.wrong_type("a text", other);
            None
        }
    }
}

/// Writes a string; without one, a slot that held a string goes and anything else stays.
fn put_string(text: Option<&str>, map: &mut Map<String, Value>, key: &str) {
    match text {
        Some(text) => put_value(map, key, Some(Value::from(text))),
        None if map.get(key).is_some_and(Value::is_string) => put_value(map, key, None),
        None => {}
    }
}

impl Field for Option<Text> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        take_string(slot, reader).map(Text::from)
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_string(self.as_deref(), map, key);
    }
}

impl Field for Option<Arc<str>> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        take_string(slot, reader).map(Arc::from)
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_string(self.as_deref(), map, key);
    }
}

/// Declares a field type of one small JSON value that is copied out of its slot.
macro_rules! small_field {
    ($Type:ty, $expected:literal, $read:expr, $write:expr) => {
        impl Field for Option<$Type> {
            fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
                let read: fn(&Value) -> Option<$Type> = $read;
                let value = slot.filter(|value| !value.is_null())?;
                let found = read(value);
                if found.is_none() {
                    reader.wrong_type($expected, value);
                }
                found
            }

            fn put(&self, map: &mut Map<String, Value>, key: &str) {
                let write: fn($Type) -> Value = $write;
                put_if_changed(self, map, key, self.map(write));
            }
        }
    };
}

small_field!(bool, "true or false", Value::as_bool, Value::from);
small_field!(i64, "a whole number", whole_number, Value::from);
small_field!(f64, "a number", Value::as_f64, write_number);
small_field!(
    Role,
    "one of `system`, `developer`, `user`, `assistant`, `tool`",
    |value| value.as_str().and_then(Role::parse),
    |role| Value::from(role.as_str())
);

/// 2^53: beyond it JavaScript, from which these files come, has no exact whole numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a whole number, also one that is written with a fraction of zero.
fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| exact_integer(value.as_f64()?))
}

/// Writes a number as people write it: without a fraction of zero.
fn write_number(number: f64) -> Value {
    match exact_integer(number) {
        Some(integer) => Value::from(integer),
        None => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range and the fraction are checked")]
fn exact_integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl Field for Option<Value> {
    fn take(slot: Option<&mut Value>, _reader: &mut Reader) -> Self {
        match slot {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.take()),
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        if let Some(value) = self {
            put_value(map, key, Some(value.clone()));
        }
    }
}

impl Field for Vec<Arc<str>> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        let items = match slot {
            None | Some(Value::Null) => return Self::new(),
            Some(Value::Array(items)) => items,
            Some(other) => {
                reader.wrong_type("a list of texts", other);
                return Self::new();
            }
        };
        let mut texts = Self::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(text) => texts.push(Arc::from(text)),
                None => reader.at_index(index, |reader| reader.wrong_type("a text", item)),
            }
        }
        texts
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        let foreign = map.get(key).and_then(Value::as_array).into_iter().flatten();
        let foreign = foreign.filter(|item| !item.is_string()).cloned();
        let texts = self.iter().map(|text| Value::from(&**text));
        let list: Vec<Value> = texts.chain(foreign).collect();
        put_if_changed(self, map, key, Some(Value::Array(list)));
    }
}

impl<T: Persist> Field for Vec<T> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        let items = match slot {
            None | Some(Value::Null) => return Self::new(),
            Some(Value::Array(items)) => std::mem::take(items),
            Some(other) => {
                reader.wrong_type("a list", other);
                return Self::new();
            }
        };
        let read = |(index, item)| reader.at_index(index, |reader| T::read(item, reader));
        items.into_iter().enumerate().map(read).collect()
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        let list = || Value::Array(self.iter().map(T::write).collect());
        match map.get(key) {
            Some(Value::Array(_)) => put_value(map, key, Some(list())),
            _ if self.is_empty() => {}
            _ => put_value(map, key, Some(list())),
        }
    }
}

impl<T: Persist> Field for Option<T> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        match slot {
            None | Some(Value::Null) => None,
            Some(value @ Value::Object(_)) => {
                Some(T::read(std::mem::replace(value, Value::Object(Map::new())), reader))
            }
            Some(other) => {
                reader.wrong_type("an object", other);
                None
            }
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        match self {
            Some(noun) => put_value(map, key, Some(noun.write())),
            None if map.get(key).is_some_and(Value::is_object) => put_value(map, key, None),
            None => {}
        }
    }
}

impl Field for Option<Content> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        match slot {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Content::Text(Text::from(std::mem::take(text)))),
            Some(Value::Array(parts)) => Some(Content::Parts(parts.iter().map(read_part).collect())),
            Some(other) => {
                reader.wrong_type("a text or a list of content parts", other);
                None
            }
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        match self {
            Some(Content::Text(text)) => put_value(map, key, Some(Value::from(text.as_str()))),
            Some(Content::Parts(parts)) => {
                let list = parts.iter().map(write_part).collect();
                put_if_changed(self, map, key, Some(Value::Array(list)));
            }
            None if map.get(key).is_some_and(|slot| slot.is_string() || slot.is_array()) => {
                put_value(map, key, None);
            }
            None => {}
        }
    }
}

fn read_part(part: &Value) -> ContentPart {
    let is_text = part.get("type").and_then(Value::as_str) == Some("text");
    match part.get("text").and_then(Value::as_str) {
        Some(text) if is_text => ContentPart::Text(Text::from(text)),
        _ => ContentPart::Other(Arc::new(part.clone())),
    }
}

fn write_part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => serde_json::json!({ "type": "text", "text": text }),
        ContentPart::Other(value) => (**value).clone(),
    }
}
