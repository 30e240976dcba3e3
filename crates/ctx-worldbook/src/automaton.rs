//! Aho-Corasick search for all plain keys.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder};

use crate::keys::{PlainKey, is_whole};
use crate::letters;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LiteralId(u32);

impl LiteralId {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Finds plain keys in one pass over a text, and case-sensitive keys in a second pass.
#[derive(Debug, Default)]
pub(crate) struct Automaton {
    count: usize,
    /// Case-insensitive keys; the text must be in lower case.
    folded: Side,
    exact: Side,
}

#[derive(Default)]
struct Side {
    automaton: Option<DoubleArrayAhoCorasick<u32>>,
    texts: Vec<LiteralMatch>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LiteralMatch {
    length: usize,
    plain: Option<LiteralId>,
    whole: Option<LiteralId>,
    /// The longest other text that ends this text and has a key of this kind.
    next_plain: Option<u32>,
    next_whole: Option<u32>,
}

impl Automaton {
    pub(crate) fn new(keys: Vec<PlainKey>) -> Option<Self> {
        let count = keys.len();
        let keys = keys.into_iter().enumerate().map(|(index, key)| (LiteralId::new(index), key));
        let (exact, folded): (Vec<_>, Vec<_>) = keys.partition(|(_, key)| key.matching.case_sensitive);
        Some(Self { count, folded: Side::new(folded)?, exact: Side::new(exact)? })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn has_exact(&self) -> bool {
        !self.exact.texts.is_empty()
    }

    /// Calls `found` with each key and the end of its match. `found` returns whether the key was already
    /// known.
    pub(crate) fn search_folded(&self, lower: &str, found: &mut dyn FnMut(LiteralId, usize) -> bool) {
        self.folded.search(lower, found);
    }

    pub(crate) fn search_exact(&self, text: &str, found: &mut dyn FnMut(LiteralId, usize) -> bool) {
        self.exact.search(text, found);
    }
}

impl Side {
    fn new(keys: Vec<(LiteralId, PlainKey)>) -> Option<Self> {
        let mut texts: BTreeMap<Arc<str>, LiteralMatch> = BTreeMap::new();
        for (literal, key) in keys {
            let found = texts.entry(key.text.clone()).or_default();
            found.length = key.text.len();
            let slot = if key.matching.whole_words { &mut found.whole } else { &mut found.plain };
            *slot = Some(literal);
        }
        if texts.is_empty() {
            return Some(Self::default());
        }
        let patterns = (0..).zip(texts.keys()).map(|(number, text)| (text.as_bytes(), number));
        let automaton = DoubleArrayAhoCorasickBuilder::new().build_with_values(patterns).ok()?;
        let mut side = Self { automaton: Some(automaton), texts: texts.values().copied().collect() };
        let mut by_length: Vec<(usize, &Arc<str>)> = texts.keys().enumerate().collect();
        by_length.sort_by_key(|(_, text)| text.len());
        for (number, text) in by_length {
            side.link(number, text);
        }
        Some(side)
    }

    /// Links a text to the longest texts that end it, which must already be linked.
    fn link(&mut self, number: usize, text: &str) {
        let Some(automaton) = &self.automaton else { return };
        let tail = text.char_indices().nth(1).map_or("", |(second, _)| &text[second..]);
        let longest = automaton.find_overlapping_no_suffix_iter(tail).last();
        let shorter = longest.filter(|found| found.end() == tail.len()).map(|found| found.value());
        let Some((shorter, found)) = shorter.and_then(|one| Some((one, *self.texts.get(one as usize)?)))
        else {
            return;
        };
        if let Some(slot) = self.texts.get_mut(number) {
            slot.next_plain = found.plain.map(|_| shorter).or(found.next_plain);
            slot.next_whole = found.whole.map(|_| shorter).or(found.next_whole);
        }
    }

    fn search(&self, text: &str, found: &mut dyn FnMut(LiteralId, usize) -> bool) {
        let bytes = text.as_bytes();
        let Some(automaton) = &self.automaton else { return };
        for longest in automaton.find_overlapping_no_suffix_iter(text) {
            let end = longest.end();
            let mut next = Some(longest.value());
            while let Some(one) = next.and_then(|number| self.texts.get(number as usize)) {
                // If this key is known, so are the shorter keys that end it.
                if one.plain.is_some_and(|literal| found(literal, end)) {
                    break;
                }
                next = one.next_plain;
            }
            if bytes.get(end).is_some_and(|byte| letters::is_word(*byte)) {
                continue;
            }
            next = Some(longest.value());
            while let Some(one) = next.and_then(|number| self.texts.get(number as usize)) {
                if let Some(literal) = one.whole.filter(|_| is_whole(bytes, end - one.length, end)) {
                    found(literal, end);
                }
                next = one.next_whole;
            }
        }
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("texts", &self.texts.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::keys::MatchOptions;

    /// Keys such as `cat`, `=cat` (case-sensitive), and `_cat` (whole words). `expected` has indexes and
    /// ends.
    #[track_caller]
    fn check(keys: &[&str], text: &str, expected: &[(usize, usize)]) {
        let plain = keys.iter().map(|key| PlainKey {
            text: Arc::from(key.trim_start_matches(['=', '_'])),
            matching: MatchOptions { case_sensitive: key.starts_with('='), whole_words: key.contains('_') },
        });
        let automaton = Automaton::new(plain.collect()).unwrap();
        let mut all = Vec::new();
        let mut note = |literal: LiteralId, end| {
            let is_known = all.iter().any(|(known, _)| *known == literal.index());
            if !is_known {
                all.push((literal.index(), end));
            }
            is_known
        };
        automaton.search_folded(&text.to_lowercase(), &mut note);
        automaton.search_exact(text, &mut note);
        all.sort_unstable();
        assert_eq!(all, expected);
    }

    #[test]
    fn finds_keys_inside_other_keys() {
        check(&["he", "she", "hers", "x"], "ushers", &[(0, 4), (1, 4), (2, 6)]);
        check(&["a", "aa", "aaa"], "aaaa", &[(0, 1), (1, 2), (2, 3)]);
    }

    #[test]
    fn ends_whole_words_at_non_ascii_word_characters() {
        check(&["_cat", "cat"], "concatenate", &[(1, 6)]);
        check(&["_cat"], "a cat, a dog", &[(0, 5)]);
        check(&["_caf", "_é"], "café", &[(0, 3)]);
        check(&["_龙"], "巨龙飞过", &[(0, 6)]);
        check(&["_a", "_aa"], "aa a", &[(0, 4), (1, 2)]);
    }

    #[test]
    fn finds_each_of_many_nested_keys() {
        let keys: Vec<String> = (1..=2_000).map(|length| "a".repeat(length)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let expected: Vec<(usize, usize)> = (0..2_000).map(|index| (index, index + 1)).collect();
        check(&keys, &"a".repeat(2_000), &expected);
        check(&["b", "ab", "_b", "cab"], "cab", &[(0, 3), (1, 3), (3, 3)]);
    }

    #[test]
    fn respects_case_sensitivity_per_key() {
        check(&["=Rose", "rose"], "a rose", &[(1, 6)]);
        check(&["=Rose", "rose"], "a Rose", &[(0, 6), (1, 6)]);
    }
}
