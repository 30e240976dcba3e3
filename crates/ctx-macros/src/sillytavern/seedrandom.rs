//! Port of the JavaScript library `seedrandom` (ARC4). `pick` uses it to make the same choices as
//! SillyTavern.

const WIDTH: usize = 256;
/// 2^52: a larger number uses all bits of the fraction.
const SIGNIFICANCE: f64 = 4_503_599_627_370_496.0;

#[derive(Clone, Debug)]
pub(super) struct SeedRandom {
    state: [u8; WIDTH],
    i: u8,
    j: u8,
}

impl SeedRandom {
    pub(super) fn new(seed: &str) -> Self {
        let key = mix(seed);
        let mut state = [0; WIDTH];
        for (byte, value) in state.iter_mut().zip(0..=u8::MAX) {
            *byte = value;
        }
        let mut j = 0_u8;
        for (i, key) in (0..WIDTH).zip(key.iter().cycle()) {
            j = j.wrapping_add(state[i]).wrapping_add(*key);
            state.swap(i, usize::from(j));
        }
        let mut generator = Self { state, i: 0, j: 0 };
        for _ in 0..WIDTH {
            generator.byte();
        }
        generator
    }

    /// Uses 6 bytes, and more until all bits of the fraction are filled.
    pub(super) fn next(&mut self) -> f64 {
        let mut numerator = 0.0;
        for _ in 0..6 {
            numerator = numerator * 256.0 + f64::from(self.byte());
        }
        let mut denominator = 281_474_976_710_656.0;
        let mut low = 0_u8;
        while numerator < SIGNIFICANCE {
            numerator = (numerator + f64::from(low)) * 256.0;
            denominator *= 256.0;
            low = self.byte();
        }
        while numerator >= SIGNIFICANCE * 2.0 {
            numerator /= 2.0;
            denominator /= 2.0;
            low >>= 1;
        }
        (numerator + f64::from(low)) / denominator
    }

    fn byte(&mut self) -> u8 {
        self.i = self.i.wrapping_add(1);
        self.j = self.j.wrapping_add(self.state[usize::from(self.i)]);
        self.state.swap(usize::from(self.i), usize::from(self.j));
        let sum = self.state[usize::from(self.i)].wrapping_add(self.state[usize::from(self.j)]);
        self.state[usize::from(sum)]
    }
}

/// Folds a text into a key of at most 256 bytes.
fn mix(seed: &str) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    let mut smear = 0_u32;
    for (index, unit) in seed.encode_utf16().enumerate() {
        let place = index % WIDTH;
        smear ^= u32::from(key.get(place).copied().unwrap_or(0)).wrapping_mul(19);
        let [byte, ..] = smear.wrapping_add(u32::from(unit)).to_le_bytes();
        match key.get_mut(place) {
            Some(known) => *known = byte,
            None => key.push(byte),
        }
    }
    if key.is_empty() {
        key.push(0);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_numbers_of_the_library() {
        let mut generator = SeedRandom::new("hello.");
        // First two numbers in the library's documentation.
        assert!((generator.next() - 0.928_257_879_579_245_4).abs() < f64::EPSILON);
        assert!((generator.next() - 0.375_256_976_864_678_4).abs() < f64::EPSILON);
    }
}
