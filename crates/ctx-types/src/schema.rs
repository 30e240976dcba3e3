//! JSON Schemas of nouns: what their files may hold, told to editors.
//!
//! A schema accepts what the readers take without a finding. Keys without a field may hold anything, since files
//! are lossless, and null is as if the key were absent. The docs of types and fields are the descriptions.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// One field of a noun: its key, its docs, and what its slot may hold.
pub(crate) type Property = (&'static str, &'static str, Schema);

/// Describes an object with these fields, and whatever else.
pub(crate) fn object(about: &str, properties: impl IntoIterator<Item = Property>) -> Schema {
    let describe = |(key, about, mut schema): Property| {
        schema.insert("description".to_owned(), Value::from(about));
        (key.to_owned(), Value::from(schema))
    };
    let properties: Map<String, Value> = properties.into_iter().map(describe).collect();
    json_schema!({ "type": "object", "description": about, "properties": properties })
}

/// Describes a slot of one simple type.
pub(crate) fn simple(name: &str) -> Schema {
    json_schema!({ "type": [name, "null"] })
}

/// Describes a slot that may hold whatever there is.
pub(crate) fn anything() -> Schema {
    Schema::default()
}

/// Describes a text, or a list of texts, that is one of these words.
pub(crate) fn one_of(words: &[&str], mut slot: Schema) -> Schema {
    if let Some(item) = slot.get_mut("items") {
        *item = json!({ "enum": words });
        return slot;
    }
    let words = words.iter().copied().map(Value::from);
    json_schema!({ "enum": words.chain([Value::Null]).collect::<Vec<Value>>() })
}

/// Describes a text, or a list of texts, for which these words mean something; others are no fault.
pub(crate) fn such_as(words: &[&str], mut slot: Schema) -> Schema {
    let known = json!({ "enum": words });
    if let Some(item) = slot.get_mut("items") {
        *item = json!({ "anyOf": [known, { "type": "string" }] });
        return slot;
    }
    json_schema!({ "anyOf": [known, { "type": ["string", "null"] }] })
}

/// Describes a number that is not below another.
pub(crate) fn at_least(minimum: i64, mut slot: Schema) -> Schema {
    slot.insert("minimum".to_owned(), Value::from(minimum));
    slot
}

/// Describes a slot that holds a list.
pub(crate) fn list(item: &Schema) -> Schema {
    json_schema!({ "type": ["array", "null"], "items": item })
}

/// Describes a slot that holds a type with a schema of its own.
pub(crate) fn optional<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "type": "null" }] })
}

/// Describes what a message says: a text, or a list of parts.
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

/// Describes a slot that holds the number of a variant; its docs say what each number means.
pub(crate) fn numbered<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let named = T::json_schema(generator);
    let variants = named.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    numbers(
        variants.iter().map(|variant| variant.get("description").and_then(Value::as_str).unwrap_or_default()),
    )
}

/// Describes a slot that holds a number from 0 on, of which these are the meanings.
pub(crate) fn numbers<'a>(meanings: impl IntoIterator<Item = &'a str>) -> Schema {
    meant(meanings.into_iter().enumerate().map(|(number, meaning)| (Value::from(number), meaning)))
}

/// Describes a slot that holds one of these values, each with its meaning.
pub(crate) fn meant<'a>(values: impl IntoIterator<Item = (Value, &'a str)>) -> Schema {
    let value = |(value, meaning)| json!({ "const": value, "description": meaning });
    let values = values.into_iter().map(value);
    json_schema!({ "anyOf": values.chain([json!({ "type": "null" })]).collect::<Vec<Value>>() })
}
