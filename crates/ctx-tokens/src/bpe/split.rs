//! Splits a text into parts that are tokenized separately.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input, PatternID};

use crate::encoding::Encoding;

/// Parts in `cl100k_base`, except blanks.
const CL100K_BASE: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    r"|[^\r\n\p{L}\p{N}]?\p{L}+",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+",
);

/// Parts in `o200k_base`, except blanks.
const O200K_BASE: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
);

const BLANKS: &str = r"\s+";

const IS_BLANK: PatternID = PatternID::new_unchecked(1);

pub(super) fn splitter(encoding: Encoding) -> &'static Regex {
    static SPLIT_CL100K: LazyLock<Regex> = LazyLock::new(|| compile(CL100K_BASE));
    static SPLIT_O200K: LazyLock<Regex> = LazyLock::new(|| compile(O200K_BASE));
    match encoding {
        Encoding::Cl100kBase => &SPLIT_CL100K,
        Encoding::O200kBase => &SPLIT_O200K,
        Encoding::Estimate => unreachable!("the estimate has no tables"),
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new_many(&[pattern, BLANKS]).expect("the patterns are valid")
}

pub(super) fn pieces<'a>(splitter: &'a Regex, text: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let piece = plain_word(text.as_bytes().get(start..)?).or_else(|| next(splitter, text, start))?;
        start += piece.len();
        Some(piece)
    })
}

/// Returns a leading ASCII word with its blank, as both encodings do. Faster than the regular expressions.
fn plain_word(text: &[u8]) -> Option<&[u8]> {
    let first = usize::from(text.first() == Some(&b' '));
    let small = first + usize::from(text.get(first).is_some_and(u8::is_ascii_uppercase));
    let letters = text.get(small..)?.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let (word, rest) = text.split_at_checked(small + letters)?;
    // An apostrophe, a capital, or a non-ASCII letter can change the split.
    let is_whole =
        rest.first().is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic() && *byte != b'\'');
    (letters > 0 && is_whole).then_some(word)
}

fn next<'a>(splitter: &Regex, text: &'a str, start: usize) -> Option<&'a [u8]> {
    let found = splitter.find(Input::new(text).range(start..).anchored(Anchored::Yes))?;
    let piece = text.get(found.range())?;
    let piece = if found.pattern() == IS_BLANK { trim_last(piece, text.len() - start) } else { piece };
    Some(piece.as_bytes())
}

/// The last of several blanks belongs to the next part.
fn trim_last(blanks: &str, rest: usize) -> &str {
    match blanks.char_indices().next_back() {
        Some((last, _)) if last > 0 && blanks.len() < rest => blanks.get(..last).unwrap_or(blanks),
        _ => blanks,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares `plain_word` with the regular expressions.
    #[track_caller]
    fn check(text: &str) {
        for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
            let splitter = splitter(encoding);
            let mut start = 0;
            let by_expression = std::iter::from_fn(|| {
                let piece = next(splitter, text, start)?;
                start += piece.len();
                Some(piece)
            });
            assert!(pieces(splitter, text).eq(by_expression), "{encoding:?}: {text:?}");
        }
    }

    #[test]
    fn splits_words_like_the_expressions() {
        check("The lamp's out, isn't it? McDonald saw THE fire at 9:30am.\n\n  Then  it\tburned.");
        check("naïve café fooſ it’s don'T x\u{301}y 字a a字 \u{1F600}a _a a_b ıI");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn splits_any_text_like_the_expressions(text in prop::collection::vec(prop::sample::select(vec![
            "a", "b", "the", "S", "T", "RE", "'", "'s", "'ll", "’", " ", " ", "  ", "\n", "\r", "\t", ".", ",", "(", "_", "/", "1", "23",
            "é", "É", "ſ", "\u{212A}", "\u{301}", "\u{2B0}", "ǅ", "字", "か", "\u{1F600}", "\u{3000}", "\u{A0}",
        ]), 0..40)) {
            check(&text.concat());
        }
    }
}
