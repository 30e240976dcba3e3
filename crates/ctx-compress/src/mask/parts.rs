//! Parts of a conversation that fit the context window of a summarizer.

use ctx_types::ports::TokenCounter;

use crate::mask::transcript::Entry;

/// Replaces the middle of a text.
const GAP: &str = "\n[…]\n";

/// Limit of the tokens between two entries.
pub(super) const SEPARATOR: u64 = 2;

/// Distributes entries over parts of at most `limit` tokens, in order.
///
/// A larger tool result loses its middle. Any other larger entry is split, if possible after a line or a sentence.
pub(super) fn pack(entries: Vec<Entry>, limit: u64, counter: &dyn TokenCounter) -> Vec<Vec<Entry>> {
    let most = limit.saturating_sub(SEPARATOR).max(1);
    let mut parts: Vec<Vec<Entry>> = Vec::new();
    let mut used = 0;
    for entry in entries.into_iter().flat_map(|entry| split(entry, most, counter)) {
        let tokens = entry.tokens + SEPARATOR;
        match parts.last_mut() {
            Some(part) if used + tokens <= limit => part.push(entry),
            _ => {
                parts.push(vec![entry]);
                used = 0;
            }
        }
        used += tokens;
    }
    parts
}

fn split(entry: Entry, limit: u64, counter: &dyn TokenCounter) -> Vec<Entry> {
    if entry.tokens <= limit {
        return vec![entry];
    }
    if entry.is_result {
        return vec![Entry::new(shorten(&entry.text, limit, counter), counter)];
    }
    let bytes = estimate_bytes(&entry.text, limit, counter);
    let most = u32::try_from(limit).unwrap_or(u32::MAX);
    let mut pieces = Vec::new();
    let mut rest = entry.text.as_str();
    while !rest.is_empty() {
        let fits = counter.count_till_limit(rest, most).is_some();
        let end = if fits { rest.len() } else { fitting_start(rest, bytes, limit, counter) };
        pieces.push(Entry::new(rest[..end].to_owned(), counter));
        rest = &rest[end..];
    }
    pieces
}

/// Removes the middle of a text that has more than `limit` tokens.
pub(super) fn shorten(text: &str, limit: u64, counter: &dyn TokenCounter) -> String {
    if u64::from(counter.count(text)) <= limit {
        return text.to_owned();
    }
    let limit = limit.saturating_sub(u64::from(counter.count(GAP)) + 1);
    let start_limit = limit.saturating_mul(2) / 3;
    let bytes = estimate_bytes(text, start_limit, counter);
    let (start, rest) = text.split_at(fitting_start(text, bytes, start_limit, counter));
    format!("{start}{GAP}{}", ending(rest, limit / 3, counter))
}

/// Returns the end of a text with at most `limit` tokens.
pub(super) fn ending<'a>(text: &'a str, limit: u64, counter: &dyn TokenCounter) -> &'a str {
    let mut bytes = estimate_bytes(text, limit, counter);
    loop {
        let end = &text[prefix(text, text.len() - bytes).len()..];
        if end.is_empty() || u64::from(counter.count(end)) <= limit {
            return end;
        }
        bytes = bytes * 3 / 4;
    }
}

/// Returns the length of a start with at most `limit` tokens, about `bytes` bytes: at least a character, if possible
/// up to the end of a line or a sentence.
fn fitting_start(text: &str, mut bytes: usize, limit: u64, counter: &dyn TokenCounter) -> usize {
    const ENDS: [&str; 7] = ["\n", ". ", "! ", "? ", "。", "！", "？"];
    loop {
        let start = prefix(text, bytes.max(1));
        if u64::from(counter.count(start)) <= limit || bytes <= 1 {
            // An end in the first half would make the part too short.
            let ends = ENDS.iter().filter_map(|end| Some(start.rfind(*end)? + end.len()));
            let end = ends.max().filter(|end| start.len() < text.len() && *end * 2 >= start.len());
            return end.unwrap_or(start.len());
        }
        bytes = bytes * 3 / 4;
    }
}

/// Estimates the bytes of `limit` tokens of a text.
fn estimate_bytes(text: &str, limit: u64, counter: &dyn TokenCounter) -> usize {
    let tokens = u64::from(counter.count(text)).max(1);
    let bytes = (text.len() as u64).saturating_mul(limit) / tokens;
    usize::try_from(bytes).unwrap_or(usize::MAX).min(text.len())
}

/// Returns the first `bytes` bytes of a text, up to the end of a character.
pub(super) fn prefix(text: &str, bytes: usize) -> &str {
    let end = (bytes..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_tokens::Counter;

    fn entry(text: &str, is_result: bool) -> Entry {
        Entry { is_result, ..Entry::new(text.to_owned(), &Counter::estimate()) }
    }

    #[track_caller]
    fn check(texts: &[&str], limit: u64, expected: &[&[&str]]) {
        let entries = texts.iter().map(|text| entry(text, false)).collect();
        let parts = pack(entries, limit, &Counter::estimate());
        for part in &parts {
            assert!(part.iter().map(|entry| entry.tokens).sum::<u64>() <= limit, "{parts:?}");
        }
        let texts: Vec<Vec<&str>> =
            parts.iter().map(|part| part.iter().map(|entry| entry.text.as_str()).collect()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn fills_parts_in_order() {
        check(&["aaaa", "bbbb", "cccc"], 6, &[&["aaaa", "bbbb"], &["cccc"]]);
    }

    #[test]
    fn splits_long_text_after_line_or_sentence() {
        check(&["aaaaaaaa\nbbbbbbbbbbbb"], 5, &[&["aaaaaaaa\n"], &["bbbbbbbbbbbb"]]);
        check(&["aaaaaaa. bbbbbbbbbbbb"], 5, &[&["aaaaaaa. "], &["bbbbbbbbbbbb"]]);
    }

    #[test]
    fn removes_middle_of_long_result() {
        let long = format!("{}{}", "a".repeat(100), "b".repeat(100));
        let parts = pack(vec![entry(&long, true)], 20, &Counter::estimate());
        let text = &parts[0][0].text;
        assert!(text.starts_with("aaaa") && text.contains("[…]") && text.ends_with("bbbb"), "{text}");
    }

    #[test]
    fn splits_by_characters_without_limit() {
        let parts = pack(vec![entry("你好世界", false)], 0, &Counter::estimate());
        assert_eq!(parts.len(), 4);
    }
}
