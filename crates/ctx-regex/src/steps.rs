//! How much work searches may still do.

use crate::Error;

/// How much work searches may still do, to be shared by several of them.
///
/// A step is about the work of looking at one character by backtracking, some nanoseconds, or of letting
/// the linear engine run over 16 bytes. Counting depends on the pattern and the text alone, so that the
/// same search always ends the same way.
///
/// ```
/// use ctx_regex::{Error, Flags, Limits, Regex, Steps};
///
/// let regex = Regex::new(r"(a+)+\1b", Flags::NONE, &Limits::default())?;
/// let mut steps = Steps::new(10_000);
/// assert!(regex.is_match_within("aaaab", &mut steps)?);
/// assert!(steps.left() < 10_000);
/// let refused = regex.is_match_within(&"a".repeat(1_000), &mut steps);
/// assert_eq!(refused, Err(Error::TooManySteps));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    left: u64,
}

impl Steps {
    /// Allows that many steps.
    pub const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// How many steps are left.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps off; nothing is left if there are not so many.
    ///
    /// # Errors
    ///
    /// [`Error::TooManySteps`] if there are not so many.
    pub fn spend(&mut self, steps: u64) -> Result<(), Error> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Error::TooManySteps)
    }
}

/// Steps of one's own, or those that a caller lent.
#[derive(Debug)]
pub(crate) enum Purse<'a> {
    Own(Steps),
    Lent(&'a mut Steps),
}

impl Purse<'_> {
    pub(crate) fn steps(&mut self) -> &mut Steps {
        match self {
            Self::Own(steps) => steps,
            Self::Lent(steps) => steps,
        }
    }
}
