//! Passages: the parts of messages that become lines of a note.

use std::borrow::Cow;
use std::sync::Arc;

use ctx_types::{Message, NoteLineKind, Role};

/// A part of a message that becomes one line of a note: its text or one of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Passage<'a> {
    pub(crate) kind: NoteLineKind,
    /// The name of the tool for a call; otherwise empty.
    pub(crate) tool: &'a str,
    pub(crate) text: Cow<'a, str>,
    /// For a line of an earlier note, the id of the original message.
    pub(crate) id: Option<Arc<str>>,
    /// Whether an earlier note pinned it.
    pub(crate) is_pinned: bool,
    /// For a line of an earlier note, the start of its units after the first, in bytes of the text.
    pub(crate) cuts: Option<Vec<usize>>,
}

/// The text of a line for a message that is kept elsewhere in the request.
pub(super) const ELSEWHERE: &str = "↓";

/// Returns the passages of a message in the order of their lines; for an earlier note, its lines.
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

/// The letter at the beginning of a line.
pub(super) const fn letter(kind: NoteLineKind) -> &'static str {
    match kind {
        NoteLineKind::System => "S",
        NoteLineKind::User => "U",
        NoteLineKind::Assistant => "A",
        NoteLineKind::Call => "C",
        NoteLineKind::Result => "R",
    }
}

/// Writes the beginning of a line: `U: `, or `C tool: `.
pub(crate) fn write_prefix(kind: NoteLineKind, tool: &str, into: &mut String) {
    into.push_str(letter(kind));
    if kind == NoteLineKind::Call {
        into.push(' ');
        into.extend(tool.chars().filter(|c| !c.is_control()).take(LONGEST_TOOL));
    }
    into.push_str(": ");
}

/// The maximum number of characters of a tool's name; providers allow 64.
const LONGEST_TOOL: usize = 64;

const fn kind(role: Role) -> NoteLineKind {
    match role {
        Role::User => NoteLineKind::User,
        Role::Assistant => NoteLineKind::Assistant,
        Role::Tool => NoteLineKind::Result,
        _ => NoteLineKind::System,
    }
}

/// Returns whether an edit changed the number of a note's lines.
pub(crate) fn is_changed_note(message: &Message) -> bool {
    message.note.is_some() && earlier_lines(message).is_none()
}

/// Reads the lines of an earlier note; `None` for other messages and edited notes.
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
