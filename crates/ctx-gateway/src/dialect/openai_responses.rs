//! OpenAI's responses.

use std::sync::Arc;

use ctx_preset_import::RequestApi;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::reading::{self, flag, maybe_text, text};
use super::{Answer, Asked, Label, Part, Pieces, sse};
use crate::refusal::Refusal;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<Asked, Refusal> {
    let model = text(body.shift_remove("model").as_ref(), "model")?;
    let messages = reading::messages(&mut body, RequestApi::Responses)?;
    let tools = reading::tools(body.shift_remove("tools"))?;
    let streams = flag(body.get("stream"), "stream")?;
    let conversation = named(&mut body)?;
    body.retain(|_, value| !value.is_null());
    Ok(Asked { model, messages, tools, parameters: body, streams, conversation, ..Asked::default() })
}

/// The conversation, as this dialect names it, or as all do.
fn named(body: &mut Map<String, Value>) -> Result<Option<String>, Refusal> {
    let metadata = reading::conversation(body)?;
    let own = match body.shift_remove("conversation") {
        Some(Value::Object(conversation)) => Some(text(conversation.get("id"), "conversation.id")?),
        other => maybe_text(other.as_ref(), "conversation")?,
    };
    Ok(own.or(metadata))
}

/// Writes a whole answer.
pub(super) fn write(label: &Label, answer: &Answer) -> Value {
    response(label, answer.status(), &output(label, answer), Some(answer))
}

impl Answer {
    fn status(&self) -> &'static str {
        if self.incomplete_reason().is_some() { "incomplete" } else { "completed" }
    }

    fn incomplete_reason(&self) -> Option<&'static str> {
        match self.finish {
            Finish::Length => Some("max_output_tokens"),
            Finish::Refused => Some("content_filter"),
            _ => None,
        }
    }
}

fn output(label: &Label, answer: &Answer) -> Vec<Value> {
    let mut output: Vec<Value> = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        let own = |artifact: &&Arc<Value>| artifact.get("type").and_then(Value::as_str) == Some("reasoning");
        output.extend(reasoning.artifacts.iter().filter(own).map(|artifact| (**artifact).clone()));
        if let (true, Some(text)) = (output.is_empty(), &reasoning.text) {
            output.push(thought(label, text.as_str()));
        }
    }
    if !answer.text.is_empty() || answer.calls.is_empty() {
        output.push(message(label, &answer.text, "completed"));
    }
    output.extend((0..answer.calls.len()).map(|index| function_call(label, answer, index)));
    output
}

fn thought(label: &Label, text: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{}", label.id), "summary": [{ "type": "summary_text", "text": text }] })
}

fn message(label: &Label, text: &str, status: &str) -> Value {
    json!({
        "type": "message", "id": format!("msg_{}", label.id), "status": status, "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

fn function_call(label: &Label, answer: &Answer, index: usize) -> Value {
    let call = &answer.calls[index];
    json!({
        "type": "function_call", "id": call_id(label, index), "call_id": call.id, "name": call.name,
        "arguments": call.arguments.as_str(), "status": "completed",
    })
}

fn call_id(label: &Label, index: usize) -> String {
    format!("fc_{}_{index}", label.id)
}

fn response(label: &Label, status: &str, output: &[Value], answer: Option<&Answer>) -> Value {
    let usage = answer.map(|answer| {
        let usage = answer.usage;
        json!({
            "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached.unwrap_or(0) },
            "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input.saturating_add(usage.output),
        })
    });
    let reason = answer.and_then(Answer::incomplete_reason);
    let incomplete = reason.map(|reason| json!({ "reason": reason }));
    json!({
        "id": format!("resp_{}", label.id), "object": "response", "created_at": label.created, "status": status,
        "error": null, "incomplete_details": incomplete, "instructions": null, "metadata": {},
        "model": label.model, "output": output, "parallel_tool_calls": true, "temperature": null,
        "tool_choice": "auto", "tools": [], "top_p": null, "usage": usage,
    })
}

/// Writes an event with its number.
fn event(pieces: &mut Pieces, kind: &str, fields: Value) -> Vec<u8> {
    let mut event = json!({ "type": kind, "sequence_number": pieces.events });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    pieces.events += 1;
    sse::named(kind, &event)
}

pub(super) fn begin(pieces: &mut Pieces) -> Vec<u8> {
    let begun = response(&pieces.label, "in_progress", &[], None);
    let mut written = event(pieces, "response.created", json!({ "response": begun }));
    written.extend(event(pieces, "response.in_progress", json!({ "response": begun })));
    written
}

pub(super) fn piece(pieces: &mut Pieces, part: Part, text: &str) -> Vec<u8> {
    let mut written = Vec::new();
    if pieces.open != Some(part) {
        written.extend(close(pieces));
        pieces.open = Some(part);
        pieces.parts += 1;
        written.extend(open(pieces, part));
    }
    let index = pieces.parts - 1;
    match part {
        Part::Text => {
            pieces.text += text;
            let fields = json!({ "item_id": format!("msg_{}", pieces.label.id), "output_index": index,
                "content_index": 0, "delta": text, "logprobs": [] });
            written.extend(event(pieces, "response.output_text.delta", fields));
        }
        Part::Reasoning => {
            pieces.reasoning += text;
            let fields = json!({ "item_id": format!("rs_{}", pieces.label.id), "output_index": index,
                "summary_index": 0, "delta": text });
            written.extend(event(pieces, "response.reasoning_summary_text.delta", fields));
        }
        Part::Call(call) => {
            let fields =
                json!({ "item_id": call_id(&pieces.label, call), "output_index": index, "delta": text });
            written.extend(event(pieces, "response.function_call_arguments.delta", fields));
        }
    }
    written
}

fn open(pieces: &mut Pieces, part: Part) -> Vec<u8> {
    let index = pieces.parts - 1;
    match part {
        Part::Text => {
            pieces.text.clear();
            let id = format!("msg_{}", pieces.label.id);
            let item = json!({ "type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": [] });
            let mut written =
                event(pieces, "response.output_item.added", json!({ "output_index": index, "item": item }));
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "part": part });
            written.extend(event(pieces, "response.content_part.added", fields));
            written
        }
        Part::Reasoning => {
            pieces.reasoning.clear();
            let item = json!({ "type": "reasoning", "id": format!("rs_{}", pieces.label.id), "summary": [] });
            event(pieces, "response.output_item.added", json!({ "output_index": index, "item": item }))
        }
        Part::Call(call) => {
            pieces.place(call, index);
            let item = call_so_far(pieces, call, "in_progress");
            event(pieces, "response.output_item.added", json!({ "output_index": index, "item": item }))
        }
    }
}

/// A call as an item: its arguments are told once it is completed.
fn call_so_far(pieces: &Pieces, index: usize, status: &str) -> Value {
    let Some(call) = pieces.calls.get(&index) else { return Value::Null };
    let arguments = if status == "completed" { call.arguments.as_str() } else { "" };
    json!({
        "type": "function_call", "id": call_id(&pieces.label, index), "call_id": call.id, "name": call.name,
        "arguments": arguments, "status": status,
    })
}

fn close(pieces: &mut Pieces) -> Vec<u8> {
    let Some(part) = pieces.open.take() else { return Vec::new() };
    let index = pieces.parts - 1;
    match part {
        Part::Text => {
            let id = format!("msg_{}", pieces.label.id);
            let item = message(&pieces.label, &pieces.text, "completed");
            let part = item["content"][0].clone();
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "text": pieces.text, "logprobs": [] });
            let mut written = event(pieces, "response.output_text.done", fields);
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "part": part });
            written.extend(event(pieces, "response.content_part.done", fields));
            written.extend(event(
                pieces,
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            ));
            written
        }
        Part::Reasoning => {
            let item = thought(&pieces.label, &pieces.reasoning);
            event(pieces, "response.output_item.done", json!({ "output_index": index, "item": item }))
        }
        Part::Call(call) => {
            let item = call_so_far(pieces, call, "completed");
            let fields = json!({ "item_id": item["id"], "output_index": index, "name": item["name"],
                "arguments": item["arguments"] });
            let mut written = event(pieces, "response.function_call_arguments.done", fields);
            written.extend(event(
                pieces,
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            ));
            written
        }
    }
}

pub(super) fn end(pieces: &mut Pieces, answer: &Answer) -> Vec<u8> {
    let mut written = close(pieces);
    let whole = write(&pieces.label, answer);
    let kind = format!("response.{}", answer.status());
    written.extend(event(pieces, &kind, json!({ "response": whole })));
    written
}

/// Writes that the answer failed.
pub(super) fn broken(pieces: &mut Pieces, refusal: &Refusal, message: &str) -> Vec<u8> {
    let mut failed = response(&pieces.label, "failed", &[], None);
    failed["error"] = json!({ "code": refusal.openai().1, "message": message });
    event(pieces, "response.failed", json!({ "response": failed }))
}
