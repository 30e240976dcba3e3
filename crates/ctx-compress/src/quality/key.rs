//! What makes two facts the same, however they are written.

use std::borrow::Cow;

use crate::quality::gather::value_stem;
use crate::quality::lex::{escape_length, is_han};
use crate::quality::moments::{Clock, Day};
use crate::quality::units::{Quantity, half_width};

/// What a fact says, in a form that can be compared.
///
/// There are many of them at a time, so that what is large is behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Amount(Box<Quantity>),
    Day(Day),
    /// Counted from Monday.
    Weekday(u8),
    Clock(Clock),
    /// Words of a name.
    Name {
        words: Box<str>,
        is_soft: bool,
    },
    /// Words in their order.
    Words(Box<str>),
    /// Something for machines, as it is written but for the size of its letters.
    Literal(Box<str>),
    /// A sentence, by the number of the first one of its side that says the same.
    Rule(u32),
}

impl Key {
    /// Returns a hash that is the same for values that a reader takes for the same; `None` for names, whose words
    /// count one by one, and for sentences.
    pub(super) fn stem(&self) -> Option<u32> {
        let text: Cow<'_, str> = match self {
            Self::Amount(amount) => amount.raw.to_string().into(),
            // `the 24th` may be told as `June 24`.
            Self::Day(day) => match (day.day, day.month) {
                (Some(day), _) => format!("d{day}").into(),
                (None, month) => format!("m{month:?}{:?}", day.year).into(),
            },
            Self::Weekday(day) => format!("w{day}").into(),
            Self::Clock(clock) => format!("{}:", clock.minutes % 720).into(),
            Self::Literal(text) | Self::Words(text) => text.as_ref().into(),
            Self::Name { .. } | Self::Rule(_) => return None,
        };
        Some(value_stem(&text))
    }
}

/// Makes the key of something for machines.
pub(super) fn literal(text: &str) -> Key {
    let slashed = text.replace("\\\\", "/").replace('\\', "/");
    let bare = slashed.strip_prefix("./").unwrap_or(&slashed).trim_end_matches('/');
    let bare = ["https://", "http://"].iter().find_map(|scheme| bare.strip_prefix(scheme)).unwrap_or(bare);
    // The signs between the digits of a telephone number say nothing.
    let is_telephone = bare.len() > 7 && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_telephone {
        Key::Literal(bare.replace('-', "").into())
    } else {
        Key::Literal(bare.chars().map(small).collect())
    }
}

/// Returns a letter in lower case: always one letter, and one for both small sigmas, so that a word that was written
/// so is one word with the same letters if it is read again.
fn small(c: char) -> char {
    match c {
        'ς' => 'σ',
        // The sign that `İ` leaves behind is none of a word.
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// A word of a text as texts are compared: in lower case and without signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Whether it and the word before are Chinese characters, between which no blank is written.
    pub(super) is_joined: bool,
}

/// How a backslash in a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a sign like others: `C:\new` has the word `new`.
    Signs,
    /// As the beginning of an escape of a JSON string, which parts words: `late.\nAda` has the word `Ada`.
    Escapes,
}

/// Visits the words of a text in their order; of Chinese each character is one. O(bytes).
pub(super) fn each_word(text: &str, reading: Reading, visit: &mut dyn FnMut(Word<'_>)) {
    let (mut word, mut start, mut is_behind_chinese) = (String::new(), 0, false);
    let mut escaped_until = 0;
    for (at, c) in text.char_indices() {
        if c == '\\' && reading == Reading::Escapes && at >= escaped_until {
            let length = text.get(at..).and_then(escape_length).unwrap_or(1);
            escaped_until = at + length;
        }
        let is_escaped = at < escaped_until;
        let is_chinese = !is_escaped && is_han(c);
        if !is_escaped && !is_chinese && c.is_alphanumeric() {
            start = if word.is_empty() { at } else { start };
            word.push(small(half_width(c)));
            continue;
        }
        if !word.is_empty() {
            visit(Word { text: &word, start, is_joined: false });
            word.clear();
            is_behind_chinese = false;
        }
        if is_chinese {
            visit(Word { text: c.encode_utf8(&mut [0; 4]), start: at, is_joined: is_behind_chinese });
            is_behind_chinese = true;
        }
    }
    if !word.is_empty() {
        visit(Word { text: &word, start, is_joined: false });
    }
}

/// Writes words in lower case with one blank between them and without signs; Chinese without blanks. O(bytes).
pub(super) fn normal(text: &str, reading: Reading) -> String {
    let mut written = String::with_capacity(text.len());
    each_word(text, reading, &mut |word| {
        if !written.is_empty() && !word.is_joined {
            written.push(' ');
        }
        written.push_str(word.text);
    });
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(normal(text, Reading::Signs), expected, "{text}");
    }

    #[test]
    fn words_are_compared_without_signs_and_sizes() {
        check("\"The Last, Letter!\"", "the last letter");
        check("《沉默的车站》", "沉默的车站");
        check("找王 明和Ada吧", "找王明和 ada 吧");
        check("Jean-Luc’s", "jean luc s");
    }

    #[test]
    fn words_that_are_compared_stay_the_same_if_they_are_taken_for_words_again() {
        for c in '\0'..=char::MAX {
            let once = normal(&format!("a{c}b"), Reading::Signs);
            assert_eq!(normal(&once, Reading::Signs), once, "{c:?}");
        }
        check("İA", "ia");
        check("ΟΔΟΣ οδος", "οδοσ οδοσ");
    }

    #[test]
    fn escapes_part_words_where_they_are_read() {
        let escaped = |text: &str| normal(text, Reading::Escapes);
        assert_eq!(escaped(r"late.\nAda \u201cBell\u201d"), "late ada bell");
        assert_eq!(escaped(r"C:\\new\u12 \x"), "c new u12 x");
        check(r"C:\new", "c new");
    }

    #[test]
    fn literals_are_compared_without_schemes_and_sizes() {
        assert_eq!(literal("HTTPS://a.b/C/").clone(), literal("HTTPS://A.b/c"));
        assert_eq!(literal("./src/A.rs"), literal("src\\a.rs"));
        assert_eq!(literal("555-0192-33"), literal("555019233"));
    }
}
