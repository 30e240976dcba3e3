//! OpenAI's Responses API.

use std::sync::Arc;

use ctx_preset_import::RequestApi;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::request_fields::{self, optional_flag, optional_text, required_text};
use super::{ClientRequest, ClientResponse, Part, ResponseLabel, StreamWriter, sse};
use crate::api_error::ApiError;

/// Reads a request.
pub(super) fn read(mut body: Map<String, Value>) -> Result<ClientRequest, ApiError> {
    let model = required_text(body.shift_remove("model").as_ref(), "model")?;
    let messages = request_fields::read_messages(&mut body, RequestApi::Responses)?;
    let tools = request_fields::read_tools(body.shift_remove("tools"))?;
    let streams = optional_flag(body.get("stream"), "stream")?;
    body.retain(|_, value| !value.is_null());
    Ok(ClientRequest { model, messages, tools, parameters: body, streams, ..ClientRequest::default() })
}

/// Takes the name of the conversation from the field of this API, or from `metadata`.
pub(super) fn take_conversation_name(body: &mut Map<String, Value>) -> Result<Option<String>, ApiError> {
    let metadata = request_fields::take_conversation_name(body)?;
    let name = match body.shift_remove("conversation") {
        Some(Value::Object(conversation)) => Some(required_text(conversation.get("id"), "conversation.id")?),
        other => optional_text(other.as_ref(), "conversation")?,
    };
    Ok(name.or(metadata))
}

/// Writes a complete response.
pub(super) fn write(label: &ResponseLabel, response: &ClientResponse) -> Value {
    response_object(label, response.status(), &output(label, response), Some(response))
}

impl ClientResponse {
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

fn output(label: &ResponseLabel, response: &ClientResponse) -> Vec<Value> {
    let mut output: Vec<Value> = Vec::new();
    if let Some(reasoning) = &response.reasoning {
        let is_reasoning =
            |artifact: &&Arc<Value>| artifact.get("type").and_then(Value::as_str) == Some("reasoning");
        output.extend(reasoning.artifacts.iter().filter(is_reasoning).map(|artifact| (**artifact).clone()));
        if let (true, Some(text)) = (output.is_empty(), &reasoning.text) {
            output.push(reasoning_item(label, text.as_str()));
        }
    }
    if !response.text.is_empty() || response.calls.is_empty() {
        output.push(message_item(label, &response.text, "completed"));
    }
    output.extend((0..response.calls.len()).map(|index| function_call(label, response, index)));
    output
}

fn reasoning_item(label: &ResponseLabel, text: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{}", label.id), "summary": [{ "type": "summary_text", "text": text }] })
}

fn message_item(label: &ResponseLabel, text: &str, status: &str) -> Value {
    json!({
        "type": "message", "id": format!("msg_{}", label.id), "status": status, "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

fn function_call(label: &ResponseLabel, response: &ClientResponse, index: usize) -> Value {
    let call = &response.calls[index];
    json!({
        "type": "function_call", "id": call_id(label, index), "call_id": call.id, "name": call.name,
        "arguments": call.arguments.as_str(), "status": "completed",
    })
}

fn call_id(label: &ResponseLabel, index: usize) -> String {
    format!("fc_{}_{index}", label.id)
}

fn response_object(
    label: &ResponseLabel,
    status: &str,
    output: &[Value],
    response: Option<&ClientResponse>,
) -> Value {
    let usage = response.map(|response| {
        let usage = response.usage;
        json!({
            "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached.unwrap_or(0) },
            "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input.saturating_add(usage.output),
        })
    });
    let reason = response.and_then(ClientResponse::incomplete_reason);
    let incomplete = reason.map(|reason| json!({ "reason": reason }));
    json!({
        "id": format!("resp_{}", label.id), "object": "response", "created_at": label.created, "status": status,
        "error": null, "incomplete_details": incomplete, "instructions": null, "metadata": {},
        "model": label.model, "output": output, "parallel_tool_calls": true, "temperature": null,
        "tool_choice": "auto", "tools": [], "top_p": null, "usage": usage,
    })
}

/// Writes an event with its number.
fn numbered_event(writer: &mut StreamWriter, kind: &str, fields: Value) -> Vec<u8> {
    let mut event = json!({ "type": kind, "sequence_number": writer.events });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    writer.events += 1;
    sse::named(kind, &event)
}

pub(super) fn write_start(writer: &mut StreamWriter) -> Vec<u8> {
    let begun = response_object(&writer.label, "in_progress", &[], None);
    let mut written = numbered_event(writer, "response.created", json!({ "response": begun }));
    written.extend(numbered_event(writer, "response.in_progress", json!({ "response": begun })));
    written
}

pub(super) fn write_part(writer: &mut StreamWriter, part: Part, text: &str) -> Vec<u8> {
    let mut written = Vec::new();
    if writer.open != Some(part) {
        written.extend(end_item(writer));
        writer.open = Some(part);
        writer.parts += 1;
        written.extend(start_item(writer, part));
    }
    let index = writer.parts - 1;
    match part {
        Part::Text => {
            writer.text += text;
            let fields = json!({ "item_id": format!("msg_{}", writer.label.id), "output_index": index,
                "content_index": 0, "delta": text, "logprobs": [] });
            written.extend(numbered_event(writer, "response.output_text.delta", fields));
        }
        Part::Reasoning => {
            writer.reasoning += text;
            let fields = json!({ "item_id": format!("rs_{}", writer.label.id), "output_index": index,
                "summary_index": 0, "delta": text });
            written.extend(numbered_event(writer, "response.reasoning_summary_text.delta", fields));
        }
        Part::Call(call) => {
            let fields =
                json!({ "item_id": call_id(&writer.label, call), "output_index": index, "delta": text });
            written.extend(numbered_event(writer, "response.function_call_arguments.delta", fields));
        }
    }
    written
}

fn start_item(writer: &mut StreamWriter, part: Part) -> Vec<u8> {
    let index = writer.parts - 1;
    match part {
        Part::Text => {
            writer.text.clear();
            let id = format!("msg_{}", writer.label.id);
            let item = json!({ "type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": [] });
            let mut written = numbered_event(
                writer,
                "response.output_item.added",
                json!({ "output_index": index, "item": item }),
            );
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "part": part });
            written.extend(numbered_event(writer, "response.content_part.added", fields));
            written
        }
        Part::Reasoning => {
            writer.reasoning.clear();
            let item = json!({ "type": "reasoning", "id": format!("rs_{}", writer.label.id), "summary": [] });
            numbered_event(
                writer,
                "response.output_item.added",
                json!({ "output_index": index, "item": item }),
            )
        }
        Part::Call(call) => {
            writer.set_place(call, index);
            let item = call_item(writer, call, "in_progress");
            numbered_event(
                writer,
                "response.output_item.added",
                json!({ "output_index": index, "item": item }),
            )
        }
    }
}

/// Returns the item of a tool call. It has arguments when the call is completed.
fn call_item(writer: &StreamWriter, index: usize, status: &str) -> Value {
    let Some(call) = writer.calls.get(&index) else { return Value::Null };
    let arguments = if status == "completed" { call.arguments.as_str() } else { "" };
    json!({
        "type": "function_call", "id": call_id(&writer.label, index), "call_id": call.id, "name": call.name,
        "arguments": arguments, "status": status,
    })
}

fn end_item(writer: &mut StreamWriter) -> Vec<u8> {
    let Some(part) = writer.open.take() else { return Vec::new() };
    let index = writer.parts - 1;
    match part {
        Part::Text => {
            let id = format!("msg_{}", writer.label.id);
            let item = message_item(&writer.label, &writer.text, "completed");
            let part = item["content"][0].clone();
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "text": writer.text, "logprobs": [] });
            let mut written = numbered_event(writer, "response.output_text.done", fields);
            let fields = json!({ "item_id": id, "output_index": index, "content_index": 0, "part": part });
            written.extend(numbered_event(writer, "response.content_part.done", fields));
            written.extend(numbered_event(
                writer,
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            ));
            written
        }
        Part::Reasoning => {
            let item = reasoning_item(&writer.label, &writer.reasoning);
            numbered_event(
                writer,
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            )
        }
        Part::Call(call) => {
            let item = call_item(writer, call, "completed");
            let fields = json!({ "item_id": item["id"], "output_index": index, "name": item["name"],
                "arguments": item["arguments"] });
            let mut written = numbered_event(writer, "response.function_call_arguments.done", fields);
            written.extend(numbered_event(
                writer,
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            ));
            written
        }
    }
}

pub(super) fn write_end(writer: &mut StreamWriter, response: &ClientResponse) -> Vec<u8> {
    let mut written = end_item(writer);
    let complete = write(&writer.label, response);
    let kind = format!("response.{}", response.status());
    written.extend(numbered_event(writer, &kind, json!({ "response": complete })));
    written
}

/// Writes the event of a failed response.
pub(super) fn write_failure(writer: &mut StreamWriter, error: &ApiError, message: &str) -> Vec<u8> {
    let mut failed = response_object(&writer.label, "failed", &[], None);
    failed["error"] = json!({ "code": error.openai().1, "message": message });
    numbered_event(writer, "response.failed", json!({ "response": failed }))
}
