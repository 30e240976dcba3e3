//! What trimming removes.

use ctx_types::space;

/// A set of white space characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceSet {
    /// Everything that `\s` matches in JavaScript: Unicode white space and U+FEFF, without U+0085.
    WhiteSpace,
    /// Line feeds, each with the carriage return before it, if there is one.
    LineBreaks,
}

impl SpaceSet {
    /// Removes what is in the set from the end of a text.
    pub fn trim_end(self, text: &str) -> &str {
        match self {
            Self::WhiteSpace => space::trim_end(text),
            Self::LineBreaks => {
                let mut rest = text;
                while let Some(before) = rest.strip_suffix('\n') {
                    rest = before.strip_suffix('\r').unwrap_or(before);
                }
                rest
            }
        }
    }

    /// Removes what is in the set from the beginning of a text.
    pub fn trim_start(self, text: &str) -> &str {
        match self {
            Self::WhiteSpace => space::trim_start(text),
            Self::LineBreaks => {
                let mut rest = text;
                while let Some(after) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
                    rest = after;
                }
                rest
            }
        }
    }
}
