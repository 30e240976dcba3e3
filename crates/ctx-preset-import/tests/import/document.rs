//! Bytes to one JSON value: syntaxes, limits, and unusual values. Fixtures of `readers` and `bad_input` show the rest.

use ctx_preset_import::{
    Document, Format, ImportError, Limits, Syntax, codes, detect, read_agent, read_conversation,
    read_worldbook,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(input: impl AsRef<[u8]>, name: &str) -> Result<Document, ImportError> {
    Document::read(input.as_ref(), name)
}

/// Checks the value of a document, and the code and pointer of each diagnostic.
#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: Value, findings: &[(ctx_types::Code, &str)]) {
    let document = read(input, "").unwrap();
    assert_eq!(document.value, expected);
    let found: Vec<_> =
        document.diagnostics.iter().map(|d| (d.code, d.location.pointer.as_deref().unwrap_or("-"))).collect();
    assert_eq!(found, findings, "{:#?}", document.diagnostics);
}

/// Checks the message of an error, and its help.
#[track_caller]
fn check_error(error: &ImportError, message: &str, help: Option<&str>) {
    let found = error.help().map(|help| help.to_string());
    assert_eq!((error.to_string().as_str(), found.as_deref()), (message, help));
}

#[track_caller]
fn refuse(input: impl AsRef<[u8]>, message: &str, help: Option<&str>) {
    check_error(&read(input, "").unwrap_err(), message, help);
}

#[test]
fn tells_syntax_by_content() {
    check("{\"a\": [1, null]}", json!({ "a": [1, null] }), &[]);
    check("a: [1, ~]", json!({ "a": [1, null] }), &[]);
    check("{a: 1}", json!({ "a": 1 }), &[(codes::READ_AS_YAML, "-")]);
    check("{\"a\": 1,}", json!({ "a": 1 }), &[(codes::READ_AS_YAML, "-")]);
    check("{\"a\":1}\n\n{\"b\":2}\n", json!([{ "a": 1 }, null, { "b": 2 }]), &[]);
    // The name decides only which error is reported.
    assert!(read("a: 1", "x.json").is_ok());
    assert!(matches!(read("{a: 1, b: {", "x.json"), Err(ImportError::Json { .. })));
    assert!(matches!(read("{a: 1, b: {", "x.YAML"), Err(ImportError::Yaml { .. })));
}

#[test]
fn reports_invalid_json_instead_of_unknown_type() {
    let found = |name: &str| detect(b"{\n \"compilerOptions\": {},\n}", name).unwrap_err();
    assert_eq!(found("a.json").to_string(), "invalid JSON at line 3 column 1: trailing comma");
    // In a YAML file, the comma is correct.
    assert_eq!(found("a.yaml").code(), codes::UNKNOWN_SHAPE);
    let read = |bytes: &[u8]| {
        let of_agent = read_agent(bytes, "a.json").map(drop);
        let of_book = read_worldbook(bytes, "a.json").map(drop);
        let of_chat = read_conversation(bytes, "a.json").map(drop);
        [of_agent, of_book, of_chat].map(|read| read.unwrap_err().code())
    };
    assert_eq!(read(b"{\"a\": 1,}"), [codes::JSON_SYNTAX; 3]);
    assert_eq!(read(b"{\"a\": 1}"), [codes::UNKNOWN_SHAPE; 3]);
}

#[test]
fn reads_messages_with_misspelled_role() {
    let found = |text: &str| detect(text.as_bytes(), "a.json").ok();
    let messages = r#"{"messages": [{"role": "assisstant", "content": "Hi"}]}"#;
    assert_eq!(found(r#"[{"role": "usr", "content": "Hi"}]"#), Some(Format::ChatMessages));
    assert_eq!(found(messages), Some(Format::ChatMessages));
    assert_eq!(found(r#"[{"role": "admin", "content": "Hi"}]"#), None);
}

#[test]
fn names_binary_files() {
    let png = "import the PNG file of a character card with `ctx import`";
    let other = "these images contain no character card; use the PNG file of the card";
    for (start, format, help) in [
        (b"\x89PNG\r\n\x1a\n".as_slice(), "a PNG image", png),
        (b"\xff\xd8\xff\xe0", "a JPEG image", other),
        (b"GIF89a", "a GIF image", other),
        (b"RIFF1234WEBP", "a WebP image", other),
        (b"PK\x03\x04", "an archive", "import archives with `ctx import`"),
        (b"%PDF-1.4", "a PDF", "copy its text into a text file"),
    ] {
        refuse(start, &format!("the file is {format}, not a text file"), Some(help));
    }
    check("GIF: 1", json!({ "GIF": 1 }), &[]);
}

#[test]
fn decodes_utf_16_and_refuses_bytes_that_are_not_text() {
    let wide: Vec<u8> = "\u{FEFF}a: 🦀".encode_utf16().flat_map(u16::to_be_bytes).collect();
    check(wide, json!({ "a": "🦀" }), &[]);
    for (bytes, offset) in [
        (b"a: \xFF".as_slice(), 3),
        (b"\xEF\xBB\xBFab\xC3(", 5),
        (b"\xFF\xFEa", 2),
        (b"\xFF\xFEa\0\x00\xD8", 4),
    ] {
        assert_eq!(read(bytes, ""), Err(ImportError::NotText { offset }));
    }
    refuse("a\0b", "the document is not text: invalid byte at 1", Some("save the file as UTF-8"));
    refuse("\u{FEFF} \n\t", "the document is empty", None);
}

#[test]
fn reports_values_that_json_cannot_hold() {
    check(
        r#"{"x": [{"a": 1, "b": 2, "a": 3}], "m/n": {"k": 1, "k": {}}}"#,
        json!({ "x": [{ "a": 3, "b": 2 }], "m/n": { "k": {} } }),
        &[(codes::DUPLICATE_KEY, "/x/0/a"), (codes::DUPLICATE_KEY, "/m~1n/k")],
    );
    check(
        "true: b\n~: c",
        json!({ "true": "b", "null": "c" }),
        &[(codes::KEY_TYPE, "/true"), (codes::KEY_TYPE, "/null")],
    );
    check(
        "a: [.nan, -.inf]\nb: 99999999999999999999",
        json!({ "a": [null, null], "b": 1e20 }),
        &[(codes::NUMBER, "/a/0"), (codes::NUMBER, "/a/1"), (codes::NUMBER, "/b")],
    );
    check(
        "a: !x 1\nb: [!y {k: v}]\nc: !z\nd: !!str 5",
        json!({ "a": 1, "b": [{ "k": "v" }], "c": null, "d": "5" }),
        &[(codes::UNKNOWN_TAG, "/a"), (codes::UNKNOWN_TAG, "/b/0"), (codes::UNKNOWN_TAG, "/c")],
    );
    check(
        "base: &b {x: 1, y: 2}\na:\n  <<: *b\n  y: 3\nc:\n  <<: 5",
        json!({ "base": { "x": 1, "y": 2 }, "a": { "y": 3, "x": 1 }, "c": { "<<": 5 } }),
        &[(codes::MERGE_KEY, "/c/<<")],
    );
}

#[test]
fn reads_yaml_scalars_as_javascript_does() {
    check(
        "a: yes\nb: 1_000\nc: 2024-01-01T00:00:00Z\nd: 0x1F\ne: ~\nf: 1e3",
        json!({ "a": "yes", "b": "1_000", "c": "2024-01-01T00:00:00Z", "d": 31, "e": null, "f": 1000.0 }),
        &[],
    );
}

#[test]
fn limits_diagnostics_and_the_size_of_their_pointers() {
    let json = format!("[{}1]", "{\"a\":1,\"a\":2},".repeat(2_000));
    assert_eq!(read(json, "").unwrap().diagnostics.len(), 1_001);
    // A long key that every diagnostic below it repeats would fill the memory.
    let doubled = r#""a": 1,"#.repeat(2_000);
    let document = read(format!(r#"{{"{}": {{{doubled} "b": 2}}}}"#, "k".repeat(1 << 20)), "").unwrap();
    let codes: Vec<_> = document.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [codes::DUPLICATE_KEY, ctx_types::codes::MORE_FINDINGS]);
}

#[test]
fn repairs_huge_numbers_and_lone_surrogates() {
    let (number, surrogate) = ((codes::NUMBER, ""), (codes::LONE_SURROGATE, ""));
    check(r#"{"a": 1e400, "b": "1e400"}"#, json!({ "a": null, "b": "1e400" }), &[number]);
    check(r#"["\\", -1E+999, "\ud83d\"", 5]"#, json!(["\\", null, "\u{FFFD}\"", 5]), &[surrogate, number]);
    check(
        r#"{"a": "x\ud83d", "b": "\ud83e\udd80 \\ud83d", "c": "\udd80\udd80é\ud83d\n"}"#,
        json!({ "a": "x\u{FFFD}", "b": "🦀 \\ud83d", "c": "\u{FFFD}\u{FFFD}é\u{FFFD}\n" }),
        &[surrogate],
    );
    check(
        "{\"a\":1}\n{\"a\":1e999}\n{\"a\":\"\\ud83d\"}\n",
        json!([{ "a": 1 }, { "a": null }, { "a": "\u{FFFD}" }]),
        &[(codes::NUMBER, "/1"), (codes::LONE_SURROGATE, "/2")],
    );
}

#[test]
fn never_folds_line_breaks_in_json_strings() {
    let help = Some(r"write line breaks as `\n` and tabs as `\t` inside strings");
    let control = r"control character (\u0000-\u001F) found while parsing a string";
    refuse("{\"a\": \"x\ny\"}", &format!("invalid JSON at line 2 column 1: {control}"), help);
    let comma = Some("remove the comma before the closing bracket");
    refuse("{\"a\": \"x\u{2028}y\",}", "invalid JSON at line 1 column 13: trailing comma", comma);
    check("{a: 'x\n\ny', b: \"x\\\\\"}", json!({ "a": "x\ny", "b": "x\\" }), &[(codes::READ_AS_YAML, "-")]);
    assert_eq!(read("{\"a\": \"x\ny\"}", "a.yaml").unwrap().value, json!({ "a": "x y" }));
}

#[test]
fn keeps_and_reports_lines_that_are_not_objects() {
    let document = read("{\"a\":1}\n{broken\n\n[1]\n{\"a\":2}\n{\"a\":3}\n", "").unwrap();
    assert_eq!(document.syntax, Syntax::JsonLines);
    assert_eq!(document.value, json!([{ "a": 1 }, null, null, null, { "a": 2 }, { "a": 3 }]));
    let kept: Vec<_> = document.bad_lines.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!(kept, [(2, "{broken"), (4, "[1]")]);
    let found: Vec<_> = document.diagnostics.iter().map(|d| d.location.pointer.as_deref()).collect();
    assert_eq!(found, [Some("/1"), Some("/3")]);
}

#[test]
fn explains_yaml_errors() {
    for (text, message, help) in [
        (
            "a: {{user}} is here",
            "1 column 5: a: invalid type: map, where a key should be a string",
            "quote values that start with `{{`",
        ),
        (
            "a:\n\tb: c",
            "2 column 1: found character that cannot start any token, while scanning for the next token",
            "indent with spaces; YAML does not allow tabs here",
        ),
        (
            "a: *bold* text",
            "1 column 9: did not find expected alphabetic or numeric character, while scanning an alias at line 1 column 4",
            "quote values that start with `*`",
        ),
        (
            "name：小林\ncontent: a\n",
            "2 column 8: mapping values are not allowed in this context",
            "use ASCII punctuation: write `:` instead of `：`",
        ),
        (
            "c: \"x\n",
            "2 column 1: found unexpected end of stream, while scanning a quoted scalar at line 1 column 4",
            "close the quotes; double inner quotes or escape them with `\\`",
        ),
    ] {
        refuse(text, &format!("invalid YAML at line {message}"), Some(help));
    }
}

#[test]
fn explains_json_errors() {
    let text = "an agent, a preset, a worldbook, a conversation, a request body or a user profile, found a plain text";
    let unknown = format!("expected {text}");
    let invalid = |place: &str| format!("invalid JSON at line {place}");
    let colon = Some("use ASCII punctuation: write `:` instead of `：`");
    for (text, message, help) in [
        ("{\n  \"名前\": \"x\" y\n}", invalid("2 column 13: expected `,` or `}`"), None),
        (r#"{"a": tru}"#, invalid("1 column 10: expected `true`, `false`, or `null`"), None),
        (r#"{"a": "C:\dir"}"#, invalid("1 column 11: invalid escape"), Some(r"write `\` as `\\`")),
        (
            "{“name”:“a”}",
            invalid("1 column 2: key must be a string"),
            Some("use ASCII punctuation: write `\"` instead of `“`"),
        ),
        (
            "{\"a\":1，\"b\":2}",
            invalid("1 column 7: expected `,` or `}`"),
            Some("use ASCII punctuation: write `,` instead of `，`"),
        ),
        ("｛小林", unknown.clone(), Some("use ASCII punctuation: write `{` instead of `｛`")),
        ("name：小林", unknown.clone(), colon),
        ("# hi\nname：小林", unknown, colon),
        ("{\n  // one\n  \"a\": 1}", invalid("2 column 3: JSON has no comments"), Some("remove the comment")),
        (" /* one */ {}", invalid("1 column 2: JSON has no comments"), Some("remove the comment")),
    ] {
        check_error(&detect(text.as_bytes(), "a.json").unwrap_err(), &message, help);
    }
    // JSON with comments is not YAML.
    assert!(matches!(read("{\"a\": 1, // one\n \"b\": 2}", ""), Err(ImportError::Json { line: 1, .. })));
}

/// Checks that a document is refused for its depth or its number of values.
#[track_caller]
fn refuse_bomb(input: &str) {
    let error = read(input, "").unwrap_err();
    let limited = matches!(error, ImportError::TooDeep { .. } | ImportError::TooManyNodes { .. });
    assert!(limited, "{error}");
}

#[test]
fn refuses_deep_nesting() {
    let size = 200_000;
    refuse_bomb(&"[".repeat(size));
    refuse_bomb(&"{\"a\":".repeat(size / 5));
    refuse_bomb(&format!("a: {}", "[".repeat(size)));
    refuse_bomb(&format!("a: {}", "{".repeat(size)));
    refuse_bomb(&format!("# \u{2028}a: {}", "[".repeat(size)));
    refuse_bomb(&"- ".repeat(size / 2));
    refuse_bomb(&"? ".repeat(size / 2));
    refuse_bomb(&(0..600).map(|depth| " ".repeat(depth) + "a:\n").collect::<String>());
    refuse_bomb("a: &a [*a]");
    let nested = |depth: usize| format!("a: {}x{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(64), "").is_ok());
    refuse_bomb(&nested(65));
    refuse_bomb(&format!("a: {}", "&b !t [".repeat(65)));
    // Brackets in texts are not nesting.
    let art = "[".repeat(300);
    let yaml = format!("a: \"{art}\"\nb: '{art}'\nc: |\n  {art}\nd: x {art}\n  {art}\n# {art}\n");
    assert_eq!(read(yaml, "").unwrap().value.as_object().unwrap().len(), 4);
}

#[test]
fn limits_sizes_and_counts() {
    let limits = Limits { json_bytes: 20, json_nodes: 3, yaml_bytes: 10, yaml_nodes: 3, ..Limits::default() };
    let read = |text: &str| Document::read_with_limits(text.as_bytes(), "", &limits).unwrap_err().to_string();
    assert_eq!(read("a: 12345678"), "the document has 11 bytes; the limit for YAML is 10");
    assert_eq!(read(&" ".repeat(21)), "the document has 21 bytes; the limit for JSON is 20");
    assert_eq!(read("[1,2,3]"), "the document has more than 3 values");
    assert_eq!(read("[1, 2, a]"), "the document has more than 3 values");
    assert_eq!(read("{\"a\":1}\n{\"b\":2}\n"), "the document has more than 3 values");
    check("a: &a [1, 2]\nb: [*a, *a]", json!({ "a": [1, 2], "b": [[1, 2], [1, 2]] }), &[]);
}

proptest! {
    #[test]
    fn never_panics_on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(read(bytes, "x.jsonl"));
    }

    #[test]
    fn never_panics_on_arbitrary_syntax(text in r#"([-\[\]{}:,?&*!|>'"%@`#~ \n\tab01.\\u]|\{\{|: |- |\n  |<<: |\\ud8){0,60}"#) {
        drop(read(text, ""));
    }
}
