//! Linear engine: the `regex` crate, for patterns with the same meaning there.

mod emit;
mod positions;

use std::ops::Range;

use regex::{CaptureLocations, RegexBuilder};

use crate::ast::Pattern;
use crate::steps::BYTES_PER_STEP;
use crate::{Flags, Limits};

/// Written levels per source level: group, quantifier, alternatives, sequence.
const DEPTH_FACTOR: usize = 4;

/// A search for groups keeps 2 offsets per group and state. With more groups, the program must be smaller.
const GROUPS_AT_FULL_SIZE: usize = 12;

/// Larger patterns cost more.
const POSITIONS_PER_STEP: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Linear {
    regex: regex::Regex,
    has_lines: bool,
    has_exact_groups: bool,
    weight: u64,
    build_cost: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Slots(CaptureLocations);

impl Linear {
    /// `None` if unsuitable or too large.
    pub(crate) fn new(pattern: &Pattern, flags: Flags, limits: &Limits) -> Option<Self> {
        let positions = positions::count(&pattern.root);
        // A worldbook can have thousands of keys, and a key such as `\p{L}{200}` took 30 ms to build.
        // Backtracking does not expand repetitions.
        let build_cost = positions::build_cost(&pattern.root);
        if build_cost > limits.build_cost {
            return None;
        }
        let written = emit::write(&pattern.root, flags, limits.compiled_bytes)?;
        let program_bytes =
            limits.compiled_bytes / pattern.groups.count().div_ceil(GROUPS_AT_FULL_SIZE).max(1);
        let nest = limits.nest.saturating_add(2).saturating_mul(DEPTH_FACTOR);
        let built = RegexBuilder::new(&written.pattern)
            .size_limit(program_bytes)
            .dfa_size_limit(limits.compiled_bytes)
            .nest_limit(u32::try_from(nest).unwrap_or(u32::MAX))
            .build();
        Some(Self {
            regex: built.ok()?,
            has_lines: written.has_lines,
            has_exact_groups: written.has_exact_groups,
            weight: positions.div_ceil(POSITIONS_PER_STEP).max(1) as u64,
            build_cost,
        })
    }

    pub(crate) fn build_cost(&self) -> usize {
        self.build_cost
    }

    /// O(n). The `regex` crate supports only `\n` as a line end.
    pub(crate) fn supports_text(&self, text: &str) -> bool {
        !self.has_lines || !['\r', '\u{2028}', '\u{2029}'].iter().any(|end| text.contains(*end))
    }

    pub(crate) fn has_exact_groups(&self) -> bool {
        self.has_exact_groups
    }

    pub(crate) fn cost(&self, bytes: usize) -> u64 {
        (bytes.div_ceil(BYTES_PER_STEP) as u64 + 1).saturating_mul(self.weight)
    }

    pub(crate) fn slots(&self) -> Slots {
        Slots(self.regex.capture_locations())
    }

    pub(crate) fn find_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        self.regex.find_at(text, start).map(|found| found.range())
    }

    pub(crate) fn captures_at(&self, slots: &mut Slots, text: &str, start: usize) -> Option<Range<usize>> {
        self.regex.captures_read_at(&mut slots.0, text, start).map(|found| found.range())
    }
}

impl Slots {
    pub(crate) fn get(&self, number: usize) -> Option<Range<usize>> {
        self.0.get(number).map(|(start, end)| start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;

    #[track_caller]
    fn check(pattern: &str, flags: &str, expected: Option<&str>) {
        let (flags, limits) = (Flags::parse(flags).unwrap(), Limits::default());
        let parsed = parser::parse(pattern, flags, &limits).unwrap();
        let written = emit::write(&parsed.root, flags, limits.compiled_bytes);
        assert_eq!(written.map(|written| written.pattern).as_deref(), expected);
        assert_eq!(Linear::new(&parsed, flags, &limits).is_some(), expected.is_some(), "it is not accepted");
    }

    #[track_caller]
    fn check_groups(pattern: &str, exact: bool) {
        let parsed = parser::parse(pattern, Flags::NONE, &Limits::default()).unwrap();
        let written = emit::write(&parsed.root, Flags::NONE, usize::MAX).unwrap();
        assert_eq!(written.has_exact_groups, exact, "{pattern}");
    }

    #[test]
    fn escapes_plain_text() {
        check(r"a\/b-{{user}}", "", Some(r"a/b\-\{\{user\}\}"));
    }

    #[test]
    fn writes_classes_as_ranges() {
        check("[a-c&&x]", "", Some(r"[\x{26}-\x{26}\x{61}-\x{63}\x{78}-\x{78}]"));
        check("[]", "", Some(r"[^\x{0}-\x{10FFFF}]"));
        check("k", "i", Some(r"[\x{4B}-\x{4B}\x{6B}-\x{6B}]"));
    }

    #[test]
    fn joins_surrogate_pairs() {
        check(r"\uD83D\uDE00", "", Some(r"[\x{1F600}-\x{1F600}]"));
        check(r"[\uD800-\uDBFF][\uDC00-\uDFFF]", "", Some(r"[\x{10000}-\x{10FFFF}]"));
        check(r"\uD83D[\uDE00-\uDE0F]", "", Some(r"[\x{1F600}-\x{1F60F}]"));
    }

    #[test]
    fn treats_huge_maximum_as_unlimited() {
        check("a{2,99999999999}", "", Some("a{2,}"));
    }

    #[test]
    fn translates_assertions_by_multiline_flag() {
        check("^a$", "", Some(r"\Aa\z"));
        check("^a$", "m", Some("(?m:^)a(?m:$)"));
    }

    #[test]
    fn rejects_empty_loop_bodies_unless_iterations_are_required() {
        check("(a*){2}b", "", Some("(a*){2,2}b"));
        check("(?:a??){0}", "", Some("(?:a??){0,0}"));
        for pattern in ["(a*)?", "(?:a??)*", "(?:a|b*)*c", "(?:a*)+", "(?:a*){2,3}", "(?:^)*a"] {
            check(pattern, "", None);
        }
    }

    #[test]
    fn leaves_unsupported_syntax_to_backtracking() {
        check("a(?=b)", "", None);
        check("(?<!a)b", "", None);
        check(r"(a)\1", "", None);
        check(r"\bk", "iu", None);
    }

    #[test]
    fn leaves_large_patterns_to_backtracking() {
        let fits = |pattern: &str, limits: &Limits| {
            let parsed = parser::parse(pattern, Flags::NONE, limits).unwrap();
            Linear::new(&parsed, Flags::NONE, limits).is_some()
        };
        assert!(fits("a{2000}", &Limits::default()));
        assert!(!fits("a{2001}", &Limits::default()));
        assert!(fits("[^x]{95}", &Limits::default()));
        assert!(!fits("[^x]{1000}", &Limits::default()));
        assert!(!fits("(?:a{0,4294967295}){4294967295}", &Limits::default()));
        let limits = Limits { build_cost: 21, ..Limits::default() };
        assert!(fits("a{0,20}c", &limits));
        assert!(!fits("a{0,21}c", &limits));
        assert!(!fits(&"(a)|".repeat(15_000), &Limits { build_cost: usize::MAX, ..Limits::default() }));
    }

    #[test]
    fn detects_groups_with_inexact_captures() {
        check_groups("(a)|(b)", true);
        check_groups("(a)*(b)?", true);
        check_groups("(?:(a)b)*", true);
        check_groups("(?:(a)|b)?", true);
        check_groups("(?:(a)|b)*", false);
        check_groups("(?:(a)?b){2}", false);
        check_groups("((a)*b)+", false);
        check_groups("(a*){2}", true);
    }
}
