use ctx_types::internal::SplitMix64;

/// Source of random values. A scan takes one per entry with a probability, and one per group that is decided
/// at random.
pub trait Draws {
    /// Returns a value from 0 to below 1.
    fn draw(&mut self) -> f64;
}

/// Random values from a seed.
///
/// ```
/// use ctx_worldbook::{Draws, SeededDraws};
///
/// let (mut one, mut other) = (SeededDraws::new(7), SeededDraws::new(7));
/// let drawn = one.draw();
/// assert!((0.0..1.0).contains(&drawn));
/// assert_eq!(drawn, other.draw());
/// assert_ne!(one.draw(), drawn);
/// ```
#[derive(Clone, Debug)]
pub struct SeededDraws(SplitMix64);

impl SeededDraws {
    /// Creates a generator for a seed.
    pub const fn new(seed: u64) -> Self {
        // Differs from other generators with the same seed.
        Self(SplitMix64::new(seed ^ 0x776f_726c_6462_6f6b))
    }
}

impl Draws for SeededDraws {
    fn draw(&mut self) -> f64 {
        self.0.fraction()
    }
}

/// Values from a list. The last one repeats.
#[derive(Clone, Debug, Default)]
pub struct ListedDraws {
    numbers: Vec<f64>,
    count: usize,
}

impl ListedDraws {
    /// Starts at the first value; an empty list gives 0.
    pub fn new(numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { numbers: numbers.into_iter().collect(), count: 0 }
    }

    /// Returns the number of values taken.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Draws for ListedDraws {
    fn draw(&mut self) -> f64 {
        let drawn = self.numbers.get(self.count).or(self.numbers.last()).copied().unwrap_or_default();
        self.count += 1;
        drawn
    }
}
