//! Conversations from every form, losslessly.

mod any;
mod silly_tavern;
mod tool_calls;
mod write;

use any::assert_all_kept;
use ctx_preset_import::{Format, ImportError, Imported, Limits, codes, detect, read_conversation};
use ctx_types::session::Session;
use ctx_types::{Code, Persist, codes as types};
use serde_json::{Value, json};

fn read(input: impl ToString) -> Imported<Session> {
    read_conversation(input.to_string().as_bytes(), "", &Limits::default()).unwrap()
}

/// Returns what was found, but for what says by which evidence the file is read.
fn findings(imported: &Imported<Session>) -> Vec<(Code, &str)> {
    let found = imported.diagnostics.iter().filter(|found| found.code != codes::GUESSED_FORMAT);
    found.map(|found| (found.code, found.location.pointer.as_deref().unwrap())).collect()
}

/// Checks the form of a document, the messages that it becomes (without their links), and the findings.
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

#[track_caller]
fn refuse(input: impl ToString, found: &str, help: Option<&str>) {
    let error = read_conversation(input.to_string().as_bytes(), "", &Limits::default()).unwrap_err();
    let expected =
        "expected a conversation (a session with `nodes`, a list of messages, or a SillyTavern chat), found ";
    assert_eq!(
        (error.to_string(), error.help().map(|help| help.to_string()).as_deref()),
        (format!("{expected}{found}"), help)
    );
}

fn tree() -> Value {
    json!({
        "id": "s1", "name": "Owls", "x": [null], "updatedAt": "2026-01-01",
        "nodes": {
            "root": { "id": "root", "parentId": null, "childrenIds": ["a"], "role": "system", "content": "",
                "lastSelectedChildId": "a", "status": "complete" },
            "a": { "id": "a", "parentId": "root", "childrenIds": ["b", "c"], "role": "user", "content": "Hoo?",
                "lastSelectedChildId": "c", "metadata": { "x": 1 } },
            "b": { "id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Hoo." },
            "c": { "id": "c", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Hoo!", "y": 2 },
        },
        "rootNodeId": "root", "activeLeafId": "c",
    })
}

#[test]
fn the_unified_form_comes_back_as_it_was() {
    let session = read(tree());
    assert_eq!(session.format, Format::Session);
    assert_eq!(session.value.write(), tree());
    assert_eq!(findings(&session), []);
    assert_eq!(session.value.path().len(), 2);
}

#[test]
fn broken_trees_are_reported_and_kept() {
    for (pointer, broken) in [
        ("/activeLeafId", json!("gone")),
        ("/activeLeafId", json!(5)),
        ("/rootNodeId", json!([])),
        ("/nodes/a/parentId", json!("c")),
        ("/nodes/c/parentId", json!("gone")),
        ("/nodes/b/id", json!("a")),
        ("/nodes/b", json!("text")),
        ("/nodes/c/role", json!("owl")),
        ("/name", json!({})),
    ] {
        let mut file = tree();
        *file.pointer_mut(pointer).unwrap() = broken;
        let session = read(&file);
        assert!(!session.diagnostics.is_empty(), "{pointer}");
        assert_eq!(session.value.write(), file, "{pointer}");
    }
}

#[test]
fn the_halves_of_a_session_are_joined() {
    let Value::Object(mut detail) = tree() else { unreachable!() };
    let name = detail.shift_remove("name").unwrap();
    let halves = json!({
        "index": { "id": "s1", "name": name, "messageCount": 3, "updatedAt": "2026-02-02", "isFavorite": true },
        "detail": detail, "extra": 1, "x": 7,
    });
    let session = read(&halves);
    assert_eq!(session.format, Format::SessionHalves);
    assert_eq!(findings(&session), []);
    let written = session.value.write();
    assert_eq!(written["name"], "Owls");
    assert_eq!(written["updatedAt"], "2026-01-01");
    assert_eq!(written["extra"], 1);
    assert_eq!(written["imported"], json!({ "x": 7, "index": { "updatedAt": "2026-02-02" } }));
    assert_all_kept(&halves, &written);
}

#[test]
fn halves_that_disagree_are_reported() {
    let session = read(json!({ "index": { "id": "s2", "name": 5 }, "detail": tree() }));
    assert_eq!(findings(&session), [(codes::SESSION_HALVES, "/index")]);
    let mut detail = tree();
    detail.as_object_mut().unwrap().shift_remove("name");
    detail["nodes"]["b"]["role"] = json!("owl");
    let session = read(json!({ "index": { "name": 5 }, "detail": detail }));
    let found = [(types::WRONG_TYPE, "/index/name"), (types::WRONG_TYPE, "/detail/nodes/b/role")];
    assert_eq!(findings(&session), found);
}

#[test]
fn chat_messages_follow_each_other() {
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "developer", "content": "Be briefer.", "x": 1 },
        { "role": "user", "content": [{ "type": "text", "text": "Hi" }], "name": "Kim" },
        { "role": "assistant", "content": "Yo", "tool_calls": null },
    ]);
    let found = |place| [(codes::UNSENT_FIELDS, place)];
    check(&messages, Format::ChatMessages, messages.clone(), &found("/1"));
    check(json!({ "messages": messages }), Format::ChatMessages, messages.clone(), &found("/messages/1"));
    let lines: Vec<String> = messages.as_array().unwrap().iter().map(Value::to_string).collect();
    check(lines.join("\n\n"), Format::ChatMessages, messages, &found("/2"));
    check("[]", Format::ChatMessages, json!([]), &[]);
}

#[test]
fn unknown_roles_are_the_users() {
    check(
        json!([{ "role": "owl", "content": "a" }, { "role": 5 }, { "role": null, "content": "b" }, { "content": "c" }]),
        Format::ChatMessages,
        json!([
            { "role": "user", "content": "a", "imported": { "role": "owl" } },
            { "role": "user", "imported": { "role": 5 } },
            { "role": "user", "content": "b", "imported": { "role": null } },
            { "content": "c", "role": "user" },
        ]),
        &[
            (codes::UNKNOWN_ROLE, "/0/role"),
            (codes::UNKNOWN_ROLE, "/1/role"),
            (codes::UNKNOWN_ROLE, "/2/role"),
            (codes::UNKNOWN_ROLE, "/3"),
        ],
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
    let path = session.value.path();
    assert!(path[3].to_message(&"n".into()).is_error);
}

#[test]
fn reports_a_misspelled_content() {
    for key in ["text", "contnet"] {
        let text = json!([{ "role": "user", key: "Hi" }]).to_string();
        assert_eq!(detect(text.as_bytes(), "a.json", &Limits::default()), Ok(Format::ChatMessages));
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
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "content": [{ "type": "refusal", "refusal": "No." }] },
            { "role": "assistant", "content": "a", "refusal": null, "annotations": [],
              "providerFields": { "openai": { "prefix": true, "audio": { "id": "x" } } } },
            { "role": "assistant", "content": "b", "providerFields": { "openai": { "encrypted_content": "e" } } },
            { "role": "system", "content": "c", "providerFields": { "anthropic": { "clear_at": "next_user_message" } } },
        ]),
        &[],
    );
}

#[test]
fn what_is_no_message_takes_no_part_and_is_kept() {
    let messages = json!([null, { "role": "user", "content": "a" }, "text", 5, [1]]);
    let session = read(json!({ "messages": messages }));
    let found = ["/messages/0", "/messages/2", "/messages/3", "/messages/4"];
    assert_eq!(findings(&session), found.map(|pointer| (types::WRONG_TYPE, pointer)));
    assert_eq!(session.value.path().len(), 1);
    assert_all_kept(&messages, &session.value.write());
}

#[test]
fn ids_are_unique_and_links_our_own() {
    let session = read(json!([
        { "role": "user", "content": "a", "id": "x", "parentId": "p", "childrenIds": ["q"], "lastSelectedChildId": "q" },
        { "role": "user", "content": "b", "id": "x" },
        { "role": "user", "content": "c", "id": 7 },
        { "role": "user", "content": "d", "id": "" },
        { "role": "user", "content": "e", "imported": 1, "parentId": null },
    ]));
    let path = session.value.path();
    let ids: std::collections::BTreeSet<_> = path.iter().filter_map(|node| node.id.clone()).collect();
    assert_eq!(ids.len(), 5);
    assert_eq!(path[0].id.as_deref(), Some("x"));
    assert_eq!(
        findings(&session),
        [(codes::MESSAGE_ID, "/2/id"), (codes::MESSAGE_ID, "/3/id"), (types::NODE_ID, "/1")]
    );
    let imported = |index: usize| path[index].kept.get("imported").cloned().unwrap_or_default();
    assert_eq!(imported(0), json!({ "parentId": "p", "childrenIds": ["q"], "lastSelectedChildId": "q" }));
    assert_eq!(imported(2), json!({ "id": 7 }));
    assert_eq!(imported(4), json!({ "parentId": null, "imported": 1 }));
}

#[test]
fn stored_messages_keep_all_they_have() {
    let stored = json!({
        "id": "conv-1", "title": "Plan", "nodes": 3,
        "messages": [
            { "id": "m1", "role": "user", "content": "USER_INPUT\nGo", "createdAt": "2026-01-01T00:00:00Z",
                "mode": "chat", "runId": "chat-1", "agentId": "a" },
            { "id": "m2", "role": "assistant", "content": null, "createdAt": "2026-01-01T00:00:01Z", "runId": "chat-1",
                "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{}" } }] },
            { "id": "m3", "role": "tool", "content": "a b", "tool_call_id": "c1", "toolName": "ls", "duration": 12,
                "partType": "tool_result", "createdAt": 5 },
            { "id": "m4", "role": "assistant", "content": "boom", "partType": "error" },
        ],
    });
    let session = read(&stored);
    assert_eq!(session.format, Format::StoredMessages);
    assert_eq!(findings(&session), []);
    assert_eq!(session.value.header.id.as_deref(), Some("conv-1"));
    let path = session.value.path();
    assert_eq!(path.len(), 4);
    assert_eq!(path[0].timestamp.as_deref(), Some("2026-01-01T00:00:00Z"));
    assert_eq!(path[1].tool_calls[0].arguments.as_deref(), Some("{}"));
    assert_eq!(path[2].tool_call_id.as_deref(), Some("c1"));
    assert_eq!(path[2].kept.get("createdAt"), Some(&json!(5)));
    assert_eq!(path[3].kept.get("partType"), Some(&json!("error")));
    let written = session.value.write();
    assert_eq!((&written["title"], &written["imported"]), (&json!("Plan"), &json!({ "nodes": 3 })));
    assert_all_kept(&stored, &written);
}

#[test]
fn wrong_types_in_every_field_are_kept() {
    let messages = json!([{
        "role": "user", "content": 5, "name": {}, "attachments": [1, "x"], "status": 3, "isEnabled": "no", "timestamp": 9,
        "createdAt": [], "toolCalls": {}, "toolCallId": 1, "tool_call_id": [], "tool_calls": {}, "metadata": "m",
        "reasoning_content": "thought",
    }]);
    let session = read(&messages);
    assert_all_kept(&messages, &session.value.write());
    let pointers: Vec<_> = findings(&session).into_iter().map(|(_, pointer)| pointer).collect();
    assert_eq!(
        pointers,
        [
            "content",
            "name",
            "attachments/0",
            "attachments/1",
            "status",
            "isEnabled",
            "timestamp",
            "toolCalls",
            "toolCallId",
            "metadata"
        ]
        .map(|key| format!("/0/{key}"))
    );
}

#[test]
fn reasoning_goes_to_the_metadata() {
    check(
        json!([
            { "role": "assistant", "content": "a", "reasoning_content": "r" },
            { "role": "assistant", "content": "a", "reasoning_content": "r", "metadata": { "x": 1 } },
            { "role": "assistant", "content": "a", "reasoning_content": null },
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "content": "a", "metadata": { "reasoningContent": "r" } },
            { "role": "assistant", "content": "a", "metadata": { "x": 1, "reasoningContent": "r" } },
            { "role": "assistant", "content": "a", "reasoning_content": null },
        ]),
        &[],
    );
}

#[test]
fn a_conversation_without_an_id_is_named_after_its_file() {
    let id = |name: &str, input: &str| {
        let session = read_conversation(input.as_bytes(), name, &Limits::default()).unwrap();
        session.value.header.id.as_deref().map(str::to_owned)
    };
    assert_eq!(id("chats/owls at night.json", "[]").as_deref(), Some("owls at night"));
    assert_eq!(id("C:\\chats\\owls", "[]").as_deref(), Some("owls"));
    assert_eq!(id("", "[]").as_deref(), Some("conversation"));
    assert_eq!(id("x.json", "{\"messages\": [], \"id\": \"mine\"}").as_deref(), Some("mine"));
    assert_eq!(id("x.json", "{\"messages\": [], \"id\": 5}"), None);
}

#[test]
fn what_is_no_conversation_is_refused_by_name() {
    let agent = Some("use this file as an agent, not as a conversation");
    refuse(json!({ "presetMessages": [] }), "an agent", agent);
    refuse(json!({ "agents": [{}] }), "an AIO Hub agent export", agent);
    refuse(json!([{ "type": "chat_history" }, { "role": "user" }]), "a list of preset entries", agent);
    refuse(json!({ "groups": [], "messages": [] }), "a preset with `messages`", agent);
    let profile = Some("use this file as a user profile, not as an agent");
    refuse(json!({ "name": "Kim", "content": "tea" }), "a user profile", profile);
    refuse(json!({ "messages": 5 }), "an object with the keys `messages`", None);
    refuse("hello there", "a plain text", None);
}

#[test]
fn unreadable_documents_are_errors() {
    let read = |bytes: &[u8]| read_conversation(bytes, "", &Limits::default()).unwrap_err();
    assert_eq!(read(b" "), ImportError::Empty);
    assert_eq!(read(b"[\xC0]"), ImportError::NotText { offset: 1 });
    assert!(matches!(read("[".repeat(200_000).as_bytes()), ImportError::TooDeep { .. }));
    assert!(matches!(read(b"[{\"role\": \"user\""), ImportError::Json { .. }));
}
