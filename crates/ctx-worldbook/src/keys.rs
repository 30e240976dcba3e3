//! Compiled keys.

mod expression;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ctx_regex::Regex;
use ctx_types::space;
use indexmap::IndexSet;

use crate::automaton::{Automaton, LiteralId};
use crate::letters;
use crate::limits::Limits;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MatchOptions {
    pub(crate) case_sensitive: bool,
    /// Applies to single-word keys.
    pub(crate) whole_words: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Key {
    Blank,
    Literal(LiteralId),
    Pattern(Arc<Pattern>),
    /// Contains macros; compiled in a scan.
    Dynamic {
        /// Whether it is invalid in every expansion.
        is_bad: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) regex: Regex,
    /// One of these texts must match; empty for no requirement.
    pub(crate) needs: Vec<LiteralId>,
}

#[derive(Debug)]
pub(crate) struct ExpandedKey {
    pub(crate) text: Arc<str>,
    pub(crate) parsed: ParsedKey,
}

#[derive(Clone, Debug)]
pub(crate) enum ParsedKey {
    Blank,
    Plain(PlainKey),
    Regex(Box<Regex>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlainKey {
    /// In lower case unless case-sensitive.
    pub(crate) text: Arc<str>,
    pub(crate) matching: MatchOptions,
}

/// Maximum bytes of a whole-word key. A longer key matches anywhere: it could otherwise match at every letter
/// of a repetitive text.
const MAX_WORD: usize = 256;

/// Name placeholders of older SillyTavern texts.
const MARKERS: [&str; 5] = ["USER", "BOT", "CHAR", "CHARIFNOTGROUP", "GROUP"];

/// Looks for `{{…` or a placeholder such as `<USER>`.
pub(crate) fn may_hold_macros(key: &str) -> bool {
    let is_marker = |after: &str| {
        let name = after.split_once('>').map(|(name, _)| name);
        name.is_some_and(|name| MARKERS.iter().any(|marker| marker.eq_ignore_ascii_case(name)))
    };
    key.contains("{{") || key.split('<').skip(1).any(is_marker)
}

/// Replaces each macro with a letter.
pub(crate) fn without_macros(key: &str) -> String {
    let mut rest = key;
    let mut kept = String::with_capacity(key.len());
    while let Some((before, opened)) = rest.split_once("{{") {
        let Some(length) = closing(opened) else { break };
        kept.push_str(before);
        kept.push('x');
        rest = &opened[length..];
    }
    kept.push_str(rest);
    kept
}

fn closing(opened: &str) -> Option<usize> {
    let mut depth = 1_usize;
    let mut at = 0;
    while let Some(pair) = opened.as_bytes().get(at..at + 2) {
        match pair {
            b"{{" => depth += 1,
            b"}}" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// An invalid regular expression becomes plain text, and is reported.
pub(crate) fn parse(
    key: &str,
    matching: MatchOptions,
    limits: &Limits,
    report: &mut dyn FnMut(&str, &ctx_regex::Error),
) -> ParsedKey {
    let key = space::trim(key);
    if key.is_empty() {
        return ParsedKey::Blank;
    }
    if let Some(literal) = expression::literal(key) {
        let of_regex = ctx_regex::Limits::default();
        let building = of_regex.build_cost.min(limits.key_building);
        let limits = ctx_regex::Limits { steps: limits.key_steps, build_cost: building, ..of_regex };
        match Regex::new(literal.pattern, literal.flags, &limits) {
            Ok(regex) => return ParsedKey::Regex(Box::new(regex)),
            Err(error) => report(key, &error),
        }
    } else if let Some(error) = expression::fault(key) {
        report(key, &error);
    }
    let text = if matching.case_sensitive { key.into() } else { letters::lower(key) };
    let is_one_word = text.len() <= MAX_WORD && !text.contains(space::is_space);
    let matching = MatchOptions { whole_words: matching.whole_words && is_one_word, ..matching };
    ParsedKey::Plain(PlainKey { text: Arc::from(&*text), matching })
}

#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    literals: IndexSet<PlainKey>,
    patterns: BTreeMap<Arc<str>, Arc<Pattern>>,
    bytes: usize,
    building: usize,
}

impl KeyTable {
    /// Returns `None` above the limit of key bytes.
    pub(crate) fn add(
        &mut self,
        key: &str,
        matching: MatchOptions,
        limits: &Limits,
        report: &mut dyn FnMut(&str, &ctx_regex::Error),
    ) -> Option<Key> {
        if let Some(pattern) = self.patterns.get(key) {
            return Some(Key::Pattern(pattern.clone()));
        }
        self.bytes = self.bytes.saturating_add(key.len());
        if self.bytes > limits.key_bytes {
            return None;
        }
        let left = limits.key_building.saturating_sub(self.building);
        Some(match parse(key, matching, &Limits { key_building: left, ..*limits }, report) {
            ParsedKey::Blank => Key::Blank,
            ParsedKey::Plain(plain) => Key::Literal(self.literal(plain)),
            ParsedKey::Regex(regex) => {
                self.building += regex.build_cost();
                Key::Pattern(self.pattern(key, *regex))
            }
        })
    }

    fn pattern(&mut self, key: &str, regex: Regex) -> Arc<Pattern> {
        let literals = regex.required_literals().iter();
        let needs = literals
            .map(|literal| PlainKey { text: Arc::from(&**literal), matching: MatchOptions::default() });
        let needs: Vec<PlainKey> = needs.collect();
        // The automaton searches messages separately and cannot match the line break between them.
        let spans_texts = needs.iter().any(|need| need.text.contains(['\n', '\u{1}']));
        let needs = needs.into_iter().filter(|_| !spans_texts).map(|plain| self.literal(plain)).collect();
        let pattern = Arc::new(Pattern { regex, needs });
        self.patterns.insert(key.into(), pattern.clone());
        pattern
    }

    fn literal(&mut self, plain: PlainKey) -> LiteralId {
        LiteralId::new(self.literals.insert_full(plain).0)
    }

    pub(crate) fn build(self) -> Option<Automaton> {
        Automaton::new(self.literals.into_iter().collect())
    }
}

/// `text` must be in lower case unless the key is case-sensitive.
pub(crate) fn find(text: &str, key: &PlainKey) -> Option<usize> {
    find_all(text, key).next().map(|range| range.start)
}

/// Same requirement as `find`.
pub(crate) fn find_all<'t>(text: &'t str, key: &'t PlainKey) -> impl Iterator<Item = Range<usize>> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find(&*key.text)?;
            let end = start + key.text.len();
            let is_found = !key.matching.whole_words || is_whole(text.as_bytes(), start, end);
            // A match inside a word can overlap a whole word.
            from = if is_found { end } else { start + key.text.chars().next().map_or(1, char::len_utf8) };
            if is_found {
                return Some(start..end);
            }
        }
    })
}

pub(crate) fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let is_outside = |byte: Option<&u8>| byte.is_none_or(|byte| !letters::is_word(*byte));
    is_outside(before) && is_outside(text.get(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_macros_and_legacy_markers() {
        for key in ["{{char}}", "a {{user}}", "<USER>", "the <bot>s", "/(?<=<char>)/"] {
            assert!(may_hold_macros(key), "{key}");
        }
        for key in ["<b>tower", "/(?<n>key)/", "/(?<=a)b/", "/(?<!USER)x/", "<USER", "a{1}", "<users>"] {
            assert!(!may_hold_macros(key), "{key}");
        }
    }

    #[test]
    fn keeps_text_around_macros() {
        for (key, expected) in [
            ("/{{char}}(/", "/x(/"),
            ("{{a::{{b}}}} and {{c}}", "x and x"),
            ("{{open", "{{open"),
            ("{{a {{b}}", "{{a {{b}}"),
            ("{{{a}}}", "x}"),
        ] {
            assert_eq!(without_macros(key), expected);
        }
        let open = "{{".repeat(500_000);
        assert_eq!(without_macros(&open), open);
    }

    #[test]
    fn disables_whole_words_for_long_keys() {
        let matching = MatchOptions { whole_words: true, ..MatchOptions::default() };
        let is_whole_word = |length: usize| {
            let parsed = parse(&"a".repeat(length), matching, &Limits::default(), &mut |_, _| ());
            let ParsedKey::Plain(plain) = parsed else { unreachable!("it is no expression") };
            plain.matching.whole_words
        };
        assert!(is_whole_word(MAX_WORD) && !is_whole_word(MAX_WORD + 1));
    }
}
