//! From the source of a JavaScript pattern to an engine that matches it.

use crate::ast::Groups;
use crate::engine::Engine;
use crate::{Error, Flags, Limits, emit, parser, positions};

/// Compiles `pattern`: reads it by the JavaScript grammar, writes it anew for the engine, builds that.
pub(crate) fn compile(pattern: &str, flags: Flags, limits: &Limits) -> Result<(Engine, Groups), Error> {
    if pattern.len() > limits.pattern_bytes {
        return Err(Error::PatternTooLong { length: pattern.len(), limit: limits.pattern_bytes });
    }
    let parsed = parser::parse(pattern, flags.check()?, limits)?;
    positions::check(&parsed.root, limits)?;
    let linear = emit::linear(&parsed.root, flags, limits)?;
    Ok((Engine::linear(&linear, parsed.groups.count(), limits)?, parsed.groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, flags: &str, expected: &str) {
        let (flags, limits) = (Flags::parse(flags).unwrap(), Limits::default());
        let parsed = parser::parse(pattern, flags, &limits).unwrap();
        assert_eq!(emit::linear(&parsed.root, flags, &limits).unwrap().pattern, expected);
    }

    #[test]
    fn plain_text_is_copied_and_escaped() {
        check(r"a\/b-{{user}}", "", r"a/b\-\{\{user\}\}");
    }

    #[test]
    fn classes_become_ranges() {
        check("[a-c&&x]", "", r"[\x{26}-\x{26}\x{61}-\x{63}\x{78}-\x{78}]");
        check("[]", "", r"[^\x{0}-\x{10FFFF}]");
        check("k", "i", r"[\x{4B}-\x{4B}\x{6B}-\x{6B}]");
    }

    #[test]
    fn halves_of_a_character_are_joined() {
        check(r"\uD83D\uDE00", "", r"[\x{1F600}-\x{1F600}]");
        check(r"[\uD800-\uDBFF][\uDC00-\uDFFF]", "", r"[\x{10000}-\x{10FFFF}]");
        check(r"\uD83D[\uDE00-\uDE0F]", "", r"[\x{1F600}-\x{1F60F}]");
    }

    #[test]
    fn a_huge_maximum_is_no_maximum() {
        check("a{2,99999999999}", "", "a{2,}");
    }

    #[test]
    fn assertions_follow_the_flag_m() {
        check("^a$", "", r"\Aa\z");
        check("^a$", "m", r"(?:(?m:^)|(?mR:^))a(?:(?m:$)|(?mR:$))");
    }
}
