//! Reading the chunks of a streamed answer; each has the shape of a whole one.

use ctx_types::internal::BlockKind;
use serde_json::{Map, Value};

use crate::openai_chat::stream::text_of;
use crate::reply::{Finish, ReplyUsage};
use crate::stream::{Building, Delta};

/// Takes one chunk over into the answer.
pub(crate) fn read(chunk: &Value, building: &mut Building) -> Vec<Delta> {
    let mut deltas = Vec::new();
    building.id = building.id.take().or_else(|| text_of(chunk, "responseId"));
    building.model = building.model.take().or_else(|| text_of(chunk, "modelVersion"));
    building.usage = usage(chunk).or(building.usage);
    if let Some(reason) = blocked(chunk) {
        building.finish = Some(reason);
    }
    let Some(candidate) = chunk.pointer("/candidates/0") else { return deltas };
    for part in parts(candidate) {
        read_part(part, building, &mut deltas);
    }
    if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
        building.finish = Some(finish(reason, building.has_calls()));
    }
    deltas
}

/// The parts of a candidate.
fn parts(candidate: &Value) -> impl Iterator<Item = &Value> {
    candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten()
}

fn read_part(part: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let text = part.get("text").and_then(Value::as_str);
    let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    let mut call = None;
    if let Some(function) = part.get("functionCall") {
        let number = building.call_count();
        building.begin_block(BlockKind::Call);
        let field = |key: &str| function.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = match field("id") {
            "" => own_id(building.id.as_deref(), number),
            id => id.to_owned(),
        };
        building.open_call(number as u64, &id, field("name"), deltas);
        building.add_arguments(number as u64, &arguments(function), deltas);
        call = Some(number);
    }
    match text {
        Some(text) if is_thought => building.add_reasoning(text, deltas),
        Some(text) => {
            if !text.is_empty() || part.get("thoughtSignature").is_some() {
                building.begin_block(BlockKind::Content);
            }
            building.add_text(text, deltas);
        }
        None => {}
    }
    if let Some(artifact) = signature(part, call) {
        building.add_artifact(artifact);
    }
}

/// The signature of a thought with the place of the call that it belongs to, as it goes back.
fn signature(part: &Value, call: Option<usize>) -> Option<Value> {
    let mut artifact = Map::new();
    artifact.insert("thoughtSignature".to_owned(), part.get("thoughtSignature")?.clone());
    if let Some(call) = call {
        artifact.insert("call".to_owned(), Value::from(call));
    }
    Some(Value::Object(artifact))
}

/// The arguments of a call as JSON text.
fn arguments(function: &Value) -> String {
    function.get("args").filter(|args| !args.is_null()).map(Value::to_string).unwrap_or_default()
}

/// An id for a call that has none, which is the rule here; those of different answers differ.
fn own_id(answer: Option<&str>, number: usize) -> String {
    match answer {
        Some(answer) => format!("{answer}-{number}"),
        None => String::new(),
    }
}

/// Why the request was blocked, if it was.
pub(super) fn blocked(body: &Value) -> Option<Finish> {
    let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?;
    (reason != "BLOCK_REASON_UNSPECIFIED").then_some(Finish::Refused)
}

/// Why an answer ended, from the provider's word for it; `STOP` after calls means that it waits for results.
fn finish(reason: &str, has_calls: bool) -> Finish {
    match reason {
        "STOP" if has_calls => Finish::ToolCalls,
        "STOP" => Finish::Stop,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Finish::Refused
        }
        other => Finish::Other(other.to_owned()),
    }
}

/// The counts of a body or a chunk; thoughts are part of the answer.
fn usage(body: &Value) -> Option<ReplyUsage> {
    let usage = body.get("usageMetadata").filter(|usage| usage.is_object())?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let thoughts = count("thoughtsTokenCount").unwrap_or(0);
    Some(ReplyUsage {
        input: count("promptTokenCount").unwrap_or(0),
        cached: count("cachedContentTokenCount"),
        output: count("candidatesTokenCount").unwrap_or(0).saturating_add(thoughts),
    })
}
