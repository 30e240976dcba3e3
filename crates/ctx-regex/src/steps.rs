use crate::Error;

/// When comparing texts, skipping text, or using the linear engine.
pub(crate) const BYTES_PER_STEP: usize = 16;

/// Remaining work for one or more searches.
///
/// A step is about one character of backtracking (some nanoseconds), or 16 bytes compared with a text,
/// skipped, or read by the linear engine. Deterministic for the same pattern and text.
///
/// ```
/// use ctx_regex::{Error, Flags, Limits, Regex, Steps};
///
/// let regex = Regex::new(r"(a+)+\1b", Flags::NONE, &Limits::default())?;
/// let mut steps = Steps::new(10_000);
/// assert!(regex.find_within("aaaab", &mut steps)?.is_some());
/// assert!(steps.left() < 10_000);
/// let refused = regex.find_within(&"a".repeat(1_000), &mut steps);
/// assert_eq!(refused, Err(Error::TooManySteps));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    left: u64,
    #[cfg(test)]
    touched: u64,
}

impl Steps {
    /// Creates a budget.
    pub const fn new(steps: u64) -> Self {
        Self {
            left: steps,
            #[cfg(test)]
            touched: 0,
        }
    }

    /// Returns the remaining steps.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Records work, to test that it is charged.
    #[cfg(test)]
    pub(crate) const fn touch(&mut self, amount: usize) {
        self.touched += amount as u64;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "same signature as in tests")]
    pub(crate) const fn touch(&mut self, _: usize) {}

    /// Charges steps. If too few remain, sets them to 0.
    ///
    /// # Errors
    ///
    /// [`Error::TooManySteps`] if too few remain.
    pub fn spend(&mut self, steps: u64) -> Result<(), Error> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Error::TooManySteps)
    }
}

#[derive(Debug)]
pub(crate) enum StepBudget<'a> {
    Own(Steps),
    Lent(&'a mut Steps),
}

impl StepBudget<'_> {
    pub(crate) fn steps(&mut self) -> &mut Steps {
        match self {
            Self::Own(steps) => steps,
            Self::Lent(steps) => steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Flags, Limits, Regex};

    const WORK_PER_STEP: u64 = 64;
    const FREE: u64 = 1 << 10;

    #[track_caller]
    fn check(pattern: &str, text: &str) {
        for flags in [Flags::NONE, Flags::IGNORE_CASE, Flags::MULTILINE] {
            check_with(flags, pattern, text);
        }
    }

    #[track_caller]
    fn check_with(flags: Flags, pattern: &str, text: &str) {
        const STEPS: u64 = 200_000;
        let Ok(regex) = Regex::new(pattern, flags, &Limits::default()) else { return };
        let mut steps = Steps::new(STEPS);
        let found = regex.find_within(text, &mut steps);
        let spent = STEPS - steps.left;
        let most = WORK_PER_STEP * spent + FREE;
        assert!(steps.touched <= most, "{} in {spent} steps ({found:?}): {pattern:.80}", steps.touched);
    }

    #[test]
    fn charges_steps_for_all_work() {
        let text = "a".repeat(100_000);
        let long = "a".repeat(50_000);
        for pattern in [
            format!("(?!z){long}b"),
            format!("{long}(?!a)b"),
            format!("(?<={long}b)a"),
            format!("(?:{}a)*(?!a)b", "(a?)".repeat(10_000)),
            format!("(?:{}{}{}a)*b", "(?=".repeat(100), "(a)?".repeat(1_000), ")".repeat(100)),
            r"(a*)(?!z)\1b".to_owned(),
            r"(?=(a*))\1\1b".to_owned(),
            "(?=[p-z])[p-z]".to_owned(),
            "(?=p)p".to_owned(),
            "(?!z)pq".to_owned(),
            r"(?<letter>a)(?!z)\k<letter>b".to_owned(),
        ] {
            check(&pattern, &text);
        }
    }

    fn large_class() -> String {
        let ranges = (0x400..0x4000_u32)
            .step_by(16)
            .filter_map(|at| Some((char::from_u32(at)?, char::from_u32(at + 8)?)));
        format!("[{}]", ranges.map(|(first, last)| format!("{first}-{last}")).collect::<Vec<_>>().concat())
    }

    fn part() -> impl Strategy<Value = (String, usize)> {
        let small = prop::sample::select(vec![
            "a",
            "ab",
            "(?!z)",
            "(a*)",
            r"\1",
            "(?=a)",
            "(?<=a)",
            "(?:a|b)*",
            "b",
            "[ab]+?",
            "(a?)",
            "[c-z]",
            "(?=[p-z])",
            r"\b",
            r"\w+",
            ".",
            "a{2,9}",
            "(?:ab?){0,40}",
            "[ab]{3}",
            "(?:a|b){1,200}?",
            "a{1000}",
        ]);
        let large = large_class();
        let classes =
            vec![large.clone(), format!("{large}?"), format!("{large}{{0,20}}"), format!("(?!{large})a")];
        let piece = prop_oneof![8 => small.prop_map(str::to_owned), 1 => prop::sample::select(classes)];
        (piece, prop_oneof![1_usize..20, 1_usize..2_000, Just(usize::MAX)])
    }

    proptest! {
        #[test]
        fn bounds_work_of_any_pattern_by_steps(
            parts in prop::collection::vec(part(), 1..5),
            text in prop::sample::select(vec!["a", "ab", "aaab", "b"]),
        ) {
            let mut pattern = String::new();
            for (piece, times) in parts {
                let room = Limits::default().pattern_bytes - pattern.len();
                pattern.push_str(&piece.repeat(times.min(room / piece.len())));
            }
            check(&pattern, &text.repeat(10_000));
        }
    }
}
