//! The line of a file that a finding is about.

use std::ops::Range;

use super::clean::clean;

/// How many bytes of a line are marked at most.
const MAX_MARKED: usize = 80;

/// How many bytes of a line are shown on either side of where the mark begins.
const MAX_SIDE: usize = 1_000;

/// The lines of a text, and its characters: made once, so that finding a place costs little.
#[derive(Debug)]
pub(super) struct Lines {
    /// Where each line begins.
    starts: Vec<usize>,
    /// How many characters begin before each block of [`BLOCK`] bytes.
    characters: Vec<usize>,
}

/// How many bytes are counted one by one at the most.
const BLOCK: usize = 1_024;

/// One line of a text, with the marked bytes in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The line as it is shown; of a very long one the part around the mark.
    pub(super) text: String,
    /// The bytes of `text` that are marked; an empty range marks the place before it.
    pub(super) marked: Range<usize>,
}

impl Lines {
    /// O(size of the text).
    pub(super) fn of(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let mut count = 0;
        let before = |block: &[u8]| {
            let before = count;
            count += block.iter().filter(|byte| begins_character(**byte)).count();
            before
        };
        let characters = text.as_bytes().chunks(BLOCK).map(before).collect();
        Self { starts: std::iter::once(0).chain(starts).collect(), characters }
    }

    /// Returns the line, from 1, that a byte is in, and where it begins. O(log lines).
    pub(super) fn line(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte);
        (line, self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0))
    }

    /// Returns the column, from 1, that a byte of the text has in its line. O(log lines).
    pub(super) fn column(&self, text: &str, byte: usize) -> usize {
        let (_, start) = self.line(byte);
        self.characters(text, byte) - self.characters(text, start) + 1
    }

    fn characters(&self, text: &str, byte: usize) -> usize {
        let byte = byte.min(text.len());
        let block = (byte / BLOCK).min(self.characters.len().saturating_sub(1));
        let rest = text.as_bytes().get(block * BLOCK..byte).unwrap_or_default();
        let rest = rest.iter().filter(|byte| begins_character(**byte)).count();
        self.characters.get(block).map_or(0, |before| before + rest)
    }

    /// Returns the byte of a line and column, both from 1, columns in characters.
    pub(super) fn byte(&self, text: &str, line: usize, column: usize) -> Option<usize> {
        let start = *self.starts.get(line.saturating_sub(1))?;
        let rest = text.get(start..)?;
        let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(byte, _)| byte);
        Some(start + offset)
    }
}

impl Excerpt {
    /// Takes the line that a range begins in out of a text; `line_start` is where that line begins.
    pub(super) fn of(text: &str, line_start: usize, range: &Range<usize>) -> Option<Self> {
        let start = boundary(text, range.start);
        let line_end = text.get(start..)?.find('\n').map_or(text.len(), |newline| start + newline);
        let first = boundary(text, line_start.max(start.saturating_sub(MAX_SIDE)));
        let last = boundary(text, line_end.min(start + MAX_SIDE));
        let end = boundary(text, range.end.clamp(start, last).min(start + MAX_MARKED));
        let before = clean(text.get(first..start)?);
        let marked = text.get(start..end)?.trim_end();
        let after = text.get(start + marked.len()..last)?.trim_end_matches('\r');
        let (marked, after) = (clean(marked), clean(after));
        let shown = format!("{before}{marked}{after}");
        Some(Self { text: shown, marked: before.len()..before.len() + marked.len() })
    }

    /// Returns the column in the excerpt at which the mark begins, from 1.
    pub(super) fn column(&self) -> usize {
        self.text.get(..self.marked.start).unwrap_or_default().chars().count() + 1
    }
}

/// Tells whether a byte of UTF-8 is the first one of a character.
const fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// Returns the last place between characters that is not behind this one.
fn boundary(text: &str, index: usize) -> usize {
    let mut places = (0..=index.min(text.len())).rev();
    places.find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, Lines};

    #[track_caller]
    fn check(text: &str, range: std::ops::Range<usize>, expected: (&str, &str)) {
        let (_, line_start) = Lines::of(text).line(range.start);
        let excerpt = Excerpt::of(text, line_start, &range).unwrap();
        assert_eq!((excerpt.text.as_str(), &excerpt.text[excerpt.marked.clone()]), expected);
    }

    #[test]
    fn the_mark_ends_with_its_line_and_begins_and_ends_between_characters() {
        check("a\nbc é\r\nd", 3..9, ("bc é", "c é"));
        check("aéb", 2..3, ("aéb", "é"));
        check("aéb", 1..2, ("aéb", ""));
        check("a\n", 2..9, ("", ""));
        check("ab", 9..12, ("ab", ""));
    }

    #[test]
    fn replaced_characters_move_the_mark() {
        check("\u{7}a\u{7}b", 1..3, ("\u{fffd}a\u{fffd}b", "a\u{fffd}"));
    }

    #[test]
    fn of_a_very_long_line_the_part_around_the_mark_is_shown() {
        let line = "é".repeat(100_000);
        let (_, line_start) = Lines::of(&line).line(50_000);
        let excerpt = Excerpt::of(&line, line_start, &(50_000..60_000)).unwrap();
        assert_eq!((excerpt.text.len(), excerpt.marked), (2_000, 1_000..1_080));
    }

    #[test]
    fn columns_are_right_in_every_block() {
        for length in [0, 510, 511, 1_021, 1_022, 1_023, 5_000] {
            let text = format!("a\nb{}x", "é".repeat(length));
            assert_eq!(Lines::of(&text).column(&text, text.len() - 1), length + 2);
            assert_eq!(Lines::of(&text).column(&text, text.len()), length + 3);
        }
        assert_eq!(Lines::of("").column("", 0), 1);
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let lines = Lines::of("a\né b\n");
        assert_eq!((lines.line(0), lines.line(2), lines.line(7)), ((1, 0), (2, 2), (3, 7)));
        assert_eq!(lines.byte("a\né b\n", 2, 3), Some(5));
        assert_eq!((lines.byte("a\né b\n", 3, 9), lines.byte("a\né b\n", 4, 1)), (Some(7), None));
    }
}
