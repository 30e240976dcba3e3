//! Edits change the bytes that they are about and no others, whatever the file is written in.

use ctx_types::{Code, Diagnostic, Fix, Span, phrase};
use serde_json::json;

use super::*;

const CODE: Code = Code::new(1, "any");

/// Checks what becomes of a text; the value at `/a/b`, its key, or the call at bytes of it is edited.
#[track_caller]
fn check(text: &str, fix: Fix, expected: Result<&str, &str>) {
    let is_yaml = serde_json::from_str::<Value>(text).is_err();
    let span = matches!(fix.edit, Edit::Part { .. }).then(|| Span::new(2, 9));
    let mut finding = Diagnostic::warning(CODE, phrase!("odd")).at_pointer("/a/b").with_fix(fix);
    finding.location.span = span;
    let asked = RequestedEdit::of(&finding).unwrap();
    let pointer = asked.pointer();
    let places = Places::find(text, [pointer.as_str()]);
    let edited = asked.in_text(text, &places, is_yaml).map(|edit| replaced(text, vec![edit]).unwrap());
    assert_eq!(edited.as_deref().map_err(ToString::to_string), expected.map_err(str::to_owned));
}

#[test]
fn a_value_keeps_its_quotes_and_its_comment() {
    check("a:\n  b: x # why\n  c: 1\n", Fix::text("lore"), Ok("a:\n  b: lore # why\n  c: 1\n"));
    check("a: {b: 'x', c: 1}\r\n", Fix::text("lore"), Ok("a: {b: 'lore', c: 1}\r\n"));
    check("a:\n  b: \"x\"  # why\n", Fix::text("lore"), Ok("a:\n  b: \"lore\"  # why\n"));
    check("{\"a\": {\"b\" : \"x\"}}", Fix::text("lore"), Ok("{\"a\": {\"b\" : \"lore\"}}"));
}

#[test]
fn an_anchor_and_a_tag_stay() {
    check("a:\n  b: &solo x # why\n", Fix::text("lore"), Ok("a:\n  b: &solo lore # why\n"));
    check("a:\n  b: !!str x\n", Fix::text("lore"), Ok("a:\n  b: !!str lore\n"));
    check("a: {b: !!str &solo 'x', c: 1}\n", Fix::text("lore"), Ok("a: {b: !!str &solo 'lore', c: 1}\n"));
    check("a:\n  &k b: 1\n", Fix::key("bee"), Ok("a:\n  &k bee: 1\n"));
}

#[test]
fn a_tab_may_stand_before_a_value() {
    check("a:\n  b:\tx\t# why\n", Fix::text("lore"), Ok("a:\n  b:\tlore\t# why\n"));
    check("a: {b:\tx}\n", Fix::text("lore"), Ok("a: {b:\tlore}\n"));
}

#[test]
fn a_number_that_is_spelled_in_another_way_is_no_text_yet() {
    check("a:\n  b: 1\n", Fix::text("1"), Ok("a:\n  b: \"1\"\n"));
    check("a:\n  b: 1.10\n", Fix::text("1.1"), Err("the file uses another notation for the number"));
    check("a:\n  b: 007\n", Fix::text("7"), Err("the file uses another notation for the number"));
}

#[test]
fn a_text_that_would_be_something_else_is_quoted() {
    check("a:\n  b: x\n", Fix::text("true"), Ok("a:\n  b: \"true\"\n"));
    check("a:\n  b: x\n", Fix::text("a: b"), Ok("a:\n  b: \"a: b\"\n"));
    check("{\"a\": {\"b\": null}}", Fix::text("r"), Ok("{\"a\": {\"b\": \"r\"}}"));
}

#[test]
fn a_value_of_another_type_is_written_as_json() {
    check("a:\n  b: \"true\"\n", Fix::value(true), Ok("a:\n  b: true\n"));
    check("a:\n  b: moon\n", Fix::value(json!(["moon", "sky"])), Ok("a:\n  b: [\"moon\",\"sky\"]\n"));
}

#[test]
fn a_key_gets_another_name_and_keeps_its_value() {
    check("a:\n  b:   # why\n    - 1\n", Fix::key("bee"), Ok("a:\n  bee:   # why\n    - 1\n"));
    check("a: {'b': 1}", Fix::key("bee"), Ok("a: {'bee': 1}"));
    check("{\"a\": {\"b\": [1, 2]}}", Fix::key("bee"), Ok("{\"a\": {\"bee\": [1, 2]}}"));
    check(r#"{"a": {"\u0062": 1}}"#, Fix::key("bee"), Err("the key contains escapes"));
}

#[test]
fn a_part_of_a_text_is_edited_in_the_way_the_file_spells_it() {
    let part = || Fix::part("usr", "user");
    check("a:\n  b: I {{usr}} {{usr}}\n", part(), Ok("a:\n  b: I {{user}} {{usr}}\n"));
    check("a:\n  b: |\n    I\n    {{usr}}\n", part(), Ok("a:\n  b: |\n    I\n    {{user}}\n"));
    check("a:\n  b: >-\n    I\n    {{usr}}\n", part(), Ok("a:\n  b: >-\n    I\n    {{user}}\n"));
    check("a:\n  b: \"I {{usr}}\\n\"\n", part(), Ok("a:\n  b: \"I {{user}}\\n\"\n"));
    check(
        "{\"a\": {\"b\": \"I {{\\u0075sr}}\"}}",
        part(),
        Err("the text contains escapes or spans several lines"),
    );
}

#[test]
fn what_is_a_block_or_an_alias_or_stands_elsewhere_is_left() {
    const BLOCK: &str = "the value is a YAML alias or block";
    check("a:\n  b: |\n    x\n", Fix::text("lore"), Err(BLOCK));
    check("x: &x 1\na:\n  b: *x\n", Fix::text("lore"), Err(BLOCK));
    check(
        "x: &x {b: 1}\na:\n  <<: *x\n",
        Fix::text("lore"),
        Err("the file does not contain the value there"),
    );
}
