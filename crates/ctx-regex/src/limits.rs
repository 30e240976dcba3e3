/// Limits of compilation, search, and replacement for one pattern.
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
    /// Length of the pattern, in bytes. Default: 64 KiB.
    pub pattern_bytes: usize,
    /// Estimated time to build the linear engine, in half microseconds: about 1 per character and 20 per class,
    /// with counted repetitions expanded. Slower patterns, such as `[^x]{1000}`, use backtracking. Default:
    /// 2,000.
    pub build_cost: usize,
    /// Size of the linear engine's program, and of its state cache per search, in bytes. The program of a
    /// pattern with many groups must be smaller. Also limits the classes of any pattern. Default: 1 MiB.
    pub compiled_bytes: usize,
    /// Nesting depth of groups and classes; the outermost has depth 1. Default: 128.
    pub nest: usize,
    /// [`Steps`](crate::Steps) per call, shared by all its matches, plus one per 8 bytes of text. Default:
    /// 2,000,000, about 20 ms.
    pub steps: u64,
    /// Saved branches of a search, at 16 bytes each. Default: 2,000,000.
    pub branches: usize,
    /// Length of a replacement's result, in bytes. Default: 64 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pattern_bytes: 64 << 10,
            build_cost: 2_000,
            compiled_bytes: 1 << 20,
            nest: 128,
            steps: 2_000_000,
            branches: 2_000_000,
            output_bytes: 64 << 20,
        }
    }
}
