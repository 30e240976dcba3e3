//! Tool calls as text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

use ctx_types::ToolCall;
use serde_json::Value;

use crate::json::{Json, object};
use crate::tools::Tool;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// Writes a call; arguments that are no JSON stand as a text.
pub(super) fn write(call: &ToolCall) -> String {
    let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
    let arguments = arguments.map_or_else(|| call.arguments.as_str().into(), Json::from);
    let body = object([("name", (&*call.name).into()), ("arguments", arguments)]);
    format!("{OPEN}{body}{CLOSE}")
}

/// Writes what tools there are and how they are called; nothing for none.
pub(super) fn describe(tools: &[Value]) -> Option<String> {
    let lines = tools.iter().map(|definition| match Tool::read(definition) {
        Some(tool) => Json::from(tool.write("parameters")).to_json(),
        None => definition.to_string(),
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| {
        format!(
            "These tools can be called:\n<tools>\n{}\n</tools>\nTo call one, write \
             {OPEN}{{\"name\": \"the tool\", \"arguments\": {{}}}}{CLOSE} and stop.",
            lines.join("\n")
        )
    })
}

/// Takes the calls out of an answer; what is no call stays in the words.
///
/// A call is given as its name and the JSON text of its arguments.
pub(crate) fn take_calls(text: &str) -> (String, Vec<(String, String)>) {
    let (mut words, mut calls, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let Some((body, after)) = behind.split_once(CLOSE) else { break };
        match read(body) {
            Some(call) => {
                words.push_str(before);
                calls.push(call);
            }
            None => words.push_str(&rest[..rest.len() - after.len()]),
        }
        rest = after;
    }
    words.push_str(rest);
    if calls.is_empty() { (words, calls) } else { (words.trim_end().to_owned(), calls) }
}

fn read(body: &str) -> Option<(String, String)> {
    let call: Value = serde_json::from_str(body.trim()).ok()?;
    let name = call.get("name")?.as_str()?.to_owned();
    let arguments = match call.get("arguments").or_else(|| call.get("parameters")) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "{}".to_owned(),
    };
    Some((name, arguments))
}
