//! Chooses units by their new words and their size.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use ctx_types::NoteLineKind;

use crate::request::coverage::index::{Index, PassageEntry};

/// Chooses units until the room is used up.
///
/// Lazy greedy selection: the gain of a unit is the worth of its words that no chosen unit contains. The gain only
/// falls while other units are chosen, so an old gain is an upper limit. O(units · log units), plus the words of the
/// units that are checked again.
pub(super) struct Choice<'a> {
    index: &'a Index,
    covered: Vec<bool>,
    is_paid: Vec<bool>,
    paid_lists: HashSet<(usize, u16)>,
    is_done: Vec<bool>,
    /// The remaining room in quarters of a token.
    room: u64,
    /// The chosen units in the order of choosing, with their prices.
    pub(super) picks: Vec<(usize, u64)>,
}

impl<'a> Choice<'a> {
    /// Begins with a room in quarters of a token.
    pub(super) fn new(index: &'a Index, room: u64) -> Self {
        Self {
            index,
            covered: vec![false; index.weights.len()],
            is_paid: vec![false; index.passages.len()],
            paid_lists: HashSet::new(),
            is_done: vec![false; index.units.len()],
            room,
            picks: Vec::new(),
        }
    }

    /// Reserves quarters of a token.
    pub(super) fn reserve(&mut self, cost: u64) {
        self.room = self.room.saturating_sub(cost);
    }

    /// Removes the units of a passage that is written in another way.
    pub(super) fn pin(&mut self, passage: usize) {
        for at in self.index.passages[passage].units.clone() {
            self.is_done[at] = true;
            self.cover(at);
        }
    }

    /// Marks a word as covered.
    pub(super) fn cover_word(&mut self, word: u32) {
        self.covered[word as usize] = true;
    }

    /// Returns the remaining room in quarters of a token.
    pub(super) const fn room(&self) -> u64 {
        self.room
    }

    /// Returns the positions of the chosen units in each passage, in order.
    pub(super) fn by_passage(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut chosen: Vec<usize> = self.picks.iter().map(|(unit, _)| *unit).collect();
        chosen.sort_unstable();
        let mut by_passage: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in chosen {
            let passage = self.index.units[at].passage;
            let first = self.index.passages[passage].units.start;
            by_passage.entry(passage).or_default().push(at - first);
        }
        by_passage
    }

    /// Chooses the units of a message with the highest gains, up to this many quarters of a token.
    pub(super) fn take_message(&mut self, message: usize, room: u64) {
        let least = self.room.saturating_sub(room);
        let is_said = |entry: &&PassageEntry| entry.message == message && entry.kind != NoteLineKind::Call;
        let said = self.index.passages.iter().filter(is_said);
        let mut open: Vec<usize> = said.flat_map(|entry| entry.units.clone()).collect();
        loop {
            open.retain(|at| !self.is_done[*at] && self.price(*at) + least <= self.room);
            let best = open.iter().map(|at| (self.gain(*at), Reverse(*at))).max();
            match best {
                Some((gain, Reverse(at))) if gain > 0 => self.take(at),
                _ => return,
            }
        }
    }

    /// Chooses the calls that changed something, newest first, up to `share` percent of the room.
    pub(super) fn take_changes(&mut self, share: u64) {
        let least = self.room - self.room * share / 100;
        let index = self.index;
        for entry in index.passages.iter().rev().filter(|entry| entry.is_change) {
            for at in entry.units.clone() {
                if !self.is_done[at] && self.price(at) + least <= self.room {
                    self.take(at);
                }
            }
        }
    }

    /// Chooses until nothing more fits. When no unit adds a new word, forgets the covered words and continues with the
    /// remaining units.
    pub(super) fn take_best(&mut self) {
        while self.take_round() {
            self.covered.fill(false);
        }
    }

    /// Checks all units once; returns whether another round may choose more.
    fn take_round(&mut self) -> bool {
        let open = (0..self.is_done.len()).filter(|at| !self.is_done[*at]);
        let gains = open.map(|at| (self.gain(at), Reverse(at))).filter(|(gain, _)| *gain > 0);
        let mut heap: BinaryHeap<(u64, Reverse<usize>)> = gains.collect();
        let mut took = false;
        while let Some((bound, Reverse(at))) = heap.pop() {
            if self.room < CHEAPEST {
                return false;
            }
            let gain = self.gain(at);
            if gain < bound {
                if gain > 0 {
                    heap.push((gain, Reverse(at)));
                }
            } else if self.price(at) <= self.room {
                self.take(at);
                took = true;
            } else {
                self.is_done[at] = true;
            }
        }
        took
    }

    fn take(&mut self, at: usize) {
        let (unit, price) = (&self.index.units[at], self.price(at));
        self.room = self.room.saturating_sub(price);
        self.is_paid[unit.passage] = true;
        if unit.list > 0 {
            self.paid_lists.insert((unit.passage, unit.list));
        }
        self.is_done[at] = true;
        self.picks.push((at, price));
        self.cover(at);
    }

    fn cover(&mut self, at: usize) {
        for word in &self.index.units[at].words {
            self.covered[*word as usize] = true;
        }
    }

    /// Returns the current price of a unit in quarters of a token. It includes the line unless another unit paid for
    /// it, and the key unless another item of its list did.
    fn price(&self, at: usize) -> u64 {
        let unit = &self.index.units[at];
        let prefix = if self.is_paid[unit.passage] { 0 } else { self.index.passages[unit.passage].prefix };
        let has_key = unit.list > 0 && self.paid_lists.contains(&(unit.passage, unit.list));
        unit.cost + prefix - if has_key { unit.key_cost } else { 0 }
    }

    /// Returns the worth of a unit's new words per price, in whole numbers so that all machines agree.
    fn gain(&self, at: usize) -> u64 {
        let unit = &self.index.units[at];
        let new = unit.words.iter().map(|word| *word as usize).filter(|word| !self.covered[*word]);
        let worth: u64 = new.map(|word| u64::from(self.index.weights[word])).sum();
        // The factor 2^10 keeps small differences; the worth stays below 2^40.
        (worth * u64::from(unit.factor)).saturating_mul(1 << 10) / effort(self.price(at))
    }
}

/// The minimum price of a unit with its space, in quarters of a token.
const CHEAPEST: u64 = 2;

/// Returns a price to the power of 1.1, because long units must be worth a little more per byte.
fn effort(price: u64) -> u64 {
    const EXPONENT: f64 = 1.1;
    #[expect(clippy::cast_precision_loss, reason = "prices are far below 2^53")]
    let effort = (price.max(1) as f64).powf(EXPONENT) * 64.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and far below 2^64"
    )]
    let rounded = effort.round() as u64;
    rounded
}

#[cfg(test)]
mod tests;
