//! Records of one word as bytes: how far each is from the next, to be read from the end.

/// The highest count that is kept of a word in a record; more counts as this. Each takes a byte, and more would hardly
/// change a score.
pub(super) const MOST_TIMES: u8 = 15;

/// A record, and how often it has the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) record: u32,
    pub(super) times: u8,
}

/// Writes records, the oldest first, and returns how many they are.
///
/// The newest record is written as its number, and each other one as its distance to the one that follows. A record that
/// has the word several times is written as often, with no distance between.
pub(super) fn write_all(bytes: &mut Vec<u8>, mut postings: impl Iterator<Item = Posting>) -> u32 {
    let Some(mut last) = postings.next() else { return 0 };
    let mut count = 1;
    for posting in postings {
        write(bytes, distance(last.record, posting.record), last.times);
        (last, count) = (posting, count + 1);
    }
    write(bytes, last.record, last.times);
    count
}

/// Adds records as they are written elsewhere, all newer than those that are written here; there they are counted from
/// `first`. O(records there).
pub(super) fn append_all(bytes: &mut Vec<u8>, newer: &[u8], first: u32) {
    if !bytes.is_empty()
        && let Some(oldest) = newest_first(newer, first).last()
    {
        lead_to(bytes, oldest.record);
    }
    copy_all(bytes, newer, first);
}

/// Writes records that elsewhere are counted from `first`. O(bytes).
pub(super) fn copy_all(bytes: &mut Vec<u8>, records: &[u8], first: u32) {
    let mut rest = records;
    match pop(&mut rest).filter(|_| first > 0) {
        Some(number) => {
            bytes.extend_from_slice(rest);
            write(bytes, number.saturating_add(first), 1);
        }
        None => bytes.extend_from_slice(records),
    }
}

/// Writes the distance to the record that follows in place of the number of the newest one.
fn lead_to(bytes: &mut Vec<u8>, record: u32) {
    let mut rest = &**bytes;
    if let Some(number) = pop(&mut rest) {
        let len = rest.len();
        bytes.truncate(len);
        write(bytes, distance(number, record), 1);
    }
}

const fn distance(record: u32, next: u32) -> u32 {
    next.saturating_sub(record)
}

/// Writes the number of a record, or its distance, so many times.
fn write(bytes: &mut Vec<u8>, number: u32, times: u8) {
    (1..times).for_each(|_| bytes.push(0));
    write_number(bytes, u64::from(number));
}

/// Writes a number in groups of 7 bits, the lowest last. All bytes but the first have their highest bit set, so that it
/// can be read from both ends.
pub(super) fn write_number(bytes: &mut Vec<u8>, number: u64) {
    let group = |at: u32| u8::try_from((number >> (7 * at)) & 0x7F).unwrap_or_default();
    let behind = |at: u32| group(at) | 0x80;
    match number {
        0..0x80 => bytes.push(group(0)),
        0x80..0x4000 => bytes.extend_from_slice(&[group(1), behind(0)]),
        0x4000..0x20_0000 => bytes.extend_from_slice(&[group(2), behind(1), behind(0)]),
        0x20_0000..0x1000_0000 => bytes.extend_from_slice(&[group(3), behind(2), behind(1), behind(0)]),
        _ => {
            let groups = (u64::BITS - number.leading_zeros()).div_ceil(7);
            bytes.push(group(groups - 1));
            bytes.extend((0..groups - 1).rev().map(behind));
        }
    }
}

/// Takes the first number off; what follows begins as a number does.
pub(super) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (first, mut rest) = bytes.split_first()?;
    let mut number = u64::from(*first);
    while let Some((byte, behind)) = rest.split_first().filter(|(byte, _)| **byte >= 0x80) {
        number = number << 7 | u64::from(byte & 0x7F);
        rest = behind;
    }
    *bytes = rest;
    Some(number)
}

/// Returns whether nothing follows the first number.
pub(super) fn is_one_number(bytes: &[u8]) -> bool {
    bytes.iter().skip(1).all(|byte| *byte >= 0x80)
}

/// Takes the last number off.
fn pop(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let byte = take_last(bytes)?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    u32::try_from(number).ok()
}

fn take_last(bytes: &mut &[u8]) -> Option<u8> {
    let (last, rest) = bytes.split_last()?;
    *bytes = rest;
    Some(*last)
}

/// Reads records that were written, the newest first; they are counted from `first`.
pub(super) fn newest_first(bytes: &[u8], first: u32) -> impl Iterator<Item = Posting> {
    let (mut rest, mut follows) = (bytes, None::<u32>);
    std::iter::from_fn(move || {
        let number = pop(&mut rest)?;
        let record = match follows {
            Some(next) => next.checked_sub(number)?,
            None => first.checked_add(number)?,
        };
        follows = Some(record);
        let mut times = 1;
        while let Some((0, before)) = rest.split_last() {
            (times, rest) = (times + 1, before);
        }
        Some(Posting { record, times })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks that records are read as they were written, one by one or some of them at once.
    #[track_caller]
    fn check(postings: &[Posting], cut: usize) {
        let written = |postings: &[Posting], first: u32| {
            let mut bytes = Vec::new();
            let counted =
                postings.iter().map(|posting| Posting { record: posting.record - first, ..*posting });
            let count = write_all(&mut bytes, counted);
            assert_eq!(count as usize, postings.len());
            bytes
        };
        let bytes = written(postings, 0);
        let read: Vec<Posting> = newest_first(&bytes, 0).collect();
        assert!(read.iter().rev().eq(postings), "{read:?}");
        let (older, newer) = postings.split_at(cut.min(postings.len()));
        let first = newer.first().map_or(0, |posting| posting.record);
        for first in [0, first / 2, first] {
            let (mut joined, newer) = (written(older, 0), written(newer, first));
            append_all(&mut joined, &newer, first);
            assert_eq!(joined, bytes);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_is_read(steps in prop::collection::vec((prop_oneof![1..40_u32, 60..70_u32, 1..9_000_000_u32], prop_oneof![4 => Just(1_u8), 1 => 1..=MOST_TIMES]), 1..200), first in prop_oneof![Just(0_u32), 0..1_000_000_u32], cut in 0..200_usize) {
            let mut next = first;
            let postings: Vec<Posting> = steps.into_iter().map(|(step, times)| {
                let record = next;
                next += step;
                Posting { record, times }
            }).collect();
            check(&postings, cut);
        }
    }

    #[test]
    fn the_first_and_the_last_record_are_read() {
        check(&[Posting { record: 0, times: 1 }, Posting { record: u32::MAX, times: MOST_TIMES }], 1);
    }
}
