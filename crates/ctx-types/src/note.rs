//! Notes: messages that a compressor wrote in place of older ones, and what it knows about their lines.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Role;

/// What the writer of a note knows about its lines beside their text.
///
/// The text is what the model reads: first `head` lines that explain, then one line for each entry of `lines`.
/// A later pass reads this to tell pinned lines, speakers and units apart; none of it is sent.
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
    /// How many lines at the beginning of the text explain the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub head: usize,
    /// Names that began the messages of a role and are left out of its lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub speakers: Vec<Speaker>,
    /// What each line stands for, in the order of the text.
    pub lines: Vec<NoteLine>,
}

impl Note {
    /// The key under which files keep it, beside a message's content.
    pub const KEY: &'static str = "note";

    /// Reads what a file kept; `None` if it is something else.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Returns the lines of a text that the entries of this note are about, each with its entry.
    ///
    /// `None` if the text has more or fewer lines: then somebody changed it, and the note says nothing of it.
    pub fn zip<'a>(&'a self, text: &'a str) -> Option<impl Iterator<Item = (&'a NoteLine, &'a str)>> {
        let is_whole = text.split('\n').count() == self.head + self.lines.len();
        is_whole.then(|| self.lines.iter().zip(text.split('\n').skip(self.head)))
    }
}

/// A name that stands for a role in a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// The role.
    pub role: Role,
    /// The name.
    pub name: Arc<str>,
}

/// What one line of a note stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoteLine {
    /// The id of the message that it was made from.
    pub id: Arc<str>,
    /// Which part of that message.
    pub kind: NoteLineKind,
    /// Whether a later pass must keep it as it is.
    #[serde(default, rename = "pinned", skip_serializing_if = "std::ops::Not::not")]
    pub is_pinned: bool,
    /// Where its units begin after the first, in bytes of the line; a later pass keeps or drops units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<u32>,
}

impl NoteLine {
    /// Makes a line of one unit that is not pinned.
    pub fn new(id: impl Into<Arc<str>>, kind: NoteLineKind) -> Self {
        Self { id: id.into(), kind, is_pinned: false, cuts: Vec::new() }
    }
}

/// Which part of a message a line of a note was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteLineKind {
    /// What an instruction says.
    System,
    /// What the user says.
    User,
    /// What the model says.
    Assistant,
    /// A tool call.
    Call,
    /// The result of a tool call.
    Result,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_other_lines_is_not_the_notes() {
        let line = || NoteLine::new("n1", NoteLineKind::User);
        let note = Note { head: 1, lines: vec![line(), line()], ..Note::default() };
        let lines: Vec<&str> = note.zip("head\na\nb").unwrap().map(|(_, text)| text).collect();
        assert_eq!(lines, ["a", "b"]);
        assert!(note.zip("head\na").is_none());
        assert!(note.zip("head\na\nb\n").is_none());
    }

    #[test]
    fn what_is_no_note_is_not_read() {
        for value in ["1", "\"a note\"", "{\"lines\": [1]}", "{\"head\": -1}"] {
            assert_eq!(Note::from_value(&serde_json::from_str(value).unwrap()), None, "{value}");
        }
    }
}
