//! What a pattern and a replacement may cost.

/// Upper bounds on what one pattern may cost: to compile, to search for, and to replace.
///
/// ```
/// use ctx_regex::{Error, Flags, Limits, Regex};
///
/// let limits = Limits { nest: 2, ..Limits::default() };
/// assert!(Regex::new("((a))", Flags::NONE, &limits).is_ok());
/// let refused = Regex::new("(((a)))", Flags::NONE, &limits);
/// assert_eq!(refused.unwrap_err(), Error::NestsTooDeep { offset: 2, limit: 2 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest pattern, in bytes of its source. Default: 64 KiB.
    pub pattern_bytes: usize,
    /// Most characters, classes, assertions and capture groups of a pattern that the linear engine takes, with
    /// counted repetitions written out: `[ab]{0,20}c` has 21. For each byte of a text it does up to that much
    /// work; larger patterns are matched by backtracking. Default: 2,000.
    pub positions: usize,
    /// How long building the linear engine may take, in estimated half microseconds; a pattern that would take longer,
    /// such as `[^x]{1000}`, is matched by backtracking. Default: 2,000.
    pub building: usize,
    /// Largest program of the linear engine, in bytes, and likewise the largest state cache that a search may
    /// build; a pattern with many groups may use only a part, for its searches need more. Also bounds the
    /// classes of any pattern. Default: 1 MiB.
    pub compiled_bytes: usize,
    /// Deepest nesting of groups and classes; the outermost group has depth 1. Default: 128.
    pub nest: usize,
    /// Most [`Steps`](crate::Steps) of one call, that is of all matches in a text together, beside one for each 8
    /// bytes of the text. Default: 2,000,000, some twenty milliseconds.
    pub steps: u64,
    /// Most ways that a search may keep in mind to try them later, at 16 bytes each. Default: 2,000,000.
    pub branches: usize,
    /// Longest text that a replacement may produce, in bytes. Default: 64 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pattern_bytes: 64 << 10,
            positions: 2_000,
            building: 2_000,
            compiled_bytes: 1 << 20,
            nest: 128,
            steps: 2_000_000,
            branches: 2_000_000,
            output_bytes: 64 << 20,
        }
    }
}
