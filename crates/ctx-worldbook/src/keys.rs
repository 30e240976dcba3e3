//! Keys, compiled: plain texts for one automaton, regular expressions behind the texts that they need.

mod expression;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ctx_regex::Regex;
use ctx_types::space;

use crate::automaton::{Automaton, LiteralId};
use crate::letters;
use crate::limits::Limits;

/// How a plain key is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Matching {
    /// Whether the case of letters counts.
    pub(crate) case_sensitive: bool,
    /// Whether only whole words count, for a key of one word.
    pub(crate) whole_words: bool,
}

/// A key that can be looked for.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// It is empty, and never found.
    Blank,
    /// It is found where the automaton finds the text.
    Literal(LiteralId),
    /// It is a regular expression.
    Pattern(Arc<Pattern>),
    /// It holds macros, and is known in a scan only.
    Dynamic {
        /// Whether it is known already that it cannot run, whatever the macros give.
        is_bad: bool,
    },
}

/// A regular expression, and the texts one of which it needs.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Its number among those of the set.
    pub(crate) number: usize,
    pub(crate) regex: Regex,
    /// Empty if it may match anything.
    pub(crate) needs: Vec<LiteralId>,
}

/// A key whose macros are expanded.
#[derive(Debug)]
pub(crate) struct ExpandedKey {
    /// By what searches remember it; no pattern of the set has this number.
    pub(crate) number: usize,
    pub(crate) parsed: Parsed,
}

/// What one key is, once its macros are expanded.
#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    Blank,
    Plain(PlainKey),
    Regex(Box<Regex>),
}

/// A text to look for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlainKey {
    /// In lower case unless the case counts.
    pub(crate) text: Arc<str>,
    pub(crate) matching: Matching,
}

/// Maximum length of a key that matches whole words only, in bytes. A longer key matches anywhere: a repetitive key
/// could otherwise match at every letter of a repetitive text.
const MAX_WORD: usize = 256;

/// What stands for a name in SillyTavern's older texts, without its brackets.
const MARKERS: [&str; 5] = ["USER", "BOT", "CHAR", "CHARIFNOTGROUP", "GROUP"];

/// Returns whether a key looks as if it held a macro: `{{…` or a marker such as `<USER>`.
pub(crate) fn may_hold_macros(key: &str) -> bool {
    let is_marker = |after: &str| {
        let name = after.split_once('>').map(|(name, _)| name);
        name.is_some_and(|name| MARKERS.iter().any(|marker| marker.eq_ignore_ascii_case(name)))
    };
    key.contains("{{") || key.split('<').skip(1).any(is_marker)
}

/// Returns a key with a letter in the place of each macro: what of it stands whatever the macros give.
pub(crate) fn without_macros(key: &str) -> String {
    let mut rest = key;
    let mut kept = String::with_capacity(key.len());
    while let Some((before, opened)) = rest.split_once("{{") {
        let Some(length) = closing(opened) else { break };
        kept.push_str(before);
        kept.push('x');
        rest = opened.get(length..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

/// Returns the end of a macro after its opening braces. O(bytes).
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

/// Reads a key; a regular expression that cannot run is plain text, and `report` is told why.
pub(crate) fn parse(
    key: &str,
    matching: Matching,
    limits: &Limits,
    report: &mut dyn FnMut(&str, &ctx_regex::Error),
) -> Parsed {
    let key = space::trim(key);
    if key.is_empty() {
        return Parsed::Blank;
    }
    if let Some(literal) = expression::literal(key) {
        let of_regex = ctx_regex::Limits::default();
        let building = of_regex.building.min(limits.key_building);
        let limits = ctx_regex::Limits { steps: limits.key_steps, building, ..of_regex };
        match Regex::new(literal.pattern, literal.flags, &limits) {
            Ok(regex) => return Parsed::Regex(Box::new(regex)),
            Err(error) => report(key, &error),
        }
    } else if let Some(error) = expression::fault(key) {
        report(key, &error);
    }
    let text = if matching.case_sensitive { key.into() } else { letters::lower(key) };
    let is_one_word = text.len() <= MAX_WORD && !text.contains(space::is_space);
    let matching = Matching { whole_words: matching.whole_words && is_one_word, ..matching };
    Parsed::Plain(PlainKey { text: Arc::from(&*text), matching })
}

/// Collects plain texts for the automaton; equal ones are one.
#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    literals: BTreeMap<PlainKey, LiteralId>,
    patterns: BTreeMap<Arc<str>, Arc<Pattern>>,
    bytes: usize,
    /// How long building the patterns took, as [`Limits::key_building`] counts it.
    building: usize,
}

impl KeyTable {
    /// Adds a key; none if there is no room left.
    pub(crate) fn add(
        &mut self,
        key: &str,
        matching: Matching,
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
            Parsed::Blank => Key::Blank,
            Parsed::Plain(plain) => Key::Literal(self.literal(plain)),
            Parsed::Regex(regex) => {
                self.building += regex.building();
                Key::Pattern(self.pattern(key, *regex))
            }
        })
    }

    fn pattern(&mut self, key: &str, regex: Regex) -> Arc<Pattern> {
        let required_literals = regex.required_literals().iter();
        let needs = required_literals
            .map(|literal| PlainKey { text: Arc::from(&**literal), matching: Matching::default() });
        let needs: Vec<PlainKey> = needs.collect();
        // A line break may be one between two messages, which are searched each by itself.
        let spans_texts = needs.iter().any(|need| need.text.contains(['\n', '\u{1}']));
        let needs = needs.into_iter().filter(|_| !spans_texts).map(|plain| self.literal(plain)).collect();
        let pattern = Arc::new(Pattern { number: self.patterns.len(), regex, needs });
        self.patterns.insert(key.into(), pattern.clone());
        pattern
    }

    fn literal(&mut self, plain: PlainKey) -> LiteralId {
        let next = LiteralId::new(self.literals.len());
        *self.literals.entry(plain).or_insert(next)
    }

    /// Returns the regular expressions by their numbers.
    pub(crate) fn patterns(&self) -> Vec<Arc<Pattern>> {
        let mut patterns: Vec<Arc<Pattern>> = self.patterns.values().cloned().collect();
        patterns.sort_unstable_by_key(|pattern| pattern.number);
        patterns
    }

    /// Builds what finds all texts at once; none if they are too many.
    pub(crate) fn build(self) -> Option<Automaton> {
        let mut literals: Vec<(LiteralId, PlainKey)> =
            self.literals.into_iter().map(|(plain, id)| (id, plain)).collect();
        literals.sort_by_key(|(id, _)| *id);
        Automaton::new(literals.into_iter().map(|(_, plain)| plain).collect())
    }
}

/// Finds a plain key in a text, which is in lower case unless the case counts; returns where it begins.
pub(crate) fn find(text: &str, key: &PlainKey) -> Option<usize> {
    find_all(text, key).next().map(|range| range.start)
}

/// Finds each place of a plain key in a text, which is in lower case unless the case counts.
pub(crate) fn find_all<'t>(text: &'t str, key: &'t PlainKey) -> impl Iterator<Item = Range<usize>> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find(&*key.text)?;
            let end = start + key.text.len();
            let is_found = !key.matching.whole_words || is_whole(text.as_bytes(), start, end);
            // One that is no whole word may overlap one that is.
            from = if is_found { end } else { start + key.text.chars().next().map_or(1, char::len_utf8) };
            if is_found {
                return Some(start..end);
            }
        }
    })
}

/// Returns whether nothing that belongs to a word stands beside a range of a text.
pub(crate) fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let is_outside = |byte: Option<&u8>| byte.is_none_or(|byte| !letters::is_word(*byte));
    is_outside(before) && is_outside(text.get(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_macros_and_markers_look_like_macros() {
        for key in ["{{char}}", "a {{user}}", "<USER>", "the <bot>s", "/(?<=<char>)/"] {
            assert!(may_hold_macros(key), "{key}");
        }
        for key in ["<b>tower", "/(?<n>key)/", "/(?<=a)b/", "/(?<!USER)x/", "<USER", "a{1}", "<users>"] {
            assert!(!may_hold_macros(key), "{key}");
        }
    }

    #[test]
    fn what_stands_beside_macros_stays() {
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
    fn finds_long_words_inside_words() {
        let matching = Matching { whole_words: true, ..Matching::default() };
        let is_whole_word = |length: usize| {
            let parsed = parse(&"a".repeat(length), matching, &Limits::default(), &mut |_, _| ());
            let Parsed::Plain(plain) = parsed else { unreachable!("it is no expression") };
            plain.matching.whole_words
        };
        assert!(is_whole_word(MAX_WORD) && !is_whole_word(MAX_WORD + 1));
    }
}
