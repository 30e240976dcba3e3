//! The types of the page, made of the schema of the API.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::PAGE;
use crate::workspace;

/// What stands above the types.
const HEAD: &str = "\
// What the server says and takes: made of `api.schema.json` by `cargo xtask studio --types`.
//
// All requests but `login` carry `Authorization: Bearer TOKEN`; `accept-language: en|zh` chooses the language of an
// answer, `x-ctx-window` names the window. Every answer has the header `x-ctx-build`; a page of another build asks to be
// loaded anew.
";

fn place(name: &str) -> PathBuf {
    workspace::root().join(PAGE).join(name)
}

/// Writes the schema and the types anew.
pub(super) fn write() -> Result<()> {
    let test = ["test", "--quiet", "-p", "ctx-studio", "--test", "studio", "the_committed_schema"];
    workspace::run(workspace::cargo(&test).env("API_UPDATE", "1"))?;
    let file = place("src/api.d.ts");
    fs::write(&file, made()?).with_context(|| format!("cannot write {}", file.display()))
}

/// Compares the committed types with those that the committed schema gives; a test compares the schema.
pub(super) fn check() -> Result<()> {
    let committed = fs::read_to_string(place("src/api.d.ts")).unwrap_or_default();
    ensure!(
        committed == made()?,
        "`{PAGE}/src/api.d.ts` is not what the API is: run `cargo xtask studio --types`"
    );
    Ok(())
}

fn made() -> Result<String> {
    let file = place("api.schema.json");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let schema: Value = serde_json::from_str(&text).context("the schema of the API is no JSON")?;
    let types =
        schema.get("$defs").and_then(Value::as_object).context("the schema of the API has no types")?;
    let types: Vec<String> = types.iter().map(|(name, own)| declared(name, own)).collect();
    Ok(format!("{HEAD}\n{}", types.join("\n")))
}

/// Declares a type of a name.
fn declared(name: &str, schema: &Value) -> String {
    let about = about(schema, "");
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let fields: String =
                properties.iter().map(|(key, field)| self::field(key, field, schema, "  ")).collect();
            format!("{about}export interface {name} {{\n{fields}}}\n")
        }
        None => format!("{about}export type {name} = {};\n", written(schema)),
    }
}

/// Declares a field; one that may be missing is never null.
fn field(key: &str, field: &Value, object: &Value, indent: &str) -> String {
    let required = object.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|required| required.iter().any(|name| name == key));
    let mut kinds = kinds(field);
    if !is_required {
        kinds.retain(|kind| kind != "null");
    }
    let mark = if is_required { "" } else { "?" };
    format!("{}{indent}{key}{mark}: {};\n", about(field, indent), kinds.join(" | "))
}

fn about(schema: &Value, indent: &str) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    if text.is_empty() {
        return String::new();
    }
    // Examples are for programs.
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    format!("{indent}/** {} */\n", lines.join(&format!("\n{indent} * ")))
}

fn written(schema: &Value) -> String {
    kinds(schema).join(" | ")
}

/// The kinds of values that a schema takes, each as TypeScript writes it.
fn kinds(schema: &Value) -> Vec<String> {
    let Some(own) = schema.as_object() else { return vec!["unknown".to_owned()] };
    if let Some(name) = own.get("$ref").and_then(Value::as_str) {
        return vec![name.rsplit('/').next().unwrap_or(name).to_owned()];
    }
    if let Some(value) = own.get("const") {
        return vec![value.to_string()];
    }
    if let Some(values) = own.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect();
    }
    if let Some(several) = ["oneOf", "anyOf"].iter().find_map(|key| own.get(*key)?.as_array()) {
        return several.iter().flat_map(kinds).collect();
    }
    match own.get("type") {
        Some(Value::String(name)) => vec![of_type(name, own)],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(|name| of_type(name, own)).collect()
        }
        _ => vec!["unknown".to_owned()],
    }
}

fn of_type(name: &str, own: &Map<String, Value>) -> String {
    match name {
        "integer" => "number".to_owned(),
        "array" => list(own),
        "object" => match (own.get("properties").and_then(Value::as_object), own.get("additionalProperties"))
        {
            (Some(properties), _) => {
                let object = Value::Object(own.clone());
                properties.iter().fold("{ ".to_owned(), |mut text, (key, field)| {
                    let line = self::field(key, field, &object, "");
                    // Writing into a text cannot fail.
                    write!(text, "{} ", line.lines().last().unwrap_or_default()).unwrap_or_default();
                    text
                }) + "}"
            }
            (None, Some(Value::Bool(_)) | None) => "Record<string, never>".to_owned(),
            (None, Some(values)) => format!("Record<string, {}>", written(values)),
        },
        name => name.to_owned(),
    }
}

fn list(own: &Map<String, Value>) -> String {
    let items = own.get("items").map_or_else(|| vec!["unknown".to_owned()], kinds);
    let (one, many) = (items.join(" | "), items.len() > 1);
    let length = own.get("maxItems").filter(|most| own.get("minItems") == Some(most)).and_then(Value::as_u64);
    match length {
        Some(length) => format!("[{}]", vec![one; usize::try_from(length).unwrap_or(0)].join(", ")),
        None if many => format!("({one})[]"),
        None => format!("{one}[]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_is_written_as_typescript() {
        let schema = json!({
            "type": "object",
            "description": "A thing.",
            "properties": {
                "id": { "type": "string", "description": "Its name." },
                "at": { "type": ["integer", "null"] },
                "both": { "type": "array", "items": { "type": ["string", "null"] }, "minItems": 2, "maxItems": 2 },
                "parts": { "type": "array", "items": { "anyOf": [{ "$ref": "#/$defs/Part" }, { "const": "x" }] } },
                "tokens": { "type": "object", "additionalProperties": { "type": "integer" } },
                "value": true,
            },
            "required": ["id", "both", "value"],
        });
        let expected = "\
/** A thing. */
export interface Thing {
  /** Its name. */
  id: string;
  at?: number;
  both: [string | null, string | null];
  parts?: (Part | \"x\")[];
  tokens?: Record<string, number>;
  value: unknown;
}
";
        assert_eq!(declared("Thing", &schema), expected);
        let kinds = json!({ "oneOf": [{ "type": "object", "properties": { "op": { "const": "set" } }, "required": ["op"] }] });
        assert_eq!(declared("Edit", &kinds), "export type Edit = { op: \"set\"; };\n");
    }
}
