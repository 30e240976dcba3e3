//! Passages: what one line of a note stands for.

use std::borrow::Cow;
use std::sync::Arc;

use ctx_types::{Message, NoteLineKind, Role};

/// A part of a message that becomes one line of a note: what it says, or one of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Passage<'a> {
    pub(crate) kind: NoteLineKind,
    /// The name of the tool of a call; empty otherwise.
    pub(crate) tool: &'a str,
    pub(crate) text: Cow<'a, str>,
    /// The id of the message, for a line of an earlier note of that which it was made from.
    pub(crate) id: Option<Arc<str>>,
    /// Whether an earlier pass pinned it.
    pub(crate) is_pinned: bool,
    /// For a line of an earlier note: where its units begin after the first, in bytes of the text.
    pub(crate) cuts: Option<Vec<usize>>,
}

/// What a line consists of that stands for a message which is kept elsewhere in the request.
pub(super) const ELSEWHERE: &str = "↓";

/// Returns the passages of a message, in the order of its lines; those of an earlier note are its lines.
pub(crate) fn passages(message: &Message) -> Vec<Passage<'_>> {
    if let Some(lines) = earlier_lines(message) {
        return lines;
    }
    let text = message.text();
    let said = (!text.trim().is_empty()).then(|| Passage {
        kind: kind(message.role),
        tool: "",
        text,
        id: message.source.id.clone(),
        is_pinned: false,
        cuts: None,
    });
    let calls = message.tool_calls.iter().map(|call| Passage {
        kind: NoteLineKind::Call,
        tool: &call.name,
        text: Cow::Borrowed(&call.arguments),
        id: message.source.id.clone(),
        is_pinned: false,
        cuts: None,
    });
    said.into_iter().chain(calls).collect()
}

/// The letter with which a line begins.
pub(super) const fn letter(kind: NoteLineKind) -> &'static str {
    match kind {
        NoteLineKind::System => "S",
        NoteLineKind::User => "U",
        NoteLineKind::Assistant => "A",
        NoteLineKind::Call => "C",
        NoteLineKind::Result => "R",
    }
}

/// Writes what stands before the text of a line: `U: `, or `C tool: `.
pub(crate) fn write_prefix(kind: NoteLineKind, tool: &str, into: &mut String) {
    into.push_str(letter(kind));
    if kind == NoteLineKind::Call {
        into.push(' ');
        into.extend(tool.chars().filter(|c| !c.is_control()).take(LONGEST_TOOL));
    }
    into.push_str(": ");
}

/// How many characters of a tool's name a line shows; providers allow 64.
const LONGEST_TOOL: usize = 64;

const fn kind(role: Role) -> NoteLineKind {
    match role {
        Role::User => NoteLineKind::User,
        Role::Assistant => NoteLineKind::Assistant,
        Role::Tool => NoteLineKind::Result,
        _ => NoteLineKind::System,
    }
}

/// Returns whether somebody changed the text of a note, so that it says no more what it stands for.
pub(crate) fn is_changed_note(message: &Message) -> bool {
    message.note.is_some() && earlier_lines(message).is_none()
}

/// Reads the lines of an earlier note; `None` if the message is none, or was changed since.
fn earlier_lines(message: &Message) -> Option<Vec<Passage<'_>>> {
    let note = message.note.as_deref()?;
    let Cow::Borrowed(text) = message.text() else { return None };
    let mut passages = Vec::with_capacity(note.lines.len());
    for (line, text) in note.zip(text)? {
        let prefix = letter(line.kind).len();
        let rest = text.get(prefix..)?;
        let (tool, said) = match line.kind {
            NoteLineKind::Call => rest.strip_prefix(' ')?.split_once(": ")?,
            _ => ("", rest.strip_prefix(": ")?),
        };
        if said == ELSEWHERE {
            continue;
        }
        let begin = text.len() - said.len();
        let cuts = line.cuts.iter().filter_map(|cut| (*cut as usize).checked_sub(begin));
        passages.push(Passage {
            kind: line.kind,
            tool,
            text: Cow::Borrowed(said),
            id: Some(line.id.clone()),
            is_pinned: line.is_pinned,
            cuts: Some(cuts.collect()),
        });
    }
    Some(passages)
}
