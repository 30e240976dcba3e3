//! What makes two facts the same, however they are written.

use crate::quality::gather::value_stem;
use crate::quality::lex::is_han;
use crate::quality::moments::{Clock, Day};
use crate::quality::units::{Quantity, half_width};

/// What a fact says, in a form that can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Amount(Quantity),
    Day(Day),
    /// Counted from Monday.
    Weekday(u8),
    Clock(Clock),
    /// Words of a name.
    Name {
        words: String,
        is_soft: bool,
    },
    /// Words in their order.
    Words(String),
    /// Something for machines, as it is written but for the size of its letters.
    Literal(String),
    /// A sentence, by what it is about.
    Rule(Vec<u32>),
}

impl Key {
    /// Returns a hash that is the same for values that a reader takes for the same; `None` for names, whose words
    /// count one by one, and for sentences.
    pub(super) fn stem(&self) -> Option<u32> {
        let text = match self {
            Self::Amount(amount) => format!("{}", amount.raw),
            // `the 24th` may be told as `June 24`.
            Self::Day(day) => match (day.day, day.month) {
                (Some(day), _) => format!("d{day}"),
                (None, month) => format!("m{month:?}{:?}", day.year),
            },
            Self::Weekday(day) => format!("w{day}"),
            Self::Clock(clock) => format!("{}:", clock.minutes % 720),
            Self::Literal(text) | Self::Words(text) => text.clone(),
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
    match is_telephone {
        true => Key::Literal(bare.replace('-', "")),
        false => Key::Literal(bare.to_lowercase()),
    }
}

/// Writes words in lower case with one blank between them and without signs; Chinese without blanks. O(bytes).
pub(super) fn normal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    write_normal(text, &mut |_, _| {}, &mut written);
    written.trim().to_owned()
}

/// Appends words as [`normal`] writes them, and tells where each begins: in the result and in the text.
pub(super) fn write_normal(text: &str, begin: &mut dyn FnMut(usize, usize), into: &mut String) {
    let (mut last, mut is_apart) = (None, false);
    for (at, c) in text.char_indices() {
        let is_chinese = is_han(c);
        if !is_chinese && !c.is_alphanumeric() {
            is_apart = true;
            continue;
        }
        let begins = is_chinese || is_apart || last != Some(false);
        if last.is_some() && begins && !(is_chinese && last == Some(true)) {
            into.push(' ');
        }
        if begins {
            begin(into.len(), at);
        }
        match is_chinese {
            true => into.push(c),
            false => into.extend(half_width(c).to_lowercase()),
        }
        (last, is_apart) = (Some(is_chinese), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(normal(text), expected, "{text}");
    }

    #[test]
    fn words_are_compared_without_signs_and_sizes() {
        check("\"The Last, Letter!\"", "the last letter");
        check("《沉默的车站》", "沉默的车站");
        check("找王 明和Ada吧", "找王明和 ada 吧");
        check("Jean-Luc’s", "jean luc s");
    }

    #[test]
    fn literals_are_compared_without_schemes_and_sizes() {
        assert_eq!(literal("HTTPS://a.b/C/").clone(), literal("HTTPS://A.b/c"));
        assert_eq!(literal("./src/A.rs"), literal("src\\a.rs"));
        assert_eq!(literal("555-0192-33"), literal("555019233"));
    }
}
