//! Parameters, as this dialect has them.

use ctx_types::{Diagnostic, excerpt};
use serde_json::{Map, Value, json};

use crate::codes;

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
pub(super) fn put(
    body: &mut Map<String, Value>,
    parameters: &Map<String, Value>,
    found: &mut Vec<Diagnostic>,
) {
    let mut config = Map::new();
    let mut beside = Map::new();
    for (name, value) in parameters {
        let known = NAMES.iter().find(|(theirs, _)| theirs == name);
        match (name.as_str(), known) {
            // How an answer comes is said by the address.
            ("stream", _) => {}
            ("generationConfig", _) if value.is_object() => {
                config.extend(value.as_object().cloned().unwrap_or_default());
            }
            ("response_format", _) => put_format(&mut config, value),
            (_, Some((_, "stopSequences"))) => {
                let list = if value.is_array() { value.clone() } else { json!([value]) };
                config.insert("stopSequences".to_owned(), list);
            }
            (_, Some((_, ours))) => drop(config.insert((*ours).to_owned(), value.clone())),
            (name, _) if OWN.contains(&name) => drop(beside.insert(name.to_owned(), value.clone())),
            (name, _) => found.push(not_sent(name)),
        }
    }
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    body.extend(beside);
}

/// Writes what form the answer has: JSON, by a schema if there is one.
fn put_format(config: &mut Map<String, Value>, format: &Value) {
    let kind = format.get("type").and_then(Value::as_str);
    if matches!(kind, Some("json_object" | "json_schema")) {
        config.insert("responseMimeType".to_owned(), Value::from("application/json"));
    }
    if let Some(schema) = format.pointer("/json_schema/schema") {
        config.insert("responseJsonSchema".to_owned(), schema.clone());
    }
}

fn not_sent(name: &str) -> Diagnostic {
    let shown = excerpt(name);
    if RESERVED.contains(&name) {
        let text = format!("parameter `{shown}` is not sent: the request sets it itself");
        return Diagnostic::warning(codes::RESERVED_PARAMETER, text);
    }
    let text = format!("parameter `{shown}` is not sent: this dialect has none of that name");
    Diagnostic::warning(codes::PARAMETER_NOT_SENT, text)
}
