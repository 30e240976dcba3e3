//! New priorities for a wanted order, with as few changes as possible.

use std::ops::Range;

/// What decides when a processor runs: its priority, then how many were registered before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) priority: i64,
    pub(crate) place: usize,
}

/// Returns priorities by which the ranks, as they are listed, rise.
///
/// The most ranks that rise already keep their priority; the others are spread between their neighbours.
/// Where there is no number between, later ones give way. O(ranks · log ranks).
pub(crate) fn reordered(ranks: &[Rank]) -> Vec<i64> {
    let mut priorities: Vec<i64> = ranks.iter().map(|rank| rank.priority).collect();
    let mut start = 0;
    let mut low = None;
    for fixed in rising(ranks).into_iter().map(Some).chain([None]) {
        let moved = start..fixed.unwrap_or(ranks.len());
        let high = fixed.and_then(|index| ranks.get(index)).map(|rank| rank.priority);
        spread(&mut priorities, moved, low, high);
        if let Some(fixed) = fixed {
            (start, low) = (fixed + 1, high);
        }
    }
    give_way(ranks, &mut priorities);
    priorities
}

/// Gives the moved ones priorities between those of their neighbours; the lower one's if there are too few.
fn spread(priorities: &mut [i64], moved: Range<usize>, low: Option<i64>, high: Option<i64>) {
    let count = i64::try_from(moved.len()).unwrap_or(i64::MAX);
    for (number, priority) in (1..).zip(priorities.get_mut(moved).into_iter().flatten()) {
        *priority = match (low, high) {
            (None, None) => continue,
            (Some(low), None) => low.saturating_add(number),
            (None, Some(high)) => high.saturating_sub(count - number + 1),
            (Some(low), Some(high)) => {
                let room = high.saturating_sub(low);
                let step = room / (count + 1);
                // The remainder is left at the end; with a step of 0 all are where the lower neighbour is.
                low + step * number
            }
        };
    }
}

/// Raises what does not rise, as little as possible.
fn give_way(ranks: &[Rank], priorities: &mut [i64]) {
    let mut before: Option<Rank> = None;
    for (rank, priority) in ranks.iter().zip(priorities) {
        if let Some(before) = before.filter(|before| *before >= Rank { priority: *priority, ..*rank }) {
            *priority = before.priority.saturating_add(i64::from(rank.place < before.place));
        }
        before = Some(Rank { priority: *priority, ..*rank });
    }
}

/// Returns the places of a longest run of items that rise, not necessarily side by side: the most that can keep their
/// order while the others move. O(items · log items).
///
/// ```
/// assert_eq!(ctx_pipeline::rising(&[3, 0, 1, 2]), [1, 2, 3]);
/// ```
pub fn rising<T: PartialOrd>(ranks: &[T]) -> Vec<usize> {
    // `ends[n]` is where the lowest end of a rising run of n + 1 ranks stands; `before` leads back along it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(ranks.len());
    for (index, rank) in ranks.iter().enumerate() {
        let length = ends.partition_point(|end| ranks.get(*end).is_some_and(|end| end < rank));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter)).copied());
        ends.truncate(ends.len().max(length));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run: Vec<usize> =
        std::iter::successors(ends.last().copied(), |index| before.get(*index).copied().flatten()).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks new priorities of processors that are named by how many were registered before them.
    #[track_caller]
    fn check(ranks: &[(i64, usize)], expected: &[i64]) {
        let ranks: Vec<Rank> =
            ranks.iter().map(|(priority, place)| Rank { priority: *priority, place: *place }).collect();
        assert_eq!(reordered(&ranks), expected);
    }

    #[test]
    fn what_rises_keeps_its_priority() {
        check(&[], &[]);
        check(&[(100, 0), (200, 1), (200, 2)], &[100, 200, 200]);
    }

    #[test]
    fn one_that_moves_goes_between_its_neighbours() {
        check(&[(100, 0), (10_000, 4), (200, 1), (300, 2)], &[100, 150, 200, 300]);
        check(&[(10_000, 4), (100, 0), (200, 1)], &[99, 100, 200]);
        check(&[(200, 1), (10_000, 4), (100, 0)], &[200, 10_000, 10_001]);
    }

    #[test]
    fn several_that_move_are_spread() {
        check(
            &[(100, 0), (900, 5), (800, 4), (700, 3), (200, 1), (300, 2), (400, 9), (410, 8)],
            &[100, 125, 150, 175, 200, 300, 400, 410],
        );
    }

    #[test]
    fn without_a_number_between_the_later_give_way() {
        check(&[(100, 0), (300, 3), (101, 1), (102, 2)], &[100, 100, 101, 102]);
        check(&[(100, 3), (300, 0), (101, 1), (102, 2)], &[100, 101, 101, 102]);
        check(&[(100, 3), (300, 2), (101, 1), (102, 0)], &[100, 101, 102, 103]);
    }
}
