use ctx_types::session::{Node, Session};
use ctx_types::{Content, Message, Persist, Reader, SourceKind, Trust};
use serde_json::{Value, json};

fn message(node: Value) -> Message {
    Node::read(node, &mut Reader::new()).to_message(&"n1".into())
}

#[track_caller]
fn check(node: Value, expected: &str) {
    let message = message(node);
    let mut found = vec![format!("{}: {:?}", message.role, message.text())];
    let calls = message.tool_calls.iter();
    found.extend(calls.map(|call| format!("call {} {} {}", call.id, call.name, call.arguments.as_str())));
    found.extend(message.tool_call_id.iter().map(|id| format!("answers {id}")));
    found.extend(message.name.iter().map(|name| format!("name {name}")));
    found.extend(message.attachments.iter().map(|file| format!("file {} {}", file.id, file.name)));
    if let Some(reasoning) = &message.reasoning {
        found.extend(reasoning.text.iter().map(|text| format!("reasoning {}", text.as_str())));
        found.extend(reasoning.artifacts.iter().map(|artifact| format!("artifact {artifact}")));
    }
    found.extend(message.is_continuation_prefix.then(|| "prefix".to_owned()));
    assert_eq!(found.join("; "), expected);
}

#[track_caller]
fn check_source(node: Value, kind: SourceKind, trust: Trust) {
    let source = &message(node).source;
    assert_eq!((source.kind, source.id.as_deref(), source.trust), (kind, Some("n1"), trust));
}

#[test]
fn reads_empty_node_as_empty_user_message() {
    check(json!({}), r#"user: """#);
    check(json!({ "role": "narrator", "content": null }), r#"user: """#);
}

#[test]
fn shares_text_between_node_and_message() {
    let node = Node::read(json!({ "content": "hello", "role": "assistant" }), &mut Reader::new());
    let message = node.to_message(&"n1".into());
    let (Some(Content::Text(stored)), Content::Text(sent)) = (&node.content, &message.content) else {
        panic!("both are texts");
    };
    assert!(sent.is_shared_with(stored));
}

#[test]
fn derives_trust_from_role_except_for_summaries() {
    check_source(json!({ "role": "user" }), SourceKind::History, Trust::User);
    check_source(json!({ "role": "tool" }), SourceKind::History, Trust::Tool);
    let summary = json!({ "role": "assistant", "metadata": { "isCompressionNode": true } });
    check_source(summary, SourceKind::Summary, Trust::Model);
    let spoken = json!({ "role": "system", "metadata": { "isCompressionNode": true } });
    check_source(spoken, SourceKind::Summary, Trust::Model);
}

#[test]
fn prefers_own_tool_calls_over_metadata() {
    let metadata = json!({ "toolCallsRequested": [{ "requestId": "r", "toolName": "t" }] });
    let own = json!([{ "id": "c", "name": "f", "arguments": "{ }" }]);
    check(
        json!({ "role": "assistant", "content": "", "toolCalls": own, "metadata": metadata }),
        r#"assistant: ""; call c f { }"#,
    );
    let nested =
        json!([{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{\"a\": 1}" } }]);
    check(json!({ "role": "assistant", "toolCalls": nested }), r#"assistant: ""; call c f {"a": 1}"#);
}

#[test]
fn reads_aio_hub_tool_calls_from_metadata() {
    let requested = json!([
        { "requestId": "r1", "toolName": "look", "args": { "b": 1, "a": [true] }, "status": "success" },
        { "requestId": "r2", "toolName": "raw", "args": "{ \"x\":1 }" },
        { "toolName": "none" },
        "broken",
    ]);
    let expected = r#": ""; call r1 look {"b":1,"a":[true]}; call r2 raw { "x":1 }; call  none {}"#;
    let node = |role| json!({ "role": role, "metadata": { "toolCallsRequested": requested } });
    check(node("assistant"), &format!("assistant{expected}"));
    check(node("user"), r#"user: """#);
}

#[test]
fn reads_answered_call_of_tool_message() {
    check(
        json!({ "role": "tool", "toolCallId": "c", "metadata": { "toolCall": { "requestId": "r" } } }),
        r#"tool: ""; answers c"#,
    );
    check(
        json!({ "role": "tool", "metadata": { "toolCall": { "requestId": "r" } } }),
        r#"tool: ""; answers r"#,
    );
    check(
        json!({ "role": "tool", "metadata": { "toolCalls": [{ "requestId": "r1" }, { "requestId": "r2" }] } }),
        r#"tool: ""; answers r1"#,
    );
    check(json!({ "role": "user", "metadata": { "toolCall": { "requestId": "r" } } }), r#"user: """#);
}

#[test]
fn carries_reasoning_attachments_and_prefix() {
    let node = json!({
        "role": "assistant", "content": "so", "name": "Ada",
        "attachments": [{ "id": "f1", "name": "a.png", "mimeType": "image/png", "path": "p" }, 7],
        "metadata": {
            "reasoningContent": "hm", "reasoningArtifacts": [{ "provider": "x" }], "isContinuationPrefix": true,
        },
    });
    let expected =
        r#"assistant: "so"; name Ada; file f1 a.png; reasoning hm; artifact {"provider":"x"}; prefix"#;
    check(node, expected);
    check(json!({ "role": "assistant", "metadata": { "reasoningContent": "" } }), r#"assistant: """#);
}

#[test]
fn skips_messages_excluded_from_context() {
    let node = |included: serde_json::Value| {
        let file =
            json!({ "id": "n1", "role": "assistant", "content": "restarted", "includeInContext": included });
        serde_json::from_value::<Node>(file).unwrap()
    };
    assert!(node(json!(true)).is_enabled() && node(serde_json::Value::Null).is_enabled());
    assert!(!node(json!(false)).is_enabled());
    let (session, _) = Session::linear("s", [node(json!(false))]);
    assert_eq!((session.sent_len(), session.path().len()), (0, 1));
}
