//! Cutting a text into the pieces that are divided into tokens, each for itself.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input, PatternID};

use crate::encoding::Encoding;

/// What a piece is in `cl100k_base`, but for plain blanks.
const CL100K_BASE: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    r"|[^\r\n\p{L}\p{N}]?\p{L}+",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+",
);

/// What a piece is in `o200k_base`, but for plain blanks.
const O200K_BASE: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
);

/// What else is a piece.
const BLANKS: &str = r"\s+";

/// The number of [`BLANKS`] among the patterns.
const IS_BLANK: PatternID = PatternID::new_unchecked(1);

/// Returns what cuts texts for an encoding; `None` for the estimate, which cuts nothing.
pub(super) fn splitter(encoding: Encoding) -> Option<&'static Regex> {
    static SPLIT_CL100K: LazyLock<Option<Regex>> = LazyLock::new(|| compile(CL100K_BASE));
    static SPLIT_O200K: LazyLock<Option<Regex>> = LazyLock::new(|| compile(O200K_BASE));
    match encoding {
        Encoding::Estimate => None,
        Encoding::Cl100kBase => SPLIT_CL100K.as_ref(),
        Encoding::O200kBase => SPLIT_O200K.as_ref(),
    }
}

/// The patterns are constants that compile, which the tests show.
fn compile(pattern: &str) -> Option<Regex> {
    Regex::new_many(&[pattern, BLANKS]).ok()
}

/// Cuts a text into pieces.
pub(super) fn pieces<'a>(splitter: &'a Regex, text: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let found = splitter.find(Input::new(text).range(start..).anchored(Anchored::Yes))?;
        let piece = text.get(found.range())?;
        let piece = if found.pattern() == IS_BLANK { without_last(piece, text.len() - start) } else { piece };
        start += piece.len();
        Some(piece.as_bytes())
    })
}

/// Leaves the last of several blanks to what follows them: to a word it belongs. At the end nothing follows.
fn without_last(blanks: &str, rest: usize) -> &str {
    match blanks.char_indices().next_back() {
        Some((last, _)) if last > 0 && blanks.len() < rest => blanks.get(..last).unwrap_or(blanks),
        _ => blanks,
    }
}
