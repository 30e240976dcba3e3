/// Error in a pattern or its flags, or failure of a search or replacement.
///
/// Offsets are in bytes from the start of the pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pattern exceeds [`Limits::pattern_bytes`](crate::Limits::pattern_bytes).
    #[error("pattern of {length} bytes exceeds the limit of {limit}")]
    PatternTooLong {
        /// Length of the pattern, in bytes.
        length: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The nesting of groups or classes exceeds [`Limits::nest`](crate::Limits::nest).
    #[error("pattern nests deeper than {limit} at byte {offset}")]
    NestsTooDeep {
        /// Start of the first part that is too deep.
        offset: usize,
        /// Limit.
        limit: usize,
    },
    /// The classes exceed [`Limits::compiled_bytes`](crate::Limits::compiled_bytes).
    #[error("classes of the pattern need more than {limit} bytes")]
    TooComplex {
        /// Limit in bytes.
        limit: usize,
    },
    /// Invalid in JavaScript too.
    #[error("invalid pattern at byte {offset}: {reason}")]
    Syntax {
        /// Position of the error.
        offset: usize,
        /// Description.
        reason: &'static str,
    },
    /// Valid in JavaScript, but not supported here.
    #[error("{feature} at byte {offset} is not supported")]
    Unsupported {
        /// Position of the feature.
        offset: usize,
        /// Name of the feature.
        feature: &'static str,
    },
    /// A flag unknown in JavaScript.
    #[error("unknown flag `{flag}`")]
    UnknownFlag {
        /// Letter.
        flag: char,
    },
    /// A repeated flag.
    #[error("duplicate flag `{flag}`")]
    DuplicateFlag {
        /// Letter.
        flag: char,
    },
    /// The flags `u` and `v` are both set.
    #[error("flags `u` and `v` exclude each other")]
    ConflictingFlags,
    /// The search exceeded [`Limits::steps`](crate::Limits::steps) or the caller's steps.
    #[error("search takes too many steps")]
    TooManySteps,
    /// The search exceeded [`Limits::branches`](crate::Limits::branches).
    #[error("search has more than {limit} open branches")]
    TooManyBranches {
        /// Limit.
        limit: usize,
    },
    /// The text exceeds 4 GiB, the limit of the backtracking engine.
    #[error("text of {length} bytes is too long for this pattern")]
    TextTooLong {
        /// Length of the text, in bytes.
        length: usize,
    },
    /// The result of a replacement exceeds [`Limits::output_bytes`](crate::Limits::output_bytes).
    #[error("replaced text exceeds the limit of {limit} bytes")]
    OutputTooLong {
        /// Limit in bytes.
        limit: usize,
    },
}

impl Error {
    pub(crate) fn syntax(offset: usize, reason: &'static str) -> Self {
        Self::Syntax { offset, reason }
    }
}
