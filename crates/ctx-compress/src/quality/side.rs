//! One side of a comparison: its facts, and everything by which facts of the other side are looked up.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::{iter, mem};

use ctx_types::Message;

use crate::quality::chunks::{Chunks, Link};
use crate::quality::fact::{Fact, FactKind, Place, Spot};
use crate::quality::gather::{Gathered, gather};
use crate::quality::key::{Key, Reading, each_word, normal};
use crate::quality::lex::{Kind, Lexed, is_han};
use crate::quality::lookup::Values;
use crate::quality::passages::{Passage, names_beside, passages, pieces};
use crate::quality::rules::Rules;
use crate::quality::sentences::{Sentences, Statement};
use crate::quality::stems::hash;

/// How many bytes of a side are read; what comes later is reported as not read.
pub(super) const MOST_BYTES: usize = 32 << 20;

/// How many different facts of a side are told of.
pub(super) const MOST_FACTS: usize = 100_000;

/// One side of a comparison.
///
/// Texts are borrowed and words are not kept: what is looked for in them is looked for once, at the end.
#[derive(Debug, Default)]
pub(super) struct Side<'a> {
    pub(super) passages: Vec<Passage<'a>>,
    /// Words beside texts, such as names of tools.
    pub(super) beside: Vec<&'a str>,
    pub(super) facts: Chunks<Distinct>,
    /// Further places of facts, each with the one before.
    more: Chunks<(Spot, Option<Link>)>,
    pub(super) values: Values,
    pub(super) rules: Rules,
    /// What somebody says within quotation marks.
    quoted: Sentences,
    /// Hashes of words, in lower case.
    pub(super) vocabulary: HashSet<u32>,
    /// Hashes of words that are written small somewhere.
    pub(super) small: HashSet<u32>,
    /// Hashes of capitalised words that stand without another one beside them.
    pub(super) alone: HashSet<u32>,
    /// Runs that are too long for words: encodings of something else.
    encoded: Vec<Spot>,
    /// How many bytes were not read.
    pub(super) unread: usize,
    /// How many facts were found for which there was no room.
    pub(super) left_out: usize,
    /// The newest fact with a number of its key.
    newest: HashMap<u32, u32>,
    /// The sentences that are facts, in their order.
    told: Vec<Spot>,
}

/// A fact, wherever it stands.
#[derive(Debug)]
pub(super) struct Distinct {
    pub(super) key: Key,
    /// Its first place.
    pub(super) first: Spot,
    /// In how many places it stands.
    pub(super) count: u32,
    /// The last of its further places.
    last: Option<Link>,
    /// For what somebody says: the number of its sentence.
    quoted: Option<Link>,
    /// Another fact with the same number of its key.
    next: Option<Link>,
    pub(super) kind: FactKind,
    /// Whether some place of it says enough to be told.
    pub(super) is_told: bool,
}

/// Which side is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The original: questions in it count if nobody answered them.
    Original,
    /// The compressed form.
    Compressed,
}

impl<'a> Side<'a> {
    /// Reads messages. O(bytes).
    pub(super) fn of(messages: &'a [Message], which: Which) -> Self {
        let mut side = Self { passages: Vec::with_capacity(messages.len()), ..Self::default() };
        let mut left = MOST_BYTES;
        for (index, message) in messages.iter().enumerate() {
            for name in names_beside(message) {
                side.note_words(name, Reading::Signs);
                side.beside.push(name);
            }
            for mut passage in passages(index, message) {
                if let Some(note) = &message.note {
                    skip_head(&mut passage, note.head);
                }
                let size = passage.text.len();
                if size > left {
                    side.unread += size;
                    continue;
                }
                left -= size;
                side.add(passage);
            }
        }
        side.finish(which);
        side
    }

    fn add(&mut self, passage: Passage<'a>) {
        let number = u32::try_from(self.passages.len()).unwrap_or(u32::MAX);
        let mut is_fenced = false;
        for (base, text) in pieces(&passage.text) {
            let lexed = Lexed::of_piece(text, passage.form, is_fenced);
            is_fenced = lexed.ends_in_code;
            let spot = |bytes: &Range<usize>| Spot::new(number, &(base + bytes.start..base + bytes.end));
            let Gathered { found, sentences } = gather(&lexed);
            self.note_capitals(&lexed);
            for found in found {
                self.values.note(&found);
                let quoted = found.sentence.as_deref();
                let quoted = quoted.map(|said| self.quoted.add(said, spot(&said.bytes), passage.role));
                let quoted = quoted.and_then(Link::to);
                let spot = spot(&found.bytes);
                self.add_fact(
                    FactIdentity { kind: found.kind, key: found.key, is_weak: found.is_weak },
                    spot,
                    quoted,
                );
            }
            for sentence in sentences {
                self.rules.add(&sentence, spot(&sentence.bytes), passage.role);
            }
            self.encoded.extend(lexed.encoded.iter().map(spot));
        }
        passage.readings().iter().for_each(|reading| self.note_words(&passage.text, *reading));
        self.passages.push(passage);
    }

    /// Notes the words of a text; of Chinese, whole runs of characters.
    fn note_words(&mut self, text: &str, reading: Reading) {
        let mut run = String::new();
        let vocabulary = &mut self.vocabulary;
        each_word(text, reading, &mut |word| {
            if !word.is_joined && !run.is_empty() {
                vocabulary.insert(hash(&run));
                run.clear();
            }
            if word.text.starts_with(is_han) {
                run.push_str(word.text);
            } else {
                _ = vocabulary.insert(hash(word.text));
            }
        });
        if !run.is_empty() {
            vocabulary.insert(hash(&run));
        }
    }

    fn note_capitals(&mut self, lexed: &Lexed<'_>) {
        let is_large =
            |at: usize| lexed.kind(at) == Some(Kind::Word) && lexed.str(at).starts_with(char::is_uppercase);
        for at in (0..lexed.tokens.len()).filter(|at| lexed.kind(*at) == Some(Kind::Word)) {
            let word = lexed.str(at);
            let is_beside = is_large(at + 1) || at.checked_sub(1).is_some_and(is_large);
            match is_large(at) {
                true if is_beside => {}
                true => {
                    let endings = ["'s", "’s", "'S", "’S"];
                    let bare = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
                    self.alone.insert(hash(&normal(bare, Reading::Signs)));
                }
                false => {
                    self.small.insert(hash(&normal(word, Reading::Signs)));
                }
            }
        }
    }

    /// Adds a place of a fact.
    fn add_fact(&mut self, fact: FactIdentity, spot: Spot, quoted: Option<Link>) {
        let number = number(fact.kind, &fact.key);
        let at = match self.find(number, fact.kind, &fact.key) {
            Some(at) => at,
            None if self.facts.len() as usize >= MOST_FACTS => {
                self.left_out += usize::from(!fact.is_weak);
                return;
            }
            None => {
                let next = self.newest.insert(number, self.facts.len()).and_then(Link::to);
                let (kind, key, is_told) = (fact.kind, fact.key, false);
                self.facts.push(Distinct {
                    key,
                    first: spot,
                    count: 0,
                    last: None,
                    quoted,
                    next,
                    kind,
                    is_told,
                })
            }
        };
        let Some(known) = self.facts.get_mut(at) else { return };
        known.is_told |= !fact.is_weak;
        if known.count > 0 && (known.count as usize) < Fact::MOST_PLACES {
            known.last = Link::to(self.more.push((spot, known.last)));
        }
        known.count += 1;
    }

    fn find(&self, number: u32, kind: FactKind, key: &Key) -> Option<u32> {
        let mut at = self.newest.get(&number).copied();
        while let Some(place) = at {
            let fact = self.facts.get(place)?;
            if fact.kind == kind && fact.key == *key {
                return Some(place);
            }
            at = fact.next.map(Link::number);
        }
        None
    }

    /// Makes facts of sentences, once all are known.
    fn finish(&mut self, which: Which) {
        self.rules.finish();
        for number in 0..self.rules.len() {
            let Some(kind) = self.rules.kind(number, which == Which::Original) else { continue };
            let Some(sentence) = self.rules.sentence(number) else { continue };
            let (first, spot) = (self.rules.first_like(sentence).unwrap_or(number), sentence.spot);
            self.told.push(spot);
            self.add_fact(FactIdentity { kind, key: Key::Rule(first), is_weak: false }, spot, None);
        }
        self.hush_quotes();
        self.told = Vec::new();
        if which == Which::Original {
            // Only the compressed form is asked where it says a value.
            self.newest = HashMap::new();
        }
    }

    /// What somebody says is one fact: if a quotation holds a rule or a question, it is no other one.
    fn hush_quotes(&mut self) {
        let (told, more) = (&self.told, &self.more);
        let is_told = |quote: Spot| {
            let first =
                told.partition_point(|other| (other.passage, other.end) <= (quote.passage, quote.start));
            told.get(first).is_some_and(|other| other.passage == quote.passage && other.start < quote.end)
        };
        for fact in self.facts.iter_mut().filter(|fact| fact.quoted.is_some()) {
            fact.is_told &= !is_told(fact.first) && !further(more, fact.last).any(&is_told);
        }
    }

    /// Returns the places of a fact, in their order.
    pub(super) fn spots(&self, fact: &Distinct) -> Vec<Spot> {
        let mut spots = Vec::with_capacity(Fact::MOST_PLACES.min(fact.count as usize));
        spots.extend(further(&self.more, fact.last));
        spots.push(fact.first);
        spots.reverse();
        spots
    }

    /// Frees what is only needed to look facts up.
    pub(super) fn forget_words(&mut self) {
        let whole = mem::take(self);
        *self = Self {
            passages: whole.passages,
            facts: whole.facts,
            more: whole.more,
            unread: whole.unread,
            left_out: whole.left_out,
            ..Self::default()
        };
        // What facts are compared by is not told.
        self.facts.iter_mut().for_each(|fact| fact.key = Key::Weekday(0));
    }

    /// Returns the first place of a fact.
    pub(super) fn place_of(&self, kind: FactKind, key: &Key) -> Option<Spot> {
        let at = self.find(number(kind, key), kind, key)?;
        Some(self.facts.get(at)?.first)
    }

    /// Returns the place of something.
    pub(super) fn place(&self, spot: Spot) -> Option<Place> {
        self.passages.get(spot.passage as usize).map(|passage| passage.place(&spot.bytes()))
    }

    /// Returns the place of a word that begins somewhere.
    pub(super) fn place_of_word(&self, (number, start): (u32, u32)) -> Option<Spot> {
        let start = start as usize;
        let word = self.passages.get(number as usize)?.text.get(start..)?;
        let length = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        Some(Spot::new(number, &(start..start + length)))
    }

    /// Returns the words of something.
    pub(super) fn text(&self, spot: Spot) -> &str {
        let passage = self.passages.get(spot.passage as usize);
        passage.and_then(|passage| passage.text.get(spot.bytes())).unwrap_or_default()
    }

    /// Returns the sentence that a fact is.
    pub(super) fn sentence(&self, fact: &Distinct) -> Option<&Statement> {
        match (&fact.key, fact.quoted) {
            (Key::Rule(number), _) => self.rules.sentence(*number),
            (_, Some(link)) => self.quoted.get(link.number()),
            (_, None) => None,
        }
    }

    /// Returns whether some letters stand in an encoding. O(bytes of encodings).
    pub(super) fn has_encoded(&self, letters: &str) -> bool {
        self.encoded.iter().any(|spot| self.text(*spot).contains(letters))
    }
}

/// Returns further places of a fact, the last first.
fn further(more: &Chunks<(Spot, Option<Link>)>, last: Option<Link>) -> impl Iterator<Item = Spot> {
    let mut at = last;
    iter::from_fn(move || {
        let (spot, before) = more.get(at?.number())?;
        at = *before;
        Some(*spot)
    })
}

/// A fact without its place.
struct FactIdentity {
    kind: FactKind,
    key: Key,
    is_weak: bool,
}

/// Returns a number that is equal for equal facts.
fn number(kind: FactKind, key: &Key) -> u32 {
    let mut hasher = DefaultHasher::new();
    (kind, key).hash(&mut hasher);
    u32::try_from(hasher.finish() >> 32).unwrap_or_default()
}

/// Leaves out the lines of a note that explain the others: what stands there comes from no message.
fn skip_head(passage: &mut Passage<'_>, lines: usize) {
    if lines == 0 || passage.call.is_some() {
        return;
    }
    let end = passage.text.match_indices('\n').nth(lines - 1).map_or(passage.text.len(), |(at, _)| at);
    // As many bytes as before, so that places stay places of the text.
    let blank = " ".repeat(end);
    let rest = passage.text.get(end..).unwrap_or_default();
    passage.text = format!("{blank}{rest}").into();
}
