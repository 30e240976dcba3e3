//! The words by which records are found.

use crate::request::{Word, each_word, stem};

/// Calls `visit` for each word of a text: as a note's words are, also the parts of what signs join.
///
/// `Caroline's` is `Caroline`; `src/main.rs` is found by `main` too. Chinese, Japanese and Thai are read in pairs.
pub(super) fn each_term(text: &str, mut visit: impl FnMut(Word<'_>)) {
    each_word(text, |word| {
        let bare = word.stem.trim_end_matches('\'');
        if bare.len() < word.stem.len() {
            return visit(Word { stem: stem(bare), ..word });
        }
        visit(word);
        if word.stem.bytes().any(|byte| JOINTS.contains(&char::from(byte))) {
            let parts = word.stem.split(JOINTS).filter(|part| part.len() > 1);
            parts.for_each(|part| visit(Word { stem: stem(part), ..word }));
        }
    });
}

/// Signs that join words.
const JOINTS: [char; 7] = ['_', '-', ':', '.', '@', '/', '\\'];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut shown = Vec::new();
        each_term(text, |word| shown.push(word.stem.to_owned()));
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
