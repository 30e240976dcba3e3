//! Parameters, as this dialect has them.

use std::borrow::Cow;

use ctx_types::internal::{SamplerRule, excerpt};
use ctx_types::{Diagnostic, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::json::{Json, Object};
use crate::parameters::{ModelParameters, lowered};

/// The tokens of an answer where nobody says how many; the API demands a number.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

/// Parameters that other dialects have and this one refuses.
const FOREIGN: &[&str] = &[
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "n",
    "seed",
    "response_format",
    "min_p",
    "stream_options",
    "max_completion_tokens",
    "max_output_tokens",
    "stop",
    "generationConfig",
    "safetySettings",
];

/// What the provider's current types leave out, and older models take.
const OLD: &[&str] = &["temperature", "top_p", "top_k"];

/// The limit of the answer, which the API demands.
pub(super) fn max_tokens<'a>(parameters: &'a Map<String, Value>, found: &mut Vec<Diagnostic>) -> Json<'a> {
    let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let set = names.into_iter().find_map(|name| parameters.get(name));
    let default = || {
        let text =
            phrase!("`max_tokens` is required and not set; {default} is sent", default = DEFAULT_MAX_TOKENS);
        found.push(Diagnostic::info(codes::PARAMETER_ADDED, text).at_pointer("/max_tokens"));
        DEFAULT_MAX_TOKENS.into()
    };
    set.filter(|value| value.is_u64()).map_or_else(default, Json::from)
}

/// The other parameters; what the dialect has not is reported.
pub(super) fn own<'a>(
    parameters: ModelParameters<'a, '_>,
    samplers: SamplerRule,
    found: &mut Vec<Diagnostic>,
) -> Object<'a> {
    let mut written = Vec::new();
    let mut write = |name: &'a str, value| written.push((Cow::Borrowed(name), value));
    for (name, value) in parameters.accepted(found).into_iter().filter(|(name, _)| *name != "max_tokens") {
        match (name, value) {
            (name, value) if parameters.is_of_client(name) => write(name, value.into()),
            ("stop", Value::String(_)) => write("stop_sequences", vec![value.into()].into()),
            ("stop", Value::Array(_)) => write("stop_sequences", value.into()),
            ("max_completion_tokens" | "max_output_tokens", _) => {}
            (name, _) if FOREIGN.contains(&name) => {
                let text = phrase!(
                    "parameter `{name}` is not sent: this API dialect does not support it",
                    name = excerpt(name)
                );
                found.push(Diagnostic::warning(codes::PARAMETER_NOT_SENT, text));
            }
            (name, value) => {
                if OLD.contains(&name) && samplers == SamplerRule::Unknown {
                    let text = phrase!("parameter `{name}` is sent, but only older models accept it", name);
                    found.push(Diagnostic::info(codes::OLD_PARAMETER, text).at_pointer(format!("/{name}")));
                }
                let highest = if name == "temperature" { lowered(name, value, 1, found) } else { None };
                write(name, highest.unwrap_or_else(|| value.into()));
            }
        }
    }
    Object::merged(written)
}
