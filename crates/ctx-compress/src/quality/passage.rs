//! Texts of messages, and the form each is written in.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ctx_types::{Content, Message, Role};

use crate::quality::fact::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Prose,
    /// What a tool prints.
    Output,
    Json,
}

/// The text of a message, or the arguments of a tool call.
#[derive(Clone, Debug)]
pub(super) struct Passage<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) form: Form,
    message: usize,
    id: Option<Arc<str>>,
    call: Option<usize>,
    /// Whether a compressor wrote it from words of messages.
    pub(super) is_digest: bool,
}

impl Passage<'_> {
    pub(super) fn place(&self, bytes: &Range<usize>) -> Place {
        Place {
            message: self.message,
            id: self.id.clone(),
            call: self.call,
            start: bytes.start,
            end: bytes.end,
        }
    }

    /// Returns the text with blanks in place of JSON escapes, so that they part words. Places stay the same.
    pub(super) fn readable(&self) -> Cow<'_, str> {
        if self.form == Form::Json && self.text.contains('\\') {
            without_escapes(&self.text).into()
        } else {
            Cow::Borrowed(&self.text)
        }
    }
}

/// Returns the texts of a message: its own, then the arguments of its calls.
pub(super) fn passages(index: usize, message: &Message) -> Vec<Passage<'_>> {
    let passage = |text, form, call| Passage {
        text,
        form,
        message: index,
        id: message.source.id.clone(),
        call,
        is_digest: message.note.is_some(),
    };
    let own = match &message.content {
        Content::Text(text) => Cow::Borrowed(text.as_str()),
        Content::Parts(_) => Cow::Owned(message.text().into_owned()),
    };
    let form = form(&own, message.role);
    let own = match &message.note {
        Some(note) => without_first_lines(own, note.head),
        None => own,
    };
    let calls = message.tool_calls.iter().enumerate();
    let calls = calls.map(|(at, call)| passage(Cow::Borrowed(call.arguments.as_str()), Form::Json, Some(at)));
    let all = std::iter::once(passage(own, form, None)).chain(calls);
    all.filter(|passage| !passage.text.is_empty()).collect()
}

/// Returns names next to the texts of a message. They are not facts, but a summary may mention them.
pub(super) fn names_beside(message: &Message) -> impl Iterator<Item = &str> {
    let calls = message.tool_calls.iter().map(|call| &*call.name);
    let files = message.attachments.iter().map(|file| &*file.name);
    calls.chain(message.name.as_deref()).chain(files)
}

fn form(text: &str, role: Role) -> Form {
    let trimmed = text.trim();
    let is_enclosed = (trimmed.starts_with('{') && trimmed.ends_with('}'))
        || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    let inner = trimmed.trim_start_matches(['[', '{']).trim_start();
    // `[8 May 2023]` is prose.
    let is_json = is_enclosed && (inner.starts_with(['"', ']', '}']) || trimmed.starts_with("[["));
    match role {
        _ if is_json => Form::Json,
        Role::Tool => Form::Output,
        _ => Form::Prose,
    }
}

/// Replaces the explaining lines of a digest with blanks: their words come from no message.
fn without_first_lines(text: Cow<'_, str>, lines: usize) -> Cow<'_, str> {
    if lines == 0 {
        return text;
    }
    let end = text.match_indices('\n').nth(lines - 1).map_or(text.len(), |(at, _)| at);
    format!("{}{}", " ".repeat(end), &text[end..]).into()
}

fn without_escapes(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        written.push_str(&rest[..at]);
        let is_hex = |digits: &[u8]| digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let bytes = &rest.as_bytes()[at..];
        let replacement = match bytes.get(1) {
            Some(b'\\' | b'/') => "//",
            Some(b'n' | b't' | b'r' | b'b' | b'f' | b'"') => "  ",
            Some(b'u') if bytes.get(2..6).is_some_and(is_hex) => "      ",
            _ => "\\",
        };
        written.push_str(replacement);
        rest = &rest[at + replacement.len()..];
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_escapes(text), expected);
        assert_eq!(text.len(), expected.len());
    }

    #[test]
    fn replaces_escapes_with_as_many_bytes() {
        check(r"late.\nAda \u201cBell\u201d", "late.  Ada       Bell      ");
        check(r"C:\\new\/x", "C://new//x");
        check(r"\u12 \x \", r"\u12 \x \");
    }
}
