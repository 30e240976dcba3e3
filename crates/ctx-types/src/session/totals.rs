use std::sync::{Mutex, PoisonError};

use crate::text::EncodingId;

/// Maximum number of cached encodings; the latest are kept.
const KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Totals(Mutex<Vec<Total>>);

#[derive(Clone, Copy, Debug)]
struct Total {
    encoding: EncodingId,
    counted: usize,
    tokens: u64,
}

impl Totals {
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
