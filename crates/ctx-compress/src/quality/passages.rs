//! The texts of messages, and in which form each is written.

use std::borrow::Cow;
use std::sync::Arc;

use ctx_types::{Message, Role};

use crate::quality::fact::Place;
use crate::quality::key::Reading;
use crate::quality::lex::Form;

/// A text of a message.
#[derive(Clone, Debug)]
pub(super) struct Passage<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) form: Form,
    pub(super) message: usize,
    pub(super) id: Option<Arc<str>>,
    pub(super) call: Option<usize>,
    pub(super) role: Role,
    /// Whether a compressor put it together from what messages say, in which sentences run into each other.
    pub(super) is_note: bool,
}

impl Passage<'_> {
    /// Returns the ways in which words are looked for in it; a path of Windows may look as if it had escapes.
    pub(super) fn readings(&self) -> &'static [Reading] {
        match self.form.reading() {
            Reading::Escapes if self.text.contains('\\') => &[Reading::Signs, Reading::Escapes],
            _ => &[Reading::Signs],
        }
    }

    /// Returns the place of some of its bytes.
    pub(super) fn place(&self, bytes: &std::ops::Range<usize>) -> Place {
        Place {
            message: self.message,
            id: self.id.clone(),
            call: self.call,
            start: bytes.start,
            end: bytes.end,
        }
    }
}

/// Returns the texts of a message: what it says, then the arguments of its calls.
pub(super) fn passages(index: usize, message: &Message) -> Vec<Passage<'_>> {
    let passage = |text, form, call| Passage {
        text,
        form,
        message: index,
        id: message.source.id.clone(),
        call,
        role: message.role,
        is_note: message.note.is_some(),
    };
    let said = match &message.content {
        ctx_types::Content::Text(text) => Cow::Borrowed(text.as_str()),
        ctx_types::Content::Parts(_) => Cow::Owned(message.text().into_owned()),
    };
    let said_form = form(&said, message.role);
    let calls = message.tool_calls.iter().enumerate();
    let calls = calls.map(|(at, call)| passage(Cow::Borrowed(call.arguments.as_str()), Form::Json, Some(at)));
    std::iter::once(passage(said, said_form, None))
        .chain(calls)
        .filter(|passage| !passage.text.is_empty())
        .collect()
}

/// Returns a text in pieces that are read one after the other, each with the byte at which it begins.
///
/// A text of usual length is one piece. Longer ones are parted between lines, where lines are not too long for that,
/// so that what is known about their words needs little memory.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let (begin, end) = (start, piece_end(rest));
        start += end;
        Some((begin, rest.get(..end)?))
    })
}

/// The longest piece, in bytes.
const LONGEST_PIECE: usize = 64 * 1024;

fn piece_end(text: &str) -> usize {
    if text.len() <= LONGEST_PIECE {
        return text.len();
    }
    let most = (0..=LONGEST_PIECE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let piece = text.get(..most).unwrap_or(text);
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '，' | '。');
    let behind =
        |at: usize| at + piece.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let cut = piece.rfind('\n').or_else(|| piece.rfind(is_between)).map(behind);
    cut.unwrap_or(piece.len())
}

/// Returns words that a message has beside its texts: names of tools and speakers. They are no facts, but who
/// speaks of them makes nothing up.
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
    let is_json = is_enclosed
        && (inner.starts_with(['"', ']', '}']) || trimmed.starts_with("[{") || trimmed.starts_with("[["));
    match role {
        _ if is_json => Form::Json,
        Role::Tool => Form::Output,
        _ => Form::Prose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the pieces of a text are.
    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        let found: Vec<(usize, &str)> = pieces(text).collect();
        assert_eq!(found.iter().map(|(_, piece)| piece.len()).collect::<Vec<_>>(), expected);
        assert!(found.iter().all(|(start, piece)| text[*start..].starts_with(piece)));
        assert_eq!(found.iter().map(|(_, piece)| *piece).collect::<String>(), text);
    }

    #[test]
    fn long_texts_are_parted_between_lines_else_between_words() {
        check("", &[]);
        check("one\ntwo", &[7]);
        check(&format!("{}\n{} b c", "a ".repeat(20_000), "d ".repeat(20_000)), &[40_001, 40_004]);
        check(&format!("{} b", "a".repeat(65_535)), &[65_536, 1]);
        check(&"王".repeat(30_000), &[65_535, 24_465]);
    }
}
