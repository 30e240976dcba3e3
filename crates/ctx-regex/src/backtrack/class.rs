use crate::code_set::CodeSet;

#[derive(Debug)]
pub(super) struct Class {
    /// One bit per ASCII member.
    ascii: u128,
    /// Sorted and inclusive.
    ranges: Box<[(char, char)]>,
}

impl Class {
    pub(super) fn new(set: &CodeSet) -> Self {
        let ascii = set.char_ranges().flat_map(|(first, last)| first..=last.min('\x7F'));
        let ascii = ascii.fold(0, |bits, c| bits | 1 << u32::from(c));
        let ranges = set.char_ranges().filter(|(_, last)| !last.is_ascii());
        Self { ascii, ranges: ranges.map(|(first, last)| (first.max('\u{80}'), last)).collect() }
    }

    pub(super) fn contains_ascii(&self, byte: u8) -> bool {
        self.ascii & (1 << (byte & 127)) != 0
    }

    pub(super) fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii & (1 << u32::from(c)) != 0;
        }
        let after = self.ranges.partition_point(|(first, _)| *first <= c);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|(_, last)| c <= *last)
    }

    pub(super) fn first_bytes(&self) -> ByteSet {
        let mut set = ByteSet::default();
        (0..128_u8).filter(|byte| self.ascii & (1 << byte) != 0).for_each(|byte| set.insert(byte));
        for (first, last) in &self.ranges {
            (first_byte(*first)..=first_byte(*last)).for_each(|byte| set.insert(byte));
        }
        set
    }
}

pub(super) fn first_byte(c: char) -> u8 {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes);
    bytes[0]
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u128; 2]);

impl ByteSet {
    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 7)] |= 1 << (byte & 127);
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 7)] & (1 << (byte & 127)) != 0
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    pub(super) fn members(&self) -> Vec<u8> {
        (0..=u8::MAX).filter(|byte| self.contains(*byte)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_same_characters_as_its_set() {
        let set = CodeSet::new(vec![
            (0x2D, 0x2D),
            (0x61, 0x7A),
            (0x7E, 0xA5),
            (0x4E00, 0x9FA5),
            (0x1F600, 0x1F64F),
        ]);
        let class = Class::new(&set);
        for code in (0..0x300).chain(0x4DF0..0x4E10).chain(0x9FA0..0x9FB0).chain(0x1F5F0..0x1F660) {
            let Some(c) = char::from_u32(code) else { continue };
            assert_eq!(class.contains(c), set.contains(code), "{c:?}");
            if class.contains(c) {
                assert!(class.first_bytes().contains(first_byte(c)), "{c:?}");
            }
        }
    }

    #[test]
    fn lists_first_bytes_of_members() {
        let class = Class::new(&CodeSet::new(vec![(0x61, 0x62), (0x4E00, 0x4E10)]));
        assert_eq!(class.first_bytes().members(), [0x61, 0x62, 0xE4]);
    }
}
