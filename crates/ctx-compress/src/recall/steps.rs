//! Records of one word as bytes: how far each is from the next, to be read from the end.

/// A record, and how often it has the word; 255 times stand for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) record: u32,
    pub(super) times: u8,
}

/// Writes records, the oldest first, and returns how many they are.
///
/// The newest record is written as its number, and each other one as its distance to the one that follows.
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

/// Adds records as they are written elsewhere, all newer than those that are written here. O(records there).
pub(super) fn append_all(bytes: &mut Vec<u8>, newer: &[u8]) {
    if let Some(oldest) = newest_first(newer).last() {
        lead_to(bytes, oldest.record);
    }
    bytes.extend_from_slice(newer);
}

/// Writes the distance to the record that follows in place of the number of the newest one.
fn lead_to(bytes: &mut Vec<u8>, record: u32) {
    let mut rest = &**bytes;
    if let Some((number, times)) = pop(&mut rest) {
        let len = rest.len();
        bytes.truncate(len);
        write(bytes, distance(number, record), times);
    }
}

const fn distance(record: u32, next: u32) -> u32 {
    next.saturating_sub(record).saturating_sub(1)
}

/// Writes a number, doubled, in groups of 7 bits, the lowest last; if a byte stands before it that says how often, 1 is
/// added. All bytes but the first have their highest bit set.
fn write(bytes: &mut Vec<u8>, number: u32, times: u8) {
    if times > 1 {
        bytes.push(times);
    }
    let doubled = u64::from(number) << 1 | u64::from(times > 1);
    if let Some(byte) = u8::try_from(doubled).ok().filter(|byte| *byte < 0x80) {
        return bytes.push(byte);
    }
    let groups = (u64::BITS - (doubled | 1).leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        let mark = if group + 1 < groups { 0x80 } else { 0 };
        bytes.push(u8::try_from((doubled >> (7 * group)) & 0x7F).unwrap_or_default() | mark);
    }
}

/// Takes the last number off, with how often.
fn pop(bytes: &mut &[u8]) -> Option<(u32, u8)> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let byte = take_last(bytes)?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    let times = if number & 1 == 1 { take_last(bytes)? } else { 1 };
    Some((u32::try_from(number >> 1).ok()?, times))
}

fn take_last(bytes: &mut &[u8]) -> Option<u8> {
    let (last, rest) = bytes.split_last()?;
    *bytes = rest;
    Some(*last)
}

/// Reads records that were written, the newest first.
pub(super) fn newest_first(bytes: &[u8]) -> impl Iterator<Item = Posting> {
    let (mut rest, mut follows) = (bytes, None::<u32>);
    std::iter::from_fn(move || {
        let (number, times) = pop(&mut rest)?;
        let record = match follows {
            Some(next) => next.checked_sub(number)?.checked_sub(1)?,
            None => number,
        };
        follows = Some(record);
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
        let written = |postings: &[Posting]| {
            let mut bytes = Vec::new();
            let count = write_all(&mut bytes, postings.iter().copied());
            assert_eq!(count as usize, postings.len());
            bytes
        };
        let bytes = written(postings);
        let read: Vec<Posting> = newest_first(&bytes).collect();
        assert!(read.iter().rev().eq(postings), "{read:?}");
        let (older, newer) = postings.split_at(cut.min(postings.len()));
        let mut joined = written(older);
        append_all(&mut joined, &written(newer));
        assert_eq!(joined, bytes);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_is_read(steps in prop::collection::vec((prop_oneof![1..40_u32, 60..70_u32, 1..9_000_000_u32], prop_oneof![4 => Just(1_u8), 1 => 1..=255_u8]), 1..200), first in prop_oneof![Just(0_u32), 0..1_000_000_u32], cut in 0..200_usize) {
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
        check(&[Posting { record: 0, times: 1 }, Posting { record: u32::MAX, times: 255 }], 1);
    }
}
