//! Ascending numbers in few bytes.

/// Appends ascending numbers: how much each is above the one before, seven bits a byte, the lowest first; the eighth
/// bit says that more follow.
pub(super) fn pack(numbers: &[u32], into: &mut Vec<u8>) {
    let mut last = 0;
    for number in numbers {
        let mut rest = number - last;
        while rest > LOW {
            into.push(u8::try_from(rest & LOW).unwrap_or_default() | MORE);
            rest >>= BITS;
        }
        into.push(u8::try_from(rest).unwrap_or_default());
        last = *number;
    }
}

/// Reads what [`pack`] wrote.
pub(super) fn unpacked(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (mut bytes, mut last) = (bytes.iter(), 0);
    std::iter::from_fn(move || {
        let (mut rest, mut shift) = (0, 0);
        loop {
            let byte = *bytes.next()?;
            rest |= (u32::from(byte) & LOW) << shift;
            if byte < MORE {
                last += rest;
                return Some(last);
            }
            shift += BITS;
        }
    })
}

const BITS: u32 = 7;
const LOW: u32 = 0x7F;
const MORE: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_read_again() {
        for numbers in [&[][..], &[0], &[5, 6, 132, 133], &[0, 127, 128, 16_511, 0x00FF_FFFE, u32::MAX]] {
            let mut bytes = Vec::new();
            pack(numbers, &mut bytes);
            assert_eq!(unpacked(&bytes).collect::<Vec<_>>(), numbers);
        }
    }

    #[test]
    fn small_steps_have_one_byte() {
        let mut bytes = Vec::new();
        pack(&[100, 200, 327], &mut bytes);
        assert_eq!(bytes, [100, 100, 127]);
    }
}
