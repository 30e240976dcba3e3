use serde_json::json;

use crate::rules::case::check;

#[test]
fn every_match_of_a_bare_expression_is_replaced_line_by_line() {
    check(json!([{ "regex": "^a", "replacement": "b" }]), "a a\na", "b a\nb");
}

#[test]
fn an_expression_between_slashes_has_its_own_flags() {
    check(json!([{ "regex": "/^a/i", "replacement": "b" }]), "A\na", "b\na");
    check(json!([{ "regex": "/A/", "replacement": "b" }]), "AA", "bb");
    check(json!([{ "regex": "/a/i", "flags": "g", "replacement": "b" }]), "aAa", "bAb");
    check(json!([{ "regex": "a", "flags": "i", "replacement": "b" }]), "AA", "bA");
    check(json!([{ "regex": "a", "flags": "", "replacement": "b" }]), "aa", "bb");
}

#[test]
fn the_grammar_is_javascripts_with_braces_and_escapes() {
    let rule = json!([{ "regex": r"/(?<a>\w)(\d)/g", "replacement": r"[$2$<a>${1}$&$$]\n" }]);
    check(rule, "x1 y2", "[1xxx1$]\n [2yyy2$]\n");
}

#[test]
fn sillytaverns_grammar_has_numbers_names_and_the_match() {
    let rule = json!([{ "dialect": "sillytavern", "regex": r"/(\w)(\d)/", "replacement": r"[$2$3$0{{match}}$$&]\n" }]);
    check(rule, "x1 y2", r"[1x1x1$$&]\n y2");
}

#[test]
fn texts_are_trimmed_from_groups_alone() {
    let rule = |dialect: &str, replacement: &str| json!([{ "dialect": dialect, "regex": r"/\((.*?)\)/g", "replacement": replacement, "trimStrings": ["a", "-"] }]);
    check(rule("aio", "<$1|$&>"), "(a-b-ca)", "<bc|(a-b-ca)>");
    check(rule("sillytavern", "<$1|$0>"), "(a-b-ca)", "<bc|(bc)>");
}

#[test]
fn an_empty_replacement_deletes() {
    check(json!([{ "regex": r"<think>[\s\S]*?</think>\s*" }]), "<think>x\n</think>\nHi", "Hi");
}

#[test]
fn rules_see_what_earlier_ones_made() {
    check(json!([{ "regex": "a", "replacement": "b" }, { "regex": "b", "replacement": "c" }]), "ab", "cc");
}

#[test]
fn sillytavern_reads_an_expression_as_it_does() {
    let rule = |regex: &str| json!([{ "dialect": "sillytavern", "regex": regex, "replacement": "Z" }]);
    check(rule("a"), "aa", "Za");
    check(rule("/a/b/g"), "a/b a a/b", "Z a Z");
    check(rule("/a/y"), "/a/y a", "Z a");
}
