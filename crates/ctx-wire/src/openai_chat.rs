//! Chat completions: the request body (`POST /v1/chat/completions`), which most servers understand.

use ctx_types::{Content, ContentPart, Diagnostic, Message, Reasoning, Role, ToolCall, excerpt};
use serde_json::{Map, Value, json};

mod reply;
pub(crate) mod stream;

use crate::codes;
use crate::pairing;
use crate::request::{Encoded, Request, put_parameters};

pub use reply::decode;

/// The longest speaker name that the API takes, in characters.
const MAX_NAME: usize = 64;

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `messages`, `tools` if there are any, then the parameters. Every message is written
/// in its place, with its role; text alone is a string, tool calls alone have `"content": null`. Findings
/// come in this order: the request, the messages, the pairs of calls and results; their pointers lead into
/// the body.
///
/// Left out with a finding: attachments without bytes, reasoning state, names that the API refuses, tool
/// calls on a message that is not the assistant's. O(size of the body).
pub fn encode(messages: &[Message], request: &Request<'_>) -> Encoded {
    let mut found = Vec::new();
    check_request(messages, request, &mut found);
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(request.model));
    let mut writer = Writer { index: 0, last: messages.len().saturating_sub(1), found: &mut found };
    let written = messages.iter().map(|message| writer.next(message)).collect();
    body.insert("messages".to_owned(), Value::Array(written));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(request.tools.to_vec()));
    }
    put_parameters(&mut body, request.parameters, &["model", "messages", "tools"], &mut found);
    found.extend(pairing::check(messages));
    Encoded::new(body, found)
}

fn check_request(messages: &[Message], request: &Request<'_>, found: &mut Vec<Diagnostic>) {
    if request.model.is_empty() {
        let finding = Diagnostic::warning(codes::NO_MODEL, "the request names no model");
        found.push(finding.at_pointer("/model"));
    }
    if messages.is_empty() {
        let finding = Diagnostic::error(codes::NO_MESSAGES, "the request has no messages");
        found.push(finding.at_pointer("/messages").with_help("the provider will refuse the request"));
    }
}

/// Writes one message after the other and knows the place in the body.
struct Writer<'a> {
    index: usize,
    last: usize,
    found: &'a mut Vec<Diagnostic>,
}

impl Writer<'_> {
    fn next(&mut self, message: &Message) -> Value {
        let mut map = Map::new();
        map.insert("role".to_owned(), Value::from(message.role.as_str()));
        self.put_call_id(message, &mut map);
        self.put_name(message, &mut map);
        map.insert("content".to_owned(), self.content(message));
        self.put_calls(message, &mut map);
        self.check_rest(message);
        self.index += 1;
        Value::Object(map)
    }

    fn put_call_id(&mut self, message: &Message, map: &mut Map<String, Value>) {
        let Some(id) = &message.tool_call_id else { return };
        if message.role == Role::Tool {
            map.insert("tool_call_id".to_owned(), Value::from(&**id));
        } else {
            let text = format!("its call id `{}` is not sent: role `{}` has none", excerpt(id), message.role);
            self.report("", Diagnostic::warning(codes::CALLS_NOT_SENT, text));
        }
    }

    fn put_name(&mut self, message: &Message, map: &mut Map<String, Value>) {
        let Some(name) = &message.name else { return };
        if message.role == Role::Tool {
            let text = format!("the name `{}` is not sent: role `tool` has none", excerpt(name));
            self.report("", Diagnostic::info(codes::NAME_NOT_SENT, text));
        } else if is_valid_name(name) {
            map.insert("name".to_owned(), Value::from(&**name));
        } else {
            let text = format!("the name `{}` is not sent", excerpt(name));
            let help = "the API takes names of 1 to 64 ASCII letters, digits, `_` and `-`";
            self.report("", Diagnostic::info(codes::NAME_NOT_SENT, text).with_help(help));
        }
    }

    fn put_calls(&mut self, message: &Message, map: &mut Map<String, Value>) {
        if message.tool_calls.is_empty() {
            return;
        }
        if message.role == Role::Assistant {
            let calls = message.tool_calls.iter().map(call).collect();
            map.insert("tool_calls".to_owned(), Value::Array(calls));
        } else {
            let text = format!("its tool calls are not sent: role `{}` has none", message.role);
            let help = "only the assistant calls tools";
            self.report("", Diagnostic::error(codes::CALLS_NOT_SENT, text).with_help(help));
        }
    }

    /// Text alone is a string, also when it came as one part; several parts and parts of other kinds stay.
    fn content(&mut self, message: &Message) -> Value {
        let only_calls = message.role == Role::Assistant && !message.tool_calls.is_empty();
        match &message.content {
            content if only_calls && has_nothing(content) => Value::Null,
            Content::Text(text) => Value::from(text.as_str()),
            Content::Parts(parts) => match parts.as_slice() {
                [] => Value::from(""),
                [ContentPart::Text(text)] => Value::from(text.as_str()),
                parts => {
                    let parts = parts.iter().enumerate();
                    parts.map(|(position, part)| self.part(message.role, position, part)).collect()
                }
            },
        }
    }

    fn part(&mut self, role: Role, position: usize, part: &ContentPart) -> Value {
        let value = match part {
            ContentPart::Text(text) => return json!({ "type": "text", "text": text.as_str() }),
            ContentPart::Other(value) => &**value,
        };
        let kind = value.get("type").and_then(Value::as_str);
        if !accepts(role, kind) {
            let kind =
                kind.map_or_else(|| "without a type".to_owned(), |kind| format!("`{}`", excerpt(kind)));
            let text = format!("a message of role `{role}` cannot have a part {kind}");
            let found = Diagnostic::error(codes::PART_NOT_ACCEPTED, text)
                .with_help("it is sent as it is, and the provider will probably refuse the request");
            self.report(&format!("/content/{position}"), found);
        }
        value.clone()
    }

    /// Reports what a message has beside its words and calls, for all of which the dialect has no field.
    fn check_rest(&mut self, message: &Message) {
        for attachment in &message.attachments {
            let name = if attachment.name.is_empty() { &attachment.id } else { &attachment.name };
            let text = format!("attachment `{}` is not sent: nothing loaded its bytes", excerpt(name));
            self.report("", Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
        }
        if let Some(reasoning) = &message.reasoning {
            self.check_reasoning(message, reasoning);
        }
        if message.is_continuation_prefix {
            self.check_continuation();
        }
    }

    /// Visible reasoning beside an answer is not sent back, as everywhere; without an answer nothing is left.
    fn check_reasoning(&mut self, message: &Message, reasoning: &Reasoning) {
        if !reasoning.artifacts.is_empty() {
            let text = "its reasoning state is not sent: this dialect has no place for it";
            self.report("", Diagnostic::info(codes::REASONING_NOT_SENT, text));
        }
        if message.content.is_blank() && message.tool_calls.is_empty() {
            let text = "it is sent without words: it has only reasoning, for which this dialect has no place";
            let help = "switch the message off, or give it an answer; some servers refuse empty ones";
            self.report("", Diagnostic::warning(codes::REASONING_NOT_SENT, text).with_help(help));
        }
    }

    fn check_continuation(&mut self) {
        let found = if self.index == self.last {
            let text = "the unfinished answer is sent as the last message, without a mark";
            let help = "this dialect has no mark for it, and some servers begin a new answer";
            Diagnostic::info(codes::CONTINUATION, text).with_help(help)
        } else {
            let text = "the unfinished answer is not the last message, so it will not be continued";
            Diagnostic::warning(codes::CONTINUATION, text)
        };
        self.report("", found);
    }

    /// Reports a finding at a place within the current message.
    fn report(&mut self, place: &str, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}{place}", self.index)));
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": &*call.id,
        "type": "function",
        "function": { "name": &*call.name, "arguments": call.arguments.as_str() },
    })
}

/// Tells whether a content has neither a byte of text nor a part of another kind.
fn has_nothing(content: &Content) -> bool {
    match content {
        Content::Text(text) => text.is_empty(),
        Content::Parts(parts) => parts.iter().all(|part| part.as_text() == Some("")),
    }
}

/// Media stand only in user messages, refusals only in the assistant's; a part without a type nowhere.
fn accepts(role: Role, kind: Option<&str>) -> bool {
    match kind {
        None => false,
        Some("text") => true,
        Some("refusal") => role == Role::Assistant,
        Some(_) => role == Role::User,
    }
}

fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_valid)
}
