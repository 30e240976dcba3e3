//! Anthropic's messages.

use std::sync::Arc;

use ctx_preset_import::RequestApi;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::reading::{self, arguments, flag, text};
use super::{Answer, Asked, Label, Part, Pieces, sse};
use crate::refusal::Refusal;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<Asked, Refusal> {
    let model = text(body.shift_remove("model").as_ref(), "model")?;
    let messages = reading::messages(&mut body, RequestApi::Anthropic)?;
    let tools = reading::tools(body.shift_remove("tools"))?;
    let streams = flag(body.get("stream"), "stream")?;
    let conversation = reading::conversation(&mut body)?;
    body.retain(|_, value| !value.is_null());
    Ok(Asked { model, messages, tools, parameters: body, streams, conversation, ..Asked::default() })
}

/// Writes a whole answer.
pub(super) fn write(label: &Label, answer: &Answer) -> Value {
    let mut content = thoughts(answer);
    if !answer.text.is_empty() {
        content.push(json!({ "type": "text", "text": answer.text }));
    }
    content.extend(answer.calls.iter().map(
        |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(&call.arguments) }),
    ));
    json!({
        "id": format!("msg_{}", label.id), "type": "message", "role": "assistant", "model": label.model,
        "content": content, "stop_reason": reason(answer), "stop_sequence": null, "usage": usage(answer),
    })
}

/// What the model thought: as it was signed, or else its words.
fn thoughts(answer: &Answer) -> Vec<Value> {
    let Some(reasoning) = &answer.reasoning else { return Vec::new() };
    let is_own = |artifact: &&Arc<Value>| {
        let kind = artifact.get("type").and_then(Value::as_str);
        matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    let signed: Vec<Value> =
        reasoning.artifacts.iter().filter(is_own).map(|artifact| (**artifact).clone()).collect();
    match &reasoning.text {
        Some(text) if signed.is_empty() => {
            vec![json!({ "type": "thinking", "thinking": text.as_str(), "signature": "" })]
        }
        _ => signed,
    }
}

fn reason(answer: &Answer) -> &'static str {
    match answer.finish {
        Finish::Length => "max_tokens",
        Finish::Refused => "refusal",
        _ if !answer.calls.is_empty() => "tool_use",
        _ => "end_turn",
    }
}

/// The provider counts what came from its cache apart.
fn usage(answer: &Answer) -> Value {
    let (usage, cached) = (answer.usage, answer.usage.cached.unwrap_or(0));
    json!({
        "input_tokens": usage.input.saturating_sub(cached), "output_tokens": usage.output,
        "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
    })
}

/// Writes an error.
pub(super) fn write_error(refusal: &Refusal, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": refusal.anthropic(), "message": message } })
}

pub(super) fn begin(pieces: &Pieces) -> Vec<u8> {
    let label = &pieces.label;
    let message = json!({
        "id": format!("msg_{}", label.id), "type": "message", "role": "assistant", "model": label.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    });
    sse::named("message_start", &json!({ "type": "message_start", "message": message }))
}

fn opened(pieces: &mut Pieces, block: &Value) -> Vec<u8> {
    let index = pieces.parts;
    pieces.parts += 1;
    let event = json!({ "type": "content_block_start", "index": index, "content_block": block });
    sse::named("content_block_start", &event)
}

fn delta(pieces: &Pieces, delta: &Value) -> Vec<u8> {
    let event = json!({ "type": "content_block_delta", "index": pieces.parts - 1, "delta": delta });
    sse::named("content_block_delta", &event)
}

fn closed(pieces: &Pieces) -> Vec<u8> {
    let event = json!({ "type": "content_block_stop", "index": pieces.parts - 1 });
    sse::named("content_block_stop", &event)
}

pub(super) fn piece(pieces: &mut Pieces, part: Part, text: &str) -> Vec<u8> {
    let mut written = Vec::new();
    if pieces.open != Some(part) {
        if pieces.open.is_some() {
            written.extend(closed(pieces));
        }
        pieces.open = Some(part);
        let block = block(pieces, part);
        written.extend(opened(pieces, &block));
    }
    let piece = match part {
        Part::Text => json!({ "type": "text_delta", "text": text }),
        Part::Reasoning => json!({ "type": "thinking_delta", "thinking": text }),
        Part::Call(_) => json!({ "type": "input_json_delta", "partial_json": text }),
    };
    written.extend(delta(pieces, &piece));
    written
}

/// A block before its first piece.
fn block(pieces: &mut Pieces, part: Part) -> Value {
    match part {
        Part::Text => json!({ "type": "text", "text": "" }),
        Part::Reasoning => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Part::Call(index) => {
            pieces.place(index, pieces.parts);
            let call = pieces.calls.get(&index);
            let (id, name) = (call.map(|call| &call.id), call.map(|call| &call.name));
            json!({ "type": "tool_use", "id": id, "name": name, "input": {} })
        }
    }
}

pub(super) fn end(pieces: &mut Pieces, answer: &Answer) -> Vec<u8> {
    let mut written = if pieces.open.take().is_some() { closed(pieces) } else { Vec::new() };
    let delta = json!({ "stop_reason": reason(answer), "stop_sequence": null });
    let event = json!({ "type": "message_delta", "delta": delta, "usage": usage(answer) });
    written.extend(sse::named("message_delta", &event));
    written.extend(sse::named("message_stop", &json!({ "type": "message_stop" })));
    written
}
