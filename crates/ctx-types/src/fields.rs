use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};
#[cfg(feature = "schema")]
use {
    crate::schema,
    schemars::{Schema, SchemaGenerator},
};

use crate::content::{Content, ContentPart};
use crate::message::Role;
use crate::persist::{Field, MaybeJsonSchema, Persist, Reader, loose_field, put_if_changed, put_value};
use crate::suggest::nearest;
use crate::text::Text;

fn take_string(slot: Option<&mut Value>, reader: &mut Reader) -> Option<String> {
    match slot {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(std::mem::take(text)),
        Some(other) => {
            let meant = other.is_number().then(|| Value::from(other.to_string()));
            reader.wrong_type_for("a string", other, meant);
            None
        }
    }
}

/// `None` removes a string and keeps other values.
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

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::simple("string")
    }
}

impl Field for Option<Arc<str>> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        take_string(slot, reader).map(Arc::from)
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_string(self.as_deref(), map, key);
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::simple("string")
    }
}

loose_field!(bool, "true or false", |_| schema::simple("boolean"), Value::as_bool, |_| None, |value| {
    Value::from(*value)
});

loose_field!(i64, "a whole number", |_| schema::simple("integer"), whole_number, |_| None, |value| {
    Value::from(*value)
});

loose_field!(f64, "a number", |_| schema::simple("number"), Value::as_f64, |_| None, |value| write_number(
    *value
));

impl Field for Option<Role> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        let value = slot.filter(|value| !value.is_null())?;
        let role = value.as_str().and_then(Role::parse);
        if role.is_none() {
            let near =
                value.as_str().and_then(|word| nearest(word, Role::WORDS)).filter(|near| near.is_certain);
            reader.unknown_role(value, near.map(|near| near.name));
        }
        role
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_if_changed(self, map, key, self.map(|role| Value::from(role.as_str())));
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        schema::optional::<Role>(generator)
    }
}

/// 2^53: JavaScript, the source of these files, has no exact integers above.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Also accepts `10.0`.
fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| exact_integer(value.as_f64()?))
}

pub(crate) fn write_number(number: f64) -> Value {
    match exact_integer(number) {
        Some(integer) => Value::from(integer),
        None => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "range and fraction are checked")]
fn exact_integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl Field for Option<Value> {
    fn take(slot: Option<&mut Value>, _reader: &mut Reader) -> Self {
        slot.filter(|slot| !slot.is_null()).map(move_out)
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        if self.is_some() || map.get(key).is_some_and(|slot| !slot.is_null()) {
            put_value(map, key, self.clone());
        }
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::anything()
    }
}

fn move_out(slot: &mut Value) -> Value {
    let empty = match slot {
        Value::String(_) => Value::String(String::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
        Value::Null | Value::Bool(_) | Value::Number(_) => slot.clone(),
    };
    std::mem::replace(slot, empty)
}

impl Field for Vec<Arc<Value>> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        take_list(slot, "a list", reader).into_iter().map(Arc::new).collect()
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_list(self, |value| (**value).clone(), map, key);
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::list(&schema::anything())
    }
}

fn take_list(slot: Option<&mut Value>, expected: &'static str, reader: &mut Reader) -> Vec<Value> {
    match slot {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => std::mem::take(items),
        Some(other) => {
            reader.wrong_type(expected, other);
            Vec::new()
        }
    }
}

/// An empty list keeps other values.
fn put_list<T>(items: &[T], write: impl Fn(&T) -> Value, map: &mut Map<String, Value>, key: &str) {
    if !items.is_empty() || map.get(key).is_some_and(Value::is_array) {
        put_value(map, key, Some(Value::Array(items.iter().map(write).collect())));
    }
}

impl Field for Vec<Arc<str>> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        // Keep invalid items in the slot: `put` could not restore their positions.
        if let Some(Value::Array(items)) = &slot
            && !items.iter().all(Value::is_string)
        {
            return items.iter().enumerate().filter_map(|item| read_item(item, reader)).collect();
        }
        if let Some(text @ Value::String(_)) = &slot {
            let meant = Value::Array(vec![(*text).clone()]);
            reader.wrong_type_for("a list of strings", text, Some(meant));
            return Vec::new();
        }
        let texts = take_list(slot, "a list of strings", reader);
        texts.iter().filter_map(Value::as_str).map(Arc::from).collect()
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        let write = |text: &Arc<str>| Value::from(&**text);
        let Some(Value::Array(items)) = map.get(key).filter(|slot| slot.get(0).is_some()) else {
            return put_list(self, write, map, key);
        };
        let foreign = items.iter().filter(|item| !item.is_string()).cloned();
        let list = self.iter().map(write).chain(foreign).collect();
        put_if_changed(self, map, key, Some(Value::Array(list)));
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::list(&schemars::json_schema!({ "type": "string" }))
    }
}

fn read_item((index, item): (usize, &Value), reader: &mut Reader) -> Option<Arc<str>> {
    if !item.is_string() {
        reader.at_index(index, |reader| reader.wrong_type("a string", item));
    }
    item.as_str().map(Arc::from)
}

impl<T: Persist + MaybeJsonSchema> Field for Vec<T> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        let items = take_list(slot, "a list", reader);
        let read = |(index, item)| reader.at_index(index, |reader| T::read(item, reader));
        items.into_iter().enumerate().map(read).collect()
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        put_list(self, T::write, map, key);
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        schema::list(&generator.subschema_for::<T>())
    }
}

impl<T: Persist + MaybeJsonSchema> Field for Option<T> {
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

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        schema::optional::<T>(generator)
    }
}

impl Field for Option<Content> {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        match slot {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Content::Text(Text::from(std::mem::take(text)))),
            Some(Value::Array(parts)) => {
                let mut taken = Vec::with_capacity(parts.len());
                for index in 0..parts.len() {
                    taken.extend(reader.at_index(index, |reader| take_part_at(parts, index, reader)));
                }
                Some(Content::Parts(taken))
            }
            Some(other) => {
                reader.wrong_type("a string or a list of content parts", other);
                None
            }
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        let slot = map.get(key);
        let value = match self {
            Some(Content::Text(text)) => Some(Value::from(text.as_str())),
            Some(Content::Parts(parts)) => Some(write_parts(parts, slot)),
            None if slot.is_some_and(|slot| slot.is_string() || slot.is_array()) => None,
            None => return,
        };
        put_value(map, key, value);
    }

    #[cfg(feature = "schema")]
    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        schema::content()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Parts(parts) => write_parts(parts, None).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let content: Option<Self> = Field::take(Some(&mut value), &mut Reader::new());
        content.ok_or_else(|| D::Error::custom("expected a string or a list of content parts"))
    }
}

fn take_part_at(parts: &mut [Value], index: usize, reader: &mut Reader) -> Option<ContentPart> {
    let slot = parts.get_mut(index)?;
    let part = take_part(slot);
    if let ContentPart::Other(value) = &part
        && !part.is_sound()
    {
        reader.wrong_type("a content part (an object; text parts need a string `text`)", value);
    }
    Some(part)
}

/// Moves only the text, because a part may have other fields.
fn take_part(part: &mut Value) -> ContentPart {
    match text_of_part(part) {
        Some(text) => ContentPart::Text(Text::from(std::mem::take(text))),
        None => ContentPart::Other(Arc::new(part.take())),
    }
}

fn text_of_part(part: &mut Value) -> Option<&mut String> {
    let part = part.as_object_mut().filter(|part| part.get("type").is_some_and(|kind| kind == "text"))?;
    match part.get_mut("text") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Keeps other fields of text parts if the number of parts is unchanged.
fn write_parts(parts: &[ContentPart], slot: Option<&Value>) -> Value {
    let slots = slot.and_then(Value::as_array).filter(|slots| slots.len() == parts.len());
    let write =
        |(index, part): (usize, &ContentPart)| write_part(part, slots.and_then(|slots| slots.get(index)));
    Value::Array(parts.iter().enumerate().map(write).collect())
}

fn write_part(part: &ContentPart, slot: Option<&Value>) -> Value {
    match part {
        ContentPart::Text(text) => {
            let mut part = slot.cloned().unwrap_or_default();
            match text_of_part(&mut part) {
                Some(slot) => text.as_str().clone_into(slot),
                None => part = serde_json::json!({ "type": "text", "text": text }),
            }
            part
        }
        ContentPart::Other(value) => (**value).clone(),
    }
}
