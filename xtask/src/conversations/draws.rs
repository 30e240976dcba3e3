//! Repeatable draws.

/// A stream of numbers from a seed (`SplitMix64`, Steele and others 2014).
#[derive(Debug)]
pub(super) struct Draws(u64);

impl Draws {
    /// Starts a stream that belongs to a name.
    pub(super) fn named(name: &str) -> Self {
        Self(name.bytes().fold(0x9e37_79b9, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number from 0 to below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// Draws a number of a range, both ends included.
    pub(super) fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// Draws one thing of a list.
    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Answers yes in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns the things of a list in a drawn order.
    pub(super) fn shuffled<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        let mut all = list.to_vec();
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
        all
    }

    /// Draws letters and digits in lower case.
    pub(super) fn hex(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(b"0123456789abcdef"))).collect()
    }
}
