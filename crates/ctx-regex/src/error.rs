//! Why a pattern, its flags, a search or a replacement failed.

/// A reason for which a pattern or its flags are refused, or a search or replacement given up.
///
/// Offsets count bytes from the start of the pattern as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pattern is longer than [`Limits::pattern_bytes`](crate::Limits::pattern_bytes).
    #[error("pattern of {length} bytes exceeds the limit of {limit}")]
    PatternTooLong {
        /// Length of the pattern, in bytes.
        length: usize,
        /// The limit that it exceeds, in bytes.
        limit: usize,
    },
    /// Groups or nested classes go deeper than [`Limits::nest`](crate::Limits::nest).
    #[error("pattern nests deeper than {limit} at byte {offset}")]
    NestsTooDeep {
        /// Where the first part that is too deep begins.
        offset: usize,
        /// The limit that it exceeds.
        limit: usize,
    },
    /// The classes of the pattern are larger than
    /// [`Limits::compiled_bytes`](crate::Limits::compiled_bytes) allows.
    #[error("classes of the pattern need more than {limit} bytes")]
    TooComplex {
        /// The limit that it exceeds, in bytes.
        limit: usize,
    },
    /// JavaScript would refuse the pattern too.
    #[error("invalid pattern at byte {offset}: {reason}")]
    Syntax {
        /// Where the fault is.
        offset: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// The pattern is valid JavaScript but uses a rare feature that has no translation.
    #[error("{feature} at byte {offset} is not supported")]
    Unsupported {
        /// Where the feature is used.
        offset: usize,
        /// Name of the feature.
        feature: &'static str,
    },
    /// A flag that JavaScript does not know.
    #[error("unknown flag `{flag}`")]
    UnknownFlag {
        /// The letter.
        flag: char,
    },
    /// A flag that is given twice.
    #[error("duplicate flag `{flag}`")]
    DuplicateFlag {
        /// The letter.
        flag: char,
    },
    /// The flags `u` and `v` are given together.
    #[error("flags `u` and `v` exclude each other")]
    ConflictingFlags,
    /// A search needed more steps than it was allowed: [`Limits::steps`](crate::Limits::steps), or those that
    /// the caller lent.
    #[error("search takes too many steps")]
    TooManySteps,
    /// A search kept more ways in mind than [`Limits::branches`](crate::Limits::branches).
    #[error("search keeps more than {limit} ways in mind")]
    TooManyBranches {
        /// The limit that it exceeds.
        limit: usize,
    },
    /// The text is longer than 4 GiB, which only patterns without lookaround and the like can search.
    #[error("text of {length} bytes is too long for this pattern")]
    TextTooLong {
        /// Length of the text, in bytes.
        length: usize,
    },
    /// The result of a replacement is longer than
    /// [`Limits::output_bytes`](crate::Limits::output_bytes).
    #[error("replaced text exceeds the limit of {limit} bytes")]
    OutputTooLong {
        /// The limit that it exceeds, in bytes.
        limit: usize,
    },
}

impl Error {
    /// A fault of syntax at `offset`.
    pub(crate) fn syntax(offset: usize, reason: &'static str) -> Self {
        Self::Syntax { offset, reason }
    }

    /// Whether the pattern itself is refused, rather than a search for it in some text given up.
    pub fn is_of_pattern(&self) -> bool {
        !matches!(
            self,
            Self::TooManySteps
                | Self::TooManyBranches { .. }
                | Self::TextTooLong { .. }
                | Self::OutputTooLong { .. }
        )
    }
}
