//! Writes a note: one line for each passage, in the order of the conversation.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::Fingerprint;
use ctx_types::{Message, Note, NoteLine, NoteLineKind, Role, Segment, Source, SourceKind, Span, Trust};

use crate::request::coverage::index::{Index, Making};
use crate::request::coverage::passage::{ELSEWHERE, Passage, passages, write_prefix};
use crate::request::coverage::pieces::Piece;
use crate::request::coverage::telegraph::separate_sentences;
use crate::request::excerpt::own_source;

/// The input for a note.
pub(super) struct Draft<'a> {
    pub(super) messages: &'a [Message],
    pub(super) index: &'a Index,
    pub(super) making: &'a Making,
    /// The heading above the lines.
    pub(super) head: &'a [String],
    /// The texts of pinned passages, by their positions in the index.
    pub(super) pins: &'a BTreeMap<usize, String>,
    /// The messages of the note that are kept elsewhere in the request.
    pub(super) elsewhere: &'a [usize],
}

/// A text with data about its lines.
#[derive(Default)]
struct NoteText {
    text: String,
    note: Note,
    segments: Vec<Segment>,
}

impl Draft<'_> {
    /// Writes the note with these units of each passage; `None` if nothing is chosen or pinned. O(bytes of the messages
    /// with chosen units).
    pub(super) fn write(&self, mut chosen: BTreeMap<usize, Vec<usize>>, role: Role) -> Option<Message> {
        for pinned in self.pins.keys() {
            chosen.entry(*pinned).or_default();
        }
        if chosen.is_empty() {
            return None;
        }
        let mut written = NoteText::default();
        for line in self.head {
            written.add_head(line);
        }
        written.note.speakers.clone_from(&self.making.speakers.names);
        let mut elsewhere = self.elsewhere.iter().copied().peekable();
        // An earlier note may have hundreds of lines: it is read once for all of them.
        let mut read: (usize, Vec<Passage<'_>>) = (usize::MAX, Vec::new());
        for (passage, ordinals) in &chosen {
            let message = self.index.passages[*passage].message;
            if read.0 != message {
                read = (message, passages(&self.messages[message]));
            }
            let mut marked = None;
            while let Some(kept) = elsewhere.next_if(|kept| *kept < message) {
                marked = Some(kept);
            }
            // Consecutive kept messages are one mark; before the first line no mark is needed.
            if let Some(kept) = marked.filter(|_| !written.note.lines.is_empty()) {
                written.add_mark(&self.messages[kept]);
            }
            self.write_line(*passage, ordinals, &read.1, &mut written);
        }
        Some(written.finish(role))
    }

    fn write_line(&self, number: usize, ordinals: &[usize], passages: &[Passage<'_>], into: &mut NoteText) {
        let entry = &self.index.passages[number];
        let passage = &passages[entry.ordinal];
        let mut line = Line::default();
        write_prefix(passage.kind, passage.tool, &mut line.text);
        let pin = self.pins.get(&number);
        match pin {
            Some(pin) => line.text.push_str(pin),
            None => self.making.each_piece(passage, &mut chosen(ordinals, |piece| line.add(piece))),
        }
        let Line { text: line, cuts, .. } = line;
        let id = passage.id.clone().unwrap_or_default();
        let note_line = NoteLine { id, kind: passage.kind, is_pinned: pin.is_some(), cuts };
        into.add_line(&line, note_line, &self.messages[entry.message]);
    }
}

/// Calls a function for the chosen pieces of a passage; the positions are ascending.
pub(super) fn chosen(ordinals: &[usize], mut visit: impl FnMut(Piece<'_>)) -> impl FnMut(Piece<'_>) {
    let (mut ordinals, mut at) = (ordinals.iter().peekable(), 0_usize);
    move |piece| {
        if ordinals.next_if_eq(&&at).is_some() {
            visit(piece);
        }
        at += 1;
    }
}

/// Writes pieces with spaces between them; items of one list have their key once.
#[derive(Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// The start of each piece after the first, in bytes of the text.
    cuts: Vec<u32>,
    pieces: usize,
    last_list: u16,
}

impl Line {
    pub(super) fn add(&mut self, piece: Piece<'_>) {
        let continues = piece.list > 0 && piece.list == self.last_list;
        self.last_list = piece.list;
        self.pieces += 1;
        if continues {
            self.text.push(',');
            self.text.push_str(piece.text.get(piece.key_len..).unwrap_or_default());
            return;
        }
        if self.pieces > 1 {
            if piece.key_len > 0 {
                self.text.push(' ');
            } else {
                separate_sentences(&mut self.text);
            }
            self.cuts.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        }
        self.text.push_str(piece.text);
    }
}

impl NoteText {
    fn add_head(&mut self, line: &str) {
        self.push(line, own_source(), Vec::new());
        self.note.head += 1;
    }

    fn add_mark(&mut self, kept: &Message) {
        let kind = match kept.role {
            Role::User => NoteLineKind::User,
            Role::Assistant => NoteLineKind::Assistant,
            Role::Tool => NoteLineKind::Result,
            _ => NoteLineKind::System,
        };
        let mut line = String::new();
        write_prefix(kind, "", &mut line);
        line.push_str(ELSEWHERE);
        self.push(&line, own_source(), Vec::new());
        self.note.lines.push(NoteLine::new(kept.source.id.clone().unwrap_or_default(), kind));
    }

    fn add_line(&mut self, line: &str, entry: NoteLine, message: &Message) {
        let role = match entry.kind {
            NoteLineKind::System => Role::System,
            NoteLineKind::User => Role::User,
            NoteLineKind::Assistant | NoteLineKind::Call => Role::Assistant,
            NoteLineKind::Result => Role::Tool,
        };
        let is_earlier = message.note.is_some();
        let from = if is_earlier { Source::history(entry.id.clone(), role) } else { message.source.clone() };
        // The note wrote it and its id follows later; it is trusted like the original messages.
        self.push(line, Source::new(SourceKind::Summary, from.trust), vec![from]);
        self.note.lines.push(entry);
    }

    fn push(&mut self, line: &str, source: Source, via: Vec<Source>) {
        let start = self.text.len();
        if start > 0 {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.segments.push(Segment { span: Span::new(start, self.text.len()), source, via });
    }

    fn finish(mut self, role: Role) -> Message {
        let id: Arc<str> = format!("note-{}", Fingerprint::default().text(&self.text)).into();
        for line in self.segments.iter_mut().filter(|line| line.source.kind == SourceKind::Summary) {
            line.source.id = Some(id.clone());
        }
        let source = Source::new(SourceKind::Summary, Trust::Model).with_id(id);
        Message::new(role, self.text, source).with(|message| {
            message.written = self.segments;
            message.note = Some(Arc::new(self.note));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str, cuts: &[u32]) {
        let mut line = Line::default();
        for text in pieces {
            line.add(Piece::new(text, text, 0));
        }
        assert_eq!((&*line.text, &*line.cuts), (expected, cuts));
    }

    #[test]
    fn separates_sentences_by_blanks_unless_chinese() {
        check(&["It is so.", "Was it?"], "It is so. Was it?", &[10]);
        check(&["已经记下。", "明天我问问？", "OK"], "已经记下。明天我问问？OK", &[15, 33]);
        check(&["已经", "记下。"], "已经 记下。", &[7]);
    }
}
