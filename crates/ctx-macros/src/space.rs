//! White space as JavaScript sees it, which decides what trimming removes.

/// A set of white space characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceSet {
    /// Everything that `\s` matches in JavaScript: Unicode white space and U+FEFF, without U+0085.
    WhiteSpace,
    /// Line feed and carriage return.
    LineBreaks,
}

impl SpaceSet {
    /// Tells whether `c` is in the set.
    pub fn contains(self, c: char) -> bool {
        match self {
            Self::WhiteSpace => is_space(c),
            Self::LineBreaks => matches!(c, '\n' | '\r'),
        }
    }
}

pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Removes white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns the place of the first character from `from` on that is not white space.
pub(crate) fn skip(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + (rest.len() - rest.trim_start_matches(is_space).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_space_and_next_line_is_not() {
        assert_eq!(trim("\u{feff} a\u{3000}"), "a");
        assert_eq!(trim("\u{85}a"), "\u{85}a");
    }
}
