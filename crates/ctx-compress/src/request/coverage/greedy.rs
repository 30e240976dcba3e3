//! The choice: units by what they add for what they cost.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use ctx_types::NoteLineKind;

use crate::request::coverage::index::{Index, PassageEntry, Unit};

/// Chooses units until the room is used up.
///
/// Lazy greedy selection: what a unit adds is the worth of its words that nothing chosen before has, and that only
/// falls while others are chosen, so that an old figure is a bound. O(units · log units) and the words of the units
/// that are looked at again.
pub(super) struct Choice<'a> {
    index: &'a Index,
    efforts: Vec<u64>,
    covered: Vec<bool>,
    is_paid: Vec<bool>,
    paid_lists: HashSet<(u32, u16)>,
    is_done: Vec<bool>,
    /// What is left, in quarters of a token.
    room: u64,
    /// What was chosen, in the order of choosing, each with what it cost.
    pub(super) picks: Vec<(u32, u64)>,
}

impl<'a> Choice<'a> {
    /// Begins with a room in quarters of a token, and nothing chosen.
    pub(super) fn new(index: &'a Index, room: u64) -> Self {
        Self {
            index,
            efforts: (0..USUAL_PRICES).map(effort).collect(),
            covered: vec![false; index.weights.len()],
            is_paid: vec![false; index.passages.len()],
            paid_lists: HashSet::new(),
            is_done: vec![false; index.len()],
            room,
            picks: Vec::new(),
        }
    }

    /// Takes the units of a passage out of the choice; its line is written in another way and costs this much.
    pub(super) fn pin(&mut self, passage: u32, cost: u64) {
        self.room = self.room.saturating_sub(cost);
        for at in self.index.units_of(passage) {
            if let Some(is_done) = self.is_done.get_mut(at) {
                *is_done = true;
            }
            self.cover(at);
        }
    }

    /// Takes a word for said.
    pub(super) fn cover_word(&mut self, word: u32) {
        if let Some(covered) = self.covered.get_mut(word as usize) {
            *covered = true;
        }
    }

    /// Returns what is left, in quarters of a token.
    pub(super) const fn room(&self) -> u64 {
        self.room
    }

    /// Chooses what a message says and adds most for its length, within so many quarters of a token.
    pub(super) fn take_message(&mut self, message: usize, room: u64) {
        let least = self.room.saturating_sub(room);
        let passages = self.index.passages.iter().zip(0_u32..);
        let is_said =
            |entry: &PassageEntry| entry.message as usize == message && entry.kind != NoteLineKind::Call;
        let said = passages.filter(|(entry, _)| is_said(entry)).flat_map(|(_, at)| self.index.units_of(at));
        let mut open: Vec<usize> = said.collect();
        loop {
            open.retain(|at| {
                let is_open = !self.is_done.get(*at).copied().unwrap_or(true);
                is_open && self.index.unit(*at).is_some_and(|unit| self.price(unit) + least <= self.room)
            });
            let best = open.iter().map(|at| (self.gain(*at), Reverse(*at))).max();
            match best {
                Some((gain, Reverse(at))) if gain > 0 => self.take(at),
                _ => return,
            }
        }
    }

    /// Chooses the calls that changed something, newest first, as far as they fit into `share` hundredths of the room.
    pub(super) fn take_changes(&mut self, share: u64) {
        let least = self.room - self.room * share / 100;
        for passage in (0..self.index.passages.len()).rev() {
            let is_change = self.index.passages.get(passage).is_some_and(|entry| entry.is_change);
            if !is_change {
                continue;
            }
            for at in self.index.units_of(u32::try_from(passage).unwrap_or(u32::MAX)) {
                let fits = self.index.unit(at).is_some_and(|unit| self.price(unit) + least <= self.room);
                if fits && !self.is_done.get(at).copied().unwrap_or(true) {
                    self.take(at);
                }
            }
        }
    }

    /// Chooses until nothing more fits. When no unit adds anything, what was said before is forgotten, and the rest
    /// is chosen from again.
    pub(super) fn take_best(&mut self) {
        loop {
            let took = self.take_round();
            if !took {
                return;
            }
            self.covered.fill(false);
        }
    }

    /// Goes through all units once; tells whether any was chosen.
    fn take_round(&mut self) -> bool {
        let open = self.is_done.iter().enumerate().filter(|(_, is_done)| !**is_done).map(|(at, _)| at);
        let gains = open.map(|at| (self.gain(at), Reverse(u32::try_from(at).unwrap_or(u32::MAX))));
        let mut bounds = Vec::with_capacity(self.is_done.len());
        bounds.extend(gains.filter(|(gain, _)| *gain > 0));
        let mut heap: BinaryHeap<(u64, Reverse<u32>)> = bounds.into();
        let mut took = false;
        while let Some((bound, Reverse(at))) = heap.pop() {
            if self.room < CHEAPEST {
                return false;
            }
            let at = at as usize;
            let gain = self.gain(at);
            if gain < bound {
                if gain > 0 {
                    heap.push((gain, Reverse(u32::try_from(at).unwrap_or(u32::MAX))));
                }
                continue;
            }
            if self.index.unit(at).is_some_and(|unit| self.price(unit) <= self.room) {
                self.take(at);
                took = true;
            } else if let Some(is_done) = self.is_done.get_mut(at) {
                *is_done = true;
            }
        }
        took
    }

    fn take(&mut self, at: usize) {
        let Some(unit) = self.index.unit(at) else { return };
        let price = self.price(unit);
        self.room = self.room.saturating_sub(price);
        if let Some(is_paid) = self.is_paid.get_mut(unit.passage as usize) {
            *is_paid = true;
        }
        if unit.list > 0 {
            self.paid_lists.insert((unit.passage, unit.list));
        }
        if let Some(is_done) = self.is_done.get_mut(at) {
            *is_done = true;
        }
        self.picks.push((u32::try_from(at).unwrap_or(u32::MAX), price));
        self.cover(at);
    }

    fn cover(&mut self, at: usize) {
        let (new, others) = self.index.words(at);
        self.covered.get_mut(new).into_iter().for_each(|covered| covered.fill(true));
        for word in others {
            if let Some(covered) = self.covered.get_mut(word as usize) {
                *covered = true;
            }
        }
    }

    /// Returns what a unit costs now, in quarters of a token: its line, if it is the first of it, and its key, unless
    /// another item of its list has it.
    fn price(&self, unit: &Unit) -> u64 {
        let is_paid = self.is_paid.get(unit.passage as usize).copied().unwrap_or(false);
        let prefix = match self.index.passages.get(unit.passage as usize) {
            Some(entry) if !is_paid => u64::from(entry.prefix),
            _ => 0,
        };
        let has_key = unit.list > 0 && self.paid_lists.contains(&(unit.passage, unit.list));
        let key = if has_key { u64::from(unit.key_cost) } else { 0 };
        u64::from(unit.cost) + prefix - key
    }

    /// Returns the worth of the new words of a unit for its price; whole numbers, the same on every machine.
    fn gain(&self, at: usize) -> u64 {
        let Some(unit) = self.index.unit(at) else { return 0 };
        let (new, others) = self.index.words(at);
        let weights = self.index.weights.get(new.clone()).unwrap_or_default();
        let covered = self.covered.get(new).unwrap_or_default();
        let new =
            weights.iter().zip(covered).map(|(weight, covered)| u64::from(*weight) * u64::from(!covered));
        let is_new = |word: &u32| !self.covered.get(*word as usize).copied().unwrap_or(true);
        let others = others.filter(is_new).filter_map(|word| self.index.weights.get(word as usize));
        let worth = new.sum::<u64>() + others.map(|weight| u64::from(*weight)).sum::<u64>();
        // 2^10 keeps small differences apart; worth stays far below 2^40.
        (worth * u64::from(unit.factor)).saturating_mul(1 << 10) / self.effort(self.price(unit))
    }

    fn effort(&self, price: u64) -> u64 {
        let usual = usize::try_from(price).ok().and_then(|price| self.efforts.get(price)).copied();
        usual.unwrap_or_else(|| effort(price))
    }
}

/// Below so many quarters of a token, prices are usual.
const USUAL_PRICES: u64 = 512;

/// No unit with its blank is cheaper, in quarters of a token.
const CHEAPEST: u64 = 2;

/// Returns a price to the power of 1.1: longer units must be worth a little more for their length.
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
