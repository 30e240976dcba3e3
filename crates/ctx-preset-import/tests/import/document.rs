//! Bytes to one JSON value: syntaxes, limits, and what is odd.

use ctx_anchors::AnchorRegistry;
use ctx_preset_import::{
    Document, Format, ImportError, Limits, Syntax, codes, detect, read_agent, read_conversation,
    read_worldbook,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Checks what a document is read as, and the code and pointer of each finding.
#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: Value, findings: &[(ctx_types::Code, &str)]) {
    let document = Document::read(input.as_ref(), "", &Limits::default()).unwrap();
    assert_eq!(document.value, expected);
    let found: Vec<_> =
        document.diagnostics.iter().map(|d| (d.code, d.location.pointer.as_deref().unwrap_or("-"))).collect();
    assert_eq!(found, findings, "{:#?}", document.diagnostics);
}

/// Checks the text of an error, and its help.
#[track_caller]
fn refuse(input: impl AsRef<[u8]>, message: &str, help: Option<&str>) {
    let error = Document::read(input.as_ref(), "", &Limits::default()).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.help().map(|help| help.to_string()).as_deref()),
        (message, help)
    );
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(unit).collect()
}

#[test]
fn content_decides_the_syntax() {
    check("{\"a\": [1, null]}", json!({ "a": [1, null] }), &[]);
    check("a: [1, ~]", json!({ "a": [1, null] }), &[]);
    check("{a: 1}", json!({ "a": 1 }), &[(codes::READ_AS_YAML, "-")]);
    check("{\"a\": 1,}", json!({ "a": 1 }), &[(codes::READ_AS_YAML, "-")]);
    check("{\"a\":1}\n\n{\"b\":2}\n", json!([{ "a": 1 }, null, { "b": 2 }]), &[]);
}

#[test]
fn reports_invalid_json_before_yaml() {
    let document = Document::read(b"{\"a\": [1,],\n}", "a.json", &Limits::default()).unwrap();
    let warning = &document.diagnostics[0];
    assert_eq!(
        warning.message.to_string(),
        "invalid JSON at line 1 column 10: trailing comma; the file is read as YAML"
    );
    assert_eq!(warning.help.as_ref().unwrap().to_string(), "remove the comma before the closing bracket");
}

#[test]
fn reports_invalid_json_instead_of_unknown_type() {
    let found =
        |name: &str| detect(b"{\n \"compilerOptions\": {},\n}", name, &Limits::default()).unwrap_err();
    assert_eq!(found("a.json").to_string(), "invalid JSON at line 3 column 1: trailing comma");
    // In a YAML file, the comma is correct.
    assert_eq!(found("a.yaml").code(), codes::UNKNOWN_SHAPE);
    let read = |bytes: &[u8]| {
        let of_agent = read_agent(bytes, "a.json", &Limits::default(), &AnchorRegistry::system()).map(drop);
        let of_book = read_worldbook(bytes, "a.json", &Limits::default()).map(drop);
        let of_chat = read_conversation(bytes, "a.json", &Limits::default()).map(drop);
        [of_agent, of_book, of_chat].map(|read| read.unwrap_err().code())
    };
    assert_eq!(read(b"{\"a\": 1,}"), [codes::JSON_SYNTAX; 3]);
    assert_eq!(read(b"{\"a\": 1}"), [codes::UNKNOWN_SHAPE; 3]);
}

#[test]
fn reads_messages_with_misspelled_role() {
    let found = |text: &str| detect(text.as_bytes(), "a.json", &Limits::default()).ok();
    assert_eq!(found(r#"[{"role": "usr", "content": "Hi"}]"#), Some(Format::ChatMessages));
    assert_eq!(
        found(r#"{"messages": [{"role": "assisstant", "content": "Hi"}]}"#),
        Some(Format::ChatMessages)
    );
    assert_eq!(found(r#"[{"role": "admin", "content": "Hi"}]"#), None);
}

#[test]
fn names_binary_files() {
    let png = "import the PNG file of a character card with `ctx import`";
    let other = "these images contain no character card; use the PNG file of the card";
    for (start, format, help) in [
        ("\u{89}PNG\r\n\u{1a}\n", "a PNG image", png),
        ("\u{ff}\u{d8}\u{ff}\u{e0}", "a JPEG image", other),
        ("GIF89a", "a GIF image", other),
        ("RIFF1234WEBP", "a WebP image", other),
        ("PK\u{3}\u{4}", "an archive", "import archives with `ctx import`"),
        ("%PDF-1.4", "a PDF", "copy its text into a text file"),
    ] {
        let bytes: Vec<u8> = start.chars().map(|unit| u8::try_from(u32::from(unit)).unwrap()).collect();
        refuse(bytes, &format!("the file is {format}, not a text file"), Some(help));
    }
    check("GIF: 1", json!({ "GIF": 1 }), &[]);
}

#[test]
fn byte_order_marks_are_read() {
    check("\u{FEFF}{\"a\": \"é\"}", json!({ "a": "é" }), &[]);
    check(utf16("a: 🦀", u16::to_le_bytes), json!({ "a": "🦀" }), &[]);
    check(utf16("a: 🦀", u16::to_be_bytes), json!({ "a": "🦀" }), &[]);
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let help = Some("save the file as UTF-8");
    refuse(b"a: \xFF", "the document is not text: invalid byte at 3", help);
    refuse(b"\xEF\xBB\xBFab\xC3(", "the document is not text: invalid byte at 5", help);
    refuse(b"a\0b", "the document is not text: invalid byte at 1", help);
    refuse(b"\xFF\xFEa", "the document is not text: invalid byte at 2", help);
    refuse(b"\xFF\xFEa\0\x00\xD8", "the document is not text: invalid byte at 4", help);
}

#[test]
fn nothing_is_refused() {
    refuse("", "the document is empty", None);
    refuse("\u{FEFF} \n\t", "the document is empty", None);
}

#[test]
fn a_doubled_key_is_reported_and_the_last_one_counts() {
    let json = r#"{"x": [{"a": 1, "b": 2, "a": 3}], "m/n": {"k": 1, "k": {}}}"#;
    let expected = json!({ "x": [{ "a": 3, "b": 2 }], "m/n": { "k": {} } });
    let found = [(codes::DUPLICATE_KEY, "/x/0/a"), (codes::DUPLICATE_KEY, "/m~1n/k")];
    check(json, expected.clone(), &found);
    check("x:\n- a: 1\n  b: 2\n  a: 3\nm/n: {k: 1, k: {}}", expected, &found);
}

#[test]
fn yaml_keys_become_texts() {
    let found = [(codes::KEY_TYPE, "/1"), (codes::KEY_TYPE, "/true"), (codes::KEY_TYPE, "/null")];
    check("1: a\ntrue: b\n~: c", json!({ "1": "a", "true": "b", "null": "c" }), &found);
}

#[test]
fn numbers_without_a_place_in_json_are_null() {
    let found = [(codes::NUMBER, "/a/0"), (codes::NUMBER, "/a/1"), (codes::NUMBER, "/b")];
    check("a: [.nan, -.inf]\nb: 99999999999999999999", json!({ "a": [null, null], "b": 1e20 }), &found);
}

#[test]
fn an_unknown_tag_is_left_out_and_reported() {
    let found = [(codes::UNKNOWN_TAG, "/a"), (codes::UNKNOWN_TAG, "/b/0"), (codes::UNKNOWN_TAG, "/c")];
    check("a: !x 1\nb: [!y {k: v}]\nc: !z", json!({ "a": 1, "b": [{ "k": "v" }], "c": null }), &found);
    check("a: !!str 5", json!({ "a": "5" }), &[]);
}

#[test]
fn yaml_scalars_are_read_as_javascript_reads_them() {
    check(
        "a: yes\nb: 1_000\nc: 2024-01-01T00:00:00Z\nd: 0x1F\ne: ~\nf: 1e3",
        json!({ "a": "yes", "b": "1_000", "c": "2024-01-01T00:00:00Z", "d": 31, "e": null, "f": 1000.0 }),
        &[],
    );
}

#[test]
fn merge_keys_are_resolved() {
    let yaml = "base: &b {x: 1, y: 2}\na:\n  <<: *b\n  y: 3\nc:\n  <<: 5";
    let expected = json!({ "base": { "x": 1, "y": 2 }, "a": { "y": 3, "x": 1 }, "c": { "<<": 5 } });
    check(yaml, expected, &[(codes::MERGE_KEY, "/c/<<")]);
}

/// A long key that every finding below it repeats would fill the memory.
#[test]
fn keys_as_long_as_the_document_are_quoted_in_part() {
    let doubled = r#""a": 1,"#.repeat(2_000);
    let document = format!(r#"{{"{}": {{{doubled} "b": 2}}}}"#, "k".repeat(1 << 20));
    let document = Document::read(document.as_bytes(), "", &Limits::default()).unwrap();
    let codes: Vec<_> = document.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [codes::DUPLICATE_KEY, ctx_types::codes::MORE_FINDINGS]);
}

#[test]
fn a_number_beyond_all_numbers_is_null() {
    check(r#"{"a": 1e400, "b": "1e400"}"#, json!({ "a": null, "b": "1e400" }), &[(codes::NUMBER, "")]);
    let both = [(codes::LONE_SURROGATE, ""), (codes::NUMBER, "")];
    check(r#"["\\", -1E+999, "\ud83d\"", 5]"#, json!(["\\", null, "\u{FFFD}\"", 5]), &both);
    check("{\"a\":1}\n{\"a\":1e999}\n", json!([{ "a": 1 }, { "a": null }]), &[(codes::NUMBER, "/1")]);
}

#[test]
fn a_line_break_inside_a_json_text_is_never_folded() {
    let help = Some(r"write line breaks as `\n` and tabs as `\t` inside strings");
    let control = r"control character (\u0000-\u001F) found while parsing a string";
    refuse("{\"a\": \"x\ny\"}", &format!("invalid JSON at line 2 column 1: {control}"), help);
    let comma = Some("remove the comma before the closing bracket");
    refuse("{\"a\": \"x\u{2028}y\",}", "invalid JSON at line 1 column 13: trailing comma", comma);
    check("{a: 'x\n\ny', b: \"x\\\\\"}", json!({ "a": "x\ny", "b": "x\\" }), &[(codes::READ_AS_YAML, "-")]);
    let yaml = Document::read(b"{\"a\": \"x\ny\"}", "a.yaml", &Limits::default()).unwrap();
    assert_eq!(yaml.value, json!({ "a": "x y" }));
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    let found = [(codes::LONE_SURROGATE, "")];
    check(
        r#"{"a": "x\ud83d", "b": "\ud83e\udd80 \\ud83d"}"#,
        json!({ "a": "x\u{FFFD}", "b": "🦀 \\ud83d" }),
        &found,
    );
    check(r#"{"a": "\udd80\udd80é\ud83d\n"}"#, json!({ "a": "\u{FFFD}\u{FFFD}é\u{FFFD}\n" }), &found);
    check(
        "{\"a\":1}\n{\"a\":\"\\ud83d\"}\n",
        json!([{ "a": 1 }, { "a": "\u{FFFD}" }]),
        &[(codes::LONE_SURROGATE, "/1")],
    );
}

#[test]
fn lines_that_are_no_objects_are_kept_and_reported() {
    let text = "{\"a\":1}\n{broken\n\n[1]\n{\"a\":2}\n{\"a\":3}\n";
    let document = Document::read(text.as_bytes(), "", &Limits::default()).unwrap();
    assert_eq!(document.syntax, Syntax::JsonLines);
    assert_eq!(document.value, json!([{ "a": 1 }, null, null, null, { "a": 2 }, { "a": 3 }]));
    let kept: Vec<_> = document.bad_lines.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!(kept, [(2, "{broken"), (4, "[1]")]);
    let found: Vec<_> = document.diagnostics.iter().map(|d| d.location.pointer.as_deref()).collect();
    assert_eq!(found, [Some("/1"), Some("/3")]);
}

#[test]
fn syntax_errors_name_line_and_column_in_characters() {
    refuse("{\n  \"名前\": \"x\" y\n}", "invalid JSON at line 2 column 13: expected `,` or `}`", None);
    refuse(
        "{\"a\": 1",
        "invalid JSON at line 1 column 7: the document ends too early",
        Some("close the open bracket or quote; the file may be truncated"),
    );
    refuse(
        "a: {{user}} is here",
        "invalid YAML at line 1 column 5: a: invalid type: map, where a key should be a string",
        Some("quote values that start with `{{`"),
    );
    refuse(
        "messages:\n- role: user\n  content: {{user}}",
        "invalid YAML at line 3 column 13: messages[0].content: invalid type: map, where a key should be a string",
        Some("quote values that start with `{{`"),
    );
    refuse(
        "a:\n\tb: c",
        "invalid YAML at line 2 column 1: found character that cannot start any token, while scanning for the next token",
        Some("indent with spaces; YAML does not allow tabs here"),
    );
    refuse(
        "a: *bold* text",
        "invalid YAML at line 1 column 9: did not find expected alphabetic or numeric character, while scanning an alias at line 1 column 4",
        Some("quote values that start with `*`"),
    );
    refuse(
        "name：小林\ncontent: a\n",
        "invalid YAML at line 2 column 8: mapping values are not allowed in this context",
        Some("use ASCII punctuation: write `:` instead of `：`"),
    );
    refuse(
        "c: \"x\n",
        "invalid YAML at line 2 column 1: found unexpected end of stream, while scanning a quoted scalar at line 1 column 4",
        Some("close the quotes; double inner quotes or escape them with `\\`"),
    );
    refuse(
        "a: 1\n---\nb: 2\n",
        "invalid YAML at line 2 column 1: a second document starts",
        Some("put each document in its own file, or indent `---` inside text"),
    );
}

#[test]
fn names_fix_of_json() {
    #[track_caller]
    fn check(text: &str, message: &str, help: Option<&str>) {
        let error = detect(text.as_bytes(), "a.json", &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.help().map(|help| help.to_string()).as_deref(), help);
    }
    check(r#"{"a": tru}"#, "invalid JSON at line 1 column 10: expected `true`, `false`, or `null`", None);
    check(
        r#"{"a": "C:\dir"}"#,
        "invalid JSON at line 1 column 11: invalid escape",
        Some(r"write `\` as `\\`"),
    );
    check(
        "{“name”:“a”}",
        "invalid JSON at line 1 column 2: key must be a string",
        Some("use ASCII punctuation: write `\"` instead of `“`"),
    );
    check(
        "{\"a\":1，\"b\":2}",
        "invalid JSON at line 1 column 7: expected `,` or `}`",
        Some("use ASCII punctuation: write `,` instead of `，`"),
    );
    let text = "an agent, a preset, a worldbook, a conversation, a request body or a user profile, found a plain text";
    for (start, wrong, right) in [("｛", "｛", "{"), ("name：", "：", ":"), ("# hi\nname：", "：", ":")]
    {
        let help = format!("use ASCII punctuation: write `{right}` instead of `{wrong}`");
        check(&format!("{start}小林"), &format!("expected {text}"), Some(&help));
    }
}

#[test]
fn json_with_comments_is_not_taken_for_yaml() {
    let error = Document::read(b"{\"a\": 1, // one\n \"b\": 2}", "", &Limits::default()).unwrap_err();
    assert!(matches!(error, ImportError::Json { line: 1, .. }), "{error}");
    for (text, place) in
        [("{\n  // one\n  \"a\": 1}", "line 2 column 3"), (" /* one */ {}", "line 1 column 2")]
    {
        let error = Document::read(text.as_bytes(), "a.json", &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("invalid JSON at {place}: JSON has no comments"));
    }
}

#[test]
fn the_name_decides_only_which_error_is_told() {
    let text = b"{a: 1, b: {";
    let json = Document::read(text, "x.json", &Limits::default()).unwrap_err();
    let yaml = Document::read(text, "x.YAML", &Limits::default()).unwrap_err();
    assert!(matches!(json, ImportError::Json { .. }));
    assert!(matches!(yaml, ImportError::Yaml { .. }));
    assert!(Document::read(b"a: 1", "x.json", &Limits::default()).is_ok());
}

/// Checks that a document is refused for its depth or its number of values.
#[track_caller]
fn refuse_bomb(input: &str) {
    let error = Document::read(input.as_bytes(), "", &Limits::default()).unwrap_err();
    let limited = matches!(error, ImportError::TooDeep { .. } | ImportError::TooManyNodes { .. });
    assert!(limited, "{error}");
}

#[test]
fn deep_nesting_is_refused() {
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
}

#[test]
fn flow_nesting_has_its_own_limit() {
    let nested = |depth: usize| format!("a: {}x{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Document::read(nested(64).as_bytes(), "", &Limits::default()).is_ok());
    refuse_bomb(&nested(65));
    refuse_bomb(&format!("a: {}", "&b !t [".repeat(65)));
}

#[test]
fn brackets_in_texts_are_no_nesting() {
    let art = "[".repeat(300);
    let yaml = format!("a: \"{art}\"\nb: '{art}'\nc: |\n  {art}\nd: x {art}\n  {art}\n# {art}\n");
    let document = Document::read(yaml.as_bytes(), "", &Limits::default()).unwrap();
    assert_eq!(document.value.as_object().unwrap().len(), 4);
}

#[test]
fn an_alias_bomb_is_refused() {
    let level = |level: usize| {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("a{level}: &a{level} [{aliases}]\n")
    };
    let levels: Vec<String> = (1..10).map(level).collect();
    refuse_bomb(&format!("a0: &a0 [x, x, x, x, x, x, x, x, x]\n{}", levels.concat()));
    check("a: &a [1, 2]\nb: [*a, *a]", json!({ "a": [1, 2], "b": [[1, 2], [1, 2]] }), &[]);
}

#[test]
fn sizes_and_counts_are_limited() {
    let limits = Limits { json_bytes: 20, json_nodes: 3, yaml_bytes: 10, yaml_nodes: 3, ..Limits::default() };
    let read = |text: &str| Document::read(text.as_bytes(), "", &limits).unwrap_err().to_string();
    assert_eq!(read("a: 12345678"), "the document has 11 bytes; the limit for YAML is 10");
    assert_eq!(read(&" ".repeat(21)), "the document has 21 bytes; the limit for JSON is 20");
    assert_eq!(read("[1,2,3]"), "the document has more than 3 values");
    assert_eq!(read("[1, 2, a]"), "the document has more than 3 values");
    assert_eq!(read("{\"a\":1}\n{\"b\":2}\n"), "the document has more than 3 values");
}

#[test]
fn findings_of_one_document_are_limited() {
    let json = format!("[{}1]", "{\"a\":1,\"a\":2},".repeat(2_000));
    let document = Document::read(json.as_bytes(), "", &Limits::default()).unwrap();
    assert_eq!(document.diagnostics.len(), 1_001);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(Document::read(&bytes, "x.jsonl", &Limits::default()));
    }

    #[test]
    fn arbitrary_syntax_never_panics(text in r#"([-\[\]{}:,?&*!|>'"%@`#~ \n\tab01.\\u]|\{\{|: |- |\n  |<<: |\\ud8){0,60}"#) {
        drop(Document::read(text.as_bytes(), "", &Limits::default()));
    }
}
