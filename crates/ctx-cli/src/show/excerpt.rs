//! The line of a file that a finding is about.

use std::ops::Range;

use super::clean::clean;

/// How many bytes of a line are marked at most.
const MAX_MARKED: usize = 80;

/// How many bytes of a line are shown on either side of where the mark begins.
const MAX_SIDE: usize = 1_000;

/// One line of a text, with the marked bytes in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The line as it is shown; of a very long one the part around the mark.
    pub(super) text: String,
    /// The bytes of `text` that are marked; an empty range marks the place before it.
    pub(super) marked: Range<usize>,
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

/// Returns the last place between characters that is not behind this one.
fn boundary(text: &str, index: usize) -> usize {
    let mut places = (0..=index.min(text.len())).rev();
    places.find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use ctx_project::lines::Lines;

    use super::Excerpt;

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
}
