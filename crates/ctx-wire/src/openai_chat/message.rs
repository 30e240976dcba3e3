//! One message after the other.

use ctx_types::{CacheMark, Diagnostic, Message, Reasoning, Role, ToolCall, excerpt, phrase};

use super::content::Parts;
use super::homeless::Homeless;
use crate::codes;
use crate::json::{self, Json, Object, object};
use crate::reasoning::{self, Origin};
use crate::request::Options;

/// The longest speaker name that the API takes, in characters.
const MAX_NAME: usize = 64;

/// How many fields most messages have.
const USUAL_FIELDS: usize = 3;

/// The name under which messages keep fields for this dialect.
const DIALECT: &str = "openai";

/// Writes one message after the other.
pub(super) struct Writer<'a, 'f> {
    written: Vec<Json<'a>>,
    /// How many of the given messages were begun.
    begun: usize,
    homeless: Homeless<'a>,
    last: usize,
    options: &'f Options<'f>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Writer<'a, 'f> {
    pub(super) fn new(
        messages: &[Message],
        options: &'f Options<'f>,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            written: Vec::with_capacity(messages.len()),
            begun: 0,
            homeless: Homeless::default(),
            last: messages.len().saturating_sub(1),
            options,
            found,
        }
    }

    /// Writes a message.
    pub(super) fn add(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        if message.role != Role::Tool {
            self.settle();
        }
        self.begun += 1;
        let mut map = Object::with_capacity(USUAL_FIELDS);
        map.push("role", message.role.as_str());
        self.put_call_id(message, &mut map);
        self.put_name(message, &mut map);
        let content = self.content(message, mark);
        map.push("content", content);
        self.put_reasoning(message, &mut map);
        self.put_calls(message, &mut map);
        put_own_fields(message, &mut map);
        self.check_continuation(message);
        self.written.push(map.into());
        // What follows calls are their results, between which nothing may stand.
        if message.role != Role::Tool && message.tool_calls.is_empty() {
            self.settle();
        }
    }

    /// Returns the messages of the body.
    pub(super) fn finish(mut self) -> Vec<Json<'a>> {
        self.settle();
        self.written
    }

    /// Writes the message of media that had no place where they were, if there are any.
    fn settle(&mut self) {
        self.written.extend(self.homeless.take());
    }

    fn content(&mut self, message: &'a Message, mark: Option<CacheMark>) -> Json<'a> {
        let mut parts = Parts::new(message, self.written.len(), self.found);
        parts.add_all();
        let (content, homeless) = parts.finish(mark);
        self.homeless.add(message, homeless);
        content
    }

    fn put_call_id(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let Some(id) = &message.tool_call_id else { return };
        if message.role == Role::Tool {
            map.push("tool_call_id", &**id);
        } else {
            let text = phrase!(
                "call id `{id}` is not sent: role `{role}` cannot have one",
                id = excerpt(id),
                role = message.role.to_string()
            );
            self.report(Diagnostic::warning(codes::CALLS_NOT_SENT, text));
        }
    }

    fn put_name(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let Some(name) = &message.name else { return };
        if message.role == Role::Tool {
            let text =
                phrase!("name `{name}` is not sent: role `tool` cannot have one", name = excerpt(name));
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        } else if is_valid_name(name) {
            map.push("name", &**name);
        } else {
            let text = phrase!("name `{name}` is not sent", name = excerpt(name));
            let help = phrase!("use 1 to 64 ASCII letters, digits, `_`, and `-`");
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text).with_help(help));
        }
    }

    fn put_calls(&mut self, message: &'a Message, map: &mut Object<'a>) {
        if message.tool_calls.is_empty() {
            return;
        }
        if message.role == Role::Assistant {
            map.push("tool_calls", message.tool_calls.iter().map(call).collect::<Json<'_>>());
        } else {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            let help = phrase!("remove the tool calls; only the assistant can have them");
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text).with_help(help));
        }
    }

    /// Visible reasoning beside an answer is not sent back unless it is asked for; without an answer nothing is
    /// left.
    fn put_reasoning(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let Some(reasoning) = &message.reasoning else { return };
        let (own, foreign) = reasoning::of(message, Origin::Details);
        if let Some(details) = own.into_iter().find_map(|artifact| artifact.get("details")) {
            map.push("reasoning_details", details);
        }
        if foreign.is_some() {
            let text = phrase!("its reasoning state is not sent: this API dialect does not support it");
            self.report(Diagnostic::info(codes::REASONING_NOT_SENT, text));
        }
        if message.content.is_blank() && message.tool_calls.is_empty() {
            let text = phrase!("it is sent without text: this API dialect cannot carry its reasoning");
            let help = phrase!("disable the message or add text; some servers reject empty messages");
            self.report(Diagnostic::warning(codes::REASONING_NOT_SENT, text).with_help(help));
        }
        self.echo(message, reasoning, map);
    }

    fn echo(&self, message: &Message, reasoning: &'a Reasoning, map: &mut Object<'a>) {
        let is_wanted =
            self.options.rules.reasoning_state.is_content() && message.role == Role::Assistant && !message.tool_calls.is_empty();
        if let Some(text) = reasoning.text.as_ref().filter(|_| is_wanted) {
            map.push("reasoning_content", text.as_str());
        }
    }

    fn check_continuation(&mut self, message: &Message) {
        if !message.is_continuation_prefix {
            return;
        }
        let found = if self.begun == self.last + 1 {
            let text = phrase!("the prefill is sent as the last message, without a mark");
            let help = phrase!(
                "check the reply; some servers start a new one, as this API dialect has no prefill mark"
            );
            Diagnostic::info(codes::CONTINUATION, text).with_help(help)
        } else {
            let text = phrase!("the prefill is not the last message; it will not be continued");
            Diagnostic::warning(codes::CONTINUATION, text)
        };
        self.report(found);
    }

    /// Reports a finding about the current message.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.written.len())));
    }
}

fn call(call: &ToolCall) -> Json<'_> {
    let function = [("name", Json::from(&*call.name)), ("arguments", call.arguments.as_str().into())];
    object([("id", (&*call.id).into()), ("type", "function".into()), ("function", object(function))])
}

/// Adds what the message has for this dialect alone, unless a field of that name is written already.
fn put_own_fields<'a>(message: &'a Message, map: &mut Object<'a>) {
    let fields = message.provider_fields.as_ref().and_then(|fields| fields.get(DIALECT)?.as_object());
    let written = map.len();
    for (key, value) in fields.into_iter().flat_map(json::fields) {
        if !map.has_within(written, &key) {
            map.push(key, value);
        }
    }
}

fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_valid)
}
