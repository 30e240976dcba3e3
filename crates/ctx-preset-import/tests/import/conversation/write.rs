//! Conversations written in every form, and read again.

use std::path::{Path, PathBuf};

use ctx_preset_import::{ConversationForm, Limits, codes, read_conversation, write_conversation};
use ctx_types::session::Session;
use ctx_types::{Code, Content, Message, Persist, Severity};
use serde_json::{Value, json};

use super::{read, tree};

/// Every form.
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

/// Reads items in a form, writes them in the same, and compares; ids may be added.
#[track_caller]
fn check_back(given: Value, form: ConversationForm) {
    let Value::Array(given) = given else { unreachable!() };
    let lines: Vec<String> = given.iter().map(Value::to_string).collect();
    let session = read(lines.join("\n")).value;
    let written = write_conversation(&session, form);
    assert_eq!(written.diagnostics, [], "{form:?}");
    let mut back = items(&written.bytes, form);
    for (back, given) in back.iter_mut().zip(&given) {
        if given.get("id").is_none() {
            back.as_object_mut().unwrap().shift_remove("id");
        }
    }
    assert_eq!(back, given);
}

/// Writes a session in a form, and compares what is told.
#[track_caller]
fn check_told(session: &Session, form: ConversationForm, expected: &[(Code, &str)]) {
    let written = write_conversation(session, form);
    let told: Vec<_> =
        written.diagnostics.iter().map(|found| (found.code, found.message.to_string())).collect();
    let expected: Vec<_> = expected.iter().map(|(code, text)| (*code, (*text).to_owned())).collect();
    assert_eq!(told, expected);
}

#[test]
fn messages_come_back_as_they_were() {
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": [{ "type": "text", "text": "Hi" }, { "type": "image_url", "image_url": { "url": "u" } }],
            "name": "Kim", "x": [1] },
        { "role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{ }", "strict": true } }] },
        { "role": "tool", "content": "a b", "tool_call_id": "c1" },
        { "role": "owl", "content": "Hoo", "parentId": "p" },
    ]);
    check_back(messages.clone(), ConversationForm::Messages);
    check_back(messages, ConversationForm::MessageLines);
}

#[test]
fn stored_messages_come_back_as_they_were() {
    let stored = json!([
        { "id": "m1", "role": "user", "content": "USER_INPUT\nGo", "createdAt": "2026-01-01T00:00:00Z", "mode": "chat",
            "runId": "chat-1", "agentId": "a" },
        { "id": "m2", "role": "assistant", "content": null, "createdAt": 5,
            "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{}" } }] },
        { "id": "m3", "role": "tool", "content": "a", "tool_call_id": "c1", "toolName": "ls", "duration": 12,
            "partType": "tool_result", "includeInContext": false },
    ]);
    check_back(stored, ConversationForm::Messages);
}

#[test]
fn a_sillytavern_chat_comes_back_as_it_was() {
    let chat = json!([
        { "user_name": "Kim", "character_name": "Nyx", "create_date": "2026-1-1", "chat_metadata": { "note_depth": 4 } },
        { "name": "Nyx", "is_user": false, "is_system": false, "send_date": "2026-01-01T00:00:00Z", "mes": "Hoo?",
            "extra": { "api": "x", "reasoning": "who?" }, "swipes": ["Hoo?", "Hm."], "swipe_id": 0 },
        { "name": "Kim", "is_user": true, "is_system": true, "send_date": 1_700_000_000, "mes": "(aside)", "extra": {} },
        { "name": "Narrator", "is_user": false, "mes": "Rain.", "extra": { "type": "narrator" }, "id": "i", "role": "r" },
    ]);
    check_back(chat, ConversationForm::SillyTavernChat);
}

#[test]
fn a_chat_of_ours_becomes_one_of_sillytavern() {
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
fn the_selected_swipe_is_the_text_after_an_edit() {
    let line = r#"{"name":"Nyx","is_user":false,"mes":"Hoo?","swipes":["Hm.","Hoo?"],"swipe_id":1}"#;
    let mut session = read(line).value;
    let edit = ctx_types::session::NodeEdit::content(Content::Text("Who?".into()));
    session.apply(&ctx_types::session::SessionOp::Edit { id: "n1".into(), edit: Box::new(edit) }).unwrap();
    let form = ConversationForm::SillyTavernChat;
    let items = items(&write_conversation(&session, form).bytes, form);
    assert_eq!((&items[1]["mes"], &items[1]["swipes"]), (&json!("Who?"), &json!(["Hm.", "Who?"])));
}

#[test]
fn what_a_list_has_no_place_for_is_told() {
    let mut file = tree();
    file["operationLog"] = json!({ "version": 1, "undo": [{}, {}], "redo": [{}] });
    let session = read(file).value;
    let expected = [
        (codes::BRANCHES_LEFT_OUT, "not exported: 1 message outside the active branch"),
        (codes::FILE_LEFT_OUT, "not exported: the undo log of 3 steps"),
        (codes::FILE_LEFT_OUT, "not exported: fields outside messages (`name`, `x`, `updatedAt`)"),
    ];
    check_told(&session, ConversationForm::Messages, &expected);
    check_told(&session, ConversationForm::MessageLines, &expected);
    let notes = (codes::CONTENT_LEFT_OUT, "not exported: fields of messages (`x`)");
    let expected = [expected[0], expected[1], notes];
    check_told(&session, ConversationForm::SillyTavernChat, &expected);
    check_told(&session, ConversationForm::Session, &[]);
}

#[test]
fn tools_and_files_have_no_place_in_a_sillytavern_chat() {
    let session = read(json!([
        { "role": "user", "content": [{ "type": "image_url", "image_url": {} }], "attachments": [{ "id": "f" }] },
        { "role": "assistant", "content": "Look:", "tool_calls": [
            { "id": "c", "function": { "name": "ls", "arguments": "{}" } }, { "id": "d", "function": { "name": "ls", "arguments": "{}" } }] },
        { "role": "tool", "content": "a", "tool_call_id": "c" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": "e", "function": { "name": "ls", "arguments": "{}" } }] },
    ]));
    let expected = "not exported: a SillyTavern chat cannot store 3 tool calls, 1 tool result, 2 attachments";
    let form = ConversationForm::SillyTavernChat;
    check_told(&session.value, form, &[(codes::CONTENT_LEFT_OUT, expected)]);
    assert_eq!(items(&write_conversation(&session.value, form).bytes, form).len(), 3);
}

/// The conversations among the fixtures of readers.
fn fixtures() -> Vec<PathBuf> {
    let area = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/readers");
    let folders = std::fs::read_dir(area).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| {
        let names = ["session.json", "session.jsonl", "session.yaml"];
        names.map(|name| folder.join(name)).into_iter().filter(|file| file.exists()).collect::<Vec<_>>()
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

/// What is sent of a conversation: who says what, with calls.
fn said(session: &Session) -> Vec<(String, String, usize, Option<String>)> {
    let said = |message: Message| {
        let calls = message.tool_calls.len();
        let answered = message.tool_call_id.as_deref().map(str::to_owned);
        (message.role.to_string(), message.text().into_owned(), calls, answered)
    };
    let sent = (0..session.sent_len()).filter_map(|position| session.sent_node(position));
    sent.map(|(id, node)| said(node.to_message(id))).collect()
}

#[test]
fn every_conversation_is_read_again_from_every_form() {
    let files = fixtures();
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let limits = Limits::default();
        let bytes = std::fs::read(&file).unwrap();
        let imported = read_conversation(&bytes, "chat", &limits).unwrap();
        let is_sound = imported.diagnostics.iter().all(|found| found.severity != Severity::Error);
        let session = imported.value;
        // Keys of a wrong type can make another form of a list.
        let forms = if is_sound { &FORMS[..] } else { &FORMS[..1] };
        for form in forms.iter().copied() {
            let written = write_conversation(&session, form);
            let again = read_conversation(&written.bytes, "chat", &limits).unwrap().value;
            let place = format!("{} as {form:?}", file.display());
            let loses = written.diagnostics.iter().any(|found| found.code == codes::CONTENT_LEFT_OUT);
            if !loses {
                assert_eq!(said(&again), said(&session), "{place}");
            }
            if form == ConversationForm::Session {
                assert_eq!(again.write(), session.write(), "{place}");
            }
            let twice = write_conversation(&again, form).bytes;
            assert_eq!(items(&twice, form), items(&written.bytes, form), "{place}");
        }
    }
}
