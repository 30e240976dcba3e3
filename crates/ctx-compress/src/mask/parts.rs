//! Cutting a transcript into parts that a summarizer's window has room for.

use ctx_types::ports::TokenCounter;

use crate::mask::transcript::Entry;

/// Where the middle of something was left out.
const GAP: &str = "\n[…]\n";

/// Packs entries into parts of at most `room` tokens each, in order.
///
/// Results stay in the part of their call where that is possible. Of a result that alone is too long the
/// middle goes; another text is cut into pieces, at line breaks where it has some.
pub(super) fn pack(entries: Vec<Entry>, room: u64, counter: &dyn TokenCounter) -> Vec<Vec<Entry>> {
    let mut parts: Vec<Vec<Entry>> = Vec::new();
    let mut used = 0;
    for unit in units(entries, room, counter) {
        let tokens: u64 = unit.iter().map(|entry| entry.tokens + SEPARATOR).sum();
        match parts.last_mut() {
            Some(part) if used + tokens <= room => part.extend(unit),
            _ => {
                parts.push(unit);
                used = 0;
            }
        }
        used += tokens;
    }
    parts
}

/// What joining two entries costs at most, in tokens.
const SEPARATOR: u64 = 2;

/// Makes units that go into a part as a whole: a call with its results if these have room together.
fn units(entries: Vec<Entry>, room: u64, counter: &dyn TokenCounter) -> Vec<Vec<Entry>> {
    let mut groups: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        let room = room.saturating_sub(SEPARATOR).max(1);
        for piece in pieces(entry, room, counter) {
            let tokens = |unit: &Vec<Entry>| unit.iter().map(|entry| entry.tokens + SEPARATOR).sum::<u64>();
            let fits =
                |unit: &&mut Vec<Entry>| piece.joins && tokens(unit) + piece.tokens + SEPARATOR <= room;
            match groups.last_mut().filter(fits) {
                Some(unit) => unit.push(piece),
                None => groups.push(vec![piece]),
            }
        }
    }
    groups
}

/// Cuts an entry that is too long.
fn pieces(entry: Entry, room: u64, counter: &dyn TokenCounter) -> Vec<Entry> {
    if entry.tokens <= room {
        return vec![entry];
    }
    let make = |text: String| Entry { tokens: u64::from(counter.count(&text)), text, ..entry.clone() };
    if entry.is_result {
        return vec![make(shorten(&entry.text, room, counter))];
    }
    let mut pieces = Vec::new();
    let mut rest = entry.text.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(fitting(rest, room, counter));
        pieces.push(make(piece.to_owned()));
        rest = after;
    }
    pieces
}

/// Keeps the beginning and the end of a text.
pub(super) fn shorten(text: &str, room: u64, counter: &dyn TokenCounter) -> String {
    if u64::from(counter.count(text)) <= room {
        return text.to_owned();
    }
    let room = room.saturating_sub(u64::from(counter.count(GAP)) + 1);
    let head = fitting(text, room.saturating_mul(2) / 3, counter);
    let (head, rest) = text.split_at(head);
    let tail = ending(rest, room / 3, counter);
    format!("{head}{GAP}{tail}")
}

/// Returns the end of a text that has room.
pub(super) fn ending<'a>(text: &'a str, room: u64, counter: &dyn TokenCounter) -> &'a str {
    let mut bytes = estimate_bytes(text, room, counter);
    loop {
        let start = ceil_boundary(text, text.len().saturating_sub(bytes));
        let tail = text.get(start..).unwrap_or_default();
        if tail.is_empty() || u64::from(counter.count(tail)) <= room {
            return tail;
        }
        bytes = bytes * 3 / 4;
    }
}

/// Returns how many bytes of the beginning of a text have room: at least a character, at best to a line's end.
fn fitting(text: &str, room: u64, counter: &dyn TokenCounter) -> usize {
    let mut bytes = estimate_bytes(text, room, counter);
    loop {
        let end = ceil_boundary(text, bytes.clamp(1, text.len()));
        let head = text.get(..end).unwrap_or_default();
        if u64::from(counter.count(head)) <= room || bytes <= 1 {
            // A border in the second half is worth a shorter piece.
            let border = head.rfind('\n').map(|at| at + 1).filter(|at| end < text.len() && *at * 2 >= end);
            return border.unwrap_or(end);
        }
        bytes = bytes * 3 / 4;
    }
}

/// Guesses how many bytes of a text have `room` tokens, a little less rather than more.
fn estimate_bytes(text: &str, room: u64, counter: &dyn TokenCounter) -> usize {
    let tokens = u64::from(counter.count(text)).max(1);
    let bytes = (text.len() as u64).saturating_mul(room) / tokens;
    usize::try_from(bytes).unwrap_or(usize::MAX).min(text.len())
}

/// Returns the next border of a character, not before `at`.
fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_tokens::Counter;

    fn entry(text: &str, is_result: bool) -> Entry {
        let tokens = u64::from(Counter::estimate().count(text));
        Entry { text: text.to_owned(), tokens, material: None, joins: is_result, is_result }
    }

    #[track_caller]
    fn check(entries: &[(&str, bool)], room: u64, expected: &[&[&str]]) {
        let entries = entries.iter().map(|(text, is_result)| entry(text, *is_result)).collect();
        let parts = pack(entries, room, &Counter::estimate());
        for part in &parts {
            assert!(part.iter().map(|entry| entry.tokens).sum::<u64>() <= room, "{parts:?}");
        }
        let texts: Vec<Vec<&str>> =
            parts.iter().map(|part| part.iter().map(|entry| entry.text.as_str()).collect()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn entries_fill_parts_in_order() {
        check(&[("aaaa", false), ("bbbb", false), ("cccc", false)], 6, &[&["aaaa", "bbbb"], &["cccc"]]);
    }

    #[test]
    fn a_result_goes_with_its_call() {
        check(&[("aaaa", false), ("call", false), ("done", true)], 8, &[&["aaaa"], &["call", "done"]]);
    }

    #[test]
    fn a_long_text_is_cut_at_a_line() {
        check(&[("aaaaaaaa\nbbbbbbbbbbbb", false)], 5, &[&["aaaaaaaa\n"], &["bbbbbbbbbbbb"]]);
    }

    #[test]
    fn of_a_long_result_the_middle_goes() {
        let long = format!("{}{}", "a".repeat(100), "b".repeat(100));
        let parts = pack(vec![entry(&long, true)], 20, &Counter::estimate());
        let text = &parts[0][0].text;
        assert!(text.starts_with("aaaa") && text.contains("[…]") && text.ends_with("bbbb"), "{text}");
    }

    #[test]
    fn no_room_at_all_still_ends() {
        let parts = pack(vec![entry("你好世界", false)], 0, &Counter::estimate());
        assert_eq!(parts.len(), 4);
    }
}
