//! Messages as chat completions take them.

use std::sync::Arc;

use ctx_types::{Attachment, Content, ContentPart, Message, Reasoning, Role, Source, Text, ToolCall};
use ctx_wire::{Request, openai_chat};
use serde_json::{Map, Value, json};

/// Encodes messages and compares the `messages` of the body, with the order of their keys, and the findings.
#[track_caller]
fn check(messages: &[Message], expected: &str, findings: &[&str]) {
    let request = Request { model: "m", tools: &[], parameters: &Map::new() };
    let encoded = openai_chat::encode(messages, &request);
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(format!("{:#}", encoded.to_value()["messages"]), format!("{expected:#}"));
    let found: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

fn message(role: Role, text: &str) -> Message {
    Message::new(role, text, Source::history("n", role))
}

fn with_parts(role: Role, parts: &[Value]) -> Message {
    let part = |value: &Value| match value {
        Value::String(text) => ContentPart::Text(Text::from(text.as_str())),
        other => ContentPart::Other(Arc::new(other.clone())),
    };
    message(role, "").with(|message| message.content = Content::Parts(parts.iter().map(part).collect()))
}

fn calling(role: Role, text: &str, id: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "add".into(), arguments: r#"{"a": 1}"#.into() };
    message(role, text).with(|message| message.tool_calls = vec![call])
}

fn result(id: &str) -> Message {
    message(Role::Tool, "2").with(|message| message.tool_call_id = Some(id.into()))
}

fn named(role: Role, name: &str) -> Message {
    message(role, "hi").with(|message| message.name = Some(name.into()))
}

#[test]
fn text_is_a_string_in_every_role() {
    check(
        &[
            message(Role::System, "s"),
            message(Role::Developer, "d"),
            message(Role::User, "u\n\"雪\""),
            message(Role::Assistant, "a"),
        ],
        r#"[{"role":"system","content":"s"},{"role":"developer","content":"d"},
            {"role":"user","content":"u\n\"雪\""},{"role":"assistant","content":"a"}]"#,
        &[],
    );
}

#[test]
fn an_empty_message_is_written() {
    check(
        &[message(Role::User, ""), message(Role::Assistant, "")],
        r#"[{"role":"user","content":""},{"role":"assistant","content":""}]"#,
        &[
            "warning[CTX0532]: the message of role `user` is empty (at /messages/0/content)",
            "warning[CTX0532]: the message of role `assistant` is empty (at /messages/1/content)",
        ],
    );
}

#[test]
fn a_single_text_part_is_a_string() {
    check(&[with_parts(Role::User, &[json!("hi")])], r#"[{"role":"user","content":"hi"}]"#, &[]);
}

#[test]
fn no_parts_are_an_empty_string() {
    check(
        &[with_parts(Role::User, &[])],
        r#"[{"role":"user","content":""}]"#,
        &["warning[CTX0532]: the message of role `user` is empty (at /messages/0/content)"],
    );
}

#[test]
fn several_text_parts_stay_a_list() {
    check(
        &[with_parts(Role::User, &[json!("a"), json!("b")])],
        r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#,
        &[],
    );
}

#[test]
fn a_part_of_another_kind_passes_unchanged_in_a_user_message() {
    let image = json!({ "type": "image_url", "image_url": { "url": "data:,", "detail": "low" }, "x": null });
    check(
        &[with_parts(Role::User, &[image])],
        r#"[{"role":"user","content":[
            {"type":"image_url","image_url":{"url":"data:,","detail":"low"},"x":null}]}]"#,
        &[],
    );
}

#[test]
fn a_part_that_the_role_cannot_have_is_written_and_reported() {
    let parts = [json!("see"), json!({ "type": "image_url" })];
    check(
        &[with_parts(Role::System, &parts)],
        r#"[{"role":"system","content":[{"type":"text","text":"see"},{"type":"image_url"}]}]"#,
        &["error[CTX0514]: role `system` cannot have part `image_url` (at /messages/0/content/1)"],
    );
}

#[test]
fn a_refusal_is_the_assistants() {
    let refusal = [json!({ "type": "refusal", "refusal": "no" })];
    check(
        &[with_parts(Role::Assistant, &refusal), with_parts(Role::User, &refusal)],
        r#"[{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
            {"role":"user","content":[{"type":"refusal","refusal":"no"}]}]"#,
        &["error[CTX0514]: role `user` cannot have part `refusal` (at /messages/1/content/0)"],
    );
}

#[test]
fn drops_parts_of_other_dialects() {
    let picture = json!({ "type": "image", "source": { "type": "base64" } });
    let foreign = [
        json!(42),
        picture,
        json!({ "type": "input_text", "text": "a" }),
        json!({ "type": "server_tool_use", "id": "s" }),
        json!({ "type": "web_search_call", "id": "w" }),
        json!({ "executableCode": { "code": "1" } }),
    ];
    let not_sent = |part: &str| {
        format!(
            "error[CTX0514]: part `{part}` is not sent: this API dialect does not support it (at /messages)"
        )
    };
    let names =
        ["without a type", "image", "input_text", "server_tool_use", "web_search_call", "executableCode"];
    let mut told: Vec<String> = names.map(not_sent).to_vec();
    told.push("info[CTX0517]: message 0 is not sent: it has no text (at /messages)".to_owned());
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    check(
        &[
            with_parts(Role::Assistant, &foreign),
            with_parts(Role::User, &[json!({ "type": "text", "text": "b" })]),
        ],
        r#"[{"role":"user","content":"b"}]"#,
        &told,
    );
}

#[test]
fn keeps_unknown_parts() {
    let parts = [json!({ "type": "video_url", "video_url": { "url": "u" } }), json!({ "type": "foo" })];
    check(
        &[with_parts(Role::User, &parts)],
        r#"[{"role":"user","content":[{"type":"video_url","video_url":{"url":"u"}},{"type":"foo"}]}]"#,
        &[],
    );
}

#[test]
fn calls_alone_have_null_content() {
    check(
        &[calling(Role::Assistant, "", "c1"), result("c1")],
        r#"[{"role":"assistant","content":null,"tool_calls":[
              {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"2"}]"#,
        &[],
    );
}

#[test]
fn calls_with_words_keep_the_words() {
    check(
        &[calling(Role::Assistant, " ", "c1"), result("c1")],
        r#"[{"role":"assistant","content":" ","tool_calls":[
              {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"2"}]"#,
        &[],
    );
}

#[test]
fn calls_of_another_role_are_not_sent() {
    check(
        &[calling(Role::User, "hi", "c1")],
        r#"[{"role":"user","content":"hi"}]"#,
        &["error[CTX0515]: its tool calls are not sent: role `user` cannot have any (at /messages/0)"],
    );
}

#[test]
fn a_call_id_of_another_role_is_not_sent() {
    let user = message(Role::User, "hi").with(|message| message.tool_call_id = Some("c1".into()));
    check(
        &[user],
        r#"[{"role":"user","content":"hi"}]"#,
        &["warning[CTX0515]: call id `c1` is not sent: role `user` cannot have one (at /messages/0)"],
    );
}

#[test]
fn a_result_without_a_call_id_stays_a_tool_message() {
    check(
        &[message(Role::Tool, "2")],
        r#"[{"role":"tool","content":"2"}]"#,
        &["error[CTX0520]: the tool result has no call id (at /messages/0)"],
    );
}

#[test]
fn broken_pairs_are_reported_and_written_unchanged() {
    check(
        &[result("c9"), calling(Role::Assistant, "", "c1")],
        r#"[{"role":"tool","tool_call_id":"c9","content":"2"},
            {"role":"assistant","content":null,"tool_calls":[
              {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]}]"#,
        &[
            "error[CTX0521]: no earlier call has id `c9` (at /messages/0/tool_call_id)",
            "error[CTX0522]: call `c1` has no result (at /messages/1/tool_calls/0/id)",
        ],
    );
}

#[test]
fn a_valid_name_is_written_after_the_role() {
    check(
        &[named(Role::User, "Ada_L-1"), named(Role::System, "example_user")],
        r#"[{"role":"user","name":"Ada_L-1","content":"hi"},
            {"role":"system","name":"example_user","content":"hi"}]"#,
        &[],
    );
}

#[test]
fn a_name_of_other_characters_or_length_is_left_out() {
    check(
        &[named(Role::User, "艾达"), named(Role::User, ""), named(Role::User, &"n".repeat(65))],
        r#"[{"role":"user","content":"hi"},{"role":"user","content":"hi"},{"role":"user","content":"hi"}]"#,
        &[
            "info[CTX0510]: name `艾达` is not sent (at /messages/0)",
            "info[CTX0510]: name `` is not sent (at /messages/1)",
            &format!("info[CTX0510]: name `{}…` is not sent (at /messages/2)", "n".repeat(64)),
        ],
    );
}

#[test]
fn findings_quote_names_without_control_characters() {
    check(
        &[named(Role::User, "a\u{1b}[2J")],
        r#"[{"role":"user","content":"hi"}]"#,
        &["info[CTX0510]: name `a\\u{1b}[2J` is not sent (at /messages/0)"],
    );
}

#[test]
fn a_tool_message_has_no_name() {
    let answer = result("c1").with(|message| message.name = Some("add".into()));
    check(
        &[calling(Role::Assistant, "", "c1"), answer],
        r#"[{"role":"assistant","content":null,"tool_calls":[
              {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"2"}]"#,
        &["info[CTX0510]: name `add` is not sent: role `tool` cannot have one (at /messages/1)"],
    );
}

#[test]
fn an_attachment_without_bytes_is_an_error_and_the_text_is_sent_as_it_is() {
    let file = json!({ "id": "a1", "name": "plan.pdf", "mimeType": "application/pdf" });
    let nameless = json!({ "id": "a2" });
    let attachments = vec![Attachment::from_value(&file), Attachment::from_value(&nameless)];
    check(
        &[message(Role::User, "see").with(|message| message.attachments = attachments)],
        r#"[{"role":"user","content":"see"}]"#,
        &[
            "error[CTX0513]: attachment `plan.pdf` is not sent: it is not loaded (at /messages/0)",
            "error[CTX0513]: attachment `a2` is not sent: it is not loaded (at /messages/0)",
        ],
    );
}

#[test]
fn reasoning_state_is_left_out_and_reported() {
    let reasoning =
        Reasoning { text: Some("hm".into()), artifacts: vec![Arc::new(json!({ "s": 1 }))], model: None };
    check(
        &[message(Role::Assistant, "a").with(|message| message.reasoning = Some(reasoning))],
        r#"[{"role":"assistant","content":"a"}]"#,
        &[
            "info[CTX0512]: its reasoning state is not sent: this API dialect does not support it (at /messages/0)",
        ],
    );
}

#[test]
fn a_message_of_nothing_but_reasoning_is_reported() {
    let reasoning = Reasoning { text: Some("hm".into()), artifacts: Vec::new(), model: None };
    check(
        &[message(Role::Assistant, "").with(|message| message.reasoning = Some(reasoning))],
        r#"[{"role":"assistant","content":""}]"#,
        &[
            "warning[CTX0512]: it is sent without text: this API dialect cannot carry its reasoning (at /messages/0)",
        ],
    );
}

#[test]
fn reports_visible_reasoning_that_is_not_sent() {
    let reasoning = Reasoning { text: Some("hm".into()), artifacts: Vec::new(), model: None };
    check(
        &[message(Role::Assistant, "a").with(|message| message.reasoning = Some(reasoning))],
        r#"[{"role":"assistant","content":"a"}]"#,
        &["info[CTX0512]: its reasoning is not sent: this model does not get it back (at /messages/0)"],
    );
}

#[test]
fn an_answer_to_be_continued_is_the_last_message() {
    let prefix = message(Role::Assistant, "Once").with(|message| message.is_continuation_prefix = true);
    check(
        &[message(Role::User, "go"), prefix],
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":"Once"}]"#,
        &["info[CTX0511]: the prefill is sent as the last message, without a mark (at /messages/1)"],
    );
}

#[test]
fn an_answer_to_be_continued_elsewhere_is_a_warning() {
    let prefix = message(Role::Assistant, "Once").with(|message| message.is_continuation_prefix = true);
    check(
        &[prefix, message(Role::User, "go")],
        r#"[{"role":"assistant","content":"Once"},{"role":"user","content":"go"}]"#,
        &["warning[CTX0511]: the prefill is not the last message; it will not be continued (at /messages/0)"],
    );
}

#[test]
fn no_messages_are_reported() {
    check(&[], "[]", &["error[CTX0500]: the request has no messages (at /messages)"]);
}
