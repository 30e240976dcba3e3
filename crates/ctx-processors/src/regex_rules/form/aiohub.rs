//! Syntax of AIO Hub.

use ctx_regex::{Flags, Literal, Replacement, ReplacementPart};

/// Reads `/pattern/flags` as in JavaScript, or a bare pattern. Without flags, `gm` apply.
pub(super) fn literal(text: &str) -> Literal<'_> {
    let mut literal = Literal::parse(text).unwrap_or(Literal { pattern: text, flags: Flags::NONE });
    if literal.flags == Flags::NONE {
        literal.flags = Flags::GLOBAL.with(Flags::MULTILINE);
    }
    literal
}

/// Reads a JavaScript replacement in which `\n` and `\t` are a line feed and a tab, and `${1}` is a group if
/// it exists.
pub(super) fn replacement(text: &str) -> Replacement {
    Replacement::parse_with(&text.replace(r"\n", "\n").replace(r"\t", "\t"), braced)
}

/// A missing group stays unchanged.
fn braced(behind: &str) -> Option<(ReplacementPart, usize)> {
    let inner = behind.strip_prefix('{')?;
    let length = inner.bytes().take_while(u8::is_ascii_digit).count();
    let digits = inner.get(..length).filter(|_| inner.as_bytes().get(length) == Some(&b'}'))?;
    let otherwise = vec![ReplacementPart::Text(format!("${{{digits}}}"))];
    Some((ReplacementPart::Group { number: digits.parse().ok()?, otherwise }, digits.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn reads_javascript_references() {
        check(replacement, "$1-$2-$3-$4-$&-$$-$<word>-$", "ab-12--$4-ab 12-$-ab-$");
        check(replacement, "$20", "120");
    }

    #[test]
    fn accepts_groups_in_braces() {
        check(replacement, "${1}0${2}$${1}", "ab012${1}");
        check(replacement, "${3}|${4}|${a}|${|${}", "|${4}|${a}|${|${}");
        check(replacement, "${0}", "ab 12");
    }

    #[test]
    fn reads_white_space_escapes() {
        check(replacement, r"a\nb\tc\rd\\n\", "a\nb\tc\\rd\\\n\\");
    }

    #[test]
    fn treats_text_without_references_as_literal() {
        assert_eq!(replacement("").as_literal(), Some(""));
        assert_eq!(replacement(r"a\nb$$").as_literal(), Some("a\nb$"));
    }
}
