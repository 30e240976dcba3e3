//! Anthropic's messages (`POST /v1/messages`): the request body, whole replies and streams.

mod block;
mod reply;
pub(crate) mod stream;

use ctx_types::{Diagnostic, Message, Role, excerpt};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::lint;
use crate::request::{Encoded, Request, put_parameters};
use block::Blocks;

pub use reply::decode;

/// The tokens of an answer where nobody says how many; the API demands a number.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

/// What stands before a conversation that the assistant begins; the API wants the user to begin.
const OPENING: &str = "(The conversation begins.)";

/// Parameters that other dialects have and this one refuses.
const FOREIGN: &[&str] = &[
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "n",
    "seed",
    "response_format",
    "min_p",
    "stream_options",
    "max_completion_tokens",
    "stop",
];

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `max_tokens`, `system` if there is any, `messages`, `tools` if there are any, then the
/// parameters. The leading run of system messages becomes `system`; a later one becomes a user's, wrapped in
/// `<system>`, since only the newest models take it in its place. Messages of one side that follow each other
/// become one, as the server would make them; results of tools stand first in theirs. A last message of the
/// assistant is a beginning that the model continues. `stop` is written as `stop_sequences`, tools in the form
/// of chat completions as this dialect has them.
///
/// Reported: what is moved, wrapped, added or left out, and what [`lint`] finds in the body. O(size of the body).
pub fn encode(messages: &[Message], request: &Request<'_>) -> Encoded {
    let mut found = Vec::new();
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(request.model));
    body.insert("max_tokens".to_owned(), max_tokens(request.parameters, &mut found));
    let leading = messages.iter().take_while(|message| message.role.is_instruction()).count();
    let (system, rest) = messages.split_at(leading);
    if let Some(system) = system_of(system) {
        body.insert("system".to_owned(), system);
    }
    body.insert("messages".to_owned(), turns(rest, leading, &mut found));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    let parameters = parameters(request.parameters, &mut found);
    put_parameters(&mut body, &parameters, &["model", "messages", "tools", "system"], &mut found);
    let body = Value::Object(body);
    found.extend(lint::anthropic(&body));
    let Value::Object(body) = body else { return Encoded::new(Map::new(), found) };
    Encoded::new(body, found)
}

/// One text is a string, several are blocks, so that none runs into the next.
fn system_of(messages: &[Message]) -> Option<Value> {
    let texts: Vec<_> = messages.iter().map(Message::text).filter(|text| !text.trim().is_empty()).collect();
    match texts.as_slice() {
        [] => None,
        [text] => Some(Value::from(&**text)),
        texts => Some(texts.iter().map(|text| json!({ "type": "text", "text": text })).collect()),
    }
}

/// Writes the turns: messages of one side that follow each other are one turn.
fn turns(messages: &[Message], first: usize, found: &mut Vec<Diagnostic>) -> Value {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let mut blocks = Blocks::new(first + index, found);
        blocks.add(message);
        let blocks = blocks.into_values();
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push(Turn { role, blocks }),
        }
    }
    if turns.first().is_some_and(|turn| turn.role == "assistant") {
        let text = "the assistant begins, which this dialect refuses: a user's message is put before it";
        found.push(Diagnostic::info(codes::MESSAGE_MOVED, text).at_pointer("/messages/0"));
        turns.insert(0, Turn { role: "user", blocks: vec![json!({ "type": "text", "text": OPENING })] });
    }
    if let Some(turn) = turns.last_mut().filter(|turn| turn.role == "assistant") {
        turn.trim_end();
    }
    turns.into_iter().map(Turn::into_value).collect()
}

/// What one side says before the other does.
struct Turn {
    role: &'static str,
    blocks: Vec<Value>,
}

impl Turn {
    /// The API refuses a beginning of an answer that ends in white space.
    fn trim_end(&mut self) {
        let text = self.blocks.last_mut().and_then(|block| block.get_mut("text"));
        if let Some(Value::String(text)) = text {
            text.truncate(text.trim_end().len());
        }
    }

    /// A single text is a string; results of tools come before anything else.
    fn into_value(mut self) -> Value {
        self.blocks.sort_by_key(|block| u8::from(self.role == "user" && !is_of(block, "tool_result")));
        if let [block] = self.blocks.as_slice()
            && is_of(block, "text")
        {
            return json!({ "role": self.role, "content": block["text"] });
        }
        json!({ "role": self.role, "content": self.blocks })
    }
}

/// Tells whether a block is of a type.
fn is_of(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(kind)
}

/// The limit of the answer, which the API demands.
fn max_tokens(parameters: &Map<String, Value>, found: &mut Vec<Diagnostic>) -> Value {
    let set = ["max_tokens", "max_completion_tokens"].into_iter().find_map(|name| parameters.get(name));
    set.filter(|value| value.is_u64()).cloned().unwrap_or_else(|| {
        let text =
            format!("`max_tokens` is not set, and {DEFAULT_MAX_TOKENS} is sent: this dialect demands it");
        found.push(Diagnostic::info(codes::PARAMETER_ADDED, text).at_pointer("/max_tokens"));
        Value::from(DEFAULT_MAX_TOKENS)
    })
}

/// The parameters as this dialect has them.
fn parameters(parameters: &Map<String, Value>, found: &mut Vec<Diagnostic>) -> Map<String, Value> {
    let mut written = Map::new();
    for (name, value) in parameters.iter().filter(|(name, _)| *name != "max_tokens") {
        match (name.as_str(), value) {
            ("stop", Value::String(_)) => drop(written.insert("stop_sequences".to_owned(), json!([value]))),
            ("stop", Value::Array(_)) => drop(written.insert("stop_sequences".to_owned(), value.clone())),
            ("max_completion_tokens", _) => {}
            (name, _) if FOREIGN.contains(&name) => {
                let text =
                    format!("parameter `{}` is not sent: this dialect has none of that name", excerpt(name));
                found.push(Diagnostic::warning(codes::PARAMETER_NOT_SENT, text));
            }
            (name, value) => drop(written.insert(name.to_owned(), value.clone())),
        }
    }
    written
}

/// A tool as this dialect defines it; definitions that are in its form already stay.
fn tool(definition: &Value) -> Value {
    let Some(function) = definition.get("function") else { return definition.clone() };
    let mut tool = Map::new();
    for (to, from) in [("name", "name"), ("description", "description"), ("input_schema", "parameters")] {
        if let Some(value) = function.get(from) {
            tool.insert(to.to_owned(), value.clone());
        }
    }
    tool.entry("input_schema").or_insert_with(|| json!({ "type": "object", "properties": {} }));
    Value::Object(tool)
}
