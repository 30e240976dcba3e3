//! Bodies of chat completions.

use ctx_types::internal::{CallIdRule, OutputLimit, ReasoningState, RequestRules, excerpt};
use ctx_types::{Diagnostic, Message, MessageExtras, Role, Source, Text, ToolCall, phrase};

use super::{
    check_effort, check_metadata, check_model, check_output_limit, check_parameters, for_server, is_empty,
    is_served_by_others, messages, model_words, parameters, refused, schema, tools,
};
use crate::call_ids::MAX_ID;
use crate::codes;
use crate::json::Json;
use crate::pairing;

/// The most calls in one message.
const MAX_CALLS: usize = 128;

/// The most stop sequences.
const MAX_STOPS: usize = 4;

/// The highest value of `top_logprobs`.
const MAX_TOP_LOGPROBS: u64 = 20;

/// Checks a body.
pub(crate) fn check(body: &Json<'_>, rules: RequestRules) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_model(body, &mut found);
    let messages = messages(body, &mut found);
    let is_router = is_served_by_others(body);
    let is_known = rules != RequestRules::default();
    let is_openai = !is_router && model_words::is_openai(body);
    // Rules of the model's row in the table.
    let mut of_model = Vec::new();
    check_parameters(body, rules, &mut of_model);
    check_reasoning(body, messages, rules, &mut of_model);
    // Rules of OpenAI's server.
    let mut of_openai = Vec::new();
    check_limits(body, rules, &mut of_openai);
    parameters::check_names(body, "", parameters::CHAT, &mut of_openai);
    parameters::check_ranges(body, "", parameters::OPENAI_RANGES, &mut of_openai);
    for name in ["max_tokens", "max_completion_tokens"] {
        check_output_limit(body.get(name), &format!("/{name}"), rules, &mut of_openai);
    }
    // Rules that many servers have.
    let mut of_servers = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        check_message(index, message, &mut found, &mut of_servers);
        check_media(index, message, &mut of_openai);
        check_call_ids(index, message, rules, &mut of_model);
    }
    check_effort(body, body.get("reasoning_effort"), "/reasoning_effort", &mut of_servers);
    check_effort_with_tools(body, &mut of_servers);
    tools::check(body, |tool| function(tool)?.get("name")?.as_str(), tools::MAX_NAME, &mut of_servers);
    found.extend(of_model.into_iter().map(|finding| for_server(finding, is_known && !is_router)));
    found.extend(of_openai.into_iter().map(|finding| for_server(finding, is_openai)));
    let is_strict = is_openai || !is_known && !is_router;
    found.extend(of_servers.into_iter().map(|finding| for_server(finding, is_strict)));
    if is_openai {
        parameters::check_names(body, "", parameters::OTHER_CHAT, &mut found);
        check_combinations(body, &mut found);
        for (index, message) in messages.iter().enumerate() {
            check_fields(index, message, &mut found);
        }
    }
    check_metadata(body, &mut found);
    check_schemas(body, &mut found);
    found.extend(pairing::check(&messages.iter().map(outline).collect::<Vec<_>>()));
    found
}

fn check_limits(body: &Json<'_>, rules: RequestRules, found: &mut Vec<Diagnostic>) {
    let has = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    let is_openai = rules.reasoning_state == ReasoningState::Items;
    if is_openai && rules.output_limit == OutputLimit::MaxCompletionTokens && has("max_tokens") {
        let text = phrase!("the model does not accept parameter `{name}`", name = "max_tokens");
        let finding = Diagnostic::error(codes::REJECTED_PARAMETER, text)
            .with_help(phrase!("use `max_completion_tokens`"));
        found.push(finding.at_pointer("/max_tokens"));
    }
    let stops = body.get("stop").and_then(Json::as_list).map_or(0, <[_]>::len);
    if stops > MAX_STOPS {
        let text = phrase!("{count} stop sequences; the limit is {limit}", count = stops, limit = MAX_STOPS);
        found.push(refused(codes::DIALECT_LIMIT, text).at_pointer("/stop"));
    }
    let top = match body.get("top_logprobs") {
        Some(Json::Number(number)) => number.as_u64(),
        _ => None,
    };
    if top.is_some_and(|top| top > MAX_TOP_LOGPROBS) {
        let text = phrase!("`top_logprobs` must not exceed {limit}", limit = MAX_TOP_LOGPROBS);
        found.push(refused(codes::DIALECT_LIMIT, text).at_pointer("/top_logprobs"));
    }
    if top.is_some_and(|top| top > 0) && body.get("logprobs") != Some(&Json::Bool(true)) {
        let text = phrase!("`top_logprobs` requires `logprobs`");
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer("/top_logprobs"));
    }
}

/// Reports a parameter that needs another.
fn without(name: &'static str, needed: &'static str) -> Diagnostic {
    let text = phrase!("`{name}` needs `{needed}`", name, needed);
    refused(codes::REJECTED_PARAMETER, text).at_pointer(format!("/{name}"))
}

/// Reports parameters that `OpenAI` accepts only with or without another.
fn check_combinations(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let has = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    if has("max_tokens") && has("max_completion_tokens") {
        let (name, other) = ("max_tokens", "max_completion_tokens");
        let text = phrase!("`{name}` cannot be used with `{other}`", name, other);
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer("/max_tokens"));
    }
    if has("stream_options") && body.get("stream") != Some(&Json::Bool(true)) {
        found.push(without("stream_options", "stream"));
    }
    let tools = body.get("tools").and_then(Json::as_list).unwrap_or_default();
    let choice =
        body.get("tool_choice").filter(|choice| choice.as_str() != Some("none") && !choice.is_null());
    if tools.is_empty() && choice.is_some() {
        found.push(without("tool_choice", "tools"));
    }
    if tools.is_empty() && has("parallel_tool_calls") {
        found.push(without("parallel_tool_calls", "tools"));
    }
    for (index, _) in tools.iter().enumerate().filter(|(_, tool)| tool.get("type").is_none()) {
        let text = phrase!("the tool has no `type`");
        found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(format!("/tools/{index}")));
    }
    let chosen = choice.and_then(|choice| choice.at(["function", "name"])?.as_str());
    let is_chosen =
        |tool: &Json<'_>| function(tool).and_then(|function| function.get("name")?.as_str()) == chosen;
    if let Some(name) = chosen.filter(|_| !tools.is_empty() && !tools.iter().any(is_chosen)) {
        let text =
            phrase!("`tool_choice` names `{name}`, which is not among the tools", name = excerpt(name));
        found.push(refused(codes::SHAPE, text).at_pointer("/tool_choice"));
    }
    if body.at(["response_format", "json_schema"]).is_some_and(|format| format.get("name").is_none()) {
        let text = phrase!("`json_schema` has no name");
        found.push(refused(codes::SHAPE, text).at_pointer("/response_format/json_schema"));
    }
}

/// Some models accept tools only without reasoning, or not at all.
fn check_effort_with_tools(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let effort = body.get("reasoning_effort").and_then(Json::as_str).unwrap_or("none");
    let has_tools = body.get("tools").and_then(Json::as_list).is_some_and(|tools| !tools.is_empty());
    if has_tools && model_words::model(body).starts_with("gpt-6.2") {
        let text = phrase!("the model accepts tools only in the Responses API");
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer("/tools"));
    }
    if has_tools && effort != "none" && model_words::model(body).starts_with("gpt-5.6") {
        let text = phrase!(
            "the model does not accept parameter `{name}` with `{other}`",
            name = "reasoning_effort",
            other = "tools"
        );
        found.push(refused(codes::REJECTED_PARAMETER, text).at_pointer("/reasoning_effort"));
    }
}

fn check_schemas(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let is_strict = |value: &Json<'_>| value.get("strict") == Some(&Json::Bool(true));
    let tools = body.get("tools").and_then(Json::as_list).into_iter().flatten();
    for (index, function) in
        tools.enumerate().filter_map(|(index, tool)| Some((index, tool.get("function")?)))
    {
        if let Some(parameters) = function.get("parameters").filter(|_| is_strict(function)) {
            schema::check_strict(parameters, &format!("/tools/{index}/function/parameters"), found);
        }
    }
    let format = body.at(["response_format", "json_schema"]).filter(|format| is_strict(format));
    if let Some(schema) = format.and_then(|format| format.get("schema")) {
        schema::check_strict(schema, "/response_format/json_schema/schema", found);
    }
}

/// Reports parts that a role does not have, and parts of other API dialects.
fn check_media(index: usize, message: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let role = message.get("role").and_then(Json::as_str).unwrap_or_default();
    let parts = message.get("content").and_then(Json::as_list).into_iter().flatten();
    for (position, part) in parts.enumerate() {
        let kind = part.get("type").and_then(Json::as_str).unwrap_or_default();
        let replacement = match kind {
            "input_text" | "output_text" => Some("text"),
            "input_image" | "image" => Some("image_url"),
            "input_file" | "document" => Some("file"),
            _ => None,
        };
        let has_media = matches!(kind, "image_url" | "input_audio" | "file");
        let is_misplaced = match role {
            "tool" => kind != "text",
            "assistant" | "system" | "developer" => has_media,
            _ => false,
        };
        if replacement.is_none() && !is_misplaced {
            continue;
        }
        let text =
            phrase!("role `{role}` cannot have part `{part}`", role = excerpt(role), part = excerpt(kind));
        let finding = match replacement.filter(|_| role != "tool") {
            Some(name) => {
                Diagnostic::error(codes::PART_NOT_ACCEPTED, text).with_help(phrase!("use `{name}`", name))
            }
            None => refused(codes::PART_NOT_ACCEPTED, text),
        };
        found.push(finding.at_pointer(format!("/messages/{index}/content/{position}")));
    }
}

/// Reports a name that OpenAI rejects, and calls without a type.
fn check_fields(index: usize, message: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let name = message.get("name").and_then(Json::as_str).unwrap_or_default();
    if name.contains(|letter: char| letter.is_whitespace() || "<|\\/>".contains(letter)) {
        let text = phrase!("the name of a message cannot have white space, `<`, `>`, `|`, `/` or `\\`");
        found.push(refused(codes::SHAPE, text).at_pointer(format!("/messages/{index}/name")));
    }
    let calls = message.get("tool_calls").and_then(Json::as_list).unwrap_or_default();
    for (at, _) in calls.iter().enumerate().filter(|(_, call)| call.get("type").is_none()) {
        let place = format!("/messages/{index}/tool_calls/{at}");
        found.push(refused(codes::SHAPE, phrase!("the call has no `type`")).at_pointer(place));
    }
}

/// Reports ids that are not of the model's form.
fn check_call_ids(index: usize, message: &Json<'_>, rules: RequestRules, found: &mut Vec<Diagnostic>) {
    if rules.call_ids != CallIdRule::NineAlphanumeric {
        return;
    }
    let calls = message.get("tool_calls").and_then(Json::as_list).unwrap_or_default();
    let of_calls =
        calls.iter().enumerate().map(|(at, call)| (format!("/tool_calls/{at}/id"), call.get("id")));
    let of_result = std::iter::once(("/tool_call_id".to_owned(), message.get("tool_call_id")));
    for (place, id) in of_calls.chain(of_result) {
        let Some(id) = id.and_then(Json::as_str) else { continue };
        if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let text = phrase!("call id `{id}` must have 9 ASCII letters and digits", id = excerpt(id));
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(format!("/messages/{index}{place}")));
        }
    }
}

/// Messages with calls need their reasoning, unless thinking is disabled.
fn check_reasoning(body: &Json<'_>, messages: &[Json<'_>], rules: RequestRules, found: &mut Vec<Diagnostic>) {
    let kind = body.get("thinking").and_then(|thinking| thinking.get("type")?.as_str());
    let is_disabled = kind == Some("disabled") || body.get("enable_thinking") == Some(&Json::Bool(false));
    if rules.reasoning_state != ReasoningState::ContentRequired || is_disabled {
        return;
    }
    for (index, message) in messages.iter().enumerate() {
        let has_calls =
            message.get("tool_calls").and_then(Json::as_list).is_some_and(|calls| !calls.is_empty());
        let reasoning = message.get("reasoning_content").and_then(Json::as_str);
        if has_calls && reasoning.is_none_or(str::is_empty) {
            let text =
                phrase!("a message with tool calls has no `reasoning_content`, which the model requires");
            found.push(refused(codes::THINKING, text).at_pointer(format!("/messages/{index}")));
        }
    }
}

fn check_message(
    index: usize,
    message: &Json<'_>,
    found: &mut Vec<Diagnostic>,
    of_servers: &mut Vec<Diagnostic>,
) {
    let place = format!("/messages/{index}");
    let Some(role) = message.get("role").and_then(Json::as_str) else {
        found.push(refused(codes::SHAPE, phrase!("the message has no role")).at_pointer(place));
        return;
    };
    // The older name of tools.
    let known = if role == "function" { Some(Role::Tool) } else { Role::parse(role) };
    let Some(known) = known else {
        let text = phrase!("unknown role `{role}`", role = excerpt(role));
        let finding = super::unknown_role(text, role, &["system", "developer", "user", "assistant", "tool"]);
        found.push(finding.at_pointer(format!("{place}/role")));
        return;
    };
    check_content(known, message, &place, found);
    check_calls(known, message, &place, found, of_servers);
}

fn check_content(role: Role, message: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let content = message.get("content");
    if matches!(content, Some(Json::Object(_) | Json::Number(_) | Json::Bool(_))) {
        let text = phrase!("`content` must be a string or a list of parts");
        found.push(refused(codes::SHAPE, text).at_pointer(format!("{place}/content")));
        return;
    }
    let has_calls = message.get("tool_calls").and_then(Json::as_list).is_some_and(|calls| !calls.is_empty());
    if !is_empty(content) || has_calls || message.get("function_call").is_some_and(Json::is_object) {
        return;
    }
    let finding = match role {
        // The reply is a recording.
        Role::Assistant if message.get("audio").is_some_and(Json::is_object) => return,
        // A tool may have nothing to say.
        Role::Tool if content.is_some_and(|content| content.is_text() || content.as_list().is_some()) => {
            return;
        }
        // OpenAI accepts an empty string.
        Role::Tool | Role::User if !content.is_some_and(Json::is_text) => refused(
            codes::EMPTY_CONTENT,
            phrase!("the message of role `{role}` is empty", role = role.to_string()),
        ),
        _ => {
            let text = phrase!("the message of role `{role}` is empty", role = role.to_string());
            Diagnostic::warning(codes::EMPTY_CONTENT, text)
                .with_help(phrase!("remove the message or add content; some servers reject empty messages"))
        }
    };
    found.push(finding.at_pointer(format!("{place}/content")));
}

fn check_calls(
    role: Role,
    message: &Json<'_>,
    place: &str,
    found: &mut Vec<Diagnostic>,
    of_servers: &mut Vec<Diagnostic>,
) {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else { return };
    let place = format!("{place}/tool_calls");
    let Some(calls) = calls.as_list() else {
        found.push(refused(codes::SHAPE, phrase!("`tool_calls` must be a list")).at_pointer(place));
        return;
    };
    if role != Role::Assistant {
        let text = phrase!("role `{role}` cannot have tool calls", role = role.to_string());
        found.push(refused(codes::CALLS_NOT_SENT, text).at_pointer(place.clone()));
    }
    if calls.is_empty() {
        found.push(
            refused(codes::SHAPE, phrase!("the list of tool calls is empty")).at_pointer(place.clone()),
        );
    }
    if calls.len() > MAX_CALLS {
        let text = phrase!(
            "one message has {calls} calls; the limit is {limit}",
            calls = calls.len(),
            limit = MAX_CALLS
        );
        found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(place.clone()));
    }
    for (index, call) in calls.iter().enumerate() {
        check_id(call, &format!("{place}/{index}/id"), of_servers);
        let kind = if call.get("custom").is_some() { "custom" } else { "function" };
        let place = format!("{place}/{index}/{kind}");
        check_name(call, &place, of_servers);
        if kind == "function" {
            check_arguments(call, place, of_servers);
        } else if !call.at(["custom", "input"]).is_some_and(Json::is_text) {
            let text = phrase!("the call's arguments must be a string");
            of_servers.push(refused(codes::SHAPE, text).at_pointer(place));
        }
    }
}

/// Returns what a tool or a call says of its function, or of its custom tool.
fn function<'a>(tool: &'a Json<'a>) -> Option<&'a Json<'a>> {
    tool.get("function").or_else(|| tool.get("custom"))
}

fn check_id(call: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let id = call.get("id").and_then(Json::as_str).unwrap_or_default();
    if id.len() > MAX_ID {
        found.push(super::long_id(id).at_pointer(place));
    }
}

fn check_name(call: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let name = function(call).and_then(|function| function.get("name")?.as_str()).unwrap_or_default();
    if !tools::is_valid_name(name, tools::MAX_NAME) {
        let text = phrase!(
            "call name `{name}` must have 1 to 64 ASCII letters, digits, `_`, or `-`",
            name = excerpt(name)
        );
        found.push(refused(codes::SHAPE, text).at_pointer(format!("{place}/name")));
    }
}

fn check_arguments(call: &Json<'_>, place: String, found: &mut Vec<Diagnostic>) {
    let text = match call.at(["function", "arguments"]) {
        None => phrase!("the call has no arguments; write `{{}}` for none"),
        Some(Json::Text(text)) if serde_json::from_str::<serde_json::Value>(text).is_ok() => return,
        Some(value) if value.is_text() => {
            let finding = Diagnostic::warning(codes::ARGUMENTS, phrase!("the call's arguments are not JSON"));
            let finding = finding.with_help(phrase!("write valid JSON; some servers reject anything else"));
            found.push(finding.at_pointer(format!("{place}/arguments")));
            return;
        }
        Some(_) => phrase!("the call's arguments must be a string"),
    };
    found.push(refused(codes::SHAPE, text).at_pointer(place));
}

/// A message with nothing but what pairs calls and results.
fn outline(message: &Json<'_>) -> Message {
    let text =
        |value: &Json<'_>, key: &str| value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let role = Role::parse(&text(message, "role")).unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Json::as_list).into_iter().flatten();
    let tool_calls = calls
        .map(|call| ToolCall { id: text(call, "id").into(), name: "".into(), arguments: Text::default() })
        .collect();
    let tool_call_id = message.get("tool_call_id").and_then(Json::as_str).map(Into::into);
    Message::new(role, Text::default(), Source::history("", role)).with_extras(MessageExtras::default().with(
        |extras| {
            extras.tool_calls = tool_calls;
            extras.tool_call_id = tool_call_id;
        },
    ))
}
