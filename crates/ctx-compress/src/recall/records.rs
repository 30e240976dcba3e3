//! Records: the parts of messages that a search finds.

use std::ops::Range;

use ctx_types::{Message, NoteLineKind, Place};

use crate::request::{is_summary, passages};

/// A part of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// The speaker.
    pub(super) kind: NoteLineKind,
    /// The name of the tool for a call; otherwise empty.
    pub(super) tool: &'a str,
    pub(super) text: &'a str,
}

/// The maximum bytes of a record.
pub(super) const LONGEST: usize = 1_000;

/// The maximum number of bytes read of a text.
const MOST_BYTES: usize = 1 << 20;

/// The maximum number of records of a message.
pub(super) const MOST_RECORDS: usize = 4_096;

/// Calls `visit` for each record of a message, in order; returns whether the message was read completely. O(bytes).
///
/// Instructions, notes and summaries have no records: they are not turns of the conversation, and stay in requests.
pub(super) fn each_record(message: &Message, mut visit: impl FnMut(Record<'_>)) -> bool {
    let is_said = matches!(message.place, Place::History | Place::Pinned) && !message.role.is_instruction();
    if !is_said || message.note.is_some() || is_summary(message) {
        return true;
    }
    let mut left = MOST_RECORDS;
    let mut is_whole = true;
    for passage in passages(message) {
        let text = beginning(&passage.text, MOST_BYTES);
        is_whole &= text.len() == passage.text.len();
        for range in ranges(text) {
            if left == 0 {
                return false;
            }
            left -= 1;
            let text = text.get(range).unwrap_or_default();
            visit(Record { kind: passage.kind, tool: passage.tool, text });
        }
    }
    is_whole
}

/// Returns the beginning of a text with at most this many bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Splits a text into records: one for each entry of a JSON list, several for a long text.
fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let cuts = entries(text);
    let ends = cuts.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    for (start, end) in starts.zip(ends) {
        pieces(text, start..end, &mut ranges);
    }
    ranges
}

/// Returns the start of each entry of the outermost list of objects or lists in a JSON text, and the end of the last.
/// O(bytes).
fn entries(text: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    if !text.trim_start().starts_with(['{', '[']) {
        return cuts;
    }
    let (mut depth, mut list, mut is_text, mut is_escaped) = (0_usize, None, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if is_text {
            (is_text, is_escaped) = (is_escaped || byte != b'"', byte == b'\\' && !is_escaped);
            continue;
        }
        match byte {
            b'"' => is_text = true,
            b'[' | b'{' => {
                if list == Some(depth) {
                    cuts.push(at);
                }
                depth += 1;
                let rest = text.get(at + 1..).unwrap_or_default();
                if byte == b'[' && list.is_none() && rest.trim_start().starts_with(['{', '[']) {
                    list = Some(depth);
                }
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if list == Some(depth + 1) && byte == b']' {
                    cuts.push(at);
                    break;
                }
            }
            _ => {}
        }
    }
    cuts
}

/// Splits a part of a text that is too long: after a line, otherwise after a sentence or a word.
fn pieces(text: &str, range: Range<usize>, into: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    while let Some(rest) = text.get(start..range.end).filter(|rest| !rest.is_empty()) {
        let end = if rest.len() > LONGEST {
            let head = beginning(rest, LONGEST);
            let border = |signs: &[char]| {
                let at = head.rfind(signs).filter(|at| *at > LONGEST / 4)?;
                Some(at + head.get(at..)?.chars().next()?.len_utf8())
            };
            let end = border(&['\n']).or_else(|| border(&['.', '!', '?', '。', '！', '？']));
            end.or_else(|| border(&[' ', ',', '，'])).unwrap_or(head.len())
        } else {
            rest.len()
        };
        let piece = start..start + end;
        start += end;
        let says_something = text.get(piece.clone()).is_some_and(|text| text.contains(char::is_alphanumeric));
        if says_something {
            into.push(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<&str> = ranges(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn entries_of_a_list_are_records() {
        check(
            r#"{"status": "ok", "rooms": [{"id": 1, "of": [{"x": 1}]}, {"id": "a]\"[{"}], "more": 7}"#,
            &[
                r#"{"status": "ok", "rooms": ["#,
                r#"{"id": 1, "of": [{"x": 1}]}, "#,
                r#"{"id": "a]\"[{"}"#,
                r#"], "more": 7}"#,
            ],
        );
        check("[1, 2]", &["[1, 2]"]);
        check("[one] two", &["[one] two"]);
        check("{\"a", &["{\"a"]);
    }

    #[test]
    fn long_texts_are_cut_at_borders() {
        let line = format!("{}\n", "word ".repeat(150));
        check(&line.repeat(2), &[&line, &line]);
        let glued = "字".repeat(500);
        check(&glued, &[&"字".repeat(333), &"字".repeat(167)]);
        check(" \n!", &[]);
    }
}
