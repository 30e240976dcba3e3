//! Why a pattern, its flags or a replacement was refused.

/// A reason for which a pattern, its flags or the result of a replacement is refused.
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
    /// The pattern has more pieces, with counted repetitions written out, than
    /// [`Limits::positions`](crate::Limits::positions).
    #[error("pattern has more than {limit} positions with its repetitions written out")]
    TooManyPositions {
        /// The limit that it exceeds.
        limit: usize,
    },
    /// The compiled pattern would be larger than
    /// [`Limits::compiled_bytes`](crate::Limits::compiled_bytes).
    #[error("pattern needs more than {limit} bytes when compiled")]
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
    /// The pattern looks ahead or behind (`(?=`, `(?!`, `(?<=`, `(?<!`).
    #[error("lookaround at byte {offset} is not supported")]
    UnsupportedLookaround {
        /// Where the group begins.
        offset: usize,
    },
    /// The pattern refers back to what a group matched (`\1`, `\k<name>`).
    #[error("backreference at byte {offset} is not supported")]
    UnsupportedBackreference {
        /// Where the reference begins.
        offset: usize,
    },
    /// The pattern is valid JavaScript but uses a rare feature that has no translation.
    #[error("{feature} at byte {offset} is not supported")]
    Unsupported {
        /// Where the feature is used.
        offset: usize,
        /// Name of the feature.
        feature: &'static str,
    },
    /// The matching engine refused the translated pattern; a fault of this crate, not of the pattern.
    #[error("translated pattern was refused: {reason}")]
    Untranslatable {
        /// What the engine said.
        reason: String,
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
}
