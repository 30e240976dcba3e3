//! What differs between two lists, without the cost of comparing long ones that have little in common.

use std::collections::HashSet;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Up to this product of the lengths, what differs is found item by item whatever the lists hold.
const FREE: usize = 1_000_000;

/// Returns the edits that make the new list of the old one, in order.
///
/// O((N + M) · D) for D differing items. Where the lists are long and have little in common, all between what they share
/// at their ends is replaced at once. Long lists of the same items in another order still cost the most.
pub(super) fn operations<T: Eq + Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let prefix = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old_rest.len() - suffix, new_rest.len() - suffix);
    if old_len.saturating_mul(new_len) <= FREE || are_alike(&old_rest[..old_len], &new_rest[..new_len]) {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |index: usize, new_index: usize, len: usize| {
        (len > 0).then_some(DiffOp::Equal { old_index: index, new_index, len })
    };
    let changed = DiffOp::Replace { old_index: prefix, old_len, new_index: prefix, new_len };
    let end = equal(prefix + old_len, prefix + new_len, suffix);
    equal(0, 0, prefix).into_iter().chain([changed]).chain(end).collect()
}

/// Returns whether nine of ten items of the longer list are in the other one.
fn are_alike<T: Eq + Hash>(old: &[T], new: &[T]) -> bool {
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let known: HashSet<&T> = short.iter().collect();
    long.iter().filter(|item| known.contains(item)).count() * 10 >= long.len() * 9
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
            (0..20_000).map(|item| if (5..19_990).contains(&item) { item * 2 + 1 } else { item }).collect();
        assert_eq!(applied(&old, &new), (new.clone(), 3));
    }

    #[test]
    fn long_lists_that_differ_in_a_few_items_are_compared() {
        let old: Vec<usize> = (0..20_000).collect();
        let new: Vec<usize> =
            (0..20_000).map(|item| if item % 5_000 == 7 { item + 90_000 } else { item }).collect();
        assert_eq!(applied(&old, &new), (new.clone(), 9));
    }
}
