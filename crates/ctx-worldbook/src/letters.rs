use std::borrow::Cow;

/// JavaScript's `\w` is ASCII only.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Faster version of [`str::to_lowercase`].
pub(crate) fn lower(text: &str) -> Cow<'_, str> {
    if !text.chars().all(has_simple_case) {
        return Cow::Owned(text.to_lowercase());
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// Blocks without upper case: punctuation, Chinese, Japanese, Korean, most emoji.
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
    fn detects_caseless_characters() {
        for c in ('\0'..=char::MAX).filter(|c| has_simple_case(*c) && !c.is_ascii()) {
            assert!(c.to_lowercase().eq([c]), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn lowercases_like_standard_library() {
        for text in ["", "abc", "A Dragon", "巨龙 A", "ÉTÉ", "ΟΔΟΣ ΣΑ", "İx", "Ａ", "\u{feff}"] {
            assert_eq!(lower(text), text.to_lowercase());
        }
    }
}
