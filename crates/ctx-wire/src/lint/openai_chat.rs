//! Bodies of chat completions.

use ctx_types::{Diagnostic, Message, MessageExtras, Role, Source, Text, ToolCall, excerpt, phrase};

use super::{check_model, is_empty, messages, refused, tools};
use crate::codes;
use crate::json::Json;
use crate::pairing;

/// The most calls in one message.
const MAX_CALLS: usize = 128;

/// Checks a body.
pub(crate) fn check(body: &Json<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    check_model(body, &mut found);
    let messages = messages(body, &mut found);
    for (index, message) in messages.iter().enumerate() {
        check_message(index, message, &mut found);
    }
    tools::check(body, |tool| tool.at(["function", "name"])?.as_str(), &mut found);
    found.extend(pairing::check(&messages.iter().map(outline).collect::<Vec<_>>()));
    found
}

fn check_message(index: usize, message: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let place = format!("/messages/{index}");
    let Some(role) = message.get("role").and_then(Json::as_str) else {
        found.push(refused(codes::SHAPE, phrase!("the message has no role")).at_pointer(place));
        return;
    };
    let Some(known) = Role::parse(role) else {
        let text = phrase!("unknown role `{role}`", role = excerpt(role));
        let finding = super::unknown_role(text, role, &["system", "developer", "user", "assistant", "tool"]);
        found.push(finding.at_pointer(format!("{place}/role")));
        return;
    };
    check_content(known, message, &place, found);
    check_calls(known, message, &place, found);
}

fn check_content(role: Role, message: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let content = message.get("content");
    if matches!(content, Some(Json::Object(_) | Json::Number(_) | Json::Bool(_))) {
        let text = phrase!("`content` must be a string or a list of parts");
        found.push(refused(codes::SHAPE, text).at_pointer(format!("{place}/content")));
        return;
    }
    let has_calls = message.get("tool_calls").and_then(Json::as_list).is_some_and(|calls| !calls.is_empty());
    if !is_empty(content) || has_calls {
        return;
    }
    let finding = match role {
        // A tool may have nothing to say.
        Role::Tool if content.is_some_and(Json::is_text) => return,
        Role::Tool | Role::User => refused(
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

fn check_calls(role: Role, message: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
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
        let place = format!("{place}/{index}/function");
        check_name(call, &place, found);
        check_arguments(call, place, found);
    }
}

fn check_name(call: &Json<'_>, place: &str, found: &mut Vec<Diagnostic>) {
    let name = call.at(["function", "name"]).and_then(Json::as_str).unwrap_or_default();
    if !tools::is_valid_name(name) {
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
