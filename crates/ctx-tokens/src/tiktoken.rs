//! Counts with `tiktoken-rs` in chunks: it has no limited count, and panics on a million blanks.

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use crate::encoding::Encoding;
use crate::estimate::{clamp, estimate, estimate_till_limit};

/// Half of what its regular expressions can backtrack (1,000,000 steps, one per blank).
const LONGEST: usize = 512 << 10;

/// Minimum chunk of a limited count; splits are then cheap.
const SHORTEST: usize = 8 << 10;

pub(crate) fn count(encoding: Encoding, text: &str) -> u32 {
    let Some(tokenizer) = tokenizer(encoding) else { return estimate(text) };
    let counts = pieces(text, LONGEST / 2, LONGEST).map(|piece| tokenizer.count_ordinary(piece));
    clamp(counts.fold(0, usize::saturating_add))
}

pub(crate) fn count_till_limit(encoding: Encoding, text: &str, limit: u32) -> Option<u32> {
    let Some(tokenizer) = tokenizer(encoding) else { return estimate_till_limit(text, limit) };
    let mut count = 0_u32;
    for piece in pieces(text, SHORTEST, LONGEST) {
        count = count.saturating_add(clamp(tokenizer.count_ordinary(piece)));
        if count > limit {
            return None;
        }
    }
    Some(count)
}

fn tokenizer(encoding: Encoding) -> Option<&'static CoreBPE> {
    match encoding {
        Encoding::Estimate => None,
        Encoding::Cl100kBase => Some(cl100k_base_singleton()),
        Encoding::O200kBase => Some(o200k_base_singleton()),
    }
}

/// Ends a chunk at a safe place after `shortest` bytes, else at `longest` bytes, where the sum can differ.
/// O(text).
fn pieces(text: &str, shortest: usize, longest: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(first_cut(rest, shortest, longest));
        rest = behind;
        Some(piece)
    })
}

fn first_cut(text: &str, shortest: usize, longest: usize) -> usize {
    let start = boundary(text, shortest.max(1));
    let end = boundary(text, longest.max(4));
    let mut last = text.get(..start).and_then(|head| head.chars().next_back());
    for (offset, next) in text.get(start..end).unwrap_or_default().char_indices() {
        if last.is_some_and(|last| is_safe(last, next)) {
            return start + offset;
        }
        last = Some(next);
    }
    end
}

fn boundary(text: &str, byte: usize) -> usize {
    let byte = byte.min(text.len());
    (0..=byte).rev().find(|offset| text.is_char_boundary(*offset)).unwrap_or(0)
}

/// Returns whether both encodings always split between two characters.
///
/// They match a blank only after blanks, except a line end after punctuation. After a line end they match
/// only blanks, except a slash.
fn is_safe(last: char, next: char) -> bool {
    match (last.is_whitespace(), next.is_whitespace()) {
        (false, true) => !matches!(next, '\r' | '\n'),
        (true, false) => last == '\n' && next != '/',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count_unsplit(encoding: Encoding, text: &str) -> u32 {
        clamp(tokenizer(encoding).unwrap().count_ordinary(text))
    }

    fn sum(encoding: Encoding, text: &str) -> u32 {
        pieces(text, 1, LONGEST).map(|piece| count_unsplit(encoding, piece)).sum()
    }

    proptest! {
        #[test]
        fn adds_up_counts_of_split_text(text in "([a-zA-Z0-9é你\u{301}\u{1F600}'/!{}.,_-]|[ \t\r\n\u{a0}\u{3000}\u{85}]){0,60}") {
            prop_assert_eq!(pieces(&text, 1, LONGEST).collect::<String>(), text.as_str());
            for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
                prop_assert_eq!(sum(encoding, &text), count_unsplit(encoding, &text), "{} {:?}", encoding, text);
            }
        }

        #[test]
        fn limits_length_of_split_text(text in "[a你 \n]{0,80}", shortest in 1..20_usize) {
            let longest = shortest + 10;
            prop_assert_eq!(pieces(&text, shortest, longest).collect::<String>(), text.as_str());
            prop_assert!(pieces(&text, shortest, longest).all(|piece| piece.len() <= longest));
        }
    }
}
