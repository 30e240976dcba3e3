//! The request linter: what a provider would refuse in a body, before it is sent.

mod anthropic;
mod completion;
mod gemini;
mod images;
mod model_words;
mod openai_chat;
mod openai_responses;
mod parameters;
mod schema;
mod thinking;
mod tools;

use ctx_types::internal::{Argument, Divider, PartOwner, RequestRules, excerpt, nearest, pointer_step};
use ctx_types::{Diagnostic, Fix, Phrase, Severity, phrase};
use serde_json::{Map, Value};

use crate::call_ids::MAX_ID;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::Json;
use crate::pairing::refused;
use crate::parameters::{ModelParameters, SAMPLERS};

pub(crate) use anthropic::check as anthropic;
pub(crate) use completion::check as completion;
pub(crate) use gemini::check as gemini;
pub(crate) use openai_chat::check as openai_chat;
pub(crate) use openai_responses::check as openai_responses;

/// Finds what a provider would refuse in a request body, ours or anybody's.
///
/// Looked at are the shapes and the order of messages, roles, pairs of tool calls and results, empty contents,
/// tool definitions and the limits of the dialect. Findings have pointers into the body; errors are what the
/// provider refuses, warnings what some servers do. O(size of the body).
///
/// ```
/// use ctx_wire::{Dialect, lint};
/// use serde_json::json;
///
/// let body = json!({ "model": "m", "messages": [{ "role": "tool", "tool_call_id": "a", "content": "42" }] });
/// let found = lint::check(&body, Dialect::OpenaiChat);
/// assert_eq!(found[0].to_string(), "error[CTX0521]: no earlier call has id `a` (at /messages/0/tool_call_id)");
/// ```
pub fn check(body: &Value, dialect: Dialect) -> Vec<Diagnostic> {
    check_for(body, dialect, RequestRules::default())
}

/// Checks a body as [`check`] does, also by the rules of its model.
///
/// ```
/// use ctx_types::internal::{RequestRules, SamplerRule};
/// use ctx_wire::{Dialect, lint};
/// use serde_json::json;
///
/// let rules = RequestRules { samplers: SamplerRule::None, ..RequestRules::default() };
/// let body = json!({ "model": "m", "temperature": 0.5, "messages": [{ "role": "user", "content": "Hi" }] });
/// let found = lint::check_for(&body, Dialect::OpenaiChat, rules);
/// assert_eq!(found[0].to_string(), "error[CTX0536]: the model does not accept parameter `temperature` (at /temperature)");
/// ```
pub fn check_for(body: &Value, dialect: Dialect, rules: RequestRules) -> Vec<Diagnostic> {
    let body = &Json::from(body);
    let mut found = match dialect {
        Dialect::OpenaiChat => openai_chat(body, rules),
        Dialect::OpenaiResponses => openai_responses(body, rules),
        Dialect::Anthropic => anthropic(body, rules),
        Dialect::Gemini => gemini(body, rules),
        Dialect::Completion => completion(body),
    };
    parameters::check_spelling(body, &mut found);
    found
}

/// Finds the parameters that the model rejects.
fn check_parameters(body: &Json<'_>, rules: RequestRules, found: &mut Vec<Diagnostic>) {
    const NAMES: [&str; 6] = ["top_k", "stop", "stop_sequences", "reasoning_effort", "reasoning", "thinking"];
    let names = NAMES.iter().chain(SAMPLERS);
    let parameters: Map<String, Value> =
        names.filter_map(|name| Some(((*name).to_owned(), body.get(name)?.to_value()))).collect();
    found.extend(ModelParameters::new(&parameters, rules).rejected());
}

/// The most pairs of metadata at OpenAI, and the most characters of a key and of a value.
const MAX_METADATA: usize = 16;
const MAX_METADATA_KEY: usize = 64;
const MAX_METADATA_VALUE: usize = 512;

/// Checks for the model name of a router (`openai/gpt-5`) or of open weights on a local server (`deepseek-r1:14b`,
/// `DeepSeek-R1`), which may accept more than the provider.
fn is_served_by_others(body: &Json<'_>) -> bool {
    let model = body.get("model").and_then(Json::as_str).unwrap_or_default();
    let model = model.strip_prefix("models/").unwrap_or(model);
    model.contains(|letter: char| matches!(letter, '/' | ':') || letter.is_ascii_uppercase())
}

/// Makes an error a warning if the server may accept the request.
fn for_server(finding: Diagnostic, is_strict: bool) -> Diagnostic {
    let severity = if is_strict { finding.severity } else { Severity::Warning };
    Diagnostic { severity, ..finding }
}

/// Finds metadata beyond OpenAI's limits.
fn check_metadata(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let Some(metadata) = body.get("metadata").and_then(Json::as_object) else { return };
    if metadata.len() > MAX_METADATA {
        let text = phrase!(
            "`metadata` has {count} pairs; the limit is {limit}",
            count = metadata.len(),
            limit = MAX_METADATA
        );
        found.push(refused(codes::DIALECT_LIMIT, text).at_pointer("/metadata"));
    }
    for (key, value) in metadata.iter() {
        let length = value.as_str().map_or(0, |value| value.chars().count());
        if key.chars().count() > MAX_METADATA_KEY || length > MAX_METADATA_VALUE {
            let text = phrase!(
                "`metadata` accepts keys of {key} and values of {value} characters at most",
                key = MAX_METADATA_KEY,
                value = MAX_METADATA_VALUE
            );
            found.push(
                refused(codes::DIALECT_LIMIT, text).at_pointer(format!("/metadata/{}", pointer_step(key))),
            );
        }
    }
}

/// Finds a reasoning effort that OpenAI's model does not have.
fn check_effort(body: &Json<'_>, effort: Option<&Json<'_>>, place: &str, found: &mut Vec<Diagnostic>) {
    let Some(effort) = effort.and_then(Json::as_str) else { return };
    let Some(known) = model_words::efforts(model_words::model(body)) else { return };
    if known.is_empty() {
        let text = phrase!(
            "the model does not accept parameter `{name}`",
            name = place.trim_start_matches('/').replace('/', ".")
        );
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer(place));
    } else if !known.contains(&effort) {
        let known = Argument::list(known.into_iter().map(Phrase::verbatim), Divider::Comma);
        let text = phrase!(
            "the model has no reasoning effort `{effort}`; it has {known}",
            effort = excerpt(effort),
            known
        );
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer(place));
    }
}

/// Finds a limit on the output above the maximum of the model.
fn check_output_limit(
    limit: Option<&Json<'_>>,
    place: &str,
    rules: RequestRules,
    found: &mut Vec<Diagnostic>,
) {
    let Some(Json::Number(limit)) = limit else { return };
    let (Some(limit), Some(most)) = (limit.as_u64(), rules.max_output) else { return };
    if limit > u64::from(most) {
        let text = phrase!(
            "an output limit of {limit} tokens is above the maximum of the model, {most}",
            limit,
            most
        );
        found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(place));
    }
}

/// Returns the API dialect of a request body; `None` for any other document.
///
/// Gemini has `contents`, responses have `input`, and text completions a `prompt`. Messages are Anthropic's with
/// `anthropic_version`, `system`, Anthropic's blocks, tools or thinking, or with a Claude model, `max_tokens` and without
/// parameters of chat completions. Otherwise they are a chat completion.
pub fn detect(body: &Value) -> Option<Dialect> {
    if body.get("contents").is_some_and(|contents| contents.is_array() || contents.get("parts").is_some()) {
        return Some(Dialect::Gemini);
    }
    let is_named = body.get("model").is_some_and(Value::is_string);
    if is_named && body.get("input").is_some_and(|input| input.is_array() || input.is_string()) {
        return Some(Dialect::OpenaiResponses);
    }
    if is_named && body.get("prompt").is_some_and(Value::is_string) {
        return Some(Dialect::Completion);
    }
    let messages = body.get("messages")?.as_array()?;
    // Bodies for Bedrock and Vertex have a version, and no model.
    if body.get("anthropic_version").is_some_and(Value::is_string) {
        return Some(Dialect::Anthropic);
    }
    is_named.then_some(())?;
    if body.get("system").is_some() {
        return Some(Dialect::Anthropic);
    }
    if has_chat_roles(messages) || has_chat_fields(body, messages) {
        return Some(Dialect::OpenaiChat);
    }
    let mut blocks = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let has_blocks = blocks.any(|block| match block.get("type").and_then(Value::as_str) {
        Some("tool_use" | "tool_result" | "redacted_thinking" | "image") => true,
        // Mistral has thinking too, as a list.
        Some("thinking") => block.get("thinking").is_none_or(Value::is_string),
        _ => PartOwner::of(block) == PartOwner::Anthropic,
    });
    let has = |key: &str| body.get(key).is_some();
    let tools = body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_tools = tools.iter().any(|tool| tool.get("input_schema").is_some())
        || has("max_tokens") && tools.iter().any(is_anthropic_tool);
    // Routers read chat completions for Claude too.
    let model = body.get("model").and_then(Value::as_str).filter(|model| !model.contains('/'));
    let is_claude = model.is_some_and(|model| {
        if has("thinking") || has("stop_sequences") || has("mcp_servers") {
            model.contains("claude-")
        } else {
            // Anthropic requires `max_tokens`.
            model.starts_with("claude-") && has("max_tokens")
        }
    });
    Some(if has_blocks || has_tools || is_claude { Dialect::Anthropic } else { Dialect::OpenaiChat })
}

/// Parameters of chat completions that Anthropic does not have.
const CHAT_PARAMETERS: [&str; 13] = [
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream_options",
    "user",
];

/// Returns whether a body has parameters, tools or parts of chat completions.
fn has_chat_fields(body: &Value, messages: &[Value]) -> bool {
    let mut tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let is_function = |tool: &Value| {
        tool.get("function").is_some() || tool.get("type").is_some_and(|kind| kind == "function")
    };
    let mut parts = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let is_chat_part = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str);
        matches!(kind, Some("image_url" | "input_audio" | "file"))
    };
    let is_claude =
        body.get("model").and_then(Value::as_str).is_some_and(|model| model.starts_with("claude-"));
    let has_parameter = is_claude && CHAT_PARAMETERS.iter().any(|key| body.get(*key).is_some());
    has_parameter
        || body.get("tool_choice").is_some_and(Value::is_string)
        || tools.any(is_function)
        || parts.any(is_chat_part)
}

/// Returns whether messages have a role or calls of chat completions. Anthropic has system messages only after the
/// first message.
fn has_chat_roles(messages: &[Value]) -> bool {
    let has_role = |message: &Value, roles: &[&str]| {
        message.get("role").and_then(Value::as_str).is_some_and(|role| roles.contains(&role))
    };
    let is_chat = |message: &Value| {
        has_role(message, &["tool", "function", "developer"])
            || message.get("tool_calls").is_some_and(Value::is_array)
    };
    messages.first().is_some_and(|first| has_role(first, &["system"])) || messages.iter().any(is_chat)
}

/// Returns whether a tool is one of Anthropic's: with a schema of its own, or by a type such as `bash_20250124`.
fn is_anthropic_tool(tool: &Value) -> bool {
    let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
    let date = kind.rsplit_once('_').map_or("", |(_, date)| date);
    let is_dated = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    tool.get("input_schema").is_some() || is_dated || tools::is_toolset(kind)
}

/// The messages of a body; what stands there instead is reported.
fn messages<'a>(body: &'a Json<'a>, found: &mut Vec<Diagnostic>) -> &'a [Json<'a>] {
    match body.get("messages").and_then(Json::as_list) {
        None => {
            found.push(refused(codes::SHAPE, phrase!("`messages` must be a list")).at_pointer("/messages"));
        }
        Some([]) => {
            found.push(
                refused(codes::NO_MESSAGES, phrase!("the request has no messages")).at_pointer("/messages"),
            );
        }
        Some(messages) => return messages,
    }
    &[]
}

/// Returns whether a content has nothing that could be read: no text but white space, no other part.
fn is_empty(content: Option<&Json<'_>>) -> bool {
    match content {
        None | Some(Json::Null) => true,
        Some(Json::Text(text)) => text.trim().is_empty(),
        Some(Json::List(parts)) => parts.iter().all(|part| {
            let text = part.get("text").and_then(Json::as_str);
            text.map_or(!part.is_object(), |text| text.trim().is_empty())
        }),
        Some(_) => false,
    }
}

/// Reports a request without a model.
fn check_model(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let model = body.get("model").and_then(Json::as_str).unwrap_or_default();
    if model.is_empty() {
        let finding = Diagnostic::warning(codes::NO_MODEL, phrase!("the request has no model"));
        found.push(finding.at_pointer("/model"));
    }
}

/// The finding about a role that the dialect does not have.
fn unknown_role(message: Phrase, role: &str, known: &[&'static str]) -> Diagnostic {
    let finding = refused(codes::SHAPE, message);
    match nearest(role, known.iter().copied()) {
        Some(near) => finding.with_guess(near, Fix::text),
        None => finding,
    }
}

/// The finding about an id that is too long.
fn long_id(id: &str) -> Diagnostic {
    let text = phrase!(
        "call id `{id}` has {length} bytes; the limit is {limit}",
        id = excerpt(id),
        length = id.len(),
        limit = MAX_ID
    );
    refused(codes::DIALECT_LIMIT, text)
}
