use serde_json::json;

use crate::rules::case::check;

#[test]
fn applies_bare_pattern_globally_and_per_line() {
    check(json!([{ "regex": "^a", "replacement": "b" }]), "a a\na", "b a\nb");
}

#[test]
fn reads_flags_of_pattern_and_key() {
    check(json!([{ "regex": "/^a/i", "replacement": "b" }]), "A\na", "b\na");
    check(json!([{ "regex": "/A/", "replacement": "b" }]), "AA", "bb");
    check(json!([{ "regex": "/a/i", "flags": "g", "replacement": "b" }]), "aAa", "bAb");
    check(json!([{ "regex": "a", "flags": "i", "replacement": "b" }]), "AA", "bA");
    check(json!([{ "regex": "a", "flags": "", "replacement": "b" }]), "aa", "bb");
}

#[test]
fn trims_texts_from_groups_only() {
    let rule = |dialect: &str, replacement: &str| json!([{ "dialect": dialect, "regex": r"/\((.*?)\)/g", "replacement": replacement, "trimStrings": ["a", "-"] }]);
    check(rule("aio", "<$1|$&>"), "(a-b-ca)", "<bc|(a-b-ca)>");
    check(rule("sillytavern", "<$1|$0>"), "(a-b-ca)", "<bc|(bc)>");
}

#[test]
fn reads_patterns_like_sillytavern() {
    let rule = |regex: &str| json!([{ "dialect": "sillytavern", "regex": regex, "replacement": "Z" }]);
    check(rule("a"), "aa", "Za");
    check(rule("/a/b/g"), "a/b a a/b", "Z a Z");
    check(rule("/a/y"), "/a/y a", "Z a");
}
