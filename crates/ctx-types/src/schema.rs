//! JSON Schemas of files.
//!
//! They accept all values that are read without a diagnostic, any unknown keys, and null for a missing key.
//! Doc comments become descriptions.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

pub(crate) type Property = (&'static str, &'static str, Schema);

pub(crate) fn object(about: &str, properties: impl IntoIterator<Item = Property>) -> Schema {
    let describe = |(key, about, mut schema): Property| {
        schema.insert("description".to_owned(), Value::from(about));
        (key.to_owned(), Value::from(schema))
    };
    let properties: Map<String, Value> = properties.into_iter().map(describe).collect();
    json_schema!({ "type": "object", "description": about, "properties": properties })
}

pub(crate) fn simple(name: &str) -> Schema {
    json_schema!({ "type": [name, "null"] })
}

pub(crate) fn anything() -> Schema {
    Schema::default()
}

pub(crate) fn one_of(words: &[&str], mut slot: Schema) -> Schema {
    if let Some(item) = slot.get_mut("items") {
        *item = json!({ "enum": words });
        return slot;
    }
    let words = words.iter().copied().map(Value::from);
    json_schema!({ "enum": words.chain([Value::Null]).collect::<Vec<Value>>() })
}

pub(crate) fn such_as(words: &[&str], mut slot: Schema) -> Schema {
    let known = json!({ "enum": words });
    if let Some(item) = slot.get_mut("items") {
        *item = json!({ "anyOf": [known, { "type": "string" }] });
        return slot;
    }
    json_schema!({ "anyOf": [known, { "type": ["string", "null"] }] })
}

pub(crate) fn at_least(minimum: i64, mut slot: Schema) -> Schema {
    slot.insert("minimum".to_owned(), Value::from(minimum));
    slot
}

pub(crate) fn list(item: &Schema) -> Schema {
    json_schema!({ "type": ["array", "null"], "items": item })
}

pub(crate) fn optional<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "type": "null" }] })
}

pub(crate) fn content() -> Schema {
    json_schema!({ "type": ["string", "array", "null"], "items": {
        "type": "object",
        "description": "A content part: text, or any other part, kept unchanged.",
        "properties": { "type": { "description": "Part type, such as `text` or `image_url`." } },
        "if": { "properties": { "type": { "const": "text" } }, "required": ["type"] },
        "then": {
            "properties": { "text": { "type": "string", "description": "The text." } },
            "required": ["text"],
        },
    } })
}

pub(crate) fn numbered<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let named = T::json_schema(generator);
    let variants = named.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    numbers(
        variants.iter().map(|variant| variant.get("description").and_then(Value::as_str).unwrap_or_default()),
    )
}

pub(crate) fn numbers<'a>(meanings: impl IntoIterator<Item = &'a str>) -> Schema {
    described_values(meanings.into_iter().enumerate().map(|(number, meaning)| (Value::from(number), meaning)))
}

pub(crate) fn described_values<'a>(values: impl IntoIterator<Item = (Value, &'a str)>) -> Schema {
    let value = |(value, meaning)| json!({ "const": value, "description": meaning });
    let values = values.into_iter().map(value);
    json_schema!({ "anyOf": values.chain([json!({ "type": "null" })]).collect::<Vec<Value>>() })
}
