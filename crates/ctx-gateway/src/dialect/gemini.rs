//! Gemini's `generateContent`.

use ctx_preset_import::RequestApi;
use ctx_types::phrase;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::request_fields::{self, invalid_field, parse_arguments, read_objects};
use super::{ClientRequest, ClientResponse, Part, ResponseLabel, StreamWriter, sse};
use crate::api_error::ApiError;

/// Fields in the spelling of Google's SDKs.
const SNAKE_CASE_FIELDS: [(&str, &str); 4] = [
    ("generation_config", "generationConfig"),
    ("tool_config", "toolConfig"),
    ("safety_settings", "safetySettings"),
    ("cached_content", "cachedContent"),
];

/// Reads a request. The path contains the model.
pub(super) fn read(mut body: Map<String, Value>) -> Result<ClientRequest, ApiError> {
    body.shift_remove("model");
    let messages = request_fields::read_messages(&mut body, RequestApi::Gemini)?;
    let tools = request_fields::read_tools(body.shift_remove("tools"))?;
    for tool in &tools {
        let mut declared = ["functionDeclarations", "function_declarations"].into_iter();
        if let Some(declared) = declared.find_map(|key| tool.get(key).filter(|list| !list.is_null())) {
            read_objects(declared.clone(), "tools.functionDeclarations", 1_000)?;
        }
    }
    for (theirs, ours) in SNAKE_CASE_FIELDS {
        if let Some(value) = body.shift_remove(theirs) {
            body.entry(ours).or_insert(value);
        }
    }
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    if !config.is_null() && !config.is_object() {
        return Err(invalid_field("generationConfig", &phrase!("an object")));
    }
    let count = config.get("candidateCount").or_else(|| config.get("candidate_count"));
    if count.is_some_and(|count| !count.is_null() && *count != 1) {
        return Err(invalid_field("generationConfig.candidateCount", &phrase!("1")));
    }
    body.retain(|_, value| !value.is_null());
    Ok(ClientRequest { messages, tools, parameters: body, ..ClientRequest::default() })
}

/// Writes a complete response.
pub(super) fn write(label: &ResponseLabel, response: &ClientResponse) -> Value {
    let thought = response.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref());
    let mut parts: Vec<Value> =
        thought.iter().map(|text| json!({ "text": text.as_str(), "thought": true })).collect();
    if !response.text.is_empty() {
        parts.push(json!({ "text": response.text }));
    }
    parts.extend(call_parts(response));
    chunk(label, &parts, Some(response))
}

fn call_parts(response: &ClientResponse) -> impl Iterator<Item = Value> {
    let call = |call: &ctx_types::ToolCall| json!({ "functionCall": { "id": call.id, "name": call.name, "args": parse_arguments(&call.arguments) } });
    response.calls.iter().map(call)
}

fn chunk(label: &ResponseLabel, parts: &[Value], end: Option<&ClientResponse>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    let mut written = json!({ "candidates": [], "modelVersion": label.model, "responseId": label.id });
    if let Some(response) = end {
        candidate["finishReason"] = match response.finish {
            Finish::Length => "MAX_TOKENS",
            Finish::Refused => "SAFETY",
            _ => "STOP",
        }
        .into();
        let usage = response.usage;
        written["usageMetadata"] = json!({
            "promptTokenCount": usage.input, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input.saturating_add(usage.output),
            "cachedContentTokenCount": usage.cached.unwrap_or(0),
        });
    }
    written["candidates"] = json!([candidate]);
    written
}

/// Writes an error.
pub(super) fn write_error(error: &ApiError, message: &str) -> Value {
    json!({ "error": { "code": error.status, "message": message, "status": error.gemini() } })
}

pub(super) fn write_part(writer: &mut StreamWriter, part: Part, text: &str) -> Vec<u8> {
    let part = match part {
        Part::Text => json!({ "text": text }),
        Part::Reasoning => json!({ "text": text, "thought": true }),
        // Gemini sends complete calls, which follow at the end.
        Part::Call(index) => {
            writer.set_place(index, 0);
            return Vec::new();
        }
    };
    writer.parts = 1;
    sse::data(&chunk(&writer.label, &[part], None))
}

pub(super) fn write_end(writer: &StreamWriter, response: &ClientResponse) -> Vec<u8> {
    let mut parts: Vec<Value> = call_parts(response).collect();
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    sse::data(&chunk(&writer.label, &parts, Some(response)))
}
