//! Comparison of two sides: which facts of one the other has.

use std::collections::HashMap;

use crate::quality::fact::{Fact, FactKind};
use crate::quality::key::Key;
use crate::quality::phrases::{PhraseId, PhraseIndex};
use crate::quality::side::{DistinctFact, PassageSpan, Side};
use crate::quality::uses::FactUses;

/// The facts of two sides.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) kept: Vec<Fact>,
    pub(super) lost: Vec<Fact>,
    pub(super) invented: Vec<Fact>,
}

pub(super) fn compare(original: &Side<'_>, compressed: &Side<'_>, later: Option<&FactUses>) -> Comparison {
    let mut comparison = Comparison::default();
    let lookup = Lookup::new(original, compressed);
    for (fact, phrase) in lookup.reported_facts() {
        if lookup.is_kept(fact, phrase) {
            let found = lookup.spot(fact, phrase).map(|spot| Box::new(compressed.place(&spot)));
            comparison.kept.push(Fact { found, ..report(fact, original) });
        } else {
            let uses = later.map(|later| later.count(fact.kind, &fact.key));
            comparison.lost.push(Fact { uses, ..report(fact, original) });
        }
    }
    let lookup = Lookup::new(compressed, original);
    for (fact, phrase) in lookup.reported_facts() {
        if !lookup.is_supported(fact, phrase) {
            comparison.invented.push(report(fact, compressed));
        }
    }
    comparison
}

fn report(fact: &DistinctFact, side: &Side<'_>) -> Fact {
    const LONGEST: usize = 300;
    let text = side.text(&fact.spots[0]);
    let end = (0..=LONGEST.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let shown = &text[..end];
    Fact {
        kind: fact.kind,
        text: if shown.len() < text.len() { format!("{shown}…") } else { text.to_owned() },
        places: fact.spots.iter().map(|spot| side.place(spot)).collect(),
        count: fact.count,
        found: None,
        uses: None,
    }
}

/// The facts of one side, looked up in the other.
struct Lookup<'a> {
    own: &'a Side<'a>,
    other: &'a Side<'a>,
    /// The phrase of each fact of the own side.
    phrases: Vec<PhraseId>,
    index: PhraseIndex,
    /// Number of names with a word, and of paths with a file name.
    uses: HashMap<&'a str, usize>,
}

impl<'a> Lookup<'a> {
    fn new(own: &'a Side<'a>, other: &'a Side<'a>) -> Self {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        let mut index = PhraseIndex::new();
        let phrases = own.facts.iter().map(|fact| match &fact.key {
            Key::Words(words) => {
                if fact.kind == FactKind::Name && words.contains(' ') {
                    words.split(' ').for_each(|word| *uses.entry(word).or_default() += 1);
                }
                index.insert(words)
            }
            Key::Literal(text) => {
                if fact.kind == FactKind::Path && text.contains('/') {
                    *uses.entry(file_name(text)).or_default() += 1;
                }
                index.insert(text)
            }
            _ => index.insert(""),
        });
        let phrases = phrases.collect();
        let texts = other.passages.iter().map(|passage| passage.readable());
        for (number, text) in texts.chain(other.names_beside.iter().map(|name| (*name).into())).enumerate() {
            index.search(number, &text);
        }
        Self { own, other, phrases, index, uses }
    }

    /// Returns the facts to report, in the order of their first places.
    fn reported_facts(&self) -> impl Iterator<Item = (&'a DistinctFact, PhraseId)> {
        let facts = self.own.facts.iter().zip(self.phrases.iter().copied());
        let mut facts: Vec<_> = facts.filter(|(fact, _)| !fact.is_weak).collect();
        facts.sort_by_key(|(fact, _)| (fact.spots[0].passage, fact.spots[0].bytes.start));
        facts.into_iter()
    }

    fn is_kept(&self, fact: &DistinctFact, phrase: PhraseId) -> bool {
        match &fact.key {
            Key::Words(words) => {
                self.index.place(phrase).is_some()
                    || fact.kind == FactKind::Name && self.has_short_name(words)
            }
            Key::Literal(text) => {
                let name = file_name(text);
                let is_short = fact.kind == FactKind::Path
                    && self.uses.get(name) == Some(&1)
                    && self.other.values.contains_literal(name);
                is_short || self.has_literal(fact, phrase)
            }
            key => self.other.values.contains(key),
        }
    }

    /// Returns whether a fact of the compressed form is in the original.
    fn is_supported(&self, fact: &DistinctFact, phrase: PhraseId) -> bool {
        match &fact.key {
            Key::Words(words) => {
                self.index.place(phrase).is_some()
                    || fact.kind == FactKind::Name && (self.is_common(words) || self.is_known_name(words))
                    || self.own.is_in_digest(fact) && words.split(' ').all(|word| self.index.has_word(word))
            }
            Key::Literal(text) => self.has_literal(fact, phrase) || self.other.values.has_hash(text),
            Key::Amount(amount) => {
                self.other.values.contains(&fact.key) || self.other.values.has_digits(amount)
            }
            key => self.other.values.contains(key),
        }
    }

    /// Returns where the other side has a fact.
    fn spot(&self, fact: &DistinctFact, phrase: PhraseId) -> Option<PassageSpan> {
        let same = self.other.find(fact.kind, &fact.key).map(|fact| fact.spots[0].clone());
        let place = self.index.place(phrase).filter(|place| place.text < self.other.passages.len());
        same.or(place.map(|place| PassageSpan { passage: place.text, bytes: place.start..place.end }))
    }

    fn has_literal(&self, fact: &DistinctFact, phrase: PhraseId) -> bool {
        let Key::Literal(text) = &fact.key else { return false };
        // `1.2` is in `1.2.3` and is another version.
        let is_version =
            text.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        self.other.values.contains(&fact.key) || !is_version && self.index.place(phrase).is_some()
    }

    /// Returns whether the other side has one word of a name as a name, and no other name has that word.
    fn has_short_name(&self, words: &str) -> bool {
        let is_clear = |word: &str| {
            let is_name = || self.other.find(FactKind::Name, &Key::Words(word.into())).is_some();
            word.len() > 2 && self.uses.get(word) == Some(&1) && is_name()
        };
        words.contains(' ') && words.split(' ').any(is_clear)
    }

    /// Returns whether each capitalized word is an ordinary word of the other side.
    fn is_common(&self, words: &str) -> bool {
        words.split(' ').all(|word| self.index.has_word_in_lower_case(word))
    }

    /// Returns whether a name only adds the first word of its sentence to one that the other side has.
    fn is_known_name(&self, words: &str) -> bool {
        let Some((first, rest)) = words.split_once(' ') else { return false };
        let is_verb = ["ing", "ed", "ly"].iter().any(|ending| first.ends_with(ending));
        (is_verb || self.index.has_word_in_lower_case(first))
            && rest.split(' ').all(|word| self.index.has_word(word))
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
