//! Chat completions.

use ctx_preset_import::RequestApi;
use ctx_types::{ToolCall, phrase};
use ctx_wire::openai_chat::ReplyState;
use serde_json::{Map, Value, json};

use super::reading::{self, flag, text, wrong};
use super::{Answer, Asked, Label, Part, Pieces, sse};
use crate::refusal::Refusal;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<Asked, Refusal> {
    let model = text(body.shift_remove("model").as_ref(), "model")?;
    let messages = reading::messages(&mut body, RequestApi::ChatCompletions)?;
    let tools = reading::tools(body.shift_remove("tools"))?;
    let streams = flag(body.get("stream"), "stream")?;
    let options = body.get("stream_options").unwrap_or(&Value::Null);
    if !options.is_null() && !options.is_object() {
        return Err(wrong("stream_options", &phrase!("an object")));
    }
    let wants_usage = flag(options.get("include_usage"), "stream_options.include_usage")?;
    if body.get("n").is_some_and(|n| *n != 1 && !n.is_null()) {
        return Err(wrong("n", &phrase!("1")));
    }
    let conversation = reading::conversation(&mut body)?;
    body.retain(|_, value| !value.is_null());
    Ok(Asked {
        model,
        messages,
        tools,
        parameters: body,
        streams,
        wants_usage,
        conversation,
        ..Asked::default()
    })
}

/// Writes a whole answer.
pub(super) fn write(label: &Label, answer: &Answer) -> Value {
    let content = if answer.text.is_empty() && !answer.calls.is_empty() {
        Value::Null
    } else {
        answer.text.as_str().into()
    };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if let Some(thought) = answer.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
        message["reasoning_content"] = thought.as_str().into();
    }
    let mut state = state(answer);
    if !answer.calls.is_empty() {
        let call = |(position, call): (usize, &ToolCall)| {
            let mut call = tool_call(call);
            if let Some(extra) = state.extras.remove(&Some(position)) {
                call["extra_content"] = extra;
            }
            call
        };
        message["tool_calls"] = answer.calls.iter().enumerate().map(call).collect();
    }
    put_state(&mut message, state);
    json!({
        "id": format!("chatcmpl-{}", label.id), "object": "chat.completion", "created": label.created,
        "model": label.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason(answer) }],
        "usage": usage(answer),
    })
}

/// Returns the state that the client must send back with the reply.
fn state(answer: &Answer) -> ReplyState {
    answer.reasoning.as_ref().map(ReplyState::from_reasoning).unwrap_or_default()
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

fn reason(answer: &Answer) -> &str {
    match &answer.finish {
        ctx_wire::Finish::Refused => "content_filter",
        ctx_wire::Finish::Length => "length",
        _ if !answer.calls.is_empty() => "tool_calls",
        _ => "stop",
    }
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
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
pub(super) fn write_error(refusal: &Refusal, message: &str) -> Value {
    let (kind, code) = refusal.openai();
    json!({ "error": { "message": message, "type": kind, "param": refusal.place, "code": code } })
}

fn chunk(pieces: &Pieces, delta: &Value, reason: Option<&str>) -> Vec<u8> {
    let label = &pieces.label;
    sse::data(&json!({
        "id": format!("chatcmpl-{}", label.id), "object": "chat.completion.chunk", "created": label.created,
        "model": label.model,
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }],
    }))
}

pub(super) fn begin(pieces: &Pieces) -> Vec<u8> {
    chunk(pieces, &json!({ "role": "assistant", "content": "" }), None)
}

pub(super) fn piece(pieces: &mut Pieces, part: Part, text: &str) -> Vec<u8> {
    pieces.parts = 1;
    let delta = match part {
        Part::Text => json!({ "content": text }),
        Part::Reasoning => json!({ "reasoning_content": text }),
        Part::Call(index) => json!({ "tool_calls": [call_piece(pieces, index, text)] }),
    };
    chunk(pieces, &delta, None)
}

/// The first piece of a call says which it is, the others go on with its arguments.
fn call_piece(pieces: &mut Pieces, index: usize, text: &str) -> Value {
    let is_new = pieces.place(index, index);
    match pieces.calls.get(&index).filter(|_| is_new) {
        Some(call) => json!({
            "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": text },
        }),
        None => json!({ "index": index, "function": { "arguments": text } }),
    }
}

pub(super) fn end(pieces: &Pieces, answer: &Answer) -> Vec<u8> {
    let state = state(answer);
    let of_calls = state.extras.iter().filter_map(|(call, extra)| Some((call.as_ref()?, extra)));
    let calls: Vec<Value> =
        of_calls.map(|(call, extra)| json!({ "index": call, "extra_content": extra })).collect();
    let mut delta = json!({});
    if !calls.is_empty() {
        delta["tool_calls"] = calls.into();
    }
    put_state(&mut delta, state);
    let mut written = if delta == json!({}) { Vec::new() } else { chunk(pieces, &delta, None) };
    written.extend(chunk(pieces, &json!({}), Some(reason(answer))));
    if pieces.wants_usage {
        let label = &pieces.label;
        written.extend(sse::data(&json!({
            "id": format!("chatcmpl-{}", label.id), "object": "chat.completion.chunk",
            "created": label.created, "model": label.model, "choices": [], "usage": usage(answer),
        })));
    }
    written.extend(b"data: [DONE]\n\n");
    written
}
