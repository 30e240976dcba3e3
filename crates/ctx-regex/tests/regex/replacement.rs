//! The grammars of replacements that applications have beside JavaScript's.

use ctx_regex::{Flags, Limits, Regex, Replacement};

#[track_caller]
fn check(read: fn(&str) -> Replacement, replacement: &str, expected: &str) {
    let regex = Regex::new(r"(?<word>\w+) (\d+)(x)?", Flags::NONE, &Limits::default()).unwrap();
    assert_eq!(
        regex.replace("<ab 12>", &read(replacement)).unwrap(),
        format!("<{expected}>"),
        "{replacement}"
    );
}

#[test]
fn aiohub_reads_what_javascript_reads() {
    check(Replacement::aiohub, "$1-$2-$3-$4-$&-$$-$<word>-$", "ab-12--$4-ab 12-$-ab-$");
    check(Replacement::aiohub, "$20", "120");
}

#[test]
fn aiohub_has_groups_in_braces() {
    check(Replacement::aiohub, "${1}0${2}", "ab012");
    check(Replacement::aiohub, "${3}|${4}|${a}|${|${}", "|${4}|${a}|${|${}");
    check(Replacement::aiohub, "${0}", "ab 12");
}

#[test]
fn aiohub_has_escapes() {
    check(Replacement::aiohub, r"a\nb\tc\rd\\n\", "a\nb\tc\\rd\\\n\\");
    check(Replacement::parse, r"a\nb", r"a\nb");
}

#[test]
fn sillytavern_has_numbers_names_and_the_match() {
    check(Replacement::sillytavern, "$0|{{match}}|{{MATCH}}|$1|$2|$<word>", "ab 12|ab 12|ab 12|ab|12|ab");
    check(Replacement::sillytavern, "$3|$4|$20|$<nobody>|$99999999999999999999", "||||");
    check(Replacement::sillytavern, "$$1$&${1}$<>$<a$", "$ab$&${1}$<>$<a$");
    check(Replacement::sillytavern, r"{{char}} {match} \n", r"{{char}} {match} \n");
}

#[test]
fn a_text_without_references_is_literal() {
    assert_eq!(Replacement::sillytavern("a {{b}}").as_literal(), Some("a {{b}}"));
    assert_eq!(Replacement::aiohub("").as_literal(), Some(""));
    assert_eq!(Replacement::aiohub(r"a\nb$$").as_literal(), Some("a\nb$"));
    assert_eq!(Replacement::parse("$&").as_literal(), None);
    assert_eq!(Replacement::parse("$<a>").as_literal(), None);
}
