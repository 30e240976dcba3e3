use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Role;

/// Information about the lines of a digest that replaces older messages.
///
/// The text has `head` explanatory lines, then one per item of `lines`. For later compression; never sent.
///
/// ```
/// use ctx_types::{Note, NoteLine, NoteLineKind};
///
/// let line = NoteLine { is_pinned: true, ..NoteLine::new("n1", NoteLineKind::User) };
/// let note = Note { lines: vec![line], ..Note::default() };
/// let value = serde_json::json!(note);
/// assert_eq!(value, serde_json::json!({"lines": [{"id": "n1", "kind": "user", "pinned": true}]}));
/// assert_eq!(Note::from_value(&value), Some(note));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Note {
    /// Number of explanatory lines at the start.
    #[serde(skip_serializing_if = "is_zero")]
    pub head: usize,
    /// Speaker names that the lines omit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub speakers: Vec<Speaker>,
    /// The other lines, in order.
    pub lines: Vec<NoteLine>,
}

impl Note {
    /// The key in files, next to a message's content.
    pub const KEY: &'static str = "note";

    /// Reads a file's value; `None` if invalid.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Returns the lines of a text with their information; `None` if the number of lines was edited.
    pub fn zip<'a>(&'a self, text: &'a str) -> Option<impl Iterator<Item = (&'a NoteLine, &'a str)>> {
        let is_whole = text.split('\n').count() == self.head + self.lines.len();
        is_whole.then(|| self.lines.iter().zip(text.split('\n').skip(self.head)))
    }
}

/// Name of a role in a digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// The role.
    pub role: Role,
    /// The name.
    pub name: Arc<str>,
}

/// Information about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoteLine {
    /// The id of the original message.
    pub id: Arc<str>,
    /// The part of that message.
    pub kind: NoteLineKind,
    /// Whether later compression must keep the line.
    #[serde(default, rename = "pinned", skip_serializing_if = "std::ops::Not::not")]
    pub is_pinned: bool,
    /// Start of each unit after the first, in bytes of the line. Compression keeps or drops units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<u32>,
}

impl NoteLine {
    /// Creates an unpinned line of one unit.
    pub fn new(id: impl Into<Arc<str>>, kind: NoteLineKind) -> Self {
        Self { id: id.into(), kind, is_pinned: false, cuts: Vec::new() }
    }
}

/// Part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteLineKind {
    /// A system message.
    System,
    /// A user message.
    User,
    /// An assistant message.
    Assistant,
    /// A tool call.
    Call,
    /// A tool result.
    Result,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_text_with_different_line_count() {
        let line = || NoteLine::new("n1", NoteLineKind::User);
        let note = Note { head: 1, lines: vec![line(), line()], ..Note::default() };
        let lines: Vec<&str> = note.zip("head\na\nb").unwrap().map(|(_, text)| text).collect();
        assert_eq!(lines, ["a", "b"]);
        assert!(note.zip("head\na").is_none());
        assert!(note.zip("head\na\nb\n").is_none());
    }

    #[test]
    fn rejects_invalid_values() {
        for value in ["1", "\"a note\"", "{\"lines\": [1]}", "{\"head\": -1}"] {
            assert_eq!(Note::from_value(&serde_json::from_str(value).unwrap()), None, "{value}");
        }
    }
}
