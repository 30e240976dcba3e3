//! What a pattern and a replacement may cost.

/// Upper bounds on what one pattern may cost to compile and its replacements to store.
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
    /// Most characters, classes, assertions and capture groups, with counted repetitions written out:
    /// `[ab]{0,20}c` has 21. A search does up to that much work for each byte of its text. Default:
    /// 1,000, some ten times what people write; on 20 KB of text it is about a second at worst.
    pub positions: usize,
    /// Largest compiled program, in bytes, and likewise the largest state cache that a search may
    /// build; a pattern with many groups may use only a part, for its searches need more. Default:
    /// 1 MiB.
    pub compiled_bytes: usize,
    /// Deepest nesting of groups and classes; the outermost group has depth 1. Default: 128.
    pub nest: usize,
    /// Longest text that a replacement may produce, in bytes. Default: 64 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pattern_bytes: 64 << 10,
            positions: 1_000,
            compiled_bytes: 1 << 20,
            nest: 128,
            output_bytes: 64 << 20,
        }
    }
}
