//! White space as JavaScript sees it, which decides what trimming removes.

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
            Self::WhiteSpace => trim_end(text),
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
            Self::WhiteSpace => trim_start(text),
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

pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Removes white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    trim_end(trim_start(text))
}

/// Removes white space at the beginning.
#[inline]
pub(crate) fn trim_start(text: &str) -> &str {
    // Mostly there is none, which one byte tells.
    match text.as_bytes().first() {
        Some(byte) if byte.is_ascii_graphic() => text,
        _ => text.trim_start_matches(is_space),
    }
}

/// Removes white space at the end.
#[inline]
pub(crate) fn trim_end(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(byte) if byte.is_ascii_graphic() => text,
        _ => text.trim_end_matches(is_space),
    }
}

/// Returns the place of the first character from `from` on that is not white space.
#[inline]
pub(crate) fn skip(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + (rest.len() - trim_start(rest).len())
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
