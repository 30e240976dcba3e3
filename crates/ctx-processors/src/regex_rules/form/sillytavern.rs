//! Syntax of SillyTavern's regex scripts.

use ctx_regex::{Error, Flags, Literal, Replacement, ReplacementPart};

pub(super) const MATCH: &str = "match";

/// Matched in any case.
const WRITTEN_MATCH: &str = "{{match}}";

/// Letters that SillyTavern accepts as flags. JavaScript rejects some of them.
const LETTERS: &str = "gmixXsuUAJ";

/// Reads the `findRegex` of a script: a literal or a bare pattern.
///
/// A bare pattern has no flags. A literal ends at its last slash, escaped or not; other characters after the
/// flags are ignored. If a letter is not in [`LETTERS`] or repeats, the whole text is a bare pattern. Only
/// the first non-empty line is read.
///
/// # Errors
///
/// [`Error::UnknownFlag`] for `x`, `X`, `U`, `A`, and `J`, which SillyTavern accepts and JavaScript rejects;
/// [`Error::Syntax`] for a text without a pattern.
pub(super) fn literal(text: &str) -> Result<Literal<'_>, Error> {
    let is_line_end = |c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let Some(line) = text.split(is_line_end).find(|line| !line.is_empty()) else {
        return Err(Error::Syntax { offset: 0, reason: "empty pattern" });
    };
    let split = line.strip_prefix('/').and_then(|body| body.rsplit_once('/'));
    let Some((pattern, behind)) = split.filter(|(pattern, _)| !pattern.is_empty()) else {
        return Ok(Literal { pattern: line, flags: Flags::NONE });
    };
    let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
    let letters = behind.get(..end).unwrap_or_default();
    if !letters.is_empty() && !are_flags(letters) {
        return Ok(Literal { pattern: text, flags: Flags::NONE });
    }
    Ok(Literal { pattern, flags: Flags::parse(letters)? })
}

fn are_flags(letters: &str) -> bool {
    let mut rest = letters.chars();
    std::iter::from_fn(|| rest.next().map(|letter| (letter, rest.as_str())))
        .all(|(letter, rest)| LETTERS.contains(letter) && !rest.contains(letter))
}

/// `$0` and `{{match}}` are the match, `$1` with any number of digits is a group, and `$<name>` is a named
/// group. A missing group is empty.
pub(super) fn replacement(text: &str) -> Replacement {
    let mut parts = Vec::new();
    let mut rest = text;
    // No name ends after the last `>`, so the search stops there.
    let last = text.rfind('>').unwrap_or(0);
    while let Some(at) = rest.find(['$', '{']) {
        let (before, special) = rest.split_at(at);
        let may_have_name = text.len() - special.len() < last;
        let (part, length) = special_part(special, may_have_name).unwrap_or_else(|| {
            let sign = special.get(..1).unwrap_or_default();
            (ReplacementPart::Text(sign.to_owned()), 1)
        });
        parts.extend([ReplacementPart::Text(before.to_owned()), part]);
        rest = special.get(length..).unwrap_or_default();
    }
    parts.push(ReplacementPart::Text(rest.to_owned()));
    parts.into()
}

fn special_part(special: &str, may_have_name: bool) -> Option<(ReplacementPart, usize)> {
    let group = |number| ReplacementPart::Group { number, otherwise: Vec::new() };
    let Some(behind) = special.strip_prefix('$') else {
        let start = special.get(..WRITTEN_MATCH.len())?;
        return start.eq_ignore_ascii_case(WRITTEN_MATCH).then(|| (group(0), WRITTEN_MATCH.len()));
    };
    let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        return Some((group(behind.get(..digits)?.parse().unwrap_or(usize::MAX)), 1 + digits));
    }
    let named = behind.strip_prefix('<').filter(|_| may_have_name)?;
    let (name, _) = named.split_once('>').filter(|(name, _)| !name.is_empty())?;
    Some((ReplacementPart::Name { name: name.to_owned(), otherwise: Vec::new() }, name.len() + 3))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[track_caller]
    fn check_literal(text: &str, expected: Result<(&str, &str), Error>) {
        let found = literal(text).map(|literal| (literal.pattern, literal.flags.to_string()));
        assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
    }

    #[test]
    fn ends_literal_at_last_slash() {
        check_literal("/a/g", Ok(("a", "g")));
        check_literal("/a/b/g", Ok(("a/b", "g")));
        check_literal("/a/", Ok(("a", "")));
        check_literal("/a/i/", Ok(("a/i", "")));
        check_literal("/[/]/gi", Ok(("[/]", "gi")));
        check_literal("/a/g ", Ok(("a", "g")));
        check_literal("/a/g1", Ok(("a", "g")));
        check_literal(r"/a\/g", Ok((r"a\", "g")));
    }

    #[test]
    fn reads_no_flags_without_slashes() {
        check_literal("a", Ok(("a", "")));
        check_literal("a/b", Ok(("a/b", "")));
        check_literal("a/g", Ok(("a/g", "")));
        check_literal("/a", Ok(("/a", "")));
        check_literal("//", Ok(("//", "")));
        check_literal("//g", Ok(("//g", "")));
    }

    #[test]
    fn reads_unknown_flags_as_part_of_pattern() {
        check_literal("/usr/bin/env", Ok(("/usr/bin/env", "")));
        check_literal("/a/y", Ok(("/a/y", "")));
        check_literal("/a/gg", Ok(("/a/gg", "")));
        check_literal("/a/gd", Ok(("/a/gd", "")));
        check_literal("/a/G", Ok(("/a/G", "")));
    }

    #[test]
    fn rejects_flags_unknown_to_javascript() {
        for flag in ['x', 'X', 'U', 'A', 'J'] {
            check_literal(&format!("/a/g{flag}"), Err(Error::UnknownFlag { flag }));
        }
    }

    #[test]
    fn reads_only_one_line() {
        check_literal("/a/g\n/b/i", Ok(("a", "g")));
        check_literal("\n/a/g", Ok(("a", "g")));
        check_literal("/a\nb/g", Ok(("/a", "")));
        let nothing = Error::Syntax { offset: 0, reason: "empty pattern" };
        check_literal("", Err(nothing.clone()));
        check_literal("\n", Err(nothing));
    }

    #[test]
    fn reads_numbers_names_and_match_as_references() {
        check(replacement, "$0|{{match}}|{{MATCH}}|$1|$2|$<word>", "ab 12|ab 12|ab 12|ab|12|ab");
        check(replacement, "$3|$4|$20|$<nobody>|$99999999999999999999", "||||");
        check(replacement, "$$1$&${1}$<>$<a$", "$ab$&${1}$<>$<a$");
        check(replacement, r"{{char}} {match} \n", r"{{char}} {match} \n");
    }

    #[test]
    fn treats_text_without_references_as_literal() {
        assert_eq!(replacement("a {{b}}").as_literal(), Some("a {{b}}"));
        let open = format!(">{}", "$<".repeat(500_000));
        assert_eq!(replacement(&open).as_literal(), Some(&*open));
    }
}
