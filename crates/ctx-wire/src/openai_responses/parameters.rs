//! Parameters, as this dialect has them.

use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use crate::codes;
use crate::json::{self, Json, Object, object};
use crate::parameters::ModelParameters;
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
pub(super) fn put<'a>(
    body: &mut Object<'a>,
    parameters: ModelParameters<'a, '_>,
    found: &mut Vec<Diagnostic>,
) {
    let mut written = Vec::new();
    let mut write = |name: &'a str, value| written.push((Cow::Borrowed(name), value));
    for (name, value) in parameters.accepted(found) {
        match name {
            name if parameters.is_of_client(name) => write(name, value.into()),
            "max_tokens" | "max_completion_tokens" => write("max_output_tokens", value.into()),
            "reasoning_effort" => write("reasoning", object([("effort", value.into())])),
            "response_format" => write("text", object([("format", format(value))])),
            name if FOREIGN.contains(&name) => {
                let text = phrase!(
                    "parameter `{name}` is not sent: this API dialect does not support it",
                    name = excerpt(name)
                );
                found.push(Diagnostic::warning(codes::PARAMETER_NOT_SENT, text));
            }
            name => write(name, value.into()),
        }
    }
    put_parameters(body, Object::merged(written), &["model", "input", "messages", "tools"], found);
}

/// The form of an answer: what chat completions keep under `json_schema` stands beside the type.
fn format(value: &Value) -> Json<'_> {
    let Some(schema) = value.get("json_schema").and_then(Value::as_object) else { return value.into() };
    let kind = (Cow::Borrowed("type"), Json::from("json_schema"));
    Object::merged([kind].into_iter().chain(json::fields(schema))).into()
}
