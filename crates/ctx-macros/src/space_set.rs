use ctx_types::space;

/// A set of white space characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceSet {
    /// JavaScript's `\s`: Unicode white space and U+FEFF, without U+0085.
    WhiteSpace,
    /// Line feeds, each with an optional preceding carriage return.
    LineBreaks,
}

impl SpaceSet {
    /// Removes characters of the set from the end of a text.
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

    /// Removes characters of the set from the start of a text.
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
