//! Conversations from every form. Fixtures of `readers` and `bad_input` show the rest.

mod write;

use ctx_preset_import::{Format, Imported, codes, detect, read_conversation};
use ctx_types::session::Session;
use ctx_types::{Code, Persist, codes as types};
use serde_json::{Value, json};

pub(crate) fn read(input: impl ToString) -> Imported<Session> {
    read_conversation(input.to_string().as_bytes(), "").unwrap()
}

/// Returns the diagnostics, except for guesses of the format.
fn findings(imported: &Imported<Session>) -> Vec<(Code, &str)> {
    let found = imported.diagnostics.iter().filter(|found| found.code != codes::GUESSED_FORMAT);
    found.map(|found| (found.code, found.location.pointer.as_deref().unwrap())).collect()
}

/// Checks the format of a document, its messages without their links, and the diagnostics.
#[track_caller]
fn check(input: impl ToString, format: Format, expected: Value, found: &[(Code, &str)]) {
    let session = read(input);
    assert_eq!(session.format, format);
    let links = ["id", "parentId", "childrenIds", "lastSelectedChildId"];
    let without_links = |node: &ctx_types::session::Node| {
        let mut node = node.write();
        node.as_object_mut().unwrap().retain(|key, _| !links.contains(&key.as_str()));
        node
    };
    let messages: Vec<_> = session.value.path().into_iter().map(without_links).collect();
    assert_eq!(Value::from(messages), expected);
    assert_eq!(findings(&session), found, "{:#?}", session.diagnostics);
}

#[test]
fn joins_halves_of_a_session() {
    let nodes = json!({
        "root": { "id": "root", "parentId": null, "childrenIds": ["a"], "role": "system", "content": "" },
        "a": { "id": "a", "parentId": "root", "childrenIds": [], "role": "user", "content": "Hoo?" },
    });
    let detail = json!({ "id": "s1", "rootNodeId": "root", "activeLeafId": "a", "nodes": nodes, "updatedAt": "a", "x": 1 });
    let index = json!({ "id": "s1", "name": "Owls", "updatedAt": "b" });
    let session = read(json!({ "index": index, "detail": detail, "x": 7 }));
    assert_eq!((session.format, findings(&session)), (Format::SessionHalves, vec![]));
    assert_eq!(session.value.write()["imported"], json!({ "x": 7, "index": { "updatedAt": "b" } }));
    let mut detail = detail;
    detail["nodes"]["a"]["role"] = json!("owl");
    let session = read(json!({ "index": { "name": 5 }, "detail": detail }));
    let found = [(types::WRONG_TYPE, "/index/name"), (types::WRONG_TYPE, "/detail/nodes/a/role")];
    assert_eq!(findings(&session), found);
}

#[test]
fn reports_fields_that_are_not_sent() {
    let mark = json!({ "type": "ephemeral" });
    let session = read(json!([
        { "role": "user", "content": [{ "type": "text", "text": "a", "cache_control": mark }] },
        { "role": "user", "content": [{ "type": "text", "text": "a", "zzz": 1 }], "cache_control": mark },
        { "role": "assistant", "content": "b", "x": null, "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": "d", "is_error": true, "status": "success" },
        { "role": "user", "content": "e", "parentId": "p", "other": 1, "status": "complete" },
    ]));
    assert_eq!(findings(&session), [(codes::UNSENT_FIELDS, "/1")]);
    let message = session.diagnostics[0].message.to_string();
    assert_eq!(message, "fields of 2 messages are not sent: `status`, `zzz`");
    assert!(session.value.path()[3].to_message(&"n".into()).is_error);
    let [first, second] =
        [json!({ "role": "user", "content": "a" }), json!({ "role": "user", "content": "b", "x": 1 })];
    let unsent = |place| [(codes::UNSENT_FIELDS, place)];
    let body = json!({ "messages": [first, second] });
    check(body, Format::ChatMessages, json!([first, second]), &unsent("/messages/1"));
    check(format!("{first}\n\n{second}"), Format::ChatMessages, json!([first, second]), &unsent("/2"));
    check("[]", Format::ChatMessages, json!([]), &[]);
}

#[test]
fn reads_messages_of_unknown_role_or_without_an_id() {
    check(
        json!([{ "role": 5 }, { "role": null, "content": "b" }, { "role": "user", "content": "c", "id": "" }]),
        Format::ChatMessages,
        json!([
            { "role": "user", "imported": { "role": 5 } },
            { "role": "user", "content": "b", "imported": { "role": null } },
            { "role": "user", "content": "c", "imported": { "id": "" } },
        ]),
        &[(codes::UNKNOWN_ROLE, "/0/role"), (codes::UNKNOWN_ROLE, "/1/role"), (codes::MESSAGE_ID, "/2/id")],
    );
}

#[test]
fn reports_unknown_content_parts() {
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "foo" }, { "type": "video_url" }, {}]);
    let session = read(json!([{ "role": "user", "content": parts }]));
    let places = ["/0/content/1", "/0/content/3"];
    assert_eq!(findings(&session), places.map(|place| (codes::UNKNOWN_PART, place)));
}

#[test]
fn reports_a_misspelled_content() {
    for key in ["text", "contnet"] {
        let text = json!([{ "role": "user", key: "Hi" }]).to_string();
        assert_eq!(detect(text.as_bytes(), "a.json"), Ok(Format::ChatMessages));
        let session = read(text.as_str());
        assert_eq!(findings(&session), [(types::MISSPELT_KEY, &*format!("/0/{key}"))]);
        assert_eq!(session.diagnostics[0].help.as_ref().unwrap(), "did you mean `content`?");
    }
}

#[test]
fn keeps_fields_of_chat_replies() {
    check(
        json!([
            { "role": "assistant", "content": null, "refusal": "No." },
            { "role": "assistant", "content": "a", "refusal": null, "annotations": [], "prefix": true, "audio": { "id": "x" } },
            { "role": "assistant", "content": "b", "encrypted_content": "e" },
            { "role": "system", "content": "c", "clear_at": "next_user_message" },
            { "role": "assistant", "content": "d", "reasoning_content": "r", "metadata": { "x": 1 } },
            { "role": "assistant", "content": "e", "reasoning_content": null },
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] },
            { "role": "assistant", "content": "a", "refusal": null, "annotations": [],
              "providerFields": { "openai": { "prefix": true, "audio": { "id": "x" } } } },
            { "role": "assistant", "content": "b", "providerFields": { "openai": { "encrypted_content": "e" } } },
            { "role": "system", "content": "c", "providerFields": { "anthropic": { "clear_at": "next_user_message" } } },
            { "role": "assistant", "content": "d", "metadata": { "x": 1, "reasoningContent": "r" } },
            { "role": "assistant", "content": "e", "reasoning_content": null },
        ]),
        &[],
    );
}

#[test]
fn names_a_conversation_without_an_id_after_its_file() {
    for (name, input, expected) in [
        ("chats/owls at night.json", "[]", Some("owls at night")),
        ("C:\\chats\\owls", "[]", Some("owls")),
        ("", "[]", Some("conversation")),
        ("x.json", "{\"messages\": [], \"id\": \"mine\"}", Some("mine")),
        ("x.json", "{\"messages\": [], \"id\": 5}", None),
    ] {
        let session = read_conversation(input.as_bytes(), name).unwrap();
        assert_eq!(session.value.header.id.as_deref(), expected);
    }
}

#[test]
fn refuses_other_files_by_name() {
    let agent = Some("use this file as an agent, not as a conversation");
    for (input, found, help) in [
        (json!({ "agents": [{}] }), "an AIO Hub agent export", agent),
        (json!([{ "type": "chat_history" }, { "role": "user" }]), "a list of preset entries", agent),
        (json!({ "groups": [], "messages": [] }), "a preset with `messages`", agent),
        (json!({ "messages": 5 }), "an object with the keys `messages`", None),
        (json!("hello there"), "a plain text", None),
    ] {
        let text = input.to_string();
        let error = read_conversation(text.as_bytes(), "").unwrap_err();
        assert!(error.to_string().ends_with(&format!(", found {found}")), "{error}");
        assert_eq!(error.help().map(|help| help.to_string()).as_deref(), help);
    }
}

#[test]
fn reads_sillytavern_chats_of_one_line_or_as_list() {
    let message = json!({ "name": "Nyx", "is_user": false, "mes": "Hoo?" });
    let expected = json!([{ "name": "Nyx", "is_user": false, "content": "Hoo?", "role": "assistant" }]);
    let check = |input: &Value, expected: Value, place: Option<&str>| {
        let found: Vec<_> = place.into_iter().map(|place| (types::WRONG_TYPE, place)).collect();
        check(input, Format::SillyTavernChat, expected, &found);
    };
    check(&message, expected.clone(), None);
    let header = json!({ "user_name": "Kim", "character_name": "Nyx", "id": 5 });
    check(&json!([header, message]), expected, Some("/0/id"));
    check(&header, json!([]), Some("/id"));
    check(&json!({ "mes": false }), json!([{ "mes": false, "role": "assistant" }]), Some("/mes"));
}

#[test]
fn keeps_broken_lines_of_a_sillytavern_chat() {
    let header = json!({ "user_name": "Kim", "character_name": "Nyx", "chat_metadata": {} });
    let line = r#"{"name":"Nyx","mes":"cut of"#;
    let session =
        read(format!("{header}\n{}\n{line}\n", json!({ "name": "Kim", "is_user": true, "mes": "Me." })));
    assert_eq!(findings(&session), [(codes::BAD_LINE, "/2")]);
    let kept = json!({ "badLines": [{ "line": 3, "text": line }] });
    assert_eq!(session.value.header.write()["imported"], kept);
}

#[test]
fn reports_tool_calls_of_system_messages() {
    let extra =
        json!({ "tool_invocations": [{ "id": "1", "name": "look", "parameters": "{}", "result": "x" }] });
    check(
        json!([{ "name": "Nyx", "is_system": true, "mes": "Tool calls", "extra": extra }]),
        Format::SillyTavernChat,
        json!([{ "name": "Nyx", "is_system": true, "extra": extra, "content": "Tool calls", "role": "assistant",
            "isEnabled": false }]),
        &[(codes::CHAT_DATA, "/0")],
    );
}

#[test]
fn pairs_calls_without_ids_with_their_results() {
    let calls = json!([{ "function": { "name": "a" } }, { "name": "b", "arguments": { "k": 1 } }]);
    check(
        json!([
            { "role": "assistant", "tool_calls": calls },
            { "role": "tool", "name": "b", "content": "one" },
            { "role": "tool", "content": "two" },
            { "role": "tool", "content": "three" },
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "toolCalls": [
                { "name": "a", "id": "call-0-0" }, { "name": "b", "arguments": "{\"k\":1}", "id": "call-0-1" }] },
            { "role": "tool", "name": "b", "content": "one", "toolCallId": "call-0-1" },
            { "role": "tool", "content": "two", "toolCallId": "call-0-0" },
            { "role": "tool", "content": "three" },
        ]),
        &[(codes::CALL_ID, "/0/tool_calls/0"), (codes::CALL_ID, "/0/tool_calls/1")],
    );
}

#[test]
fn keeps_unreadable_calls_aside() {
    let bad = json!([null, {}, { "function": { "name": 1 } }, { "name": "a", "arguments": 5 }]);
    let places = ["/0/tool_calls/0", "/0/tool_calls/1", "/0/tool_calls/2", "/0/tool_calls/3"];
    check(
        json!([{ "role": "assistant", "tool_calls": bad }]),
        Format::ChatMessages,
        json!([{ "role": "assistant", "toolCalls": [], "imported": { "tool_calls": bad } }]),
        &places.map(|place| (codes::TOOL_CALL, place)),
    );
}
