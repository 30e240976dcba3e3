pub(crate) const MAX: u32 = 0x10_FFFF;
pub(crate) const HIGH: (u32, u32) = (0xD800, 0xDBFF);
pub(crate) const LOW: (u32, u32) = (0xDC00, 0xDFFF);

/// Sorted ranges that do not overlap or touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeSet {
    ranges: Vec<(u32, u32)>,
}

impl CodeSet {
    pub(crate) fn all() -> Self {
        Self { ranges: vec![(0, MAX)] }
    }

    pub(crate) fn one(code: u32) -> Self {
        Self { ranges: vec![(code, code)] }
    }

    /// Merges ranges. O(n log n).
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => previous.1 = previous.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        Self { ranges: merged }
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.ranges.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }

    pub(crate) fn single(&self) -> Option<u32> {
        match self.ranges.as_slice() {
            [(first, last)] if first == last => Some(*first),
            _ => None,
        }
    }

    pub(crate) fn is_within(&self, min: u32, max: u32) -> bool {
        self.ranges.iter().all(|(first, last)| min <= *first && *last <= max)
    }

    pub(crate) fn contains(&self, code: u32) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= code);
        after.checked_sub(1).and_then(|i| self.ranges.get(i)).is_some_and(|(_, last)| code <= *last)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::new(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for (first, last) in &self.ranges {
            if next < *first {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= MAX {
            ranges.push((next, MAX));
        }
        Self { ranges }
    }

    pub(crate) fn intersect(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let (first, last) = (a.0.max(b.0), a.1.min(b.1));
            if first <= last {
                ranges.push((first, last));
            }
            if a.1 < b.1 {
                left.next()
            } else {
                right.next()
            };
        }
        Self { ranges }
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.intersect(&other.complement())
    }

    /// Without surrogates, which do not occur in text.
    pub(crate) fn char_ranges(&self) -> impl Iterator<Item = (char, char)> {
        let parts = self
            .ranges
            .iter()
            .flat_map(|&(first, last)| [(first, last.min(HIGH.0 - 1)), (first.max(LOW.1 + 1), last)]);
        parts
            .filter(|(first, last)| first <= last)
            .filter_map(|(first, last)| Some((char::from_u32(first)?, char::from_u32(last)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_touching_and_overlapping_ranges() {
        let set = CodeSet::new(vec![(5, 9), (1, 2), (3, 3), (8, 12)]);
        assert_eq!(set.ranges(), [(1, 3), (5, 12)]);
    }

    #[test]
    fn restores_set_by_double_complement() {
        for ranges in [vec![], vec![(0, 0)], vec![(0, MAX)], vec![(3, 9), (20, MAX)]] {
            let set = CodeSet::new(ranges);
            assert_eq!(set.complement().complement(), set);
            assert!(set.intersect(&set.complement()).is_empty());
        }
    }

    #[test]
    fn subtracts_other_set() {
        let set = CodeSet::new(vec![(0, 10), (20, 30)]).difference(&CodeSet::new(vec![(5, 25)]));
        assert_eq!(set.ranges(), [(0, 4), (26, 30)]);
    }

    #[test]
    fn excludes_surrogates_from_char_ranges() {
        let ranges = |set: CodeSet| set.char_ranges().collect::<Vec<_>>();
        assert_eq!(ranges(CodeSet::all()), [('\0', '\u{D7FF}'), ('\u{E000}', '\u{10FFFF}')]);
        assert_eq!(ranges(CodeSet::new(vec![HIGH, LOW])), []);
        assert_eq!(ranges(CodeSet::new(vec![(0x61, 0x7A)])), [('a', 'z')]);
    }
}
