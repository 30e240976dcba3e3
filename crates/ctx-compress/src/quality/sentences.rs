//! Many sentences in little room: what one is about stands in one list.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::iter;
use std::ops::Deref;

use ctx_types::Role;

use crate::quality::chunks::Chunks;
use crate::quality::clauses;
use crate::quality::fact::Spot;
use crate::quality::signs::Signs;

/// The sentences of a side, in their order.
#[derive(Debug, Default)]
pub(super) struct Sentences(Chunks<Statement>);

/// A sentence of a side.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Statement {
    pub(super) spot: Spot,
    pub(super) role: Role,
    pub(super) is_question: bool,
    /// Whether it asks for yes or no.
    pub(super) is_yes_or_no: bool,
    /// Whether it is in Chinese, where each character is a stem.
    pub(super) is_chinese: bool,
    /// Whether it begins with yes or no.
    pub(super) says_yes_or_no: bool,
    /// For each clause: how many stems, values and denied stems it has, its signs, and then all of these.
    clauses: Box<[u32]>,
}

/// A part of a sentence that says one thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause<'a> {
    /// What it is about: hashes of stems, sorted, each once.
    pub(super) stems: &'a [u32],
    /// Those of them that are values.
    pub(super) values: &'a [u32],
    /// If it denies something: those behind the word that does.
    pub(super) denied: &'a [u32],
    pub(super) signs: Signs,
}

impl Sentences {
    /// Adds a sentence and returns its number. O(its stems).
    pub(super) fn add(&mut self, sentence: &clauses::Sentence, spot: Spot, role: Role) -> u32 {
        let mut clauses = Vec::new();
        for clause in &sentence.clauses {
            let lists = [&clause.stems, &clause.values, &clause.denied];
            clauses.extend(lists.map(|list| narrow(list.len())));
            clauses.push(clause.signs.bits());
            for list in lists {
                clauses.extend(list);
            }
        }
        self.0.push(Statement {
            spot,
            role,
            is_question: sentence.is_question,
            is_yes_or_no: sentence.is_yes_or_no,
            is_chinese: sentence.is_chinese,
            says_yes_or_no: sentence.says_yes_or_no,
            clauses: clauses.into(),
        })
    }

    /// Returns the sentences from a number on.
    pub(super) fn from(&self, number: u32) -> impl Iterator<Item = &Statement> {
        (number..self.len()).map_while(|number| self.get(number))
    }

    /// Returns the number of the first sentence of a passage, or of a later one.
    pub(super) fn first_of(&self, passage: u32) -> u32 {
        self.partition_point(|said| said.spot.passage < passage)
    }
}

impl Deref for Sentences {
    type Target = Chunks<Statement>;

    fn deref(&self) -> &Chunks<Statement> {
        &self.0
    }
}

impl Statement {
    pub(super) fn clauses(&self) -> impl Iterator<Item = Clause<'_>> {
        let mut rest = &*self.clauses;
        iter::from_fn(move || {
            let ([stems, values, denied, signs], after) = rest.split_first_chunk()?;
            let (stems, after) = after.split_at_checked(*stems as usize)?;
            let (values, after) = after.split_at_checked(*values as usize)?;
            let (denied, after) = after.split_at_checked(*denied as usize)?;
            rest = after;
            Some(Clause { stems, values, denied, signs: Signs::of_bits(*signs) })
        })
    }

    /// What makes two sentences the same: what their clauses are about, and what they do.
    fn key(&self) -> impl Iterator<Item = u32> {
        self.clauses().flat_map(|clause| clause.stems.iter().copied().chain(iter::once(clause.signs.bits())))
    }

    /// Returns whether another sentence says the same in the same words, but for their endings.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.key().eq(other.key())
    }

    /// Returns a number that is equal for sentences that are alike.
    pub(super) fn number(&self) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.key().for_each(|part| part.hash(&mut hasher));
        u32::try_from(hasher.finish() >> 32).unwrap_or_default()
    }

    /// All its stems, each once.
    pub(super) fn about(&self) -> Vec<u32> {
        unique(self.clauses().flat_map(|clause| clause.stems.iter().copied()))
    }
}

/// Returns stems sorted, each once.
pub(super) fn unique(stems: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut stems: Vec<u32> = stems.collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
