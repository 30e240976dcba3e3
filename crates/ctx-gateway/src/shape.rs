//! What a request to the provider holds beside its messages: what the client asked for, in the provider's words.

use ctx_chat::RequestShape;
use ctx_wire::Dialect;
use serde_json::Value;

use crate::dialect::{Asked, ToolChoice, translate, write_choice};

/// Parameters that dialects have in common, or tell that they have not.
const SHARED: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "response_format",
];

/// Parameters that OpenAI's two dialects have in common.
const OPENAI: &[&str] = &["reasoning_effort", "parallel_tool_calls", "service_tier", "user"];

/// Adds the client's parameters to the agent's, and overrides them. Returns the names of parameters that the provider's
/// dialect does not have.
pub(crate) fn fill(
    shape: &mut RequestShape,
    asked: &mut Asked,
    client: Dialect,
    provider: Dialect,
) -> Vec<String> {
    shape.streams = asked.streams;
    shape.tools = std::mem::take(&mut asked.tools);
    if client == provider {
        if asked.parameters.contains_key("max_completion_tokens") {
            shape.parameters.shift_remove("max_tokens");
        }
        shape.parameters.extend(std::mem::take(&mut asked.parameters));
        shape.parameters.extend(std::mem::take(&mut asked.own));
        return std::mem::take(&mut asked.lost);
    }
    let choice = translate(client, asked);
    let mut lost = std::mem::take(&mut asked.lost);
    let is_openai = |dialect| matches!(dialect, Dialect::OpenaiChat | Dialect::OpenaiResponses);
    let one_call = asked.parameters.get("parallel_tool_calls") == Some(&Value::Bool(false));
    // These options are for the client's stream.
    asked.parameters.shift_remove("stream_options");
    for (key, value) in std::mem::take(&mut asked.parameters) {
        let is_said = SHARED.contains(&key.as_str()) || is_openai(provider) && OPENAI.contains(&key.as_str());
        if is_said {
            if key == "max_completion_tokens" {
                shape.parameters.shift_remove("max_tokens");
            }
            shape.parameters.insert(key, value);
        } else if !(key == "parallel_tool_calls" && provider == Dialect::Anthropic) && value != false {
            lost.push(key);
        }
    }
    let own = std::mem::take(&mut asked.own).into_iter();
    lost.extend(own.filter(|(_, value)| *value != false).map(|(key, _)| key));
    let for_one =
        (provider == Dialect::Anthropic && one_call && !shape.tools.is_empty()).then_some(ToolChoice::Auto);
    if let Some(choice) = choice.or(for_one) {
        let (key, mut value) = write_choice(provider, &choice);
        if provider == Dialect::Anthropic && one_call && choice != ToolChoice::None {
            value["disable_parallel_tool_use"] = Value::Bool(true);
        }
        match provider {
            Dialect::Completion => lost.push("tool_choice".to_owned()),
            _ => {
                shape.parameters.insert(key.to_owned(), value);
            }
        }
    }
    lost
}
