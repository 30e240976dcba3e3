//! The form of the response in each API dialect.

use ctx_wire::Dialect;
use serde_json::{Map, Value, json};

use super::mapping::{Loss, Reason, put, take};

/// Converts the form of the response.
pub(super) fn map_format(
    given: &mut Map<String, Value>,
    mapped: &mut Map<String, Value>,
    client: Dialect,
    provider: Dialect,
    lost: &mut Vec<Loss>,
) {
    let (field, format) = match client {
        Dialect::Anthropic => ("output_config.format", take_output_format(given)),
        Dialect::Gemini => ("generationConfig.responseMimeType", take_response_schema(given)),
        Dialect::OpenaiResponses => ("text.format", take(given, "text.format").map(nested)),
        _ => ("response_format", take(given, "response_format")),
    };
    let Some(format) = format.filter(|format| !format.is_null()) else { return };
    let kind = format.get("type").and_then(Value::as_str).unwrap_or_default();
    let schema = format.pointer("/json_schema/schema");
    match (provider, kind, schema) {
        (_, "text", _) => {}
        (Dialect::Anthropic, "json_schema", Some(schema)) => {
            put(mapped, "output_config.format", json!({ "type": "json_schema", "schema": schema }));
        }
        (Dialect::OpenaiResponses, "json_schema" | "json_object", _) => {
            let mut flat = json!({ "type": kind });
            let schema = format.get("json_schema").and_then(Value::as_object);
            if let (Some(flat), Some(schema)) = (flat.as_object_mut(), schema) {
                flat.extend(schema.clone());
            }
            put(mapped, "text.format", flat);
        }
        (Dialect::OpenaiChat | Dialect::Gemini | Dialect::Completion, "json_schema" | "json_object", _) => {
            mapped.insert("response_format".to_owned(), format);
        }
        _ => lost.push(Loss::new(field, Reason::Value)),
    }
}

/// Returns the format of responses as chat completions have it.
fn nested(format: Value) -> Value {
    match format {
        Value::Object(mut fields) if fields.get("type").is_some_and(|kind| kind == "json_schema") => {
            fields.shift_remove("type");
            json!({ "type": "json_schema", "json_schema": fields })
        }
        other => other,
    }
}

/// The name that chat completions demand for a schema.
const SCHEMA_NAME: &str = "answer";

fn take_output_format(given: &mut Map<String, Value>) -> Option<Value> {
    let format = take(given, "output_config.format");
    let format = format.or_else(|| take(given, "output_format"))?;
    Some(match format.get("schema") {
        Some(schema) => {
            json!({ "type": "json_schema", "json_schema": { "name": SCHEMA_NAME, "schema": schema } })
        }
        None => format,
    })
}

fn take_response_schema(given: &mut Map<String, Value>) -> Option<Value> {
    let kind = take(given, "generationConfig.responseMimeType")?;
    match kind.as_str() {
        Some("text/plain") => None,
        Some("application/json") => {
            let schema = take(given, "generationConfig.responseJsonSchema");
            let schema = schema.or_else(|| take(given, "generationConfig.responseSchema").map(lowered));
            Some(match schema {
                Some(schema) => {
                    let schema = json!({ "name": SCHEMA_NAME, "schema": schema });
                    json!({ "type": "json_schema", "json_schema": schema })
                }
                None => json!({ "type": "json_object" }),
            })
        }
        _ => Some(json!({ "type": kind })),
    }
}

/// Returns a schema with the types of JSON Schema. Gemini writes them in capitals.
pub(super) fn lowered(schema: Value) -> Value {
    let Value::Object(fields) = schema else { return schema };
    let field = |(key, value): (String, Value)| {
        let value = match (key.as_str(), value) {
            ("type", Value::String(kind)) => Value::from(kind.to_lowercase()),
            ("items" | "additionalProperties" | "not", schema) => lowered(schema),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.into_iter().map(lowered).collect()
            }
            ("properties" | "$defs" | "defs", Value::Object(schemas)) => {
                let schemas = schemas.into_iter().map(|(name, schema)| (name, lowered(schema)));
                Value::Object(schemas.collect())
            }
            (_, value) => value,
        };
        (key, value)
    };
    Value::Object(fields.into_iter().map(field).collect())
}
