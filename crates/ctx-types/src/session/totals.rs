//! Sums over what is sent of the active path, so that asking again costs nothing.

use std::sync::{Mutex, PoisonError};

use crate::text::EncodingId;

/// How many encodings sums are remembered for; the latest ones that asked are kept.
const KEPT: usize = 4;

/// The cost of the oldest messages that are sent, for each encoding.
#[derive(Debug, Default)]
pub(super) struct Totals(Mutex<Vec<Total>>);

#[derive(Clone, Copy, Debug)]
struct Total {
    encoding: EncodingId,
    /// How many messages are in the sum.
    counted: usize,
    tokens: u64,
}

impl Totals {
    /// Returns the sum for the first `len` messages; `cost` is asked for those that are not in it yet.
    pub(super) fn sum(&self, encoding: EncodingId, len: usize, cost: &dyn Fn(usize) -> u32) -> u64 {
        let known = self.read(encoding).filter(|total| total.counted <= len);
        let mut total = known.unwrap_or(Total { encoding, counted: 0, tokens: 0 });
        if total.counted < len || known.is_none() {
            let added = (total.counted..len).map(|position| u64::from(cost(position)));
            total.tokens = added.fold(total.tokens, u64::saturating_add);
            total.counted = len;
            self.write(total);
        }
        total.tokens
    }

    fn read(&self, encoding: EncodingId) -> Option<Total> {
        let totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.iter().find(|total| total.encoding == encoding).copied()
    }

    fn write(&self, total: Total) {
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.retain(|known| known.encoding != total.encoding);
        totals.push(total);
        let excess = totals.len().saturating_sub(KEPT);
        totals.drain(..excess);
    }
}

impl Clone for Totals {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}
