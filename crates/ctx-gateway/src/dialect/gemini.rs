//! Gemini's `generateContent`.

use ctx_preset_import::RequestApi;
use ctx_types::phrase;
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::reading::{self, arguments, maybe_text, objects, rename, wrong};
use super::{Answer, Asked, Label, Part, Pieces, ToolChoice, sse};
use crate::refusal::Refusal;

/// What chat completions call the fields of `generationConfig`.
const NAMES: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("maxOutputTokens", "max_tokens"),
    ("stopSequences", "stop"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("seed", "seed"),
];

/// Reads a request; its model is in the address.
pub(super) fn read(mut body: Map<String, Value>) -> Result<Asked, Refusal> {
    let messages = reading::messages(&mut body, RequestApi::Gemini)?;
    let tools = tools(body.shift_remove("tools"))?;
    for (ours, theirs) in [
        ("toolConfig", "tool_config"),
        ("safetySettings", "safety_settings"),
        ("cachedContent", "cached_content"),
    ] {
        let value = either(&mut body, ours, theirs);
        body.extend(value.map(|value| (ours.to_owned(), value)));
    }
    let mut parameters = Map::new();
    let config = either(&mut body, "generationConfig", "generation_config");
    let mut config = match config {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(config)) => config,
        Some(_) => return Err(wrong("generationConfig", &phrase!("an object"))),
    };
    rename(&mut config, &mut parameters, NAMES);
    if config.shift_remove("candidateCount").is_some_and(|count| count != 1) {
        return Err(wrong("generationConfig.candidateCount", &phrase!("1")));
    }
    let mut own = body;
    let conversation = reading::conversation(&mut own)?;
    if !config.is_empty() {
        own.insert("generationConfig".to_owned(), Value::Object(config));
    }
    Ok(Asked { messages, tools, parameters, own, conversation, ..Asked::default() })
}

fn either(body: &mut Map<String, Value>, one: &str, other: &str) -> Option<Value> {
    let found = body.shift_remove(one);
    let second = body.shift_remove(other);
    found.or(second)
}

/// Moves the form of the answer to the parameters, as chat completions ask for it.
pub(super) fn form(body: &mut Map<String, Value>, parameters: &mut Map<String, Value>) {
    let Some(config) = body.get_mut("generationConfig").and_then(Value::as_object_mut) else { return };
    if config.get("responseMimeType").and_then(Value::as_str) != Some("application/json") {
        return;
    }
    config.shift_remove("responseMimeType");
    let schema = config.shift_remove("responseSchema").map(lowered);
    let format = match config.shift_remove("responseJsonSchema").or(schema) {
        Some(schema) => {
            json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema } })
        }
        None => json!({ "type": "json_object" }),
    };
    if config.is_empty() {
        body.shift_remove("generationConfig");
    }
    parameters.insert("response_format".to_owned(), format);
}

/// Functions one by one; the provider's own tools as they are.
fn tools(given: Option<Value>) -> Result<Vec<Value>, Refusal> {
    let mut tools = Vec::new();
    for mut tool in reading::tools(given)? {
        let Some(fields) = tool.as_object_mut() else { continue };
        let declared = either(fields, "functionDeclarations", "function_declarations");
        for mut function in
            declared.map_or(Ok(Vec::new()), |list| objects(list, "tools.functionDeclarations", 1_000))?
        {
            if let Some(schema) = function.shift_remove("parameters") {
                function.insert("parametersJsonSchema".to_owned(), lowered(schema));
            }
            tools.push(Value::Object(function));
        }
        if !fields.is_empty() {
            tools.push(tool);
        }
    }
    Ok(tools)
}

/// Gemini writes the types of schemas in capitals, JSON Schema does not.
fn lowered(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let field = |(key, value): (String, Value)| match (key.as_str(), value) {
                ("type", Value::String(kind)) => (key, Value::from(kind.to_lowercase())),
                (_, value) => (key, lowered(value)),
            };
            Value::Object(map.into_iter().map(field).collect())
        }
        Value::Array(list) => list.into_iter().map(lowered).collect(),
        other => other,
    }
}

pub(super) fn read_choice(config: &Value) -> Result<Option<ToolChoice>, Refusal> {
    let config = config.get("functionCallingConfig").or_else(|| config.get("function_calling_config"));
    let Some(config) = config else { return Ok(None) };
    let names =
        ["allowedFunctionNames", "allowed_function_names"].into_iter().find_map(|key| config.get(key));
    let only = names.and_then(Value::as_array).filter(|names| names.len() == 1);
    let only = only.and_then(|names| names.first()?.as_str());
    let mode = maybe_text(config.get("mode"), "toolConfig.functionCallingConfig.mode")?;
    Ok(match (mode.as_deref(), only) {
        (Some("NONE"), _) => Some(ToolChoice::None),
        (Some("ANY"), Some(name)) => Some(ToolChoice::Tool(name.to_owned())),
        (Some("ANY"), None) => Some(ToolChoice::Any),
        (Some("AUTO"), _) => Some(ToolChoice::Auto),
        _ => None,
    })
}

/// Writes which tool must be called.
pub(super) fn choice(choice: &ToolChoice) -> Value {
    let config = match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Any => json!({ "mode": "ANY" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    };
    json!({ "functionCallingConfig": config })
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
