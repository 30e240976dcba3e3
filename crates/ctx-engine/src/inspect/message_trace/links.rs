use std::collections::{BTreeSet, HashMap};

use ctx_types::{Message, SourceKind};

use crate::inspect::message_trace::origins;

#[derive(Debug, Default)]
pub(crate) struct Links {
    parents: Vec<Vec<usize>>,
    moved: BTreeSet<usize>,
    /// By index before the processor.
    is_taken: Vec<bool>,
}

impl Links {
    /// Messages are the same if shared, or from the same source; joined messages have segments from their
    /// origins. O(n log n) for n messages and joined segments.
    pub(crate) fn between(before: &[Message], after: &[Message]) -> Self {
        if before.len() == after.len() && before.iter().zip(after).all(|(old, new)| old.is_shared_with(new)) {
            // Most processors do not change most contexts.
            let parents = (0..after.len()).map(|at| vec![at]).collect();
            return Self { parents, moved: BTreeSet::new(), is_taken: vec![true; before.len()] };
        }
        let mut parents = vec![Vec::new(); after.len()];
        let mut is_taken = vec![false; before.len()];
        let (old, new) = (by_source(before), by_source(after));
        // Hash map order does not matter: no two sources share a message.
        for (at, message) in after.iter().enumerate() {
            let source = message.source.to_string();
            let Some(old) = old.get(&source).filter(|_| new.get(&source).is_some_and(|new| new[0] == at))
            else {
                continue;
            };
            // Processors drop from the front.
            for (old, new) in old.iter().rev().zip(new[&source].iter().rev()) {
                is_taken[*old] = true;
                parents[*new].push(*old);
            }
        }
        join(before, after, &mut is_taken, &mut parents);
        let moved = moved_messages(&parents);
        Self { parents, moved, is_taken }
    }

    pub(crate) fn parents(&self, at: usize) -> &[usize] {
        self.parents.get(at).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_moved(&self, at: usize) -> bool {
        self.moved.contains(&at)
    }

    pub(crate) fn is_gone(&self, before: usize) -> bool {
        !self.is_taken.get(before).copied().unwrap_or_default()
    }
}

fn by_source(messages: &[Message]) -> HashMap<String, Vec<usize>> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        places.entry(message.source.to_string()).or_default().push(at);
    }
    places
}

fn join(before: &[Message], after: &[Message], is_taken: &mut [bool], parents: &mut [Vec<usize>]) {
    let is_joined = |at: &usize| after[*at].source.kind == SourceKind::Merged && parents[*at].is_empty();
    let joined: Vec<usize> = (0..after.len()).filter(is_joined).collect();
    let mut pieces: HashMap<String, Vec<usize>> = HashMap::new();
    for at in joined {
        for source in origins(&after[at]).map(ToString::to_string) {
            let places = pieces.entry(source).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
    for (old, message) in before.iter().enumerate() {
        let own = message.source.to_string();
        // A message joined earlier is not itself a source of a segment, but its parts are.
        let piece = |source: String| pieces.get_mut(&source).and_then(|places| places.first().copied());
        let new = if is_taken[old] {
            None
        } else {
            std::iter::once(own).chain(origins(message).skip(1).map(ToString::to_string)).find_map(piece)
        };
        if let Some(new) = new {
            is_taken[old] = true;
            parents[new].push(old);
        }
    }
}

fn moved_messages(parents: &[Vec<usize>]) -> BTreeSet<usize> {
    let parent = |(at, parents): (usize, &Vec<usize>)| Some((at, *parents.first()?));
    let (places, old): (Vec<usize>, Vec<usize>) = parents.iter().enumerate().filter_map(parent).unzip();
    let mut moved: BTreeSet<usize> = places.iter().copied().collect();
    for stayed in longest_rising(&old) {
        moved.remove(&places[stayed]);
    }
    moved
}

fn longest_rising(numbers: &[usize]) -> Vec<usize> {
    // `ends[n]`: index of the smallest last number of an increasing subsequence of n + 1 numbers.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (index, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        ends.truncate(ends.len().max(length));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run: Vec<usize> = std::iter::successors(ends.last().copied(), |index| before[*index]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_longest_increasing_subsequence() {
        assert_eq!(longest_rising(&[3, 0, 1, 2]), [1, 2, 3]);
        assert_eq!(longest_rising(&[0, 8, 4, 12, 2, 10, 6]), [0, 4, 6]);
        assert!(longest_rising(&[]).is_empty());
    }
}
