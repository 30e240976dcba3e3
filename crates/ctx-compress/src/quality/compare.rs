//! Which facts of the original the compressed form still has, and which of its own it made up.

use std::collections::HashMap;

use crate::quality::chinese_names::surname_of_title;
use crate::quality::clauses::Sentence;
use crate::quality::fact::{Fact, FactKind, Place};
use crate::quality::key::{Key, normal};
use crate::quality::lexicon::{is_common, is_stop};
use crate::quality::phrases::{Hit, Hits};
use crate::quality::rules::Answer;
use crate::quality::side::{Distinct, Side};
use crate::quality::stems::hash;

/// The facts of two sides, told apart.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) kept: Vec<Fact>,
    pub(super) lost: Vec<Fact>,
    pub(super) invented: Vec<Fact>,
}

/// How much longer than this the text of a fact is not told.
const LONGEST_TEXT: usize = 300;

/// Rules of which the other side has less than this, in percent, are made up.
const MADE_UP_BELOW: u32 = 34;

/// Compares two sides.
pub(super) fn compare(original: &Side<'_>, compressed: &Side<'_>) -> Sorted {
    let mut sorted = Sorted::default();
    let lookup = Lookup::new(original, compressed);
    for (at, fact) in original.facts.iter().enumerate().filter(|(_, fact)| fact.is_told) {
        let verdict = lookup.kept(fact, at);
        let told = Fact { found: verdict.found, opposed: verdict.opposed, ..tell(fact, original) };
        if verdict.is_there { sorted.kept.push(told) } else { sorted.lost.push(told) }
    }
    let lookup = Lookup::new(compressed, original);
    for (at, fact) in compressed.facts.iter().enumerate().filter(|(_, fact)| fact.is_told) {
        let verdict = lookup.supported(fact, at);
        if !verdict.is_there {
            sorted.invented.push(Fact { opposed: verdict.opposed, ..tell(fact, compressed) });
        }
    }
    for facts in [&mut sorted.kept, &mut sorted.lost, &mut sorted.invented] {
        facts.sort_by_key(|fact| {
            fact.places.first().map(|place| (place.message, place.call, place.start, fact.kind))
        });
    }
    sorted
}

/// Writes a fact without what the other side has to do with it.
fn tell(fact: &Distinct, side: &Side<'_>) -> Fact {
    let place = |(passage, bytes): &(u32, std::ops::Range<usize>)| {
        side.passages.get(*passage as usize).map(|passage| passage.place(bytes))
    };
    let first = fact.places.first();
    let text =
        first.and_then(|(passage, bytes)| side.passages.get(*passage as usize)?.text.get(bytes.clone()));
    Fact {
        kind: fact.kind,
        text: shortened(text.unwrap_or_default()),
        places: fact.places.iter().filter_map(place).collect(),
        count: fact.count,
        found: None,
        opposed: None,
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_TEXT {
        return text.to_owned();
    }
    let end = (0..=LONGEST_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// What the other side has to do with a fact.
#[derive(Debug, Default)]
struct Verdict {
    is_there: bool,
    found: Option<Place>,
    opposed: Option<Place>,
}

impl Verdict {
    fn of(is_there: bool) -> Self {
        Self { is_there, ..Self::default() }
    }
}

/// The facts of one side, looked up in the other.
struct Lookup<'a> {
    own: &'a Side<'a>,
    other: &'a Side<'a>,
    hits: Hits,
    /// How many names of several words have a word, and how many paths a last part.
    shared: HashMap<u32, usize>,
}

impl<'a> Lookup<'a> {
    fn new(own: &'a Side<'a>, other: &'a Side<'a>) -> Self {
        let phrases: Vec<String> = own.facts.iter().map(|fact| phrase(&fact.key)).collect();
        let phrases: Vec<&str> = phrases.iter().map(String::as_str).collect();
        let mut shared: HashMap<u32, usize> = HashMap::new();
        for fact in &own.facts {
            match &fact.key {
                Key::Name { words, .. } if words.contains(' ') => {
                    words.split(' ').for_each(|word| *shared.entry(hash(word)).or_default() += 1);
                }
                Key::Literal(path) if fact.kind == FactKind::Path && path.contains('/') => {
                    *shared.entry(hash(last_part(path))).or_default() += 1;
                }
                _ => {}
            }
        }
        Self { own, other, hits: Hits::of(&phrases, other), shared }
    }

    /// Tells whether a fact of the original is still there.
    fn kept(&self, fact: &Distinct, at: usize) -> Verdict {
        let hit = self.hits.get(at);
        match &fact.key {
            Key::Rule(_) => self.rule(fact),
            Key::Name { words, .. } => {
                let is_there = hit.at.is_some() || hit.is_light || self.is_called_in_short(words);
                Verdict { is_there, found: self.place(hit), opposed: None }
            }
            Key::Words(_) if hit.at.is_none() && !hit.is_light => self.rule(fact),
            Key::Words(_) => Verdict { is_there: true, found: self.place(hit), opposed: None },
            Key::Literal(text) => {
                let is_there = self.has_literal(text, hit)
                    || (fact.kind == FactKind::Path && self.is_named_in_short(text));
                Verdict { is_there, found: self.place(hit), opposed: None }
            }
            key => {
                Verdict { found: self.same(fact), ..Verdict::of(self.other.values.has(key) == Some(true)) }
            }
        }
    }

    /// Tells whether a fact of the compressed form comes from the original.
    fn supported(&self, fact: &Distinct, at: usize) -> Verdict {
        let hit = self.hits.get(at);
        match &fact.key {
            Key::Rule(_) => self.rule_is_told(fact),
            Key::Name { words, is_soft } => {
                let is_there = hit.at.is_some() || hit.is_light || self.is_no_new_name(words, *is_soft);
                Verdict::of(is_there || (self.is_of_note(fact) && self.knows_all(words)))
            }
            Key::Words(_) => Verdict::of(hit.at.is_some() || hit.is_light || self.rule(fact).is_there),
            Key::Literal(text) => {
                Verdict::of(self.has_literal(text, hit) || self.other.values.has_beginning(text))
            }
            Key::Amount(amount) => {
                let values = &self.other.values;
                Verdict::of(
                    values.has(&fact.key) == Some(true) || values.has_within(amount) || self.is_list(fact),
                )
            }
            key => Verdict::of(self.other.values.has(key) == Some(true)),
        }
    }

    /// Returns where the other side has the very same value.
    fn same(&self, fact: &Distinct) -> Option<Place> {
        self.other.place_of(fact.kind, &fact.key)
    }

    /// Returns the place of a phrase that was found.
    fn place(&self, hit: Hit) -> Option<Place> {
        self.other.place_at(hit.at?)
    }

    fn has_literal(&self, text: &str, hit: Hit) -> bool {
        // `1.2` stands within `1.2.3` and is another version.
        let is_version = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            || text.starts_with('v') && text.contains('.');
        self.other.values.has(&Key::Literal(text.to_owned())) == Some(true)
            || (hit.at.is_some() && !is_version)
    }

    /// Tells whether one word of a name stands alone and can mean nobody else.
    fn is_called_in_short(&self, words: &str) -> bool {
        let is_clear = |word: &str| {
            let is_one = self.shared.get(&hash(word)).is_some_and(|names| *names == 1);
            is_one && word.len() > 2 && !is_common(word) && self.other.alone.contains(&hash(word))
        };
        let is_relative = |surname: &str| {
            self.other
                .facts
                .iter()
                .any(|fact| matches!(&fact.key, Key::Name { words, .. } if words.starts_with(surname)))
        };
        surname_of_title(words).is_some_and(is_relative)
            || (words.contains(' ') && words.split(' ').any(is_clear))
    }

    /// Tells whether the last part of a path stands alone and can mean no other one.
    fn is_named_in_short(&self, path: &str) -> bool {
        let last = last_part(path);
        last.len() < path.len()
            && self.shared.get(&hash(last)) == Some(&1)
            && self.other.values.literals.contains(last)
    }

    /// Tells whether capitalised words of the compressed form are no name that nobody spoke of.
    fn is_no_new_name(&self, words: &str, is_soft: bool) -> bool {
        let is_known = |word: &str| self.other.vocabulary.contains(&hash(word));
        let is_ordinary =
            |word: &str| is_common(word) || is_stop(word) || self.other.small.contains(&hash(word));
        let mut parts = words.split(' ');
        if parts.clone().all(is_ordinary) {
            return true;
        }
        match (parts.next(), parts.next()) {
            (Some(word), None) if surname_of_title(word).is_some() => self.is_called_in_short(words),
            (Some(word), None) => is_known(word) || is_known_form(word, &is_known),
            // A sentence may begin with a word that is no name before one that is.
            (Some(first), Some(second)) if is_soft => {
                let is_no_part =
                    ["ing", "ed", "ly", "tion", "ment"].iter().any(|ending| first.ends_with(ending))
                        || is_ordinary(first);
                is_no_part && is_known(second) && parts.all(is_known)
            }
            _ => false,
        }
    }

    fn knows_all(&self, words: &str) -> bool {
        words.split(' ').all(|word| self.other.vocabulary.contains(&hash(word)))
    }

    /// Tells whether signs between thousands are those of a list: `1,500` of `[1, 500]`.
    fn is_list(&self, fact: &Distinct) -> bool {
        let Some((passage, bytes)) = fact.places.first() else { return false };
        let text =
            self.own.passages.get(*passage as usize).and_then(|passage| passage.text.get(bytes.clone()));
        let parts = text.unwrap_or_default().split(',');
        parts.clone().count() > 1
            && parts.clone().all(|part| self.other.vocabulary.contains(&hash(part.trim())))
    }

    fn rule(&self, fact: &Distinct) -> Verdict {
        let Some(sentence) = fact.sentence.as_deref() else { return Verdict::default() };
        match self.other.rules.answer(sentence, fact.kind) {
            Answer::Same(at) => Verdict { is_there: true, found: self.sentence_place(at), opposed: None },
            _ if self.is_corrected(sentence) => Verdict::of(true),
            Answer::Opposite(at) => Verdict { opposed: self.sentence_place(at), ..Verdict::default() },
            Answer::Partly(_) => Verdict::default(),
        }
    }

    /// Tells whether the other side has followed a correction, `not Tuesday, but Wednesday`: it has the new value,
    /// and not the old one.
    fn is_corrected(&self, sentence: &Sentence) -> bool {
        let values = |denies: bool| {
            let clauses = sentence.clauses.iter().filter(move |clause| clause.signs.denies == denies);
            clauses.flat_map(|clause| &clause.values)
        };
        let has = |value: &u32| self.other.values.stems.contains(value);
        let is_correction = values(true).next().is_some() && values(false).next().is_some();
        is_correction && values(false).all(has) && !values(true).any(has)
    }

    /// A rule is made up if the original says the opposite, or hardly anything about the matter.
    fn rule_is_told(&self, fact: &Distinct) -> Verdict {
        let Some(sentence) = fact.sentence.as_deref() else { return Verdict::default() };
        let is_note = self.is_of_note(fact);
        match self.other.rules.answer(sentence, fact.kind) {
            Answer::Same(_) => Verdict::of(true),
            // The sentences of a note have run into each other.
            Answer::Opposite(at) if is_note && self.other.rules.does_around(at, fact.kind) => {
                Verdict::of(true)
            }
            Answer::Opposite(at) => Verdict { opposed: self.sentence_place(at), ..Verdict::default() },
            Answer::Partly(percent) => Verdict::of(is_note || percent >= MADE_UP_BELOW),
        }
    }

    fn is_of_note(&self, fact: &Distinct) -> bool {
        let (passage, _) = fact.places.first().unwrap_or(&(u32::MAX, 0..0));
        self.own.passages.get(*passage as usize).is_some_and(|passage| passage.is_note)
    }

    fn sentence_place(&self, at: usize) -> Option<Place> {
        let (passage, sentence) = self.other.rules.sentence(at)?;
        Some(self.other.passages.get(passage as usize)?.place(&sentence.bytes))
    }
}

/// Returns the words by which a fact is looked for in a text; none for values and rules.
fn phrase(key: &Key) -> String {
    match key {
        Key::Name { words, .. } | Key::Words(words) => words.clone(),
        Key::Literal(text) => normal(text),
        Key::Amount(_) | Key::Day(_) | Key::Weekday(_) | Key::Clock(_) | Key::Rule(_) => String::new(),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Tells whether another form of a word is known: `Germans` of `German`.
fn is_known_form(word: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let without = ["s", "es", "n", "an", "ian", "ish"].iter().filter_map(|ending| word.strip_suffix(ending));
    let mut forms = without.filter(|form| form.len() >= 4);
    forms.any(is_known) || is_known(&format!("{word}s"))
}
