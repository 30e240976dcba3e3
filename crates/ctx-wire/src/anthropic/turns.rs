//! Turns: adjacent messages of the user or of the assistant.

use std::borrow::Cow;

use ctx_types::{CacheMark, Diagnostic, Message, Role, phrase};

use super::block::{Blocks, Context};
use super::{is_of, system, whole};
use crate::blocks::{is_separate, message_fields, put_fields};
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Field, Json, object};
use crate::marks::CACHE_CONTROL;
use crate::request::{OPENING, Options, SystemPlacement};

/// Asks a model without prefill to continue its reply.
const GO_ON: &str = "(Go on exactly where your last message ends.)";

/// Builds the list of turns. Adjacent messages of one role become one turn.
pub(super) struct Turns<'a, 'f> {
    written: Vec<Turn<'a>>,
    /// Media that the role of their message cannot have, for the next user turn.
    homeless: Vec<Json<'a>>,
    options: &'f Options<'f>,
    context: &'f Context<'f>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Turns<'a, 'f> {
    pub(super) fn new(
        options: &'f Options<'f>,
        context: &'f Context<'f>,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        Self { written: Vec::new(), homeless: Vec::new(), options, context, found }
    }

    /// Adds a message. `after` has the later messages.
    pub(super) fn add(
        &mut self,
        index: usize,
        message: &'a Message,
        mark: Option<CacheMark>,
        after: &[Message],
    ) {
        let (role, is_wrapped) = self.role_of(index, message, after);
        let mut blocks = Blocks::new(index, self.context, self.found);
        match (role, is_wrapped) {
            ("system", _) | (_, true) => blocks.add_instruction(message, is_wrapped),
            _ => blocks.add(message),
        }
        let (mut blocks, homeless) = blocks.finish();
        if let Some(mark) = mark {
            put_mark(&mut blocks, mark);
        }
        if is_separate(message)
            && let Some(turn) = self.written.last_mut()
        {
            turn.is_closed = true;
        }
        let fields = if is_wrapped { Vec::new() } else { message_fields(message, Dialect::Anthropic) };
        self.push(role, blocks, fields);
        self.homeless.extend(homeless);
    }

    /// Moves files of leading system messages to the first user turn: the field `system` accepts only text.
    pub(super) fn add_files_of_instructions(&mut self, messages: &'a [Message]) {
        let mut media = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let mut blocks = Blocks::new(index, self.context, self.found);
            blocks.add_files(message);
            media.extend(blocks.finish().1);
        }
        if media.is_empty() {
            return;
        }
        match self.written.first_mut().filter(|turn| turn.role == "user") {
            Some(turn) => drop(turn.blocks.splice(..0, media)),
            None => self.written.insert(0, Turn::new("user", media)),
        }
    }

    pub(super) fn finish(mut self) -> Json<'a> {
        if !self.homeless.is_empty() {
            self.push("user", Vec::new(), Vec::new());
        }
        self.open();
        self.close();
        self.written.into_iter().map(Turn::into_json).collect()
    }

    /// Returns the role of the turn for a message, and whether its text is wrapped in `<system>`.
    fn role_of(&mut self, index: usize, message: &Message, after: &[Message]) -> (&'static str, bool) {
        if message.role == Role::Assistant {
            return ("assistant", false);
        }
        if !message.role.is_instruction() || message.text().trim().is_empty() {
            return ("user", message.role.is_instruction());
        }
        let before = self.written.last().map(|turn| turn.role);
        let is_continued = before == Some("system");
        let text = match self.options.system {
            SystemPlacement::InPlace if is_continued || system::may_stand(before, after) => {
                return ("system", false);
            }
            SystemPlacement::InPlace => {
                phrase!(
                    "a system message is not allowed here; it is sent as a user message in `<system>` tags"
                )
            }
            SystemPlacement::Wrapped => {
                phrase!("a system message in the conversation is sent as a user message in `<system>` tags")
            }
        };
        self.report(index, Diagnostic::info(codes::MESSAGE_MOVED, text));
        ("user", true)
    }

    /// Adds a message, or joins it with the previous turn.
    fn push(&mut self, role: &'static str, mut blocks: Vec<Json<'a>>, fields: Vec<Field<'a>>) {
        if role == "user" && !self.homeless.is_empty() {
            blocks.splice(..0, self.homeless.drain(..));
        }
        match self.written.last_mut() {
            Some(turn) if turn.role == role && turn.may_have(&fields) => {
                turn.blocks.extend(blocks);
                turn.fields = fields;
            }
            _ if blocks.is_empty() => {}
            _ => self.written.push(Turn { fields, ..Turn::new(role, blocks) }),
        }
    }

    /// Inserts a user message before a leading assistant message.
    fn open(&mut self) {
        if self.written.first().is_some_and(|turn| turn.role == "assistant") {
            let text =
                phrase!("the API rejects a leading assistant message; a user message is inserted before it");
            self.report(0, Diagnostic::info(codes::MESSAGE_MOVED, text));
            self.written.insert(0, Turn::new("user", vec![OPENING.into()]));
        }
    }

    /// Trims an unfinished reply, or asks a model without prefill to continue it.
    fn close(&mut self) {
        let Some(turn) = self.written.last_mut().filter(|turn| turn.role == "assistant") else { return };
        // The client sends the results, or the provider continues with its own tools.
        let is_call = |block: &Json<'_>| {
            block.get("type").and_then(Json::as_str).is_some_and(|kind| kind.ends_with("tool_use"))
        };
        if turn.blocks.iter().any(is_call) {
            return;
        }
        if self.options.prefill {
            turn.trim_end();
            return;
        }
        let text = phrase!("the model does not support prefill; a user message asks for the rest");
        self.found.push(Diagnostic::warning(codes::CONTINUATION, text));
        self.push("user", vec![GO_ON.into()], Vec::new());
    }

    fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{index}")));
    }
}

/// Marks the last block, except thinking blocks, which cannot have a mark.
pub(super) fn put_mark(blocks: &mut [Json<'_>], mark: CacheMark) {
    let is_markable = |block: &&mut Json<'_>| !is_of(block, "thinking") && !is_of(block, "redacted_thinking");
    if let Some(block) = blocks.iter_mut().rev().find(is_markable) {
        let control = match mark {
            CacheMark::Long => object([("type", "ephemeral".into()), ("ttl", "1h".into())]),
            _ => object([("type", "ephemeral".into())]),
        };
        *block = whole(block.take());
        block.set(CACHE_CONTROL, control);
    }
}

/// Adjacent messages of one role.
struct Turn<'a> {
    role: &'static str,
    blocks: Vec<Json<'a>>,
    /// Further fields, such as `clear_at`.
    fields: Vec<Field<'a>>,
    /// Whether the next message is not joined with it.
    is_closed: bool,
}

impl<'a> Turn<'a> {
    fn new(role: &'static str, blocks: Vec<Json<'a>>) -> Self {
        Self { role, blocks, fields: Vec::new(), is_closed: false }
    }

    /// Returns whether a message with these fields can be joined with the turn. A message has its fields in its last
    /// part, after its tool results.
    fn may_have(&self, fields: &[Field<'a>]) -> bool {
        let is_result = |block: &Json<'_>| is_of(block, "tool_result");
        let is_one = self.fields == fields || self.fields.is_empty() && self.blocks.iter().all(is_result);
        !self.is_closed && is_one
    }

    /// Removes trailing white space of a prefill, which the API rejects.
    fn trim_end(&mut self) {
        let text = self.blocks.last_mut().and_then(|block| match block {
            text @ Json::Text(_) => Some(text),
            block => block.as_object_mut()?.get_mut("text"),
        });
        match text {
            Some(Json::Text(Cow::Borrowed(text))) => *text = text.trim_end(),
            Some(Json::Text(Cow::Owned(text))) => text.truncate(text.trim_end().len()),
            _ => {}
        }
    }

    /// Writes a single text as a string, and tool results before other blocks.
    fn into_json(mut self) -> Json<'a> {
        if self.role == "user" && self.blocks.len() > 1 {
            self.blocks.sort_by_key(|block| u8::from(!is_of(block, "tool_result")));
        }
        let content = match self.blocks.as_mut_slice() {
            [text @ Json::Text(_)] => text.take(),
            _ => self.blocks.into_iter().map(whole).collect(),
        };
        let mut turn = object([("role", self.role.into()), ("content", content)]);
        if let Some(turn) = turn.as_object_mut() {
            put_fields(turn, self.fields);
        }
        turn
    }
}
