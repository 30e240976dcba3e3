//! Anthropic's Messages API.

use std::sync::Arc;

use ctx_preset_import::RequestApi;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::request_fields::{self, optional_flag, parse_arguments, required_text};
use super::{ClientRequest, ClientResponse, Part, ResponseLabel, StreamWriter, sse};
use crate::api_error::ApiError;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<ClientRequest, ApiError> {
    let model = required_text(body.shift_remove("model").as_ref(), "model")?;
    let messages = request_fields::read_messages(&mut body, RequestApi::Anthropic)?;
    let tools = request_fields::read_tools(body.shift_remove("tools"))?;
    let streams = optional_flag(body.get("stream"), "stream")?;
    body.retain(|_, value| !value.is_null());
    Ok(ClientRequest { model, messages, tools, parameters: body, streams, ..ClientRequest::default() })
}

/// Writes a complete response.
pub(super) fn write(label: &ResponseLabel, response: &ClientResponse) -> Value {
    let mut content = thinking_blocks(response);
    if !response.text.is_empty() {
        content.push(json!({ "type": "text", "text": response.text }));
    }
    content.extend(response.calls.iter().map(
        |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": parse_arguments(&call.arguments) }),
    ));
    json!({
        "id": format!("msg_{}", label.id), "type": "message", "role": "assistant", "model": label.model,
        "content": content, "stop_reason": stop_reason(response), "stop_sequence": null,
        "usage": usage(response),
    })
}

/// Returns the signed thinking blocks, or a block with the text.
fn thinking_blocks(response: &ClientResponse) -> Vec<Value> {
    let Some(reasoning) = &response.reasoning else { return Vec::new() };
    let is_thinking = |artifact: &&Arc<Value>| {
        let kind = artifact.get("type").and_then(Value::as_str);
        matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    let signed: Vec<Value> =
        reasoning.artifacts.iter().filter(is_thinking).map(|artifact| (**artifact).clone()).collect();
    match &reasoning.text {
        Some(text) if signed.is_empty() => {
            vec![json!({ "type": "thinking", "thinking": text.as_str(), "signature": "" })]
        }
        _ => signed,
    }
}

fn stop_reason(response: &ClientResponse) -> &'static str {
    match response.finish {
        Finish::Length => "max_tokens",
        Finish::Refused => "refusal",
        _ if !response.calls.is_empty() => "tool_use",
        _ => "end_turn",
    }
}

/// Returns the usage. Anthropic counts cached tokens separately.
fn usage(response: &ClientResponse) -> Value {
    let (usage, cached) = (response.usage, response.usage.cached.unwrap_or(0));
    json!({
        "input_tokens": usage.input.saturating_sub(cached), "output_tokens": usage.output,
        "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
    })
}

/// Writes an error.
pub(super) fn write_error(error: &ApiError, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": error.anthropic(), "message": message } })
}

pub(super) fn write_start(writer: &StreamWriter) -> Vec<u8> {
    let label = &writer.label;
    let message = json!({
        "id": format!("msg_{}", label.id), "type": "message", "role": "assistant", "model": label.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    });
    sse::named("message_start", &json!({ "type": "message_start", "message": message }))
}

fn start_block(writer: &mut StreamWriter, block: &Value) -> Vec<u8> {
    let index = writer.parts;
    writer.parts += 1;
    let event = json!({ "type": "content_block_start", "index": index, "content_block": block });
    sse::named("content_block_start", &event)
}

fn block_delta(writer: &StreamWriter, delta: &Value) -> Vec<u8> {
    let event = json!({ "type": "content_block_delta", "index": writer.parts - 1, "delta": delta });
    sse::named("content_block_delta", &event)
}

fn stop_block(writer: &StreamWriter) -> Vec<u8> {
    let event = json!({ "type": "content_block_stop", "index": writer.parts - 1 });
    sse::named("content_block_stop", &event)
}

pub(super) fn write_part(writer: &mut StreamWriter, part: Part, text: &str) -> Vec<u8> {
    let mut written = Vec::new();
    if writer.open != Some(part) {
        if writer.open.is_some() {
            written.extend(stop_block(writer));
        }
        writer.open = Some(part);
        let block = empty_block(writer, part);
        written.extend(start_block(writer, &block));
    }
    let fields = match part {
        Part::Text => json!({ "type": "text_delta", "text": text }),
        Part::Reasoning => json!({ "type": "thinking_delta", "thinking": text }),
        Part::Call(_) => json!({ "type": "input_json_delta", "partial_json": text }),
    };
    written.extend(block_delta(writer, &fields));
    written
}

/// Returns a block before its first chunk.
fn empty_block(writer: &mut StreamWriter, part: Part) -> Value {
    match part {
        Part::Text => json!({ "type": "text", "text": "" }),
        Part::Reasoning => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Part::Call(index) => {
            writer.set_place(index, writer.parts);
            let call = writer.calls.get(&index);
            let (id, name) = (call.map(|call| &call.id), call.map(|call| &call.name));
            json!({ "type": "tool_use", "id": id, "name": name, "input": {} })
        }
    }
}

pub(super) fn write_end(writer: &mut StreamWriter, response: &ClientResponse) -> Vec<u8> {
    let mut written = if writer.open.take().is_some() { stop_block(writer) } else { Vec::new() };
    let delta = json!({ "stop_reason": stop_reason(response), "stop_sequence": null });
    let event = json!({ "type": "message_delta", "delta": delta, "usage": usage(response) });
    written.extend(sse::named("message_delta", &event));
    written.extend(sse::named("message_stop", &json!({ "type": "message_stop" })));
    written
}
