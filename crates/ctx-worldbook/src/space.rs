//! White space as JavaScript has it, and the case of letters as applications compare it.

use std::borrow::Cow;

/// Tells whether JavaScript's `\s` and `trim` take a character for white space.
pub(crate) const fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// Returns a text without the white space around it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Tells whether a byte is part of a word for JavaScript's `\w`, which knows ASCII only.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns a text in lower case, as [`str::to_lowercase`] gives it, at a fraction of its cost for most texts.
pub(crate) fn lower(text: &str) -> Cow<'_, str> {
    if !text.chars().all(has_simple_case) {
        return Cow::Owned(text.to_lowercase());
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// Tells whether a character is ASCII or belongs to a block without upper case: punctuation, Chinese, Japanese,
/// Korean, most pictures.
const fn has_simple_case(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{7f}'
            | '\u{2000}'..='\u{206f}'
            | '\u{3000}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{fe30}'..='\u{ff20}'
            | '\u{1f300}'..='\u{1faff}'
            | '\u{20000}'..='\u{3134f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_case_have_none() {
        for c in ('\0'..=char::MAX).filter(|c| has_simple_case(*c) && !c.is_ascii()) {
            assert!(c.to_lowercase().eq([c]), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn letters_become_lower_case() {
        for text in ["", "abc", "A Dragon", "巨龙 A", "ÉTÉ", "ΟΔΟΣ ΣΑ", "İx", "Ａ", "\u{feff}"] {
            assert_eq!(lower(text), text.to_lowercase());
        }
    }

    #[test]
    fn white_space_is_that_of_javascript() {
        assert_eq!(trim("\u{feff}\u{3000} a\u{85}\n"), "a\u{85}");
    }
}
