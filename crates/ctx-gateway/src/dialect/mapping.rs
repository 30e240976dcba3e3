//! Maps the fields of a request from the client's API dialect to the provider's. `docs/dialects.md` has the same table.

use ctx_types::internal::{RequestRules, excerpt};
use ctx_types::phrase;
use ctx_wire::{Dialect, read_tools};
use serde_json::{Map, Value, json};

use super::ClientRequest;
use super::effort::map_effort;
use super::response_format::{lowered, map_format};
use super::tool_choice::{ToolChoice, read_choice, write_choice};
use crate::api_error::ApiError;

/// A field in each API dialect. A dot leads into an object. An empty name means that the dialect has no such field.
struct Row {
    chat: &'static str,
    responses: &'static str,
    anthropic: &'static str,
    gemini: &'static str,
}

impl Row {
    const fn new(
        chat: &'static str,
        responses: &'static str,
        anthropic: &'static str,
        gemini: &'static str,
    ) -> Self {
        Self { chat, responses, anthropic, gemini }
    }

    const fn name(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::OpenaiResponses => self.responses,
            Dialect::Anthropic => self.anthropic,
            Dialect::Gemini => self.gemini,
            _ => self.chat,
        }
    }
}

/// Fields whose values are the same in all dialects. Other fields have a function below.
const ROWS: [Row; 20] = [
    Row::new("max_tokens", "max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens"),
    Row::new("max_completion_tokens", "max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens"),
    Row::new("temperature", "temperature", "temperature", "generationConfig.temperature"),
    Row::new("top_p", "top_p", "top_p", "generationConfig.topP"),
    Row::new("top_k", "", "top_k", "generationConfig.topK"),
    Row::new("stop", "", "stop_sequences", "generationConfig.stopSequences"),
    Row::new("seed", "", "", "generationConfig.seed"),
    Row::new("presence_penalty", "", "", "generationConfig.presencePenalty"),
    Row::new("frequency_penalty", "", "", "generationConfig.frequencyPenalty"),
    Row::new("logprobs", "", "", "generationConfig.responseLogprobs"),
    Row::new("top_logprobs", "top_logprobs", "", "generationConfig.logprobs"),
    Row::new("user", "user", "metadata.user_id", ""),
    Row::new("safety_identifier", "safety_identifier", "", ""),
    Row::new("service_tier", "service_tier", "", ""),
    Row::new("verbosity", "text.verbosity", "", ""),
    Row::new("store", "store", "", ""),
    Row::new("metadata", "metadata", "", ""),
    Row::new("prompt_cache_key", "prompt_cache_key", "", ""),
    Row::new("prompt_cache_retention", "prompt_cache_retention", "", ""),
    Row::new("prompt_cache_options", "prompt_cache_options", "", ""),
];

/// Objects whose fields are reported one by one.
const CONTAINERS: [&str; 6] = [
    "generation_config",
    "generation_config.thinking_config",
    "output_config",
    "reasoning",
    "text",
    "tool_config",
];

/// Fields of a function that all dialects have, and fields that its caller does not read.
const TOOL_FIELDS: [&str; 13] = [
    "type",
    "function",
    "custom",
    "name",
    "description",
    "parameters",
    "input_schema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "format",
    "strict",
    "cache_control",
    "eager_input_streaming",
];

/// The provider and its model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) model: &'a str,
    pub(crate) rules: RequestRules,
    /// The agent's limit of a reply in tokens. A limit of the client replaces it.
    pub(crate) max_tokens: Option<u64>,
}

/// A part of a request that the provider's API cannot express.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Path of the field in the client's body.
    pub(crate) field: String,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The API has no such field.
    Field,
    /// The API has no such value of the field.
    Value,
    /// The client's provider runs the tool.
    Tool,
}

impl Loss {
    pub(super) fn new(field: impl Into<String>, reason: Reason) -> Self {
        Self { field: field.into(), reason }
    }

    /// Rejects the request.
    pub(crate) fn into_api_error(self) -> ApiError {
        let field = excerpt(&self.field);
        let text = match self.reason {
            Reason::Field => phrase!("`{field}` has no counterpart in the API of the provider", field),
            Reason::Value => {
                phrase!("the value of `{field}` has no counterpart in the API of the provider", field)
            }
            Reason::Tool => phrase!("`{field}` is a tool that only another provider runs", field),
        };
        let help = phrase!("{problem}; `on-loss = \"drop\"` in `ctx.toml` drops it", problem = text);
        ApiError::malformed(help).at(&self.field)
    }
}

/// Converts the parameters and tools of a request. Returns the losses.
pub(crate) fn map_request(body: &mut ClientRequest, client: Dialect, target: Target<'_>) -> Vec<Loss> {
    let mut lost = Vec::new();
    body.tools = map_tools(std::mem::take(&mut body.tools), client, &mut lost);
    let mut given = std::mem::take(&mut body.parameters);
    let mut mapped = Map::new();
    for row in &ROWS {
        let (from, to) = (row.name(client), row.name(target.dialect));
        if !from.is_empty()
            && !to.is_empty()
            && let Some(value) = take(&mut given, from).filter(|value| !value.is_null())
        {
            // Only chat completions have one stop sequence as a string.
            let is_single = value.is_string() && from == "stop" && to != "stop";
            put(&mut mapped, to, if is_single { json!([value]) } else { value });
        }
    }
    let is_too_high = mapped.get("temperature").and_then(Value::as_f64).is_some_and(|value| value > 1.0);
    if is_too_high && target.dialect == Dialect::Anthropic {
        mapped.insert("temperature".to_owned(), json!(1));
        lost.push(Loss::new("temperature", Reason::Value));
    }
    map_effort(&mut given, &mut mapped, client, target, &mut lost);
    map_format(&mut given, &mut mapped, client, target.dialect, &mut lost);
    map_choice(&mut given, &mut mapped, (client, target.dialect), !body.tools.is_empty(), &mut lost);
    if client == Dialect::OpenaiChat && target.dialect == Dialect::Completion {
        // Local servers have the same further parameters in both.
        mapped.extend(given);
    } else {
        add_unmapped(given, "", &mut lost);
    }
    body.parameters = mapped;
    lost
}

/// Reports the remaining fields, except those without effect.
fn add_unmapped(fields: Map<String, Value>, place: &str, lost: &mut Vec<Loss>) {
    for (key, value) in fields {
        let field = format!("{place}{key}");
        match value {
            Value::Object(inner) if CONTAINERS.contains(&in_snake_case(&field).as_str()) => {
                add_unmapped(inner, &format!("{field}."), lost);
            }
            value if has_no_effect(&field, &value) => {}
            _ => lost.push(Loss::new(field, Reason::Field)),
        }
    }
}

/// Returns whether a request means the same without a field.
fn has_no_effect(field: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let is_zero = || value.as_f64().is_some_and(|number| number.abs() < f64::EPSILON);
    is_empty
        || match in_snake_case(field).as_str() {
            // They concern the stream, the provider's cache, or the form in which reasoning is shown.
            "stream"
            | "stream_options"
            | "prompt_cache_key"
            | "prompt_cache_retention"
            | "prompt_cache_options"
            | "cache_control"
            | "reasoning.summary"
            | "generation_config.thinking_config.include_thoughts" => true,
            "store" | "background" | "logprobs" | "generation_config.response_logprobs" => value == false,
            "n" | "generation_config.candidate_count" => value == 1,
            "presence_penalty" | "frequency_penalty" | "top_logprobs" => is_zero(),
            "generation_config.presence_penalty" | "generation_config.frequency_penalty" => is_zero(),
            "modalities" => *value == json!(["text"]),
            "service_tier" => matches!(value.as_str(), Some("auto" | "default" | "standard")),
            "truncation" => value == "disabled",
            "include" => {
                let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
                list.iter().all(|item| item == "reasoning.encrypted_content")
            }
            _ => false,
        }
}

/// Converts the tool choice, and whether only one tool can be called.
fn map_choice(
    given: &mut Map<String, Value>,
    mapped: &mut Map<String, Value>,
    (client, provider): (Dialect, Dialect),
    has_tools: bool,
    lost: &mut Vec<Loss>,
) {
    let is_gemini = client == Dialect::Gemini;
    let field = if is_gemini { "toolConfig.functionCallingConfig" } else { "tool_choice" };
    let value = take(given, field).filter(|value| !value.is_null());
    let is_single = value.as_ref().is_some_and(|value| value["disable_parallel_tool_use"] == true);
    let parallel = take(given, "parallel_tool_calls");
    let is_single = is_single || parallel == Some(Value::Bool(false));
    let choice = value.as_ref().map(|value| read_choice(client, value));
    if choice == Some(None) {
        lost.push(Loss::new(field, Reason::Value));
    }
    let choice = choice.flatten();
    let written = choice.as_ref().map(|choice| write_choice(provider, choice));
    match written {
        Some(Some(value)) if provider == Dialect::Gemini => {
            put(mapped, "toolConfig.functionCallingConfig", value);
        }
        Some(Some(value)) => put(mapped, "tool_choice", value),
        Some(None) if choice != Some(ToolChoice::Auto) => lost.push(Loss::new(field, Reason::Value)),
        _ => {}
    }
    if !is_single || !has_tools || choice == Some(ToolChoice::None) {
        return;
    }
    match provider {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => put(mapped, "parallel_tool_calls", json!(false)),
        Dialect::Anthropic => {
            mapped.entry("tool_choice").or_insert_with(|| json!({ "type": "auto" }));
            put(mapped, "tool_choice.disable_parallel_tool_use", json!(true));
        }
        _ => lost.push(Loss::new("parallel_tool_calls", Reason::Field)),
    }
}

/// Returns the functions. The client's provider runs the other tools.
fn map_tools(tools: Vec<Value>, client: Dialect, lost: &mut Vec<Loss>) -> Vec<Value> {
    let mut mapped = Vec::with_capacity(tools.len());
    for (index, mut tool) in tools.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        if client == Dialect::Gemini {
            let declared = tool.as_object_mut().and_then(|tool| take(tool, "functionDeclarations"));
            for mut function in declared.and_then(|list| list.as_array().cloned()).into_iter().flatten() {
                let schema =
                    function.as_object_mut().and_then(|function| function.shift_remove("parameters"));
                if let Some(schema) = schema {
                    function["parametersJsonSchema"] = lowered(schema);
                }
                check_tool(&function, &format!("{place}.functionDeclarations"), lost);
                mapped.push(function);
            }
            let keys = tool.as_object().into_iter().flatten().map(|(key, _)| key);
            lost.extend(keys.map(|key| Loss::new(format!("{place}.{key}"), Reason::Tool)));
        } else if tool["type"] == "custom" || !read_tools(&tool).is_empty() {
            check_tool(&tool, &place, lost);
            mapped.push(tool);
        } else {
            lost.push(Loss::new(place, Reason::Tool));
        }
    }
    mapped
}

/// Reports the fields of a function that the other dialects do not have.
fn check_tool(tool: &Value, place: &str, lost: &mut Vec<Loss>) {
    let inner = ["function", "custom"].into_iter().filter_map(|key| tool.get(key));
    for (key, value) in inner.chain([tool]).filter_map(Value::as_object).flatten() {
        if !TOOL_FIELDS.contains(&key.as_str()) && value != false && !has_no_effect(key, value) {
            lost.push(Loss::new(format!("{place}.{key}"), Reason::Field));
        }
    }
}

/// Takes a field, in the spelling of Gemini's API or of its SDKs.
pub(super) fn take(fields: &mut Map<String, Value>, path: &str) -> Option<Value> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let snake = in_snake_case(key);
    let key = if fields.contains_key(key) { key } else { snake.as_str() };
    match rest {
        None => fields.shift_remove(key),
        Some(rest) => take(fields.get_mut(key)?.as_object_mut()?, rest),
    }
}

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

/// Sets a field.
pub(super) fn put(fields: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((key, rest)) = path.split_once('.') else {
        fields.insert(path.to_owned(), value);
        return;
    };
    let inner = fields.entry(key).or_insert_with(|| json!({}));
    if let Some(inner) = inner.as_object_mut() {
        put(inner, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::internal::ThinkingRule;

    use super::*;

    fn target(dialect: Dialect, thinking: ThinkingRule) -> Target<'static> {
        let rules = RequestRules { thinking, ..RequestRules::default() };
        Target { dialect, model: "m", rules, max_tokens: None }
    }

    /// Maps parameters and compares the result and the names of lost fields.
    #[track_caller]
    fn check(client: Dialect, given: &Value, provider: Dialect, expected: &Value, lost: &[&str]) {
        let parameters = given.as_object().unwrap().clone();
        let tool = match client {
            Dialect::Gemini => json!({ "functionDeclarations": [{ "name": "look" }] }),
            _ => json!({ "type": "function", "function": { "name": "look" } }),
        };
        let mut body = ClientRequest { tools: vec![tool], parameters, ..ClientRequest::default() };
        let found = map_request(&mut body, client, target(provider, ThinkingRule::Budget));
        assert_eq!(Value::Object(body.parameters), *expected, "{provider}");
        assert_eq!(found.iter().map(|loss| loss.field.as_str()).collect::<Vec<_>>(), lost, "{provider}");
    }

    #[test]
    fn maps_parameters_of_chat_completions() {
        let given = json!({
            "max_completion_tokens": 9_000, "temperature": 1.5, "stop": "END", "seed": 1, "n": 1, "user": "u",
            "reasoning_effort": "high", "tool_choice": "required", "parallel_tool_calls": false, "store": false,
            "response_format": { "type": "json_schema", "json_schema": { "name": "a", "schema": {} } },
        });
        let (chat, anthropic) = (Dialect::OpenaiChat, Dialect::Anthropic);
        let expected = json!({
            "max_tokens": 9_000, "temperature": 1, "stop_sequences": ["END"], "metadata": { "user_id": "u" },
            "thinking": { "type": "enabled", "budget_tokens": 4_096 },
            "output_config": { "format": { "type": "json_schema", "schema": {} } },
            "tool_choice": { "type": "any", "disable_parallel_tool_use": true },
        });
        check(chat, &given, anthropic, &expected, &["temperature", "seed"]);
        let expected = json!({
            "max_output_tokens": 9_000, "temperature": 1.5, "user": "u", "store": false, "reasoning_effort": "high",
            "text": { "format": { "type": "json_schema", "name": "a", "schema": {} } },
            "tool_choice": "required", "parallel_tool_calls": false,
        });
        check(chat, &given, Dialect::OpenaiResponses, &expected, &["stop", "seed"]);
    }

    #[test]
    fn maps_parameters_of_gemini_in_both_spellings() {
        let given = json!({ "generationConfig": {
            "max_output_tokens": 5, "topP": 0.5, "thinking_config": { "thinking_budget": 5_000, "include_thoughts": true },
            "speechConfig": {}, "imageConfig": { "a": 1 } },
            "toolConfig": { "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["a", "b"] },
                "retrievalConfig": { "a": 1 } } });
        let allowed = json!([{ "type": "function", "function": { "name": "a" } },
            { "type": "function", "function": { "name": "b" } }]);
        let expected = json!({
            "max_tokens": 5, "top_p": 0.5, "reasoning_effort": "high",
            "tool_choice": { "type": "allowed_tools", "allowed_tools": { "mode": "required", "tools": allowed } },
        });
        let lost = ["generationConfig.imageConfig", "toolConfig.retrievalConfig"];
        check(Dialect::Gemini, &given, Dialect::OpenaiChat, &expected, &lost);
    }

    #[test]
    fn maps_effort_to_adaptive_thinking() {
        let parameters = json!({ "reasoning": { "effort": "minimal", "summary": "auto" } });
        let parameters = parameters.as_object().unwrap().clone();
        let mut body = ClientRequest { parameters, ..ClientRequest::default() };
        let target = target(Dialect::Anthropic, ThinkingRule::Adaptive);
        assert!(map_request(&mut body, Dialect::OpenaiResponses, target).is_empty());
        let expected = json!({ "thinking": { "type": "adaptive", "display": "summarized" },
            "output_config": { "effort": "low" } });
        assert_eq!(Value::Object(body.parameters), expected);
    }

    #[test]
    fn limits_thinking_budget_by_limit_of_reply() {
        let budget = |client: Value, agent: Option<u64>| {
            let parameters = client.as_object().unwrap().clone();
            let mut body = ClientRequest { parameters, ..ClientRequest::default() };
            let target = target(Dialect::Anthropic, ThinkingRule::Budget);
            map_request(&mut body, Dialect::OpenaiChat, Target { max_tokens: agent, ..target });
            body.parameters["thinking"]["budget_tokens"].clone()
        };
        let high = json!({ "reasoning_effort": "high" });
        assert_eq!(budget(high.clone(), Some(2_048)), 2_047);
        assert_eq!(budget(high.clone(), None), 4_095);
        let mut body =
            ClientRequest { parameters: high.as_object().unwrap().clone(), ..ClientRequest::default() };
        let mut target = target(Dialect::Anthropic, ThinkingRule::Budget);
        target.rules.max_output = Some(64_000);
        assert!(map_request(&mut body, Dialect::OpenaiChat, target).is_empty());
        assert_eq!(
            (&body.parameters["max_tokens"], &body.parameters["thinking"]["budget_tokens"]),
            (&json!(64_000), &json!(4_096))
        );
        let small = json!({ "reasoning_effort": "high", "max_tokens": 1_000 });
        body.parameters = small.as_object().unwrap().clone();
        assert_eq!(map_request(&mut body, Dialect::OpenaiChat, target).len(), 1);
        assert_eq!(budget(json!({ "reasoning_effort": "high", "max_tokens": 9_000 }), Some(2_048)), 4_096);
    }

    #[test]
    fn refuses_tools_of_another_provider() {
        let schema =
            json!({ "type": "OBJECT", "properties": { "type": { "type": "STRING", "default": "STRING" } } });
        let function = json!({ "name": "look", "parameters": schema, "behavior": "NON_BLOCKING" });
        let tools = vec![json!({ "function_declarations": [function], "googleSearch": {} })];
        let mut body = ClientRequest { tools, ..ClientRequest::default() };
        let lost =
            map_request(&mut body, Dialect::Gemini, target(Dialect::OpenaiChat, ThinkingRule::Unknown));
        let expected = json!([{ "name": "look", "behavior": "NON_BLOCKING", "parametersJsonSchema": {
            "type": "object", "properties": { "type": { "type": "string", "default": "STRING" } } } }]);
        assert_eq!(Value::Array(body.tools), expected);
        let fields: Vec<&str> = lost.iter().map(|loss| loss.field.as_str()).collect();
        assert_eq!(fields, ["tools[0].functionDeclarations.behavior", "tools[0].googleSearch"]);
    }
}
