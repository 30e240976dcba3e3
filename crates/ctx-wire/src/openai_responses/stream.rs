//! Reading the events of a streamed response.

use ctx_types::internal::BlockKind;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::openai_chat::stream::text_of;
use crate::reply::{Finish, ReplyUsage};
use crate::stream::{Building, Delta};

/// Takes one event over into the answer.
///
/// Words and arguments come in pieces; what pieces do not tell, such as encrypted reasoning, comes with the item
/// when it is done.
pub(crate) fn read(event: &Value, building: &mut Building) -> Vec<Delta> {
    let mut deltas = Vec::new();
    let delta = || event.get("delta").and_then(Value::as_str).unwrap_or_default();
    match event.get("type").and_then(Value::as_str).unwrap_or_default() {
        "response.created" | "response.in_progress" => {
            if let Some(response) = event.get("response") {
                begin(response, building);
            }
        }
        "response.output_text.delta" | "response.refusal.delta" => add_text(delta(), building, &mut deltas),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            building.add_reasoning(delta(), &mut deltas);
        }
        "response.output_item.added" => open_item(event, building, &mut deltas),
        "response.function_call_arguments.delta" => {
            building.add_arguments(number(event), delta(), &mut deltas);
        }
        "response.output_item.done" => {
            if let Some(item) = event.get("item") {
                close_item(number(event), item, building, &mut deltas);
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            if let Some(response) = event.get("response") {
                end(response, building);
            }
        }
        "error" => building.failure = Some(Failure::of_event(event)),
        _ => {}
    }
    deltas
}

fn number(event: &Value) -> u64 {
    event.get("output_index").and_then(Value::as_u64).unwrap_or(0)
}

fn begin(response: &Value, building: &mut Building) {
    building.id = building.id.take().or_else(|| text_of(response, "id"));
    building.model = building.model.take().or_else(|| text_of(response, "model"));
}

/// Takes what the end of a response tells: why, and how much.
pub(super) fn end(response: &Value, building: &mut Building) {
    begin(response, building);
    building.usage = usage(response).or(building.usage);
    building.is_done = true;
    match Failure::within(response) {
        Some(failure) => building.failure = Some(failure),
        None => building.finish = finish(response, building.has_calls()),
    }
}

fn open_item(event: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let Some(item) = event.get("item") else { return };
    if item.get("type").and_then(Value::as_str) == Some("function_call") {
        open_call(number(event), item, building, deltas);
    }
}

/// Adds words to a message.
pub(super) fn add_text(text: &str, building: &mut Building, deltas: &mut Vec<Delta>) {
    if !text.is_empty() {
        building.begin_block(BlockKind::Content);
        building.add_text(text, deltas);
    }
}

fn open_call(number: u64, item: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let field = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let id = if field("call_id").is_empty() { field("id") } else { field("call_id") };
    let count = building.call_count();
    building.open_call(number, id, field("name"), deltas);
    if building.call_count() > count {
        building.begin_block(BlockKind::Call);
    }
}

/// Takes a whole item over, as far as its pieces have not brought it.
pub(super) fn close_item(number: u64, item: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    match item.get("type").and_then(Value::as_str).unwrap_or_default() {
        "function_call" => {
            open_call(number, item, building, deltas);
            let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
            if !building.has_arguments(number) {
                building.add_arguments(number, arguments, deltas);
            }
        }
        "reasoning" => {
            building.begin_block(BlockKind::Reasoning);
            building.add_artifact(without_status(item));
        }
        "message" => {
            if let Some(known) = known_of_message(item) {
                building.add_artifact(known);
            }
        }
        _ => {}
    }
}

/// Reasoning goes back as it came, but without the word on how far it is.
fn without_status(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.shift_remove("status");
    }
    item
}

/// What of a message's item is no word and goes back with it: its id and its phase.
fn known_of_message(item: &Value) -> Option<Value> {
    let mut known = Map::new();
    known.insert("type".to_owned(), Value::from("message"));
    known.insert("id".to_owned(), item.get("id").filter(|id| id.is_string())?.clone());
    if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
        known.insert("phase".to_owned(), phase.clone());
    }
    Some(Value::Object(known))
}

/// Why a response ended.
fn finish(response: &Value, has_calls: bool) -> Option<Finish> {
    let text = |pointer: &str| response.pointer(pointer).and_then(Value::as_str);
    Some(match (text("/status")?, text("/incomplete_details/reason")) {
        ("completed", _) if has_calls => Finish::ToolCalls,
        ("completed", _) => Finish::Stop,
        ("incomplete", Some("max_output_tokens")) => Finish::Length,
        ("incomplete", Some("content_filter")) => Finish::Refused,
        (_, Some(reason)) => Finish::Other(reason.to_owned()),
        ("in_progress" | "queued", None) => return None,
        (status, None) => Finish::Other(status.to_owned()),
    })
}

/// The counts; `input_tokens` has the cached ones in it.
fn usage(response: &Value) -> Option<ReplyUsage> {
    let usage = response.get("usage").filter(|usage| usage.is_object())?;
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(ReplyUsage {
        input: count("/input_tokens").unwrap_or(0),
        cached: count("/input_tokens_details/cached_tokens"),
        output: count("/output_tokens").unwrap_or(0),
    })
}
