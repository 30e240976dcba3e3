//! White space as in JavaScript, whose `trim` other applications use.

/// Returns whether JavaScript's `\s` and `trim` match a character: Unicode white space and U+FEFF, without
/// U+0085.
///
/// ```
/// use ctx_types::space::{is_space, trim};
///
/// assert!(is_space('\u{feff}') && !is_space('\u{85}'));
/// assert_eq!(trim("\u{feff} a\u{3000}"), "a");
/// ```
pub fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Trims both ends.
pub fn trim(text: &str) -> &str {
    trim_end(trim_start(text))
}

/// Trims the start.
#[inline]
pub fn trim_start(text: &str) -> &str {
    // Fast path: the first byte usually suffices.
    match text.as_bytes().first() {
        Some(byte) if byte.is_ascii_graphic() => text,
        _ => text.trim_start_matches(is_space),
    }
}

/// Trims the end.
#[inline]
pub fn trim_end(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(byte) if byte.is_ascii_graphic() => text,
        _ => text.trim_end_matches(is_space),
    }
}

/// Returns the position of the next non-space character at or after `from`.
#[inline]
pub fn skip(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + (rest.len() - trim_start(rest).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trims_same_whitespace_as_javascript() {
        assert_eq!(trim("\u{feff}\u{3000} a\u{85}\n"), "a\u{85}");
        assert_eq!(trim("\u{85}a"), "\u{85}a");
        assert_eq!(trim(" \u{feff}\t"), "");
    }

    #[test]
    fn skips_whitespace_from_position() {
        assert_eq!(skip("a \u{3000}b", 1), 5);
        assert_eq!(skip("a ", 1), 2);
        assert_eq!(skip("a", 9), 9);
    }
}
