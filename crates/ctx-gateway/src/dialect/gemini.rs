//! Gemini's `generateContent`.

use std::collections::VecDeque;

use ctx_types::session::Node;
use ctx_types::{ContentPart, Role, phrase};
use ctx_wire::Finish;
use serde_json::{Map, Value, json};

use super::reading::{
    MAX_MESSAGES, arguments, call, joined, maybe_text, messages, node, objects, rename, text, wrong,
};
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
    let mut reading = Reading::default();
    match either(&mut body, "systemInstruction", "system_instruction") {
        None | Some(Value::Null) => {}
        Some(Value::Object(system)) if system.contains_key("parts") => {
            reading.content(system, Role::System, "systemInstruction")?;
        }
        Some(_) => return Err(wrong("systemInstruction", &phrase!("an object with `parts`"))),
    }
    for (index, mut content) in messages(body.shift_remove("contents"), "contents")?.into_iter().enumerate() {
        let place = format!("contents[{index}]");
        let role = content.shift_remove("role");
        let role = match maybe_text(role.as_ref(), &format!("{place}.role"))?.as_deref() {
            None | Some("user" | "function") => Role::User,
            Some("model") => Role::Assistant,
            Some(_) => return Err(wrong(&format!("{place}.role"), &phrase!("`user` or `model`"))),
        };
        reading.content(content, role, &place)?;
    }
    let tools = tools(body.shift_remove("tools"))?;
    let choice = either(&mut body, "toolConfig", "tool_config").unwrap_or_default();
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
    if config.get("responseMimeType").and_then(Value::as_str) == Some("application/json") {
        parameters.insert("response_format".to_owned(), format(&mut config));
    }
    let mut own = body;
    let conversation = super::reading::conversation(own.shift_remove("metadata").as_ref())?;
    if !config.is_empty() {
        own.insert("generationConfig".to_owned(), Value::Object(config));
    }
    Ok(Asked {
        messages: reading.nodes,
        tools,
        tool_choice: read_choice(&choice)?,
        parameters,
        own,
        conversation,
        ..Asked::default()
    })
}

fn either(body: &mut Map<String, Value>, one: &str, other: &str) -> Option<Value> {
    let found = body.shift_remove(one);
    let second = body.shift_remove(other);
    found.or(second)
}

/// The form of the answer, as chat completions ask for it.
fn format(config: &mut Map<String, Value>) -> Value {
    config.shift_remove("responseMimeType");
    let schema = config.shift_remove("responseSchema").map(lowered);
    match config.shift_remove("responseJsonSchema").or(schema) {
        Some(schema) => {
            json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema } })
        }
        None => json!({ "type": "json_object" }),
    }
}

/// Messages while they are read, and the calls that wait for a result.
#[derive(Default)]
struct Reading {
    nodes: Vec<Node>,
    open: VecDeque<(String, String)>,
    calls: usize,
}

impl Reading {
    fn content(&mut self, mut content: Map<String, Value>, role: Role, place: &str) -> Result<(), Refusal> {
        let place = format!("{place}.parts");
        let parts = objects(content.shift_remove("parts").unwrap_or_default(), &place, MAX_MESSAGES)?;
        let (mut said, mut calls, mut thought, mut has_results) =
            (Vec::new(), Vec::new(), String::new(), false);
        for (index, mut part) in parts.into_iter().enumerate() {
            let place = format!("{place}[{index}]");
            if let Some(given) = either(&mut part, "functionCall", "function_call") {
                let name = text(given.get("name"), &format!("{place}.functionCall.name"))?;
                let id = self.id(&given);
                self.open.push_back((id.clone(), name.clone()));
                let args = given
                    .get("args")
                    .filter(|args| args.is_object())
                    .map_or("{}".to_owned(), Value::to_string);
                calls.push(call(id, name, args));
            } else if let Some(given) = either(&mut part, "functionResponse", "function_response") {
                has_results = true;
                let result = self.result(&given, &format!("{place}.functionResponse"))?;
                self.nodes.push(result);
            } else if part.get("thought") == Some(&Value::Bool(true)) {
                thought += part.get("text").and_then(Value::as_str).unwrap_or_default();
            } else if let Some(words) = part.get("text") {
                said.push(ContentPart::Text(text(Some(words), &format!("{place}.text"))?.into()));
            } else {
                said.push(ContentPart::Other(Value::Object(part).into()));
            }
        }
        if said.is_empty() && has_results {
            return Ok(());
        }
        let mut node = node(role, joined(said));
        node.tool_calls = calls;
        if !thought.is_empty() {
            node.metadata.get_or_insert_default().reasoning_content = Some(thought.into());
        }
        self.nodes.push(node);
        Ok(())
    }

    /// The id of a call; without one its number among all of the request.
    fn id(&mut self, call: &Value) -> String {
        self.calls += 1;
        let own = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        own.map_or_else(|| format!("call_{}", self.calls), str::to_owned)
    }

    /// A result; without an id it is that of the first call of its name that waits.
    fn result(&mut self, given: &Value, place: &str) -> Result<Node, Refusal> {
        let name = text(given.get("name"), &format!("{place}.name"))?;
        let id = given.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let is_meant = |(call, tool): &(String, String)| id.map_or(*tool == name, |id| id == call);
        let waiting = self.open.iter().position(is_meant).and_then(|at| self.open.remove(at));
        let id = waiting.map(|(id, _)| id).or_else(|| id.map(str::to_owned));
        let said = match given.get("response") {
            Some(Value::Object(response)) => {
                match (response.len(), response.get("output").or_else(|| response.get("result"))) {
                    (1, Some(Value::String(said))) => said.clone(),
                    _ => Value::Object(response.clone()).to_string(),
                }
            }
            _ => return Err(wrong(&format!("{place}.response"), &phrase!("an object"))),
        };
        let mut node = Node::new(Role::Tool, said);
        let none = || Refusal::malformed(phrase!("`{place}` does not match a tool call", place));
        node.tool_call_id = Some(id.ok_or_else(none)?.into());
        Ok(node)
    }
}

/// Functions one by one; the provider's own tools as they are.
fn tools(given: Option<Value>) -> Result<Vec<Value>, Refusal> {
    let mut tools = Vec::new();
    for mut tool in super::reading::tools(given)? {
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

fn read_choice(config: &Value) -> Result<Option<ToolChoice>, Refusal> {
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
