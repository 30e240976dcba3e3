//! Which facts of the original the compressed form still has, and which of its own it made up.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use crate::quality::chinese_names::surname_of_title;
use crate::quality::fact::{Fact, FactKind, Spot};
use crate::quality::key::{Key, Reading, normal};
use crate::quality::lexicon::{is_common, is_stop};
use crate::quality::phrases::{Hit, Hits};
use crate::quality::rules::{Answer, Postings};
use crate::quality::sentences::Statement;
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

/// Compares two sides; what is known of them beside their facts is freed before these are written down.
pub(super) fn compare(original: &mut Side<'_>, compressed: &mut Side<'_>) -> Sorted {
    let lookup = Lookup::new(original, compressed);
    let kept: Vec<Verdict> = lookup.verdicts(Lookup::kept);
    let lookup = Lookup::new(compressed, original);
    let supported: Vec<Verdict> = lookup.verdicts(Lookup::supported);
    original.forget_words();
    compressed.forget_words();
    let write = |(own, other): (&Side<'_>, &Side<'_>), verdicts: &[Verdict], is_there: bool| {
        let is_wanted = |number: &u32| {
            let fact = own.facts.get(*number).zip(verdicts.get(*number as usize));
            fact.is_some_and(|(fact, verdict)| fact.is_told && verdict.is_there == is_there)
        };
        let mut wanted: Vec<u32> = (0..own.facts.len()).filter(is_wanted).collect();
        let place = |fact: &Distinct| (fact.first.passage, fact.first.start, fact.kind);
        wanted.sort_by_key(|number| own.facts.get(*number).map(place));
        let mut facts = Vec::with_capacity(wanted.len());
        facts.extend(wanted.into_iter().filter_map(|number| {
            let (fact, verdict) = own.facts.get(number).zip(verdicts.get(number as usize))?;
            let at = verdict.at.and_then(|spot| other.place(spot)).map(Box::new);
            let (found, opposed) = if is_there { (at, None) } else { (None, at) };
            Some(Fact { found, opposed, ..tell(fact, own) })
        }));
        facts
    };
    Sorted {
        kept: write((original, compressed), &kept, true),
        lost: write((original, compressed), &kept, false),
        invented: write((compressed, original), &supported, false),
    }
}

/// Writes a fact without what the other side has to do with it.
fn tell(fact: &Distinct, side: &Side<'_>) -> Fact {
    let spots = side.spots(fact);
    let mut places = Vec::with_capacity(spots.len());
    places.extend(spots.into_iter().filter_map(|spot| side.place(spot)));
    Fact {
        kind: fact.kind,
        text: shortened(side.text(fact.first)),
        places,
        count: fact.count as usize,
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
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    is_there: bool,
    /// Where the other side says it, or, if it does not, where it says the opposite.
    at: Option<Spot>,
}

impl Verdict {
    const fn of(is_there: bool) -> Self {
        Self { is_there, at: None }
    }
}

/// The facts of one side, looked up in the other.
struct Lookup<'a> {
    own: &'a Side<'a>,
    other: &'a Side<'a>,
    hits: Hits,
    postings: Postings,
    /// How many names of several words have a word, and how many paths a last part.
    shared: HashMap<u32, usize>,
    /// How often encodings were searched.
    searches: Cell<usize>,
}

/// How often encodings are searched at the most.
const MOST_SEARCHES: usize = 256;

impl<'a> Lookup<'a> {
    fn new(own: &'a Side<'a>, other: &'a Side<'a>) -> Self {
        let mut shared: HashMap<u32, usize> = HashMap::new();
        for fact in own.facts.iter() {
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
        let phrases = || own.facts.iter().map(|fact| phrase(&fact.key));
        let hits = Hits::of(phrases, own.facts.len() as usize, other);
        // Of the longer side only what the shorter one asks for is noted.
        let sentences = || own.facts.iter().filter(|fact| fact.is_told).filter_map(|fact| own.sentence(fact));
        let stems =
            || sentences().flat_map(Statement::clauses).flat_map(|clause| clause.stems.iter().copied());
        let is_shorter = own.facts.len() < other.facts.len();
        let postings = other.rules.postings(is_shorter.then(|| stems().collect()).as_ref());
        Self { own, other, hits, postings, shared, searches: Cell::new(0) }
    }

    /// Looks up every fact that is told.
    fn verdicts(&self, look_up: impl Fn(&Self, &Distinct, usize) -> Verdict) -> Vec<Verdict> {
        let facts = self.own.facts.iter().enumerate();
        let mut verdicts = Vec::with_capacity(self.own.facts.len() as usize);
        verdicts.extend(
            facts.map(|(at, fact)| if fact.is_told { look_up(self, fact, at) } else { Verdict::default() }),
        );
        verdicts
    }

    /// Returns whether a fact of the original is still there.
    fn kept(&self, fact: &Distinct, at: usize) -> Verdict {
        let hit = self.hits.get(at);
        match &fact.key {
            Key::Rule(_) => self.rule(fact),
            Key::Name { words, .. } => {
                let is_there = hit.is_there || hit.is_light || self.is_called_in_short(words);
                Verdict { is_there, at: self.place(hit) }
            }
            Key::Words(_) if !hit.is_there && !hit.is_light => self.rule(fact),
            Key::Words(_) => Verdict { is_there: true, at: self.place(hit) },
            Key::Literal(text) => {
                let is_there = self.has_literal(text, hit)
                    || (fact.kind == FactKind::Path && self.is_named_in_short(text));
                Verdict { is_there, at: self.place(hit) }
            }
            key => {
                let is_there = self.other.values.has(key) == Some(true);
                Verdict { is_there, at: self.same(fact).filter(|_| is_there) }
            }
        }
    }

    /// Returns whether a fact of the compressed form comes from the original.
    fn supported(&self, fact: &Distinct, at: usize) -> Verdict {
        let hit = self.hits.get(at);
        match &fact.key {
            Key::Rule(_) => self.rule_is_told(fact),
            Key::Name { words, is_soft } => {
                let is_there = hit.is_there || hit.is_light || self.is_no_new_name(words, *is_soft);
                Verdict::of(is_there || (self.is_of_note(fact) && self.knows_all(words)))
            }
            Key::Words(_) => Verdict::of(hit.is_there || hit.is_light || self.rule(fact).is_there),
            Key::Literal(text) => {
                let is_there = self.has_literal(text, hit) || self.other.values.has_beginning(text);
                Verdict::of(is_there || self.is_of_an_encoding(fact))
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
    fn same(&self, fact: &Distinct) -> Option<Spot> {
        self.other.place_of(fact.kind, &fact.key)
    }

    /// Returns the place of a phrase that was found.
    fn place(&self, hit: Hit) -> Option<Spot> {
        self.other.place_of_word(hit.place?)
    }

    fn has_literal(&self, text: &str, hit: Hit) -> bool {
        // `1.2` stands within `1.2.3` and is another version.
        let is_version = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            || text.starts_with('v') && text.contains('.');
        self.other.values.has(&Key::Literal(text.into())) == Some(true) || (hit.is_there && !is_version)
    }

    /// Returns whether one word of a name stands alone and can mean nobody else.
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

    /// Returns whether the last part of a path stands alone and can mean no other one.
    fn is_named_in_short(&self, path: &str) -> bool {
        let last = last_part(path);
        last.len() < path.len()
            && self.shared.get(&hash(last)) == Some(&1)
            && self.other.values.is_literal(last)
    }

    /// Returns whether capitalised words of the compressed form are no name that nobody spoke of.
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

    /// Returns whether signs between thousands are those of a list: `1,500` of `[1, 500]`.
    fn is_list(&self, fact: &Distinct) -> bool {
        let parts = self.own.text(fact.first).split(',');
        parts.clone().count() > 1
            && parts.clone().all(|part| self.other.vocabulary.contains(&hash(part.trim())))
    }

    fn rule(&self, fact: &Distinct) -> Verdict {
        let Some(sentence) = self.own.sentence(fact) else { return Verdict::default() };
        match self.other.rules.answer(sentence, fact.kind, &self.postings) {
            Answer::Same(number) => Verdict { is_there: true, at: self.sentence_spot(number) },
            _ if self.is_corrected(sentence) => Verdict::of(true),
            Answer::Opposite(number) => Verdict { is_there: false, at: self.sentence_spot(number) },
            Answer::Partly(_) => Verdict::default(),
        }
    }

    /// Returns whether the other side has followed a correction, `not Tuesday, but Wednesday`: it has the new value,
    /// and not the old one.
    fn is_corrected(&self, sentence: &Statement) -> bool {
        let values = |denies: bool| {
            let clauses = sentence.clauses().filter(move |clause| clause.signs.denies == denies);
            clauses.flat_map(|clause| clause.values)
        };
        let has = |value: &u32| self.other.values.stems.contains(value);
        let is_correction = values(true).next().is_some() && values(false).next().is_some();
        is_correction && values(false).all(has) && !values(true).any(has)
    }

    /// A rule is made up if the original says the opposite, or hardly anything about the matter.
    fn rule_is_told(&self, fact: &Distinct) -> Verdict {
        let Some(sentence) = self.own.sentence(fact) else { return Verdict::default() };
        let is_note = self.is_of_note(fact);
        match self.other.rules.answer(sentence, fact.kind, &self.postings) {
            Answer::Same(_) => Verdict::of(true),
            // The sentences of a note have run into each other.
            Answer::Opposite(at) if is_note && self.other.rules.does_around(at, fact.kind) => {
                Verdict::of(true)
            }
            Answer::Opposite(number) => Verdict { is_there: false, at: self.sentence_spot(number) },
            Answer::Partly(percent) => Verdict::of(is_note || percent >= MADE_UP_BELOW),
        }
    }

    fn is_of_note(&self, fact: &Distinct) -> bool {
        self.own.passages.get(fact.first.passage as usize).is_some_and(|passage| passage.is_note)
    }

    fn sentence_spot(&self, number: u32) -> Option<Spot> {
        self.other.rules.sentence(number).map(|said| said.spot)
    }

    /// Returns whether letters were cut out of a long run of them: a key, a picture as text.
    fn is_of_an_encoding(&self, fact: &Distinct) -> bool {
        const SHORTEST: usize = 16;
        let letters = self.own.text(fact.first);
        if letters.len() < SHORTEST || self.searches.get() >= MOST_SEARCHES {
            return false;
        }
        self.searches.set(self.searches.get() + 1);
        self.other.has_encoded(letters)
    }
}

/// Returns the words by which a fact is looked for in a text; none for values and rules.
fn phrase(key: &Key) -> Cow<'_, str> {
    match key {
        Key::Name { words, .. } | Key::Words(words) => words.as_ref().into(),
        Key::Literal(text) => normal(text, Reading::Signs).into(),
        Key::Amount(_) | Key::Day(_) | Key::Weekday(_) | Key::Clock(_) | Key::Rule(_) => "".into(),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns whether another form of a word is known: `Germans` of `German`.
fn is_known_form(word: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let without = ["s", "es", "n", "an", "ian", "ish"].iter().filter_map(|ending| word.strip_suffix(ending));
    let mut forms = without.filter(|form| form.len() >= 4);
    forms.any(is_known) || is_known(&format!("{word}s"))
}
