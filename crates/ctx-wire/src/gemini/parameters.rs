//! Parameters, as this dialect has them.

use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use crate::codes;
use crate::json::{self, Field, Json, Object};
use crate::parameters::ModelParameters;

/// What other dialects call the fields of `generationConfig`.
const NAMES: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("topP", "topP"),
    ("top_k", "topK"),
    ("topK", "topK"),
    ("max_tokens", "maxOutputTokens"),
    ("max_completion_tokens", "maxOutputTokens"),
    ("max_output_tokens", "maxOutputTokens"),
    ("maxOutputTokens", "maxOutputTokens"),
    ("stop", "stopSequences"),
    ("stop_sequences", "stopSequences"),
    ("stopSequences", "stopSequences"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
    ("seed", "seed"),
    ("n", "candidateCount"),
];

/// What stands beside `contents`.
const OWN: &[&str] = &["safetySettings", "toolConfig", "cachedContent", "labels", "serviceTier"];

/// What the request sets itself.
const RESERVED: &[&str] = &["model", "contents", "messages", "tools", "systemInstruction", "system"];

/// Adds `generationConfig` and what stands beside it; what the dialect has not is reported.
pub(super) fn put<'a>(
    body: &mut Object<'a>,
    parameters: ModelParameters<'a, '_>,
    found: &mut Vec<Diagnostic>,
) {
    let mut config: Vec<Field<'a>> = Vec::new();
    let mut beside = Object::default();
    for (name, value) in parameters.accepted(found) {
        let known = NAMES.iter().find(|(theirs, _)| *theirs == name);
        match (name, value) {
            // How an answer comes is said by the address.
            ("stream", _) => {}
            ("generationConfig", Value::Object(given)) => {
                config.retain(|(key, _)| !given.contains_key(&in_snake_case(key)));
                config.extend(json::fields(given));
            }
            (name, _) if parameters.is_of_client(name) => beside.push(name, value),
            ("response_format", _) => put_format(&mut config, value),
            (name, _) if OWN.contains(&name) => beside.push(name, value),
            (name, _) => match known {
                Some((_, "stopSequences")) => {
                    let list = if value.is_array() { value.into() } else { Json::List(vec![value.into()]) };
                    config.push((Cow::Borrowed("stopSequences"), list));
                }
                Some((_, ours)) => config.push((Cow::Borrowed(*ours), value.into())),
                None => found.push(not_sent(name)),
            },
        }
    }
    if !config.is_empty() {
        body.push("generationConfig", Object::merged(config));
    }
    body.append(beside);
}

/// Writes what form the answer has: JSON, by a schema if there is one.
fn put_format<'a>(config: &mut Vec<Field<'a>>, format: &'a Value) {
    let kind = format.get("type").and_then(Value::as_str);
    if matches!(kind, Some("json_object" | "json_schema")) {
        config.push((Cow::Borrowed("responseMimeType"), "application/json".into()));
    }
    if let Some(schema) = format.pointer("/json_schema/schema") {
        config.push((Cow::Borrowed("responseJsonSchema"), schema.into()));
    }
}

/// Returns the other spelling of a field, which clients may send.
fn in_snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn not_sent(name: &str) -> Diagnostic {
    let shown = excerpt(name);
    if RESERVED.contains(&name) {
        let text = phrase!("parameter `{shown}` is not sent: ctx sets it", shown);
        return Diagnostic::warning(codes::RESERVED_PARAMETER, text);
    }
    let text = phrase!("parameter `{shown}` is not sent: this API dialect does not support it", shown);
    Diagnostic::warning(codes::PARAMETER_NOT_SENT, text)
}
