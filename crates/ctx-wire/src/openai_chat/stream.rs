//! Reading the chunks of a chat completion.

use serde_json::{Value, json};

use crate::reply::{Finish, ReplyUsage};
use crate::stream::{Building, Delta};

/// Takes one chunk over into the answer.
pub(crate) fn read(chunk: &Value, building: &mut Building) -> Vec<Delta> {
    let mut deltas = Vec::new();
    building.id = building.id.take().or_else(|| text_of(chunk, "id"));
    building.model = building.model.take().or_else(|| text_of(chunk, "model"));
    building.usage = usage(chunk).or(building.usage);
    let choices = chunk.get("choices").and_then(Value::as_array);
    // Other choices than the first were not asked for.
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let Some(choice) = choices.and_then(|choices| choices.iter().find(first)) else { return deltas };
    if let Some(delta) = choice.get("delta") {
        let reasoning =
            ["reasoning_content", "reasoning"].into_iter().find_map(|key| delta.get(key)?.as_str());
        building.add_reasoning(reasoning.unwrap_or_default(), &mut deltas);
        for detail in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            building.add_detail(detail);
        }
        if let Some(extra) = delta.get("extra_content").filter(|extra| extra.is_object()) {
            building.add_artifact(json!({ "extra_content": extra }));
        }
        building.add_text(&content_text(delta), &mut deltas);
        read_calls(delta, building, &mut deltas);
    }
    if let Some(finish) = finish(choice, building.has_calls()) {
        building.finish = Some(finish);
    }
    deltas
}

/// The first of the numbers of calls that come without one.
const UNNUMBERED: u64 = 1 << 32;

/// Calls are told apart by `index`; servers that leave it out send whole calls, one after the other.
fn read_calls(delta: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let calls = delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for call in calls {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        // What has no name goes on with the call before it.
        let begun = building.call_count() as u64;
        let next = if name.is_empty() { begun.saturating_sub(1) } else { begun };
        let number = call.get("index").and_then(Value::as_u64).unwrap_or(UNNUMBERED + next);
        building.open_call(number, id, name, deltas);
        if let Some(extra) = call.get("extra_content").filter(|extra| extra.is_object()) {
            building.add_call_state(number, extra);
        }
        building.add_arguments(number, &arguments(call).unwrap_or_default(), deltas);
    }
}

/// The arguments of a call as text; some servers send the object itself.
pub(crate) fn arguments(call: &Value) -> Option<String> {
    match call.pointer("/function/arguments")? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        value => Some(value.to_string()),
    }
}

/// The words of a message or delta: a string, or the text parts of a list; a refusal counts as words.
pub(crate) fn content_text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => message.get("refusal").and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

/// Why a choice ended, if it says so; `stop` after calls means that it waits for their results.
pub(crate) fn finish(choice: &Value, has_calls: bool) -> Option<Finish> {
    Some(match choice.get("finish_reason").and_then(Value::as_str)? {
        "stop" | "tool_calls" | "function_call" if has_calls => Finish::ToolCalls,
        "stop" | "tool_calls" | "function_call" => Finish::Stop,
        "length" => Finish::Length,
        "content_filter" => Finish::Refused,
        other => Finish::Other(other.to_owned()),
    })
}

/// The counts of a body or a chunk; `prompt_tokens` has the cached ones in it.
pub(crate) fn usage(body: &Value) -> Option<ReplyUsage> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(ReplyUsage {
        input: count("/prompt_tokens").unwrap_or(0),
        cached: count("/prompt_tokens_details/cached_tokens"),
        output: count("/completion_tokens").unwrap_or(0),
    })
}

/// A field of text, as an owned one.
pub(crate) fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}
