//! Parameters, as this dialect has them.

use ctx_types::{Diagnostic, excerpt};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::request::put_parameters;

/// Parameters of chat completions that this dialect has not.
const FOREIGN: &[&str] = &[
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "n",
    "seed",
    "stop",
    "stop_sequences",
    "top_k",
    "min_p",
    "stream_options",
    "generationConfig",
    "safetySettings",
];

/// Adds the parameters to a body; what the dialect has not is reported.
pub(super) fn put(
    body: &mut Map<String, Value>,
    parameters: &Map<String, Value>,
    found: &mut Vec<Diagnostic>,
) {
    let mut written = Map::new();
    for (name, value) in parameters {
        match name.as_str() {
            "max_tokens" | "max_completion_tokens" => {
                written.insert("max_output_tokens".to_owned(), value.clone());
            }
            "reasoning_effort" => drop(written.insert("reasoning".to_owned(), json!({ "effort": value }))),
            "response_format" => drop(written.insert("text".to_owned(), json!({ "format": format(value) }))),
            name if FOREIGN.contains(&name) => {
                let text =
                    format!("parameter `{}` is not sent: this dialect has none of that name", excerpt(name));
                found.push(Diagnostic::warning(codes::PARAMETER_NOT_SENT, text));
            }
            name => drop(written.insert(name.to_owned(), value.clone())),
        }
    }
    put_parameters(body, &written, &["model", "input", "messages", "tools"], found);
}

/// The form of an answer: what chat completions keep under `json_schema` stands beside the type.
fn format(value: &Value) -> Value {
    let Some(schema) = value.get("json_schema").and_then(Value::as_object) else { return value.clone() };
    let mut format = Map::new();
    format.insert("type".to_owned(), Value::from("json_schema"));
    format.extend(schema.clone());
    Value::Object(format)
}
