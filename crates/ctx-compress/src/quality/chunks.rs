//! Lists that grow without being copied, so that they never need room twice.

use std::num::NonZeroU32;

/// How many items stand together.
const CHUNK: usize = 1_024;

/// A list of many items.
#[derive(Debug)]
pub(super) struct Chunks<T>(Vec<Vec<T>>);

/// The number of an item; that there is none needs no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link(NonZeroU32);

impl Link {
    pub(super) fn to(number: u32) -> Option<Self> {
        NonZeroU32::new(number.saturating_add(1)).map(Self)
    }

    pub(super) const fn number(self) -> u32 {
        self.0.get() - 1
    }
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Chunks<T> {
    /// Adds an item and returns its number.
    pub(super) fn push(&mut self, item: T) -> u32 {
        let number = self.len();
        if self.0.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            // The first chunk may stay small.
            self.0.push(Vec::with_capacity(if self.0.is_empty() { 0 } else { CHUNK }));
        }
        if let Some(chunk) = self.0.last_mut() {
            chunk.push(item);
        }
        number
    }

    /// Returns how many items there are; a side has at most 32 MiB, so that they can be counted so.
    pub(super) fn len(&self) -> u32 {
        let last = self.0.last().map_or(0, Vec::len);
        u32::try_from(self.0.len().saturating_sub(1) * CHUNK + last).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let at = number as usize;
        self.0.get(at / CHUNK)?.get(at % CHUNK)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let at = number as usize;
        self.0.get_mut(at / CHUNK)?.get_mut(at % CHUNK)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// Returns the first number whose item is not as wanted, where all that are stand before all that are not.
    pub(super) fn partition_point(&self, is_wanted: impl Fn(&T) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(&is_wanted) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_their_numbers() {
        let mut all = Chunks::default();
        for item in 0..3_000_u32 {
            assert_eq!(all.push(item), item);
        }
        assert_eq!((all.len(), all.get(1_024), all.get(3_000)), (3_000, Some(&1_024), None));
        assert!(all.iter().copied().eq(0..3_000));
        assert_eq!(all.partition_point(|item| *item < 2_047), 2_047);
        *all.get_mut(7).unwrap() = 8;
        assert_eq!(all.get(7), Some(&8));
    }
}
