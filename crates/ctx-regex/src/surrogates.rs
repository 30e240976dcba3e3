//! Surrogate pairs in patterns without `u`.
//!
//! JavaScript matches UTF-16 units, but texts here have no lone surrogates. Therefore a class contains an
//! astral character if it contains both surrogates (a negated class, if neither), and a high surrogate
//! followed by a low one is the character.

use crate::ast::{Node, Repeat};
use crate::code_set::{CodeSet, HIGH, LOW};

const ASTRAL: u32 = 0x1_0000;
const LOWS: u32 = LOW.1 - LOW.0 + 1;

pub(crate) fn pair(high: u32, low: u32) -> Option<u32> {
    let is_pair = (HIGH.0..=HIGH.1).contains(&high) && (LOW.0..=LOW.1).contains(&low);
    is_pair.then(|| ASTRAL + (high - HIGH.0) * LOWS + (low - LOW.0))
}

pub(crate) struct SurrogateSets {
    high: CodeSet,
    low: CodeSet,
}

impl SurrogateSets {
    pub(crate) fn from_set(set: &CodeSet) -> Self {
        Self { high: set.intersect(&CodeSet::new(vec![HIGH])), low: set.intersect(&CodeSet::new(vec![LOW])) }
    }

    pub(crate) fn cost_of_both(&self) -> usize {
        cost(&self.high, &self.low)
    }

    /// Both surrogates are in the set.
    pub(crate) fn both(&self) -> CodeSet {
        product(&self.high, &self.low)
    }

    pub(crate) fn cost_of_either(&self) -> usize {
        cost(&self.high, &CodeSet::new(vec![LOW])) + cost(&CodeSet::new(vec![HIGH]), &self.low)
    }

    /// At least one surrogate is in the set.
    pub(crate) fn either(&self) -> CodeSet {
        let any_low = product(&self.high, &CodeSet::new(vec![LOW]));
        any_low.union(&product(&CodeSet::new(vec![HIGH]), &self.low))
    }
}

fn cost(high: &CodeSet, low: &CodeSet) -> usize {
    match low.ranges() {
        [LOW] => high.ranges().len(),
        ranges => high.len() * ranges.len(),
    }
}

fn product(high: &CodeSet, low: &CodeSet) -> CodeSet {
    let astral = |high: u32, low: u32| ASTRAL + (high - HIGH.0) * LOWS + (low - LOW.0);
    if low.ranges() == [LOW] {
        let ranges = high.ranges().iter().map(|(first, last)| (astral(*first, LOW.0), astral(*last, LOW.1)));
        return CodeSet::new(ranges.collect());
    }
    let highs = high.ranges().iter().flat_map(|(first, last)| *first..=*last);
    let ranges = highs.flat_map(|high| {
        low.ranges().iter().map(move |(first, last)| (astral(high, *first), astral(high, *last)))
    });
    CodeSet::new(ranges.collect())
}

/// Only one pair can match, so quantifiers that accept one repetition are ignored.
pub(crate) fn join(first: &Node, second: &Node) -> Option<SurrogateSets> {
    let (high, low) = (surrogates(first, HIGH.0, HIGH.1)?, surrogates(second, LOW.0, LOW.1)?);
    Some(SurrogateSets { high: high.clone(), low: low.clone() })
}

fn surrogates(node: &Node, min: u32, max: u32) -> Option<&CodeSet> {
    match node {
        Node::Set(set) if !set.is_empty() && set.is_within(min, max) => Some(set),
        Node::Repeat(Repeat { body, min: 0 | 1, max: count, .. }) if *count != Some(0) => {
            surrogates(body, min, max)
        }
        _ => None,
    }
}
