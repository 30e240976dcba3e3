//! The one text that all turns become.

use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Content, ContentPart, Diagnostic, Message, Role, phrase};
use serde_json::Value;

use super::calls;
use super::escape::escape;
use super::template::{Frame, Template};
use crate::blocks::{kind_of, lost_fields};
use crate::codes;
use crate::dialect::Dialect;
use crate::media::Media;
use crate::request::nothing_loaded;

/// Writes one turn after the other.
pub(super) struct Prompt<'a> {
    template: &'a Template,
    text: String,
    /// Instructions for the user's next turn, where the template has no turn for them.
    waiting: String,
    is_open: bool,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Prompt<'a> {
    pub(super) fn new(template: &'a Template, found: &'a mut Vec<Diagnostic>) -> Self {
        Self { template, text: template.begin.clone(), waiting: String::new(), is_open: false, found }
    }

    /// Describes the tools, as an instruction before all others.
    pub(super) fn begin(&mut self, tools: &[Value]) {
        if let Some(description) = calls::describe(tools) {
            let description = escape(&description, &self.template.borders).into_owned();
            self.instruct(&description);
        }
    }

    /// Writes a turn; the last one of the assistant stays open, so that the model goes on with it.
    pub(super) fn add(&mut self, index: usize, message: &Message, is_last: bool) {
        let words = self.words(index, message);
        self.check_rest(index, message);
        let template = self.template;
        match message.role {
            Role::System | Role::Developer => self.instruct(&words),
            Role::Tool => {
                let frame = template.tool.as_ref().unwrap_or(&template.user);
                self.say(frame, &["<tool_response>\n", &words, "\n</tool_response>"]);
            }
            Role::Assistant if is_last && message.tool_calls.is_empty() => {
                self.settle();
                self.text.push_str(&template.assistant.before);
                self.text.push_str(&words);
                self.is_open = true;
            }
            Role::Assistant => self.say(&template.assistant, &[&words]),
            _ => self.say(&template.user, &[&words]),
        }
    }

    /// Returns the text, which ends where the answer begins or goes on.
    pub(super) fn finish(mut self) -> String {
        self.settle();
        if !self.is_open {
            self.text.push_str(&self.template.assistant.before);
        }
        self.text
    }

    fn say(&mut self, frame: &Frame, words: &[&str]) {
        let waiting = std::mem::take(&mut self.waiting);
        let is_users = *frame == self.template.user;
        if !is_users && !waiting.is_empty() {
            // Nobody but the user can say it.
            self.turn(&self.template.user, &[waiting.trim_end()]);
        }
        let before = if is_users { waiting.as_str() } else { "" };
        self.turn(frame, &[&[before], words].concat());
    }

    fn instruct(&mut self, words: &str) {
        let system = &self.template.system;
        if words.is_empty() {
            return;
        }
        if self.template.is_system_in_user {
            self.waiting.extend([&system.before, words, &system.after]);
        } else {
            self.turn(system, &[words]);
        }
    }

    /// Writes instructions that no turn of the user followed.
    fn settle(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.turn(&self.template.user, &[waiting.trim_end()]);
        }
    }

    fn turn(&mut self, frame: &Frame, words: &[&str]) {
        self.text.push_str(&frame.before);
        self.text.extend(words.iter().copied());
        self.text.push_str(&frame.after);
    }

    /// The words of a message and its calls, with nothing in them that parts turns.
    fn words<'m>(&mut self, index: usize, message: &'m Message) -> Cow<'m, str> {
        let mut words = message.text();
        for (name, text) in text_files(message) {
            let said = words.to_mut();
            said.extend([if said.is_empty() { "" } else { "\n" }, name, ":\n", &text]);
        }
        for call in message.tool_calls.iter().filter(|_| message.role == Role::Assistant) {
            let said = words.to_mut();
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(&calls::write(call));
        }
        let Cow::Owned(escaped) = escape(&words, &self.template.borders) else { return words };
        let text = phrase!("it contains a turn marker of the template; a space is inserted to break it");
        self.report(index, Diagnostic::warning(codes::BORDER_IN_TEXT, text));
        Cow::Owned(escaped)
    }

    /// Reports what a message has beside its words and calls, for all of which the dialect has no place.
    fn check_rest(&mut self, index: usize, message: &Message) {
        if let Content::Parts(parts) = &message.content {
            for part in parts {
                let ContentPart::Other(value) = part else { continue };
                if Media::of_part(value).is_some_and(|media| media.text().is_some()) {
                    continue;
                }
                let text = phrase!(
                    "part `{kind}` is not sent: text completions support only text",
                    kind = excerpt(kind_of(value))
                );
                self.report(index, Diagnostic::error(codes::PART_NOT_ACCEPTED, text));
            }
        }
        for file in &message.attachments {
            let finding = match Media::of_attachment(file) {
                Some(media) if media.text().is_some() => continue,
                Some(media) => {
                    let text = phrase!(
                        "{label} is not sent: text completions support only text",
                        label = media.label()
                    );
                    Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text)
                }
                None => nothing_loaded(file),
            };
            self.report(index, finding);
        }
        if message.role != Role::Assistant && !message.tool_calls.is_empty() {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            self.report(index, Diagnostic::error(codes::CALLS_NOT_SENT, text));
        }
        if message.name.is_some() {
            let text = phrase!("its name is not sent: this API dialect does not support names");
            self.report(index, Diagnostic::info(codes::NAME_NOT_SENT, text));
        }
        if let Some(lost) = lost_fields(message, Dialect::Completion) {
            self.report(index, lost);
        }
        if message.reasoning.is_some() {
            let text = phrase!("its reasoning state is not sent: this API dialect does not support it");
            self.report(index, Diagnostic::info(codes::REASONING_NOT_SENT, text));
        }
        if message.cache_mark.is_some() {
            let text = phrase!(
                "its cache mark is not sent: text completion servers cache common prefixes automatically"
            );
            self.report(index, Diagnostic::info(codes::CACHE_MARK, text));
        }
    }

    fn report(&mut self, index: usize, diagnostic: Diagnostic) {
        let text = phrase!("message {index}: {message}", index, message = diagnostic.message);
        self.found.push(Diagnostic { message: text, ..diagnostic }.at_pointer("/prompt"));
    }
}

/// What files of plain text say, each with its name.
fn text_files(message: &Message) -> Vec<(&str, Cow<'_, str>)> {
    let parts = match &message.content {
        Content::Text(_) => &[],
        Content::Parts(parts) => parts.as_slice(),
    };
    let parts = parts.iter().filter_map(|part| match part {
        ContentPart::Text(_) => None,
        ContentPart::Other(value) => Media::of_part(value),
    });
    let files = message.attachments.iter().filter_map(Media::of_attachment);
    parts.chain(files).filter_map(|media| Some((media.file_name(), media.text()?))).collect()
}
