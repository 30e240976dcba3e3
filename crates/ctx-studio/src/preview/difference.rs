//! What differs between two lists, in bounded work whatever they hold.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Up to this product of the lengths, what differs is found item by item whatever the lists hold.
const FREE: usize = 1_000_000;

/// How much of that is spent on all parts of one comparison; what is left is replaced as a whole.
const MAX_STEPS: usize = 20 * FREE;

/// How often a part between two anchors is divided again.
const MAX_DEPTH: usize = 8;

/// How many items in a row are looked for, from the cheapest to the one that finds most in repeated words.
const WIDTHS: [usize; 3] = [1, 4, 16];

/// Returns the edits that make the new list of the old one, in order.
///
/// Short lists are compared item by item. Long ones are divided at what stands once in both of them, as in the patience
/// algorithm; a part without such an anchor that is still long is replaced as a whole. O(N log N) and at most
/// [`MAX_STEPS`] comparisons.
pub(crate) fn operations<T: Eq + Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let (old_part, new_part) = changed(old, new);
    if old_part.len().saturating_mul(new_part.len()) <= FREE {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let mut work = Work { old, new, steps: MAX_STEPS, found: Vec::new() };
    work.compare(0..old.len(), 0..new.len(), 0);
    work.found
}

/// A comparison under way.
struct Work<'l, T> {
    old: &'l [T],
    new: &'l [T],
    steps: usize,
    found: Vec<DiffOp>,
}

impl<T: Eq + Hash + Ord> Work<'_, T> {
    fn compare(&mut self, old: Range<usize>, new: Range<usize>, depth: usize) {
        let (old_part, new_part) = changed(&self.old[old.clone()], &self.new[new.clone()]);
        let (old_part, new_part) = (shifted(&old_part, old.start), shifted(&new_part, new.start));
        self.equal(old.start, new.start, old_part.start - old.start);
        self.differ(old_part.clone(), new_part.clone(), depth);
        self.equal(old_part.end, new_part.end, old.end - old_part.end);
    }

    /// Compares parts that neither begin nor end with the same item.
    fn differ(&mut self, old: Range<usize>, new: Range<usize>, depth: usize) {
        let (old_index, new_index, old_len, new_len) = (old.start, new.start, old.len(), new.len());
        let cost = old_len.saturating_mul(new_len);
        if cost == 0 {
            self.found.extend((old_len > 0).then_some(DiffOp::Delete { old_index, old_len, new_index }));
            self.found.extend((new_len > 0).then_some(DiffOp::Insert { old_index, new_index, new_len }));
            return;
        }
        if cost <= FREE.min(self.steps) {
            self.steps -= cost;
            let parts = capture_diff_slices(Algorithm::Myers, &self.old[old], &self.new[new]);
            for part in parts {
                self.found.push(moved(part, old_index, new_index));
            }
            return;
        }
        let anchors = if depth < MAX_DEPTH {
            anchors(&self.old[old.clone()], &self.new[new.clone()])
        } else {
            Vec::new()
        };
        if anchors.is_empty() {
            self.found.push(DiffOp::Replace { old_index, old_len, new_index, new_len });
            return;
        }
        let (mut old_from, mut new_from) = (old.start, new.start);
        for (old_at, new_at) in anchors {
            let (old_at, new_at) = (old.start + old_at, new.start + new_at);
            self.compare(old_from..old_at, new_from..new_at, depth + 1);
            self.equal(old_at, new_at, 1);
            (old_from, new_from) = (old_at + 1, new_at + 1);
        }
        self.compare(old_from..old.end, new_from..new.end, depth + 1);
    }

    fn equal(&mut self, old_index: usize, new_index: usize, len: usize) {
        match self.found.last_mut() {
            _ if len == 0 => (),
            Some(DiffOp::Equal { len: before, .. }) => *before += len,
            _ => self.found.push(DiffOp::Equal { old_index, new_index, len }),
        }
    }
}

/// Returns what is left of both lists without what they share at their ends.
fn changed<T: Eq>(old: &[T], new: &[T]) -> (Range<usize>, Range<usize>) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    (start..old.len() - end, start..new.len() - end)
}

/// Returns the places of what stands once in both lists, in the most that have the same order in both.
fn anchors<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let of_width = |width| {
        let mut seen: HashMap<&[T], Seen> = HashMap::new();
        for (at, items) in old.windows(width).enumerate() {
            seen.entry(items).or_default().old.note(at);
        }
        for (at, items) in new.windows(width).enumerate() {
            if let Some(seen) = seen.get_mut(items) {
                seen.new.note(at);
            }
        }
        let once = new.windows(width).filter_map(|items| {
            let seen = seen.get(items)?;
            Some((seen.old.once()?, seen.new.once()?))
        });
        rising(&once.collect::<Vec<_>>())
    };
    WIDTHS.into_iter().map(of_width).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Where something stands in both lists.
#[derive(Default)]
struct Seen {
    old: Places,
    new: Places,
}

#[derive(Default)]
struct Places {
    first: usize,
    count: usize,
}

impl Places {
    const fn note(&mut self, at: usize) {
        if self.count == 0 {
            self.first = at;
        }
        self.count += 1;
    }

    fn once(&self) -> Option<usize> {
        (self.count == 1).then_some(self.first)
    }
}

/// Returns the longest rising choice of pairs that rise by their second place. O(n log n).
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The pair at which the best choice of each length ends, and for each pair the one before it.
    let (mut ends, mut before) = (Vec::<usize>::new(), Vec::new());
    for (index, (old, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].0 < *old);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let last = ends.last().copied();
    let mut chosen: Vec<_> =
        std::iter::successors(last, |&index| before[index]).map(|index| pairs[index]).collect();
    chosen.reverse();
    chosen
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// Returns an operation on parts as one on the lists that they begin in.
const fn moved(operation: DiffOp, old: usize, new: usize) -> DiffOp {
    match operation {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old + old_index, new_index: new + new_index, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old + old_index, old_len, new_index: new + new_index }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old + old_index, new_index: new + new_index, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old + old_index, old_len, new_index: new + new_index, new_len }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the new list of the old one by the operations.
    fn applied(old: &[usize], new: &[usize]) -> (Vec<usize>, usize) {
        let operations = operations(old, new);
        let made = operations.iter().flat_map(|operation| match operation {
            DiffOp::Equal { .. } => old[operation.old_range()].to_vec(),
            _ => new[operation.new_range()].to_vec(),
        });
        (made.collect(), operations.len())
    }

    #[test]
    fn short_lists_differ_item_by_item() {
        assert_eq!(applied(&[1, 2, 3, 4], &[1, 9, 3, 4]), (vec![1, 9, 3, 4], 3));
        assert_eq!(applied(&[], &[1]), (vec![1], 1));
        assert_eq!(applied(&[1, 2], &[1, 2]), (vec![1, 2], 1));
    }

    #[test]
    fn long_lists_with_little_in_common_are_replaced_between_their_ends() {
        let old: Vec<usize> = (0..20_000).collect();
        let new: Vec<usize> =
            (0..20_000).map(|item| if (5..19_990).contains(&item) { item + 90_000 } else { item }).collect();
        assert_eq!(applied(&old, &new), (new.clone(), 3));
    }

    #[test]
    fn long_lists_that_differ_in_a_few_items_are_compared() {
        let old: Vec<usize> = (0..20_000).collect();
        let new: Vec<usize> =
            (0..20_000).map(|item| if item % 5_000 == 7 { item + 90_000 } else { item }).collect();
        assert_eq!(applied(&old, &new), (new.clone(), 9));
    }

    /// Draws numbers that are the same in every run.
    fn drawn(seed: usize) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    #[test]
    fn long_lists_in_another_order_are_compared_in_bounded_work() {
        let old: Vec<usize> = (0..20_000).collect();
        let (mut new, mut draw) = (old.clone(), drawn(7));
        for index in (1..new.len()).rev() {
            new.swap(index, draw(index + 1));
        }
        assert!(applied(&old, &new).0 == new);
    }

    #[test]
    fn long_texts_of_the_same_words_are_compared_in_bounded_work() {
        let mut draw = drawn(3);
        let old: Vec<usize> = (0..20_000).map(|_| draw(20)).collect();
        let other: Vec<usize> = (0..20_000).map(|_| draw(20)).collect();
        assert!(applied(&old, &other).0 == other);
        // What differs in a few words is found between longer runs of them.
        let mut new = old.clone();
        for index in (500..new.len()).step_by(4_000) {
            new[index] = 99;
        }
        assert_eq!(applied(&old, &new), (new.clone(), 11));
    }
}
