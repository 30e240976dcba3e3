//! The words that find records.

use crate::request::{each_stem, stem};

/// Calls `visit` for each word of a text: the words that a note uses, and the parts of words joined by signs.
///
/// `Caroline's` becomes `Caroline`; `main` finds `src/main.rs` too. Chinese, Japanese and Thai are read in pairs of
/// characters.
pub(super) fn each_term(text: &str, mut visit: impl FnMut(&str)) {
    each_stem(text, |word, is_joined| {
        if !is_joined {
            return visit(word);
        }
        let bare = word.trim_end_matches('\'');
        if bare.len() < word.len() {
            return visit(stem(bare));
        }
        visit(word);
        if word.bytes().any(is_joint) {
            let parts = word.split(|c| u8::try_from(c).is_ok_and(is_joint)).filter(|part| part.len() > 1);
            parts.for_each(|part| visit(stem(part)));
        }
    });
}

/// Returns whether a sign joins words.
const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b':' | b'.' | b'@' | b'/' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut shown = Vec::new();
        each_term(text, |word| shown.push(word.to_owned()));
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn ids_are_found_whole_and_by_their_parts() {
        check("James's walks in src/main.rs", "jam walk src/main.r src main");
        check("on 2024-05-01 order_no A-7", "2024-05-01 2024 05 01 order_no order no a-7");
    }

    #[test]
    fn scripts_without_blanks_are_read_in_pairs() {
        check("花生过敏", "花生 生过 过敏");
    }
}
