//! One side of a comparison: the texts, their facts, and the values by which facts are looked up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use ctx_types::Message;

use crate::quality::fact::{Fact, FactKind, Place};
use crate::quality::key::Key;
use crate::quality::passage::{Passage, names_beside, passages};
use crate::quality::scan::{FoundFact, scan};
use crate::quality::values::ValueSet;

/// Limit of a side in bytes; later texts are not read.
pub(super) const MAX_BYTES: usize = 32 << 20;

/// Limit of the different facts of a side.
pub(super) const MAX_FACTS: usize = 100_000;

/// The messages of one side.
#[derive(Debug, Default)]
pub(super) struct Side<'a> {
    pub(super) passages: Vec<Passage<'a>>,
    /// Names of tools, speakers and files.
    pub(super) names_beside: Vec<&'a str>,
    pub(super) facts: Vec<DistinctFact>,
    numbers: HashMap<(FactKind, Key), usize>,
    pub(super) values: ValueSet,
    /// Bytes that were not read.
    pub(super) unread: usize,
    /// Facts beyond the limit.
    pub(super) left_out: usize,
}

/// A fact with all its places.
#[derive(Debug)]
pub(super) struct DistinctFact {
    pub(super) kind: FactKind,
    pub(super) key: Key,
    pub(super) spots: Vec<PassageSpan>,
    pub(super) count: usize,
    /// Whether each of its places says too little to be reported.
    pub(super) is_weak: bool,
}

/// Bytes of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassageSpan {
    pub(super) passage: usize,
    pub(super) bytes: Range<usize>,
}

impl<'a> Side<'a> {
    /// Reads messages. O(bytes).
    pub(super) fn new(messages: &'a [Message]) -> Self {
        let mut side = Self::default();
        let mut left = MAX_BYTES;
        for (index, message) in messages.iter().enumerate() {
            side.names_beside.extend(names_beside(message));
            for passage in passages(index, message) {
                if passage.text.len() > left {
                    side.unread += passage.text.len();
                    continue;
                }
                left -= passage.text.len();
                for found in scan(&passage.readable(), passage.form) {
                    side.insert(found);
                }
                side.passages.push(passage);
            }
        }
        side
    }

    /// Inserts a fact of the passage that follows the last one.
    fn insert(&mut self, found: FoundFact) {
        self.values.insert(&found.key);
        let spot = PassageSpan { passage: self.passages.len(), bytes: found.bytes };
        let number = match self.numbers.entry((found.kind, found.key)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(_) if self.facts.len() >= MAX_FACTS => {
                self.left_out += usize::from(!found.is_weak);
                return;
            }
            Entry::Vacant(entry) => {
                let key = entry.key().1.clone();
                entry.insert(self.facts.len());
                let spots = Vec::with_capacity(1);
                self.facts.push(DistinctFact { kind: found.kind, key, spots, count: 0, is_weak: true });
                self.facts.len() - 1
            }
        };
        let fact = &mut self.facts[number];
        fact.is_weak &= found.is_weak;
        fact.count += 1;
        if fact.spots.len() < Fact::MOST_PLACES {
            fact.spots.push(spot);
        }
    }

    /// Returns the fact with the same value.
    pub(super) fn find(&self, kind: FactKind, key: &Key) -> Option<&DistinctFact> {
        self.numbers.get(&(kind, key.clone())).map(|number| &self.facts[*number])
    }

    pub(super) fn place(&self, spot: &PassageSpan) -> Place {
        self.passages[spot.passage].place(&spot.bytes)
    }

    pub(super) fn text(&self, spot: &PassageSpan) -> &str {
        &self.passages[spot.passage].text[spot.bytes.clone()]
    }

    /// Returns whether a fact is in a digest, which drops words of sentences.
    pub(super) fn is_in_digest(&self, fact: &DistinctFact) -> bool {
        self.passages[fact.spots[0].passage].is_digest
    }
}
