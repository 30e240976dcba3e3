use ctx_types::internal::UnknownKeys;
use ctx_types::phrase;
use ctx_types::session::Node;
use ctx_types::{
    Agent, Content, ContentPart, Diagnostic, Persist, PresetMessage, Reader, Role, Severity, UserProfile,
    codes,
};
use serde_json::{Value, json};

fn read<T: Persist>(file: Value) -> (T, Vec<String>) {
    let mut reader = Reader::new();
    let noun = T::read(file, &mut reader);
    (noun, reader.finish().iter().map(ToString::to_string).collect())
}

#[track_caller]
fn check(file: &str, findings: &[&str]) {
    let value: Value = serde_json::from_str(file).unwrap();
    let (node, found) = read::<Node>(value);
    assert_eq!(node.write().to_string(), file);
    assert_eq!(found, findings);
}

#[test]
fn keeps_key_order_unknown_keys_and_nulls() {
    check(r#"{"z":1,"role":"user","content":"x","a":{"b":[null]},"name":null,"id":"n"}"#, &[]);
}

#[test]
fn keeps_and_reports_values_of_wrong_type() {
    let finding = |what: &str, pointer: &str| format!("error[CTX0100]: expected {what} (at {pointer})");
    let role = "error[CTX0100]: unknown role `narrator`; the message is sent as `user` (at /role)";
    check(r#"{"role":"narrator"}"#, &[role]);
    for (file, what, pointer) in [
        (r#"{"content":5}"#, "a string or a list of content parts, found the number `5`", "/content"),
        (r#"{"id":{"x":1}}"#, "a string, found an object", "/id"),
        (r#"{"isEnabled":"yes"}"#, "true or false, found the string `yes`", "/isEnabled"),
        (r#"{"attachments":{}}"#, "a list, found an object", "/attachments"),
        (r#"{"attachments":[{},7]}"#, "an object, found the number `7`", "/attachments/1"),
        (r#"{"childrenIds":["a",5,"b"]}"#, "a string, found the number `5`", "/childrenIds/1"),
        (r#"{"childrenIds":"a"}"#, "a list of strings, found the string `a`", "/childrenIds"),
        (r#"{"metadata":[]}"#, "an object, found a list of 0", "/metadata"),
        (r#"{"metadata":{"isGreeting":0}}"#, "true or false, found the number `0`", "/metadata/isGreeting"),
        (
            r#"{"metadata":{"reasoningArtifacts":"x"}}"#,
            "a list, found the string `x`",
            "/metadata/reasoningArtifacts",
        ),
    ] {
        check(file, &[&finding(what, pointer)]);
    }
}

#[test]
fn keeps_number_spelling() {
    let file = r#"{"order":100.0,"insertionPoint":-1.0,"injectionStrategy":{"depth":3.0,"order":1e2}}"#;
    let value: Value = serde_json::from_str(file).unwrap();
    let (entry, found) = read::<PresetMessage>(value.clone());
    assert_eq!((entry.order, entry.insertion_point), (Some(100.0), Some(-1)));
    assert_eq!((entry.write().to_string(), found), (value.to_string(), Vec::new()));
}

#[test]
fn keeps_unknown_fields_of_content_parts() {
    let parts = r#"{"content":[{"text":"a","cache":{"x":1},"type":"text"},{"type":"image_url"},null,{"type":"text","text":5}]}"#;
    let no_part = "expected a content part (an object; text parts need a string `text`), found";
    check(
        parts,
        &[
            &format!("error[CTX0100]: {no_part} null (at /content/2)"),
            &format!("error[CTX0100]: {no_part} an object (at /content/3)"),
        ],
    );
    let (mut node, _) = read::<Node>(serde_json::from_str(parts).unwrap());
    let sound = node.content.as_ref().map(Content::sound);
    assert!(matches!(sound, Some(Content::Parts(parts)) if parts.len() == 2), "malformed parts are ignored");
    let Some(Content::Parts(parts)) = &mut node.content else { unreachable!("the content is a list") };
    parts[0] = ContentPart::Text("b".into());
    assert_eq!(node.write()["content"][0].to_string(), r#"{"text":"b","cache":{"x":1},"type":"text"}"#);
    node.content = Some(Content::Parts(vec![ContentPart::Text("c".into())]));
    assert_eq!(node.write()["content"].to_string(), r#"[{"type":"text","text":"c"}]"#);
}

#[track_caller]
fn check_change(file: &str, change: impl Fn(&mut Node), expected: &str) {
    let (mut node, _) = read::<Node>(serde_json::from_str(file).unwrap());
    change(&mut node);
    assert_eq!(node.write().to_string(), expected);
    let (again, _) = read::<Node>(node.write());
    assert_eq!(again, node);
}

#[test]
fn sets_field_in_place() {
    check_change(r#"{"role":"user","x":1}"#, |node| node.role = Some(Role::Tool), r#"{"role":"tool","x":1}"#);
    check_change(
        r#"{"content":null,"x":1}"#,
        |node| node.content = Some(Content::Text("t".into())),
        r#"{"content":"t","x":1}"#,
    );
    check_change(r#"{"status":5,"x":1}"#, |node| node.status = Some("s".into()), r#"{"status":"s","x":1}"#);
    check_change(
        r#"{"childrenIds":["a",5],"x":1}"#,
        |node| node.children_ids.push("b".into()),
        r#"{"childrenIds":["a","b",5],"x":1}"#,
    );
    check_change(r#"{"x":1}"#, |node| node.metadata = Some(Box::default()), r#"{"x":1,"metadata":{}}"#);
}

#[test]
fn clears_fields() {
    check_change(r#"{"x":1,"role":"user","y":1}"#, |node| node.role = None, r#"{"x":1,"y":1}"#);
    check_change(
        r#"{"x":1,"content":[{"type":"text","text":"t"}]}"#,
        |node| node.content = None,
        r#"{"x":1}"#,
    );
    check_change(r#"{"status":"s","x":1}"#, |node| node.status = None, r#"{"x":1}"#);
    check_change(
        r#"{"childrenIds":["a"],"x":1}"#,
        |node| node.children_ids.clear(),
        r#"{"childrenIds":[],"x":1}"#,
    );
    check_change(
        r#"{"attachments":[{}],"x":1}"#,
        |node| node.attachments.clear(),
        r#"{"attachments":[],"x":1}"#,
    );
    check_change(r#"{"metadata":{"a":1},"x":1}"#, |node| node.metadata = None, r#"{"x":1}"#);
    let clear = |node: &mut Node| node.metadata.as_mut().unwrap().tool_call = None;
    check_change(r#"{"metadata":{"toolCall":{"a":1},"b":2}}"#, clear, r#"{"metadata":{"b":2}}"#);
}

#[test]
fn stores_each_text_once() {
    let file = json!({
        "content": [{ "type": "text", "text": "body" }, { "type": "image", "data": "body" }],
        "childrenIds": ["body"],
        "toolCalls": [{ "arguments": "body" }],
        "metadata": { "reasoningContent": "body", "reasoningArtifacts": ["body"], "toolCall": { "a": "body" } },
    });
    let (node, _) = read::<Node>(file);
    let metadata = node.metadata.unwrap();
    for kept in [&node.kept, &node.tool_calls[0].kept, &metadata.kept] {
        assert!(!format!("{kept:?}").contains("body"), "{kept:?}");
    }
}

#[test]
fn keeps_values_that_are_not_objects() {
    for value in [json!(null), json!("x"), json!([{}]), json!(0.0), json!(false)] {
        let (agent, found) = read::<Agent>(value.clone());
        assert_eq!((agent.write(), found.len()), (value, 1));
    }
}

#[test]
fn escapes_json_pointers() {
    let mut reader = Reader::new();
    reader.at_key("a/b~c", |reader| reader.at_index(3, |reader| reader.wrong_type("a string", &json!(1))));
    let pointer = reader.finish()[0].location.pointer.clone();
    assert_eq!(pointer.as_deref(), Some("/a~1b~0c/3"));
}

#[test]
fn limits_diagnostics_by_count_and_size() {
    let (_, found) = read::<UserProfile>(json!({ "name": 1 }));
    assert_eq!(found.len(), 1);
    let (_, found) = read::<Agent>(json!({ "worldbookIds": vec![1; 5_000] }));
    assert_eq!(found.len(), 1_001);
    assert_eq!(found[1_000], "error[CTX0101]: 4000 more diagnostics in this document are not shown");
    let mut reader = Reader::new();
    reader.at_key(&"k".repeat(1 << 19), |reader| {
        (0..10).for_each(|_| reader.wrong_type("a string", &json!(1)));
    });
    assert_eq!(reader.finish().len(), 3);
}

/// Callers that reject errors must see suppressed errors.
#[test]
fn reports_worst_severity_of_suppressed_diagnostics() {
    let mut reader = Reader::new();
    let report = |reader: &mut Reader, count| {
        (0..count).for_each(|_| reader.report(Diagnostic::warning(codes::WRONG_TYPE, phrase!("odd"))));
    };
    report(&mut reader, 1_001);
    reader.wrong_type("a string", &json!(1));
    report(&mut reader, 1);
    let found = reader.finish();
    assert_eq!(found[1_000].to_string(), "error[CTX0101]: 3 more diagnostics in this document are not shown");
    let mut reader = Reader::new();
    report(&mut reader, 1_001);
    assert_eq!(reader.finish()[1_000].severity, Severity::Warning);
}

#[test]
fn sets_unknown_key_on_empty_object() {
    let mut kept = UnknownKeys::default();
    kept.set("x", json!(1));
    assert_eq!((kept.get("x"), kept.is_malformed()), (Some(&json!(1)), false));
}
