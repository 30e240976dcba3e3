//! Values of facts, in a form that is equal for equal facts.

use crate::quality::dates::{Clock, Day};
use crate::quality::numbers::Amount;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Amount(Amount),
    Day(Day),
    /// Counted from Monday, which is 0.
    Weekday(usize),
    Clock(Clock),
    /// An identifier or a path.
    Literal(Box<str>),
    /// The words of a name, a quotation or a code span, with one space between them.
    Words(Box<str>),
}

impl Key {
    /// Makes the key of an identifier or a path: without the case, `./`, the scheme and repeated slashes.
    pub(super) fn literal(text: &str) -> Self {
        let slashed = text.replace('\\', "/");
        let parts: Vec<&str> = slashed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let root = if slashed.starts_with('/') { "/" } else { "" };
        let bare = format!("{root}{}", parts.join("/"));
        let bare = bare.strip_prefix("https:/").or_else(|| bare.strip_prefix("http:/")).unwrap_or(&bare);
        // Telephone numbers compare by their digits and a leading `+`.
        let is_telephone =
            bare.len() > 7 && bare.bytes().all(|byte| byte.is_ascii_digit() || b"-+ ".contains(&byte));
        if is_telephone {
            Self::Literal(bare.replace(['-', ' '], "").into())
        } else {
            Self::Literal(bare.chars().map(lower).collect())
        }
    }

    pub(super) fn words(text: &str) -> Self {
        let mut written = String::with_capacity(text.len());
        each_word(text, &mut |word| {
            written.push_str(if written.is_empty() { "" } else { " " });
            written.push_str(word.text);
        });
        Self::Words(written.into())
    }
}

/// Returns one lower-case letter for a letter. Lowering twice changes nothing.
fn lower(c: char) -> char {
    match c {
        'ς' => 'σ',
        // The dot of `İ` is dropped.
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// A word in lower case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_capitalized: bool,
}

pub(super) const fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' | '〇')
}

/// Visits the words of a text; each Chinese character is a word.
pub(super) fn each_word(text: &str, visit: &mut dyn FnMut(Word<'_>)) {
    let mut word = String::new();
    let (mut start, mut is_capitalized) = (0, false);
    for (at, c) in text.char_indices().chain(std::iter::once((text.len(), ' '))) {
        let is_letter = c.is_alphanumeric() && !is_han(c);
        if is_letter {
            if word.is_empty() {
                (start, is_capitalized) = (at, c.is_uppercase());
            }
            word.push(lower(c));
            continue;
        }
        if !word.is_empty() {
            visit(Word { text: &word, start, end: at, is_capitalized });
            word.clear();
        }
        if is_han(c) {
            let end = at + c.len_utf8();
            visit(Word { text: c.encode_utf8(&mut [0; 4]), start: at, end, is_capitalized: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Key::words(text), Key::Words(expected.into()), "{text}");
    }

    #[test]
    fn compares_words_without_signs_and_case() {
        check("\"The Last, Letter!\"", "the last letter");
        check("《沉默的车站》", "沉 默 的 车 站");
        check("Jean-Luc’s", "jean luc s");
        check("İA ΟΔΟΣ οδος", "ia οδοσ οδοσ");
    }

    #[test]
    fn compares_literals_without_scheme_and_case() {
        assert_eq!(Key::literal("https://a.b/C/"), Key::literal("http://A.b/c"));
        assert_eq!(Key::literal("./src/A.rs"), Key::literal("src\\\\a.rs"));
        assert_eq!(Key::literal("555-0192-33"), Key::literal("555019233"));
        assert_ne!(Key::literal("/src"), Key::literal("src"));
    }
}
