//! Two texts made of one, as one: where they change other lines of it.

use std::ops::Range;

use similar::DiffTag;

use crate::preview::difference;

/// A change of a text: which of its lines go, and what comes in their place.
struct Change<'t> {
    lines: Range<usize>,
    by: &'t [&'t str],
}

/// Returns a text with the changes of both others; none where they change the same lines or such that touch.
pub(super) fn merged(base: &str, mine: &str, theirs: &str) -> Option<String> {
    let split = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (base, mine, theirs) = (split(base), split(mine), split(theirs));
    let (mut mine, mut theirs) =
        (changes(&base, &mine).into_iter().peekable(), changes(&base, &theirs).into_iter().peekable());
    let (mut text, mut at) = (String::new(), 0);
    // Where the change before this one ended, if it was of the other text.
    let mut last: Option<(bool, usize)> = None;
    loop {
        let is_mine = match (mine.peek(), theirs.peek()) {
            (None, None) => break,
            (Some(mine), Some(theirs)) => mine.lines.start <= theirs.lines.start,
            (mine, _) => mine.is_some(),
        };
        let change = if is_mine { mine.next()? } else { theirs.next()? };
        if last.is_some_and(|(was_mine, end)| was_mine != is_mine && change.lines.start <= end) {
            return None;
        }
        text.extend(base.get(at..change.lines.start)?.iter().chain(change.by).copied());
        at = change.lines.end;
        last = Some((is_mine, at));
    }
    text.extend(base.get(at..)?.iter().copied());
    Some(text)
}

fn changes<'t>(base: &[&str], other: &'t [&'t str]) -> Vec<Change<'t>> {
    let operations = difference::operations(base, other).into_iter();
    let changed = operations.filter(|operation| operation.tag() != DiffTag::Equal);
    changed
        .filter_map(|operation| {
            Some(Change { lines: operation.old_range(), by: other.get(operation.new_range())? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a: 1\nb: 2\nc: 3\nd: 4\n";

    #[track_caller]
    fn check(mine: &str, theirs: &str, expected: Option<&str>) {
        assert_eq!(merged(BASE, mine, theirs).as_deref(), expected);
        assert_eq!(merged(BASE, theirs, mine).as_deref(), expected);
    }

    #[test]
    fn changes_of_other_lines_are_both_made() {
        let both = "a: 9\nb: 2\nc: 3\nd: 8\n";
        check("a: 9\nb: 2\nc: 3\nd: 4\n", "a: 1\nb: 2\nc: 3\nd: 8\n", Some(both));
        check("new: 0\na: 1\nb: 2\nc: 3\nd: 4\n", "a: 1\nb: 2\nc: 3\n", Some("new: 0\na: 1\nb: 2\nc: 3\n"));
        check(BASE, "x\n", Some("x\n"));
    }

    #[test]
    fn changes_that_touch_are_for_a_person_to_choose_from() {
        check("a: 9\nb: 2\nc: 3\nd: 4\n", "a: 8\nb: 2\nc: 3\nd: 4\n", None);
        check("a: 9\nb: 2\nc: 3\nd: 4\n", "a: 1\nb: 8\nc: 3\nd: 4\n", None);
        check("a: 1\nnew: 0\nb: 2\nc: 3\nd: 4\n", "a: 1\nother: 0\nb: 2\nc: 3\nd: 4\n", None);
        check("", "a: 1\nb: 2\nc: 3\nd: 8\n", None);
    }
}
