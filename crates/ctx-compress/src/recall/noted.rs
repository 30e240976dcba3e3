//! The lines of the notes in a request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ctx_types::Message;

use crate::request::begins_with_words_of;

/// The lines of the notes in a request, by the messages they are about.
///
/// A recalled line may contain more of a message than a note, but must not repeat it.
#[derive(Clone, Debug, Default)]
pub struct Noted<'a>(BTreeMap<&'a str, Vec<(&'a Message, &'a str)>>);

/// The maximum number of lines read per message. Lines beyond that may be repeated.
const MOST_LINES: usize = 16;

impl<'a> Noted<'a> {
    /// Finds the notes among messages, except those whose number of lines was changed by an edit. O(bytes of notes).
    pub fn of(messages: &'a [Message]) -> Self {
        let mut noted = Self::default();
        for message in messages {
            let Some(note) = message.note.as_deref() else { continue };
            let Cow::Borrowed(text) = message.text() else { continue };
            for (line, text) in note.zip(text).into_iter().flatten() {
                let lines = noted.0.entry(&line.id).or_default();
                if lines.len() < MOST_LINES {
                    lines.push((message, text));
                }
            }
        }
        noted
    }

    /// Returns the notes with a line that begins with all words of a recalled line of a message. O(bytes of that line).
    pub fn having(&self, id: &str, line: &str) -> impl Iterator<Item = &'a Message> {
        let lines = self.0.get(id).into_iter().flatten();
        // It begins with the number of the message.
        let said = line.split_once(' ').map_or(line, |(_, said)| said);
        lines.filter(move |(_, text)| begins_with_words_of(text, said)).map(|(note, _)| *note)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctx_types::{Note, NoteLine, NoteLineKind, Role, Source, SourceKind, Trust};

    use super::*;

    fn note(text: &str) -> Message {
        let source = Source::new(SourceKind::Summary, Trust::Model).with_id("note");
        Message::new(Role::System, text, source).with(|message| {
            let lines = ["n1", "n2"].map(|id| NoteLine::new(id, NoteLineKind::User));
            message.note = Some(Arc::new(Note { head: 1, lines: lines.into(), ..Note::default() }));
        })
    }

    #[test]
    fn a_note_has_what_its_line_of_the_same_message_begins_with() {
        let notes = [note("Earlier:\nU: Basil mint.\nU: a bag of soil, forty litres")];
        let noted = Noted::of(&notes);
        let has = |id, line| noted.having(id, line).next().is_some();
        assert!(has("n1", "#1 U: Basil mint.\n") && has("n2", "~ U: a bag of soil\n"));
        for (id, line) in [
            ("n2", "#1 U: Basil mint.\n"),
            ("n1", "#1 U: Basil mint, and thyme.\n"),
            ("n3", "#3 U: Basil.\n"),
        ] {
            assert!(!has(id, line), "{id} {line}");
        }
        let changed = [note("Earlier:\nU: Basil mint.")];
        assert!(Noted::of(&changed).having("n1", "#1 U: Basil mint.\n").next().is_none());
    }
}
