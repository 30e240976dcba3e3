//! Conversations written in every form, and read again.

use std::path::Path;

use ctx_preset_import::{ConversationForm, codes, read_conversation, write_conversation};
use ctx_types::session::{NodeEdit, Session, SessionOp};
use ctx_types::{Code, Content, Message, Persist, Severity};
use serde_json::{Value, json};

use super::read;

const FORMS: [ConversationForm; 4] = [
    ConversationForm::Session,
    ConversationForm::Messages,
    ConversationForm::MessageLines,
    ConversationForm::SillyTavernChat,
];

/// The lines or items of a file.
fn items(bytes: &[u8], form: ConversationForm) -> Vec<Value> {
    match form {
        ConversationForm::MessageLines | ConversationForm::SillyTavernChat => {
            let lines = std::str::from_utf8(bytes).unwrap().lines();
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        _ => match serde_json::from_slice(bytes).unwrap() {
            Value::Array(items) => items,
            single => vec![single],
        },
    }
}

/// Reads items in a form, writes them in the same, and compares. Ids may be added.
#[track_caller]
fn check_back(given: &Value, form: ConversationForm) {
    let given = given.as_array().unwrap();
    let lines: Vec<String> = given.iter().map(Value::to_string).collect();
    let written = write_conversation(&read(lines.join("\n")).value, form);
    assert_eq!(written.diagnostics, [], "{form:?}");
    let mut back = items(&written.bytes, form);
    for (back, _) in back.iter_mut().zip(given).filter(|(_, given)| given.get("id").is_none()) {
        back.as_object_mut().unwrap().shift_remove("id");
    }
    assert_eq!(back, *given);
}

/// Writes a session in a form, and compares the diagnostics.
#[track_caller]
fn check_lost(session: &Session, form: ConversationForm, expected: &[(Code, &str)]) {
    let written = write_conversation(session, form);
    let lost: Vec<_> =
        written.diagnostics.iter().map(|found| (found.code, found.message.to_string())).collect();
    let expected: Vec<_> = expected.iter().map(|(code, text)| (*code, (*text).to_owned())).collect();
    assert_eq!(lost, expected);
}

#[test]
fn writes_messages_and_chats_unchanged() {
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": [{ "type": "text", "text": "Hi" }, { "type": "image_url", "image_url": { "url": "u" } }],
            "name": "Kim", "x": [1] },
        { "role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{ }", "strict": true } }] },
        { "role": "tool", "content": "a b", "tool_call_id": "c1" },
        { "role": "owl", "content": "Hoo", "parentId": "p" },
    ]);
    let stored = json!([
        { "id": "m1", "role": "user", "content": "USER_INPUT\nGo", "createdAt": "2026-01-01T00:00:00Z", "mode": "chat",
            "runId": "chat-1", "agentId": "a" },
        { "id": "m2", "role": "assistant", "content": null, "createdAt": 5,
            "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{}" } }] },
        { "id": "m3", "role": "tool", "content": "a", "tool_call_id": "c1", "toolName": "ls", "duration": 12,
            "partType": "tool_result", "includeInContext": false },
    ]);
    let chat = json!([
        { "user_name": "Kim", "character_name": "Nyx", "create_date": "2026-1-1", "chat_metadata": { "note_depth": 4 } },
        { "name": "Nyx", "is_user": false, "is_system": false, "send_date": "2026-01-01T00:00:00Z", "mes": "Hoo?",
            "extra": { "api": "x", "reasoning": "who?" }, "swipes": ["Hoo?", "Hm."], "swipe_id": 0 },
        { "name": "Kim", "is_user": true, "is_system": true, "send_date": 1_700_000_000, "mes": "(aside)", "extra": {} },
        { "name": "Narrator", "is_user": false, "mes": "Rain.", "extra": { "type": "narrator" }, "id": "i", "role": "r" },
    ]);
    check_back(&messages, ConversationForm::Messages);
    check_back(&messages, ConversationForm::MessageLines);
    check_back(&stored, ConversationForm::Messages);
    check_back(&chat, ConversationForm::SillyTavernChat);
}

#[test]
fn writes_other_messages_as_sillytavern_chat() {
    let session = read(json!({ "messages": [
        { "role": "system", "content": "Night falls." },
        { "role": "user", "content": "Hoo?" },
        { "role": "assistant", "content": "Hm.", "isEnabled": false },
    ] }));
    let form = ConversationForm::SillyTavernChat;
    let written = write_conversation(&session.value, form);
    assert_eq!(written.diagnostics, []);
    let expected = [
        json!({ "user_name": "unused", "character_name": "unused", "chat_metadata": {} }),
        json!({ "name": "Assistant", "is_user": false, "is_system": false, "mes": "Night falls.",
            "extra": { "type": "narrator" } }),
        json!({ "name": "User", "is_user": true, "is_system": false, "mes": "Hoo?" }),
        json!({ "name": "Assistant", "is_user": false, "is_system": true, "mes": "Hm." }),
    ];
    assert_eq!(items(&written.bytes, form), expected);
}

#[test]
fn writes_edited_text_to_selected_swipe() {
    let line = r#"{"name":"Nyx","is_user":false,"mes":"Hoo?","swipes":["Hm.","Hoo?"],"swipe_id":1}"#;
    let mut session = read(line).value;
    let edit = NodeEdit::content(Content::Text("Who?".into()));
    session.apply(&SessionOp::Edit { id: "n1".into(), edit: Box::new(edit) }).unwrap();
    let form = ConversationForm::SillyTavernChat;
    let items = items(&write_conversation(&session, form).bytes, form);
    assert_eq!((&items[1]["mes"], &items[1]["swipes"]), (&json!("Who?"), &json!(["Hm.", "Who?"])));
}

#[test]
fn reports_branches_and_fields_not_exported() {
    let session = read(json!({
        "id": "s1", "name": "Owls", "x": [null], "updatedAt": "2026-01-01", "rootNodeId": "root", "activeLeafId": "b",
        "operationLog": { "version": 1, "undo": [{}, {}], "redo": [{}] },
        "nodes": {
            "root": { "id": "root", "childrenIds": ["a", "b"], "role": "system", "content": "" },
            "a": { "id": "a", "parentId": "root", "childrenIds": [], "role": "user", "content": "Hoo." },
            "b": { "id": "b", "parentId": "root", "childrenIds": [], "role": "user", "content": "Hoo!", "metadata": { "x": 1 } },
        },
    }));
    let expected = [
        (codes::BRANCHES_LEFT_OUT, "not exported: 1 message outside the active branch"),
        (codes::FILE_LEFT_OUT, "not exported: the undo log of 3 steps"),
        (codes::FILE_LEFT_OUT, "not exported: fields outside messages (`name`, `x`, `updatedAt`)"),
    ];
    check_lost(&session.value, ConversationForm::Messages, &expected);
    check_lost(&session.value, ConversationForm::MessageLines, &expected);
    let notes = (codes::CONTENT_LEFT_OUT, "not exported: fields of messages (`x`)");
    check_lost(&session.value, ConversationForm::SillyTavernChat, &[expected[0], expected[1], notes]);
    check_lost(&session.value, ConversationForm::Session, &[]);
}

#[test]
fn reports_tools_and_files_not_in_sillytavern_chats() {
    let call = |id: &str| json!({ "id": id, "function": { "name": "ls", "arguments": "{}" } });
    let session = read(json!([
        { "role": "user", "content": [{ "type": "image_url", "image_url": {} }], "attachments": [{ "id": "f" }] },
        { "role": "assistant", "content": "Look:", "tool_calls": [call("c"), call("d")] },
        { "role": "tool", "content": "a", "tool_call_id": "c" },
        { "role": "assistant", "content": "", "tool_calls": [call("e")] },
    ]));
    let expected = "not exported: a SillyTavern chat cannot store 3 tool calls, 1 tool result, 2 attachments";
    let form = ConversationForm::SillyTavernChat;
    check_lost(&session.value, form, &[(codes::CONTENT_LEFT_OUT, expected)]);
    assert_eq!(items(&write_conversation(&session.value, form).bytes, form).len(), 3);
}

/// The sent messages: role, text, number of calls, and answered call.
fn sent(session: &Session) -> Vec<(String, String, usize, Option<String>)> {
    let show = |message: Message| {
        let answered = message.tool_call_id.as_deref().map(str::to_owned);
        (message.role.to_string(), message.text().into_owned(), message.tool_calls.len(), answered)
    };
    let sent = (0..session.sent_len()).filter_map(|position| session.sent_node(position));
    sent.map(|(id, node)| show(node.to_message(id))).collect()
}

#[test]
fn reads_every_fixture_again_from_every_form() {
    let area = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/readers");
    let mut count = 0;
    for folder in std::fs::read_dir(area).unwrap() {
        for name in ["session.json", "session.jsonl", "session.yaml"] {
            let file = folder.as_ref().unwrap().path().join(name);
            let Ok(bytes) = std::fs::read(&file) else { continue };
            count += 1;
            let imported = read_conversation(&bytes, "chat").unwrap();
            let is_sound = imported.diagnostics.iter().all(|found| found.severity != Severity::Error);
            // Keys of a wrong type can make another form of a list.
            for form in FORMS.into_iter().take(if is_sound { FORMS.len() } else { 1 }) {
                check_again(&imported.value, form, &format!("{} as {form:?}", file.display()));
            }
        }
    }
    assert!(count > 8, "{count}");
}

#[track_caller]
fn check_again(session: &Session, form: ConversationForm, place: &str) {
    let written = write_conversation(session, form);
    let again = read_conversation(&written.bytes, "chat").unwrap().value;
    if written.diagnostics.iter().all(|found| found.code != codes::CONTENT_LEFT_OUT) {
        assert_eq!(sent(&again), sent(session), "{place}");
    }
    if form == ConversationForm::Session {
        assert_eq!(again.write(), session.write(), "{place}");
    }
    let twice = write_conversation(&again, form).bytes;
    assert_eq!(items(&twice, form), items(&written.bytes, form), "{place}");
}
