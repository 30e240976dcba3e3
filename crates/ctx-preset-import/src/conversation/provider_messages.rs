//! Messages as Anthropic, Gemini and OpenAI's responses take them, turned into those of chat completions.

pub(crate) mod responses_items;

use std::collections::{HashMap, VecDeque};

use ctx_types::internal::{BlockKind, BlockOrder};
use serde_json::{Map, Value, json};

use super::request::RequestApi;

/// The types of blocks that only Anthropic has.
const BLOCKS: [&str; 4] = ["tool_use", "tool_result", "thinking", "redacted_thinking"];

/// Turns messages of Anthropic, Gemini or `OpenAI`'s responses into those of chat completions; other messages stay.
///
/// Each result keeps the index of the message that it comes from. Tool results become messages of their own, before
/// the rest of their message. Thinking and thought signatures go to the metadata. `api`: the API of all messages;
/// if unknown, the form of each message decides. O(size).
pub(super) fn convert(items: Vec<(usize, Value)>, api: Option<RequestApi>) -> Vec<(usize, Value)> {
    let is_of = |wanted: RequestApi, form: bool| api.map_or(form, |api| api == wanted);
    let mut converted = Vec::with_capacity(items.len());
    let mut open = OpenCalls::default();
    let mut reply: Option<responses_items::Reply> = None;
    for (index, item) in items {
        let item = match item {
            Value::Object(item)
                if is_of(RequestApi::Responses, true)
                    && responses_items::is_output(&item, reply.is_some(), api.is_some()) =>
            {
                reply.get_or_insert_with(|| responses_items::Reply::new(index, api.is_some())).add(item);
                continue;
            }
            other => other,
        };
        converted.extend(reply.take().map(responses_items::Reply::into_message));
        let messages = match item {
            Value::Object(message)
                if message.get("content").is_some_and(Value::is_array)
                    && is_of(RequestApi::Anthropic, is_anthropic(&message)) =>
            {
                anthropic(message, api.is_some())
            }
            Value::Object(message) if is_of(RequestApi::Gemini, true) && is_gemini(&message) => {
                gemini(message, index, &mut open, api.is_some())
            }
            Value::Object(item) if is_of(RequestApi::Responses, true) && responses_items::is_input(&item) => {
                vec![responses_items::input(item, api.is_some())]
            }
            other => vec![other],
        };
        converted.extend(messages.into_iter().map(|message| (index, message)));
    }
    converted.extend(reply.map(responses_items::Reply::into_message));
    converted
}

/// Returns the system prompt of a request body as a message; `None` if it has none.
///
/// `place` is the pointer to its messages. A `system` is read only in a request body of Anthropic: with a model, or with
/// a version for Bedrock and Vertex.
pub(super) fn system(file: &mut Map<String, Value>, place: &str) -> Option<Value> {
    let is_body =
        ["model", "anthropic_version"].iter().any(|key| file.get(*key).is_some_and(Value::is_string));
    if is_body && file.get("system").is_some_and(|system| system.is_string() || system.is_array()) {
        return file.shift_remove("system").map(|system| json!({ "role": "system", "content": system }));
    }
    if place == "/input" && file.get("instructions").is_some_and(Value::is_string) {
        let instructions = file.shift_remove("instructions");
        return instructions.map(|text| json!({ "role": "system", "content": text }));
    }
    let key = ["systemInstruction", "system_instruction"].into_iter().find(|key| file.contains_key(*key))?;
    let system = file.get(key)?;
    let content = match (system, system.get("parts"), system.get("text")) {
        (Value::String(text), ..) | (_, None, Some(Value::String(text))) => text.as_str().into(),
        (_, Some(parts @ Value::Array(_)), _) => texts(parts),
        (_, Some(part @ Value::Object(_)), _) => texts(&json!([part])),
        _ => return None,
    };
    let system = json!({ "role": "system", "content": content });
    file.shift_remove(key);
    Some(system)
}

fn is_anthropic(message: &Map<String, Value>) -> bool {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    // Mistral has thinking too, as a list.
    let mut blocks = blocks.filter(|block| !block["thinking"].is_array());
    blocks.any(|block| block.get("type").and_then(Value::as_str).is_some_and(|kind| BLOCKS.contains(&kind)))
}

/// Returns whether a message has the shape of Gemini: parts, and no content.
pub(crate) fn is_gemini(message: &Map<String, Value>) -> bool {
    let role = message.get("role").and_then(Value::as_str);
    message.get("parts").is_some_and(Value::is_array)
        && !message.contains_key("content")
        && matches!(role, None | Some("user" | "model" | "function" | "system"))
}

/// `is_request`: the message goes back to the API, with lists of one text, null fields, unsigned
/// thinking and `is_error: false`.
fn anthropic(mut message: Map<String, Value>, is_request: bool) -> Vec<Value> {
    let Some(Value::Array(blocks)) = message.shift_remove("content") else { return Vec::new() };
    let mut read = ReadParts { keeps_list: is_request, ..ReadParts::default() };
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => {
                let field = |key: &str| block.get(key).unwrap_or(&Value::Null);
                let mut call = call(field("id"), field("name"), block.get("input"));
                put_rest(&mut call, "anthropic", &block, &["type", "id", "name", "input"], is_request);
                read.add_call(call);
            }
            Some("tool_result") => {
                let mut result = json!({
                    "role": "tool",
                    "tool_call_id": block.get("tool_use_id"),
                    "content": block
                        .get("content")
                        .map_or_else(|| json!(""), |content| anthropic_content(content, is_request)),
                });
                let mut known = vec!["type", "tool_use_id", "content"];
                let is_error = block.get("is_error") == Some(&Value::Bool(true));
                if is_error {
                    result["metadata"] = json!({ "isError": true });
                }
                known.extend((is_error || !is_request).then_some("is_error"));
                put_rest(&mut result, "anthropic", &block, &known, is_request);
                read.results.push(result);
            }
            Some("thinking" | "redacted_thinking") if !block["thinking"].is_array() => {
                read.reasoning += block.get("thinking").and_then(Value::as_str).unwrap_or_default();
                let is_signed =
                    |key: &str| block.get(key).and_then(Value::as_str).is_some_and(|key| !key.is_empty());
                // Without a signature, Claude rejects it.
                if is_request || is_signed("signature") || is_signed("data") {
                    read.add_thought(block);
                }
            }
            _ => read.add_part(anthropic_part(&block, is_request)),
        }
    }
    read.into_messages(message)
}

fn anthropic_content(content: &Value, is_request: bool) -> Value {
    let part = |block| anthropic_part(block, is_request);
    content.as_array().map_or_else(|| content.clone(), |blocks| blocks.iter().map(part).collect())
}

/// Keeps the other fields of a text for this API dialect.
fn anthropic_part(block: &Value, is_request: bool) -> Value {
    if block.get("type").and_then(Value::as_str) != Some("text") || !block["text"].is_string() {
        return block.clone();
    }
    let mut part = json!({ "type": "text", "text": block["text"] });
    put_rest(&mut part, "anthropic", block, &["type", "text"], is_request);
    part
}

/// `is_request`: as for [`anthropic`].
fn gemini(
    mut message: Map<String, Value>,
    index: usize,
    open: &mut OpenCalls,
    is_request: bool,
) -> Vec<Value> {
    let Some(Value::Array(parts)) = message.shift_remove("parts") else { return Vec::new() };
    let is_model = message.get("role").and_then(Value::as_str) == Some("model");
    let role = match message.get("role").and_then(Value::as_str) {
        Some("model") => "assistant",
        Some("system") => "system",
        _ => "user",
    };
    message.insert("role".to_owned(), json!(role));
    if is_model {
        *open = OpenCalls::default();
    }
    let mut read = ReadParts::default();
    for mut part in parts {
        let text = part.get("text").and_then(Value::as_str).map(str::to_owned);
        let mut signature = take_either(&mut part, "thoughtSignature", "thought_signature");
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        let mut signed = None;
        if let Some(function) = either(&part, "functionCall", "function_call") {
            let position = read.calls.len();
            signed = Some(("call", position));
            let name = function.get("name").cloned().unwrap_or_default();
            let own_id = function.get("id").filter(|id| id.is_string()).cloned();
            let has_id = own_id.is_some();
            let id = own_id.unwrap_or_else(|| json!(format!("call-{index}-{position}")));
            let mut call = call(&id, &name, function.get("args"));
            put_rest(&mut call, "gemini", &part, &["functionCall", "function_call"], is_request);
            put_inner_rest(&mut call, "functionCall", function, &["id", "name", "args"], is_request);
            if !has_id {
                // The id links the call and its result here. Gemini does not get it.
                call["providerFields"]["gemini"]["addedId"] = json!(true);
            }
            read.add_call(call);
            open.add(&name, id);
        } else if let Some(response) = either(&part, "functionResponse", "function_response") {
            let mut result = result(response, open);
            put_rest(&mut result, "gemini", &part, &["functionResponse", "function_response"], is_request);
            let known = ["id", "name", "response", "parts"];
            put_inner_rest(&mut result, "functionResponse", response, &known, is_request);
            read.results.push(result);
        } else if let Some(text) = text.as_deref().filter(|text| is_thought || text.is_empty()) {
            // A thought or a signature alone goes back as it is.
            read.reasoning += text;
            if let Some(signature) = signature.take() {
                part["thoughtSignature"] = signature;
                read.add_thought(part);
            } else if is_thought {
                read.add_thought(part);
            }
        } else if let Some(text) = text {
            signed = Some(("part", read.parts.len()));
            let mut words = json!({ "type": "text", "text": text });
            put_rest(&mut words, "gemini", &part, &["text"], is_request);
            read.add_part(words);
        } else {
            signed = Some(("part", read.parts.len()));
            read.add_part(part);
        }
        if let Some(signature) = signature {
            let mut artifact = json!({ "thoughtSignature": signature });
            if let Some((key, position)) = signed {
                artifact[key] = position.into();
            }
            read.artifacts.push(artifact);
        }
    }
    read.into_messages(message)
}

/// Calls of Gemini's model that wait for their results, by name, with their ids.
#[derive(Default)]
struct OpenCalls {
    /// The id of each call. `None` if its result came.
    ids: Vec<Option<Value>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
}

impl OpenCalls {
    fn add(&mut self, name: &Value, id: Value) {
        let place = self.ids.len();
        for (calls, key) in [(&mut self.by_id, &id), (&mut self.by_name, name)] {
            calls.entry(text_of(key)).or_default().push_back(place);
        }
        self.ids.push(Some(id));
    }

    /// Returns the id of the call that a result answers: its own, or that of the first open call of its function.
    fn take(&mut self, name: &Value, id: Option<&Value>) -> Option<Value> {
        let id = id.filter(|id| id.is_string());
        let calls = match id {
            Some(id) => self.by_id.get_mut(&text_of(id)),
            None => self.by_name.get_mut(&text_of(name)),
        };
        let mut places = calls.into_iter().flat_map(|calls| std::iter::from_fn(|| calls.pop_front()));
        places.find_map(|place| self.ids[place].take()).or_else(|| id.cloned())
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn result(response: &Value, open: &mut OpenCalls) -> Value {
    let id = open.take(response.get("name").unwrap_or(&Value::Null), response.get("id"));
    let body = response.get("response").cloned().unwrap_or_default();
    let only = |key: &str| {
        let fields = body.as_object().filter(|fields| fields.len() == 1)?;
        fields.get(key)
    };
    let error = only("error");
    // A text that looks like an object would come back as one, and other values as texts.
    let is_plain = |said: &&Value| {
        said.as_str()
            .is_some_and(|said| !serde_json::from_str(said).is_ok_and(|said: Value| said.is_object()))
    };
    let of_error = error.filter(|error| error.is_object() || is_plain(error));
    let said = of_error.or_else(|| only("output").filter(is_plain)).unwrap_or(&body);
    let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    let mut result = json!({ "role": "tool", "tool_call_id": id, "content": said });
    let media = response.get("parts").and_then(Value::as_array).filter(|parts| !parts.is_empty());
    if let Some(media) = media {
        let text = json!({ "type": "text", "text": said });
        result["content"] = std::iter::once(text).chain(media.iter().cloned()).collect();
    }
    if error.is_some() {
        result["metadata"] = json!({ "isError": true });
    }
    result
}

/// What was found in a message.
#[derive(Default)]
struct ReadParts {
    parts: Vec<Value>,
    calls: Vec<Value>,
    results: Vec<Value>,
    reasoning: String,
    artifacts: Vec<Value>,
    /// What each block is.
    kinds: Vec<BlockKind>,
    /// Whether a single text stays a list.
    keeps_list: bool,
}

impl ReadParts {
    fn add_part(&mut self, part: Value) {
        self.kinds.push(BlockKind::Content);
        self.parts.push(part);
    }

    fn add_call(&mut self, call: Value) {
        self.kinds.push(BlockKind::Call);
        self.calls.push(call);
    }

    /// Adds reasoning state that is a block of its own.
    fn add_thought(&mut self, thought: Value) {
        self.kinds.push(BlockKind::Reasoning);
        self.artifacts.push(thought);
    }

    /// Returns the results, then what is left of the message, if anything is.
    fn into_messages(self, mut message: Map<String, Value>) -> Vec<Value> {
        let mut messages = self.results;
        let has_state = !self.artifacts.is_empty() || !self.reasoning.is_empty();
        if self.parts.is_empty() && self.calls.is_empty() && !has_state && !messages.is_empty() {
            // The last result keeps what stands beside the content, such as the time.
            if let Some(Value::Object(last)) = messages.last_mut() {
                message.shift_remove("role");
                let fields = message.shift_remove("providerFields");
                for (key, value) in message {
                    last.entry(key).or_insert(value);
                }
                keep_message_fields(last, fields);
            }
            return messages;
        }
        message.insert("content".to_owned(), content(self.parts, self.keeps_list));
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(self.calls));
        }
        let order = BlockOrder::new(self.kinds);
        if has_state || order.is_some() {
            let metadata = message.entry("metadata").or_insert_with(|| json!({}));
            if let Some(metadata) = metadata.as_object_mut() {
                if let Some(order) = order {
                    metadata.entry(BlockOrder::KEY).or_insert(order.to_value());
                }
                if !self.reasoning.is_empty() {
                    metadata.entry("reasoningContent").or_insert(self.reasoning.into());
                }
                if !self.artifacts.is_empty() {
                    metadata.entry("reasoningArtifacts").or_insert(Value::Array(self.artifacts));
                }
            }
        }
        messages.push(Value::Object(message));
        messages
    }
}

/// Returns a content: a single text is a string, unless it stays a list.
fn content(parts: Vec<Value>, keeps_list: bool) -> Value {
    match parts.as_slice() {
        [] => json!(""),
        [part] if !keeps_list && is_plain_text(part) => part["text"].clone(),
        _ => Value::Array(parts),
    }
}

fn is_plain_text(part: &Value) -> bool {
    part.get("type").and_then(Value::as_str) == Some("text")
        && part.as_object().is_some_and(|part| part.len() == 2)
        && part.get("text").is_some_and(Value::is_string)
}

/// Writes texts of Gemini's parts as parts of chat completions.
fn texts(parts: &Value) -> Value {
    let parts = parts.as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text").and_then(Value::as_str));
    content(texts.map(|text| json!({ "type": "text", "text": text })).collect(), false)
}

fn call(id: &Value, name: &Value, arguments: Option<&Value>) -> Value {
    let arguments = arguments.filter(|arguments| !arguments.is_null()).map(Value::to_string);
    let function = json!({ "name": name, "arguments": arguments.unwrap_or_else(|| "{}".to_owned()) });
    json!({ "id": id, "type": "function", "function": function })
}

/// Gives the last result the provider fields of a message that has only results.
fn keep_message_fields(result: &mut Map<String, Value>, fields: Option<Value>) {
    let Some(Value::Object(fields)) = fields else { return };
    let own = result.entry("providerFields").or_insert_with(|| json!({}));
    for (dialect, fields) in fields {
        own[dialect]["messageFields"] = fields;
    }
}

/// Gives a part, a call or a result the other fields of the block that it comes from, for its API dialect alone.
///
/// `is_request`: also those that are null.
fn put_rest(target: &mut Value, dialect: &str, block: &Value, known: &[&str], is_request: bool) {
    let fields = block.as_object().into_iter().flatten();
    let fields = fields.filter(|(_, value)| is_request || !value.is_null());
    let rest = fields.filter(|(key, _)| !known.contains(&key.as_str()));
    let rest: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    if !rest.is_empty() {
        target["providerFields"] = json!({ dialect: rest });
    }
}

/// Moves unknown fields of an object to the provider fields of an API dialect.
pub(super) fn keep_rest(object: &mut Value, dialect: &str, known: &[&str]) {
    let Some(fields) = object.as_object_mut() else { return };
    let rest = take_rest(fields, known);
    if !rest.is_empty() {
        fields.insert("providerFields".to_owned(), json!({ dialect: rest }));
    }
}

/// Takes unknown fields out of an object.
pub(super) fn take_rest(fields: &mut Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let all = std::mem::take(fields);
    let (own, rest): (Map<String, Value>, Map<String, Value>) =
        all.into_iter().partition(|(key, _)| known.contains(&key.as_str()));
    *fields = own;
    rest
}

/// Gives a call or a result the other fields of Gemini's function, for that API dialect alone.
fn put_inner_rest(target: &mut Value, key: &str, function: &Value, known: &[&str], is_request: bool) {
    let mut inner = json!({});
    put_rest(&mut inner, "gemini", function, known, is_request);
    if let Some(rest) = inner.pointer("/providerFields/gemini") {
        target["providerFields"]["gemini"][key] = rest.clone();
    }
}

/// Turns a call of a custom tool, whose input is a text, into a call of a function with this input as its argument.
pub(super) fn custom_call(call: &mut Map<String, Value>, input: &Value) {
    let name = call.shift_remove("name");
    let name = name.or_else(|| call.get("function")?.get("name").cloned());
    let function = json!({ "name": name, "arguments": json!({ "input": input }).to_string() });
    call.insert("function".to_owned(), function);
    call.insert("type".to_owned(), json!("function"));
    if let Some(fields) = call.entry("providerFields").or_insert_with(|| json!({})).as_object_mut() {
        let own = fields.entry("openai").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            own.entry("custom").or_insert(json!(true));
        }
    }
}

fn either<'a>(value: &'a Value, one: &str, other: &str) -> Option<&'a Value> {
    value.get(one).or_else(|| value.get(other))
}

fn take_either(value: &mut Value, one: &str, other: &str) -> Option<Value> {
    let map = value.as_object_mut()?;
    map.shift_remove(one).or_else(|| map.shift_remove(other))
}
