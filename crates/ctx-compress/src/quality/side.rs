//! One side of a comparison: its facts, and everything by which facts of the other side are looked up.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use ctx_types::Message;

use crate::quality::clauses::Sentence;
use crate::quality::fact::{FactKind, Place};
use crate::quality::gather::{Found, Gathered, gather};
use crate::quality::key::{Key, write_normal};
use crate::quality::lex::{Kind, Lexed};
use crate::quality::lookup::Values;
use crate::quality::passages::{Passage, names_beside, passages};
use crate::quality::rules::Rules;
use crate::quality::stems::hash;
use crate::request::is_filler;

/// How many bytes of a side are read; what comes later is reported as not read.
pub(super) const MOST_BYTES: usize = 32 << 20;

/// How many different facts of a side are told of.
pub(super) const MOST_FACTS: usize = 100_000;

/// One side of a comparison.
#[derive(Debug, Default)]
pub(super) struct Side<'a> {
    pub(super) passages: Vec<Passage<'a>>,
    pub(super) facts: Vec<Distinct>,
    pub(super) values: Values,
    pub(super) rules: Rules,
    /// All words in their order as [`normal`](crate::quality::key::normal) writes them, a line for each passage.
    pub(super) words: String,
    /// The same without words that carry little, for notes that leave those out.
    pub(super) light: String,
    /// Where words stand: their places in `words`, with passage and place in its text.
    pub(super) positions: Vec<(usize, u32, u32)>,
    /// Hashes of words, in lower case.
    pub(super) vocabulary: HashSet<u32>,
    /// Hashes of words that are written small somewhere.
    pub(super) small: HashSet<u32>,
    /// Hashes of capitalised words that stand without another one beside them.
    pub(super) alone: HashSet<u32>,
    /// How many bytes were not read.
    pub(super) unread: usize,
    /// How many facts were found for which there was no room.
    pub(super) left_out: usize,
    index: HashMap<(FactKind, Key), usize>,
    /// Passages and bytes of the sentences that are facts, in their order.
    told: Vec<(u32, Range<usize>)>,
}

/// A fact, wherever it stands.
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    pub(super) kind: FactKind,
    pub(super) key: Key,
    /// Whether some place of it says enough to be told.
    pub(super) is_told: bool,
    /// Passages and bytes.
    pub(super) places: Vec<(u32, Range<usize>)>,
    pub(super) count: usize,
    /// What it says, if it is more than a value.
    pub(super) sentence: Option<Box<Sentence>>,
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
        let mut side = Self::default();
        let mut left = MOST_BYTES;
        for (index, message) in messages.iter().enumerate() {
            for name in names_beside(message) {
                side.note_words(name, None);
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
        let text = passage.text.clone();
        let lexed = Lexed::of(&text, passage.form);
        let Gathered { found, sentences } = gather(&lexed);
        self.note_words(&text, Some(number));
        self.note_capitals(&lexed);
        for found in found {
            self.values.note(&found);
            self.add_fact(found, number);
        }
        for sentence in sentences {
            self.rules.add(sentence, number, passage.role);
        }
        self.passages.push(passage);
    }

    /// Notes the words of a text.
    fn note_words(&mut self, text: &str, passage: Option<u32>) {
        self.words.push('\n');
        let (words, positions) = (&mut self.words, &mut self.positions);
        words.push(' ');
        let begin = words.len();
        let mut places = |written: usize, at: usize| {
            if let Some(passage) = passage {
                positions.push((written, passage, u32::try_from(at).unwrap_or(u32::MAX)));
            }
        };
        write_normal(text, &mut places, words);
        words.push(' ');
        self.light.push_str("\n ");
        for word in words.get(begin..).unwrap_or_default().split(' ').filter(|word| !word.is_empty()) {
            self.vocabulary.insert(hash(word));
            if !is_filler(word) {
                self.light.push_str(word);
                self.light.push(' ');
            }
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
                    let lower = word.to_lowercase();
                    let bare =
                        lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s")).unwrap_or(&lower);
                    self.alone.insert(hash(bare));
                }
                false => {
                    self.small.insert(hash(word));
                }
            }
        }
    }

    fn add_fact(&mut self, found: Found, passage: u32) {
        let known = self.index.get(&(found.kind, found.key.clone())).copied();
        let at = match known {
            Some(at) => at,
            None if self.facts.len() >= MOST_FACTS => {
                self.left_out += usize::from(!found.is_weak);
                return;
            }
            None => {
                self.index.insert((found.kind, found.key.clone()), self.facts.len());
                self.facts.push(Distinct {
                    kind: found.kind,
                    key: found.key,
                    is_told: false,
                    places: Vec::new(),
                    count: 0,
                    sentence: found.sentence,
                });
                self.facts.len() - 1
            }
        };
        let Some(fact) = self.facts.get_mut(at) else { return };
        fact.is_told |= !found.is_weak;
        fact.count += 1;
        if fact.places.len() < crate::quality::Fact::MOST_PLACES {
            fact.places.push((passage, found.bytes));
        }
    }

    /// Makes facts of sentences, once all are known.
    fn finish(&mut self, which: Which) {
        for (at, kind) in self.rules.facts(which == Which::Original) {
            let Some((passage, sentence)) = self.rules.sentence(at) else { continue };
            let found = Found {
                kind,
                key: Key::Rule(sentence.key()),
                bytes: sentence.bytes.clone(),
                is_weak: false,
                sentence: Some(Box::new(sentence.clone())),
            };
            self.told.push((passage, sentence.bytes.clone()));
            self.add_fact(found, passage);
        }
        self.hush_quotes();
    }

    /// What somebody says is one fact: if a quotation holds a rule or a question, it is no other one.
    fn hush_quotes(&mut self) {
        for fact in
            self.facts.iter_mut().filter(|fact| fact.kind == FactKind::Quote && fact.sentence.is_some())
        {
            let is_told = |(passage, quote): &(u32, Range<usize>)| {
                let first = self
                    .told
                    .partition_point(|(other, bytes)| (*other, bytes.end) <= (*passage, quote.start));
                self.told.get(first).is_some_and(|(other, bytes)| other == passage && bytes.start < quote.end)
            };
            fact.is_told &= !fact.places.iter().any(is_told);
        }
    }

    /// Returns the first place of a fact.
    pub(super) fn place_of(&self, kind: FactKind, key: &Key) -> Option<Place> {
        let fact = self.facts.get(*self.index.get(&(kind, key.clone()))?)?;
        let (passage, bytes) = fact.places.first()?;
        Some(self.passages.get(*passage as usize)?.place(bytes))
    }

    /// Returns the place of a word of [`Side::words`], by where it stands there.
    pub(super) fn place_at(&self, at: usize) -> Option<Place> {
        let next = self.positions.partition_point(|(written, ..)| *written < at);
        let (_, passage, start) = self.positions.get(next)?;
        let passage = self.passages.get(*passage as usize)?;
        let start = *start as usize;
        let word = passage.text.get(start..)?;
        let length = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        Some(passage.place(&(start..start + length)))
    }
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
