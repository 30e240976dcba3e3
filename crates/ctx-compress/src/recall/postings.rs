//! Postings: in which records each word occurs, in little memory.

/// For each word, numbered from 0 on in the order in which words come, the records that have it.
///
/// A word that one record has takes 16 bytes; each further record 2 or 3. Newer records are read first, so that a
/// search may stop before the oldest of a word that many have.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    words: Vec<Entry>,
    chunks: Vec<Chunk>,
}

/// What is known of a word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The newest record.
    last: u32,
    /// How many records there are.
    count: u32,
    /// The newest chunk; [`NONE`] as long as there is one record.
    chunk: u32,
    /// How many bytes of it are free.
    free: u8,
    /// How often the newest record has the word.
    times: u8,
}

/// The way back to some older records, the newest first; written from the end, so that free bytes stand before.
///
/// For each record, how far it is before the one after it: in groups of 7 bits, the lowest first, doubled, and with 1
/// added where a byte follows that says how often it has the word. Free bytes are 0, with which no step begins.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    before: u32,
    bytes: [u8; CHUNK],
}

const CHUNK: usize = 12;

const NONE: u32 = u32::MAX;

impl Postings {
    /// Notes that a record has a word so many times, at least once. Records come in ascending order, each once.
    pub(super) fn push(&mut self, word: u32, record: u32, times: u8) {
        let Some(entry) = self.words.get_mut(word as usize) else {
            make_room(&mut self.words);
            self.words.push(Entry { last: record, count: 1, chunk: NONE, free: 0, times });
            return;
        };
        let mut code = [0; LONGEST];
        let len = encoded(record - entry.last, entry.times, &mut code);
        let start = usize::from(entry.free).checked_sub(len).unwrap_or_else(|| {
            make_room(&mut self.chunks);
            let before = entry.chunk;
            entry.chunk = u32::try_from(self.chunks.len()).unwrap_or(NONE);
            self.chunks.push(Chunk { before, bytes: [0; CHUNK] });
            CHUNK - len
        });
        let chunk = self.chunks.get_mut(entry.chunk as usize);
        if let Some((bytes, code)) =
            chunk.and_then(|chunk| chunk.bytes.get_mut(start..start + len)).zip(code.get(..len))
        {
            bytes.copy_from_slice(code);
        }
        entry.free = u8::try_from(start).unwrap_or_default();
        (entry.last, entry.count, entry.times) = (record, entry.count + 1, times);
    }

    /// Returns how many records have a word.
    pub(super) fn count(&self, word: u32) -> u32 {
        self.words.get(word as usize).map_or(0, |entry| entry.count)
    }

    /// Visits the newest records that have a word, `most` at the most, with how often; returns how many.
    pub(super) fn each(&self, word: u32, most: usize, mut visit: impl FnMut(u32, u8)) -> usize {
        let Some(entry) = self.words.get(word as usize).filter(|_| most > 0) else { return 0 };
        let (mut at, mut record, mut visited) = (entry.chunk, entry.last, 1);
        visit(record, entry.times);
        while let Some(chunk) = self.chunks.get(at as usize) {
            let mut bytes = chunk.bytes.iter().copied().skip_while(|byte| *byte == 0);
            while let Some((step, times)) = decoded(&mut bytes) {
                if visited == most {
                    return visited;
                }
                record -= step;
                visit(record, times);
                visited += 1;
            }
            at = chunk.before;
        }
        visited
    }

    /// Returns the bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.words.capacity() * size_of::<Entry>() + self.chunks.capacity() * size_of::<Chunk>()
    }
}

/// Grows by an eighth, where doubling would leave half of the memory empty.
pub(super) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}

/// The longest step: 33 bits, and how often.
const LONGEST: usize = 6;

/// Writes a step, and how often the word occurs; returns the bytes taken.
fn encoded(difference: u32, times: u8, into: &mut [u8; LONGEST]) -> usize {
    let mut rest = u64::from(difference) << 1 | u64::from(times > 1);
    let mut len = 0;
    for byte in into.iter_mut() {
        let low = u8::try_from(rest & 0x7F).unwrap_or_default();
        rest >>= 7;
        *byte = low | if rest > 0 { 0x80 } else { 0 };
        len += 1;
        if rest == 0 {
            break;
        }
    }
    if times > 1 {
        into[len.min(LONGEST - 1)] = times;
        len += 1;
    }
    len
}

fn decoded(bytes: &mut impl Iterator<Item = u8>) -> Option<(u32, u8)> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let times = if number & 1 == 1 { bytes.next()? } else { 1 };
    let difference = u32::try_from(number >> 1).ok().filter(|difference| *difference > 0)?;
    Some((difference, times))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_written_is_read(steps in prop::collection::vec((prop_oneof![1..40_u32, 1..90_000_000_u32], 1..=255_u8), 1..40)) {
            let mut postings = Postings::default();
            let mut record = 0;
            let mut written = Vec::new();
            for (step, times) in steps {
                record += step;
                postings.push(0, record, times);
                written.push((record, times));
            }
            let mut read = Vec::new();
            prop_assert_eq!(postings.each(0, usize::MAX, |record, times| read.push((record, times))), written.len());
            read.sort_unstable();
            prop_assert_eq!(&read, &written);
            prop_assert_eq!(postings.count(0) as usize, written.len());
            let mut newest = Vec::new();
            postings.each(0, 1, |record, _| newest.push(record));
            prop_assert!(newest == [record]);
        }
    }

    #[test]
    fn a_word_that_is_not_there_has_no_records() {
        let postings = Postings::default();
        assert_eq!((postings.count(3), postings.each(3, 10, |_, _| ()), postings.memory()), (0, 0, 0));
    }
}
