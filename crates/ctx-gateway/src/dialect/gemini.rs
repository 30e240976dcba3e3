//! Gemini's `generateContent`.

use ctx_preset_import::RequestApi;
use ctx_types::phrase;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::reading::{self, arguments, objects, wrong};
use super::{Answer, Asked, Label, Part, Pieces, sse};
use crate::refusal::Refusal;

/// Fields in the spelling of Google's SDKs.
const NAMES: [(&str, &str); 4] = [
    ("generation_config", "generationConfig"),
    ("tool_config", "toolConfig"),
    ("safety_settings", "safetySettings"),
    ("cached_content", "cachedContent"),
];

/// Reads a request; its model is in the address.
pub(super) fn read(mut body: Map<String, Value>) -> Result<Asked, Refusal> {
    let messages = reading::messages(&mut body, RequestApi::Gemini)?;
    let tools = reading::tools(body.shift_remove("tools"))?;
    for tool in &tools {
        let mut declared = ["functionDeclarations", "function_declarations"].into_iter();
        if let Some(declared) = declared.find_map(|key| tool.get(key).filter(|list| !list.is_null())) {
            objects(declared.clone(), "tools.functionDeclarations", 1_000)?;
        }
    }
    for (theirs, ours) in NAMES {
        if let Some(value) = body.shift_remove(theirs) {
            body.entry(ours).or_insert(value);
        }
    }
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    if !config.is_null() && !config.is_object() {
        return Err(wrong("generationConfig", &phrase!("an object")));
    }
    let count = config.get("candidateCount").or_else(|| config.get("candidate_count"));
    if count.is_some_and(|count| !count.is_null() && *count != 1) {
        return Err(wrong("generationConfig.candidateCount", &phrase!("1")));
    }
    let conversation = reading::conversation(&mut body)?;
    body.retain(|_, value| !value.is_null());
    Ok(Asked { messages, tools, parameters: body, conversation, ..Asked::default() })
}

/// Writes a whole answer.
pub(super) fn write(label: &Label, answer: &Answer) -> Value {
    let thought = answer.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref());
    let mut parts: Vec<Value> =
        thought.iter().map(|text| json!({ "text": text.as_str(), "thought": true })).collect();
    if !answer.text.is_empty() {
        parts.push(json!({ "text": answer.text }));
    }
    parts.extend(calls(answer));
    chunk(label, &parts, Some(answer))
}

fn calls(answer: &Answer) -> impl Iterator<Item = Value> {
    let call = |call: &ctx_types::ToolCall| json!({ "functionCall": { "id": call.id, "name": call.name, "args": arguments(&call.arguments) } });
    answer.calls.iter().map(call)
}

fn chunk(label: &Label, parts: &[Value], end: Option<&Answer>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    let mut written = json!({ "candidates": [], "modelVersion": label.model, "responseId": label.id });
    if let Some(answer) = end {
        candidate["finishReason"] = match answer.finish {
            Finish::Length => "MAX_TOKENS",
            Finish::Refused => "SAFETY",
            _ => "STOP",
        }
        .into();
        let usage = answer.usage;
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
pub(super) fn write_error(refusal: &Refusal, message: &str) -> Value {
    json!({ "error": { "code": refusal.status, "message": message, "status": refusal.gemini() } })
}

pub(super) fn piece(pieces: &mut Pieces, part: Part, text: &str) -> Vec<u8> {
    let part = match part {
        Part::Text => json!({ "text": text }),
        Part::Reasoning => json!({ "text": text, "thought": true }),
        // The dialect has calls whole: they come at the end.
        Part::Call(index) => {
            pieces.place(index, 0);
            return Vec::new();
        }
    };
    pieces.parts = 1;
    sse::data(&chunk(&pieces.label, &[part], None))
}

pub(super) fn end(pieces: &Pieces, answer: &Answer) -> Vec<u8> {
    let mut parts: Vec<Value> = calls(answer).collect();
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    sse::data(&chunk(&pieces.label, &parts, Some(answer)))
}
