//! Chat completions.

use ctx_preset_import::RequestApi;
use ctx_types::{ToolCall, phrase};
use ctx_wire::openai_chat::ReplyState;
use serde_json::{Map, Value, json};

use super::request_fields::{self, invalid_field, optional_flag, required_text};
use super::{ClientRequest, ClientResponse, Part, ResponseLabel, StreamWriter, sse};
use crate::api_error::ApiError;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<ClientRequest, ApiError> {
    let model = required_text(body.shift_remove("model").as_ref(), "model")?;
    let messages = request_fields::read_messages(&mut body, RequestApi::ChatCompletions)?;
    let tools = request_fields::read_tools(body.shift_remove("tools"))?;
    let streams = optional_flag(body.get("stream"), "stream")?;
    let options = body.get("stream_options").unwrap_or(&Value::Null);
    if !options.is_null() && !options.is_object() {
        return Err(invalid_field("stream_options", &phrase!("an object")));
    }
    let wants_usage = optional_flag(options.get("include_usage"), "stream_options.include_usage")?;
    if body.get("n").is_some_and(|n| *n != 1 && !n.is_null()) {
        return Err(invalid_field("n", &phrase!("1")));
    }
    body.retain(|_, value| !value.is_null());
    Ok(ClientRequest {
        model,
        messages,
        tools,
        parameters: body,
        streams,
        wants_usage,
        ..ClientRequest::default()
    })
}

/// Writes a complete response.
pub(super) fn write(label: &ResponseLabel, response: &ClientResponse) -> Value {
    let content = if response.text.is_empty() && !response.calls.is_empty() {
        Value::Null
    } else {
        response.text.as_str().into()
    };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if let Some(thought) = response.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
        message["reasoning_content"] = thought.as_str().into();
    }
    let mut state = reply_state(response);
    if !response.calls.is_empty() {
        let call = |(position, call): (usize, &ToolCall)| {
            let mut call = tool_call(call);
            if let Some(extra) = state.extras.remove(&Some(position)) {
                call["extra_content"] = extra;
            }
            call
        };
        message["tool_calls"] = response.calls.iter().enumerate().map(call).collect();
    }
    put_state(&mut message, state);
    json!({
        "id": format!("chatcmpl-{}", label.id), "object": "chat.completion", "created": label.created,
        "model": label.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(response),
        }],
        "usage": usage(response),
    })
}

/// Returns the state that the client must send back with the reply.
fn reply_state(response: &ClientResponse) -> ReplyState {
    response.reasoning.as_ref().map(ReplyState::from_reasoning).unwrap_or_default()
}

/// Writes the state of a message, or of the end of its stream.
fn put_state(message: &mut Value, mut state: ReplyState) {
    if let Some(extra) = state.extras.remove(&None) {
        message["extra_content"] = extra;
    }
    if let Some(details) = state.details {
        message["reasoning_details"] = details;
    }
}

fn tool_call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments.as_str() });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn finish_reason(response: &ClientResponse) -> &str {
    match &response.finish {
        ctx_wire::Finish::Refused => "content_filter",
        ctx_wire::Finish::Length => "length",
        _ if !response.calls.is_empty() => "tool_calls",
        _ => "stop",
    }
}

fn usage(response: &ClientResponse) -> Value {
    let usage = response.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": { "cached_tokens": usage.cached.unwrap_or(0) },
    })
}

/// Writes a chunk of the provider without the usage, which the client did not ask for.
pub(super) fn without_usage(json: &str) -> Vec<u8> {
    let Ok(Value::Object(mut chunk)) = serde_json::from_str(json) else { return sse::text(json) };
    let is_usage = chunk.get("choices").and_then(Value::as_array).is_some_and(Vec::is_empty);
    match chunk.shift_remove("usage") {
        Some(usage) if usage.is_object() && is_usage => Vec::new(),
        Some(_) => sse::data(&Value::Object(chunk)),
        None => sse::text(json),
    }
}

/// Writes an error.
pub(super) fn write_error(error: &ApiError, message: &str) -> Value {
    let (kind, code) = error.openai();
    json!({ "error": { "message": message, "type": kind, "param": error.place, "code": code } })
}

fn chunk(writer: &StreamWriter, delta: &Value, reason: Option<&str>) -> Vec<u8> {
    let label = &writer.label;
    sse::data(&json!({
        "id": format!("chatcmpl-{}", label.id), "object": "chat.completion.chunk", "created": label.created,
        "model": label.model,
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }],
    }))
}

pub(super) fn write_start(writer: &StreamWriter) -> Vec<u8> {
    chunk(writer, &json!({ "role": "assistant", "content": "" }), None)
}

pub(super) fn write_part(writer: &mut StreamWriter, part: Part, text: &str) -> Vec<u8> {
    writer.parts = 1;
    let delta = match part {
        Part::Text => json!({ "content": text }),
        Part::Reasoning => json!({ "reasoning_content": text }),
        Part::Call(index) => json!({ "tool_calls": [call_delta(writer, index, text)] }),
    };
    chunk(writer, &delta, None)
}

/// Returns a chunk of a tool call. The first chunk has the id and the name.
fn call_delta(writer: &mut StreamWriter, index: usize, text: &str) -> Value {
    let is_new = writer.set_place(index, index);
    match writer.calls.get(&index).filter(|_| is_new) {
        Some(call) => json!({
            "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": text },
        }),
        None => json!({ "index": index, "function": { "arguments": text } }),
    }
}

pub(super) fn write_end(writer: &StreamWriter, response: &ClientResponse) -> Vec<u8> {
    let state = reply_state(response);
    let of_calls = state.extras.iter().filter_map(|(call, extra)| Some((call.as_ref()?, extra)));
    let calls: Vec<Value> =
        of_calls.map(|(call, extra)| json!({ "index": call, "extra_content": extra })).collect();
    let mut delta = json!({});
    if !calls.is_empty() {
        delta["tool_calls"] = calls.into();
    }
    put_state(&mut delta, state);
    let mut written = if delta == json!({}) { Vec::new() } else { chunk(writer, &delta, None) };
    written.extend(chunk(writer, &json!({}), Some(finish_reason(response))));
    if writer.wants_usage {
        let label = &writer.label;
        written.extend(sse::data(&json!({
            "id": format!("chatcmpl-{}", label.id), "object": "chat.completion.chunk",
            "created": label.created, "model": label.model, "choices": [], "usage": usage(response),
        })));
    }
    written.extend(b"data: [DONE]\n\n");
    written
}
