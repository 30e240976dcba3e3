//! Random numbers, in the order in which a scan asks for them.

use ctx_types::SplitMix64;

/// Gives random numbers in order.
///
/// A scan draws once for an entry whose probability is asked, and once for a group whose winner is drawn; what it
/// does not need it does not draw.
pub trait Draws {
    /// Returns the next number, from 0 to below 1.
    fn draw(&mut self) -> f64;
}

/// Numbers that follow from a seed.
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
    /// Begins a stream of numbers.
    pub const fn new(seed: u64) -> Self {
        // Apart from other streams of the same seed.
        Self(SplitMix64::new(seed ^ 0x776f_726c_6462_6f6b))
    }
}

impl Draws for SeededDraws {
    fn draw(&mut self) -> f64 {
        self.0.fraction()
    }
}

/// Numbers of a list, of which the last repeats; for tests and for replaying what was observed.
#[derive(Clone, Debug, Default)]
pub struct ListedDraws {
    numbers: Vec<f64>,
    count: usize,
}

impl ListedDraws {
    /// Begins with the first number of a list; an empty one gives 0.
    pub fn new(numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { numbers: numbers.into_iter().collect(), count: 0 }
    }

    /// Returns how many numbers were drawn.
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
