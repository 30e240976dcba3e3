//! Pointers lead to the right bytes, whatever the file is written in.

use ctx_types::Span;

use super::Places;

/// Checks what stands at a pointer, up to the end of its first line.
#[track_caller]
fn check(source: &str, pointer: &str, expected: &str) {
    let places = Places::find(source, [pointer]);
    let place = places.nearest(pointer).unwrap();
    let first_line = source[place.range.clone()].lines().next().unwrap_or_default();
    assert_eq!(first_line.trim_end(), expected, "{pointer}");
}

/// Checks which bytes are marked for the n-th occurrence of a part of the value at `/a`.
#[track_caller]
fn part(source: &str, value: &str, (part, nth): (&str, usize), expected: &str) {
    let (start, _) = value.match_indices(part).nth(nth).unwrap();
    let places = Places::find(source, ["/a"]);
    let range = places.nearest("/a").unwrap().part(source, Some(Span::new(start, start + part.len())));
    let before = source[..range.start].matches(expected).count();
    assert_eq!((&source[range], before), (expected, if expected == part { nth } else { 0 }));
}

#[test]
fn a_scalar_is_found_in_json_and_yaml() {
    check(r#"{"a": [{"b": "x"}, {"b": "é"}]}"#, "/a/1/b", r#""é""#);
    check("a:\n  - b: x\n  - b: é y\n", "/a/1/b", "é y");
}

#[test]
fn a_list_or_an_object_is_found() {
    check("[1, [2, 3]]", "/1", "[2, 3]");
    check("a:\n  - b: x\n    c: y\n  - z\n", "/a/0", "b: x");
    check("a: {b: [1, 2]} # c\n", "/a/b", "[1, 2]");
}

#[test]
fn keys_may_hold_slashes_and_tildes() {
    check(r#"{"a/b": {"~": 1}}"#, "/a~1b/~0", "1");
    check("a/b: {'~': 1}", "/a~1b/~0", "1");
}

#[test]
fn a_comment_and_blanks_behind_a_value_are_none_of_it() {
    for source in ["a: 'x'  # quoted\n", "a: 'x'", "a: \t'x'\n"] {
        let places = Places::find(source, ["/a"]);
        assert_eq!(&source[places.at("/a").unwrap().range.clone()], "'x'", "{source}");
    }
}

#[test]
fn a_missing_value_gives_the_one_above() {
    check(r#"{"a": {"b": 7}}"#, "/a/b/c", "7");
    check(r#"{"a": {"b": 7}}"#, "/a/x/y", r#"{"b": 7}"#);
    check("a:\n  b: 7\n", "/a/c", "b: 7");
    check("a: 1", "/b", "a: 1");
}

#[test]
fn of_a_key_that_stands_twice_the_last_value_counts() {
    check(r#"{"a": 1, "a": 2}"#, "/a", "2");
    check("{a: 1, a: 2}", "/a", "2");
}

#[test]
fn escapes_that_yaml_does_not_know_do_no_harm() {
    check(r#"{"x": "\ud83d\ude00", "y": "\ud83d", "a": "\/"}"#, "/a", r#""\/""#);
}

#[test]
fn an_alias_is_a_value_and_a_key_may_be_anything() {
    check("x: &x {b: 1}\na: *x\n", "/a/b", "*x");
    check("[p, q]: 1\na: 2\n", "/a", "2");
    check("? {p: q}\n: 1\na: 2\n", "/a", "2");
}

#[test]
fn the_lines_of_json_lines_are_a_list() {
    let lines = "{\"a\": 1}\n\n{\"a\": 2}\nbroken\n";
    check(lines, "/2/a", "2");
    check(lines, "/3", "broken");
    check("broken\r\n{\"a\": 2}\r\n", "/1/a", "2");
    check("{\"mes\": \"one line\"}\n", "/0/mes", "\"one line\"");
}

#[test]
fn a_text_that_is_neither_gives_what_was_found() {
    assert_eq!(Places::find("", ["/a"]).nearest("/a"), None);
    check("[1, 2", "/1", "2");
    check("a: 1\nb: [}", "/a", "1");
}

#[test]
fn a_part_is_found_where_the_file_spells_it_otherwise() {
    part("a: 'x {{u}} {{u}}'", "x {{u}} {{u}}", ("{{u}}", 1), "{{u}}");
    part("a: |\n  x\n  {{u}}\n", "x\n{{u}}\n", ("{{u}}", 0), "{{u}}");
    part("a: >-\n  x\n  {{u}} y\n", "x {{u}} y", ("{{u}}", 0), "{{u}}");
    part("a: x\n  {{u}} y\n", "x {{u}} y", ("{{u}}", 0), "{{u}}");
    part(r#"{"a": "\n{{u::\"q\"}}"}"#, "\n{{u::\"q\"}}", ("{{u::\"q\"}}", 0), r#"{{u::\"q\"}}"#);
}

#[test]
fn a_part_that_the_file_does_not_hold_gives_the_whole_value() {
    part(r#"{"a": "\u007b{u}}"}"#, "{{u}}", ("{{u}}", 0), r#""\u007b{u}}""#);
    part("a: {b: 1}", "{{u}}", ("{{u}}", 0), "{b: 1}");
}
