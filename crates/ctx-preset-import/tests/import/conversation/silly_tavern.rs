//! Chats of SillyTavern.

use ctx_preset_import::{Format, codes};
use ctx_types::{Persist, codes as types};
use serde_json::json;

use super::any::assert_all_kept;
use super::{check, findings, read};

/// A chat with its header, and the last line broken.
const CHAT: &str = r#"{"user_name":"Kim","character_name":"Nyx","create_date":"2026-1-1","chat_metadata":{"note_depth":4}}
{"name":"Nyx","is_user":false,"is_system":false,"send_date":"2026-01-01T00:00:00Z","mes":"Hoo?","extra":{"reasoning":"who?","api":"x"},"swipes":["Hoo?","Hm."],"swipe_id":0,"swipe_info":[{},{}]}
{"name":"Kim","is_user":true,"is_system":false,"send_date":1700000000,"mes":"Me."}
{"name":"Kim","is_user":true,"is_system":true,"mes":"(aside)","extra":{}}
{"name":"Narrator","is_user":false,"is_system":false,"mes":"Rain.","extra":{"type":"narrator"}}
{"name":"Nyx","is_user":false,"mes":"cut of
"#;

#[test]
fn a_sillytavern_chat_is_read_line_by_line() {
    check(
        CHAT,
        Format::SillyTavernChat,
        json!([
            { "name": "Nyx", "is_user": false, "is_system": false, "extra": { "api": "x" }, "swipes": ["Hoo?", "Hm."],
                "swipe_id": 0, "swipe_info": [{}, {}], "content": "Hoo?", "timestamp": "2026-01-01T00:00:00Z",
                "role": "assistant", "metadata": { "reasoningContent": "who?" } },
            { "name": "Kim", "is_user": true, "is_system": false, "send_date": 1_700_000_000, "content": "Me.", "role": "user" },
            { "name": "Kim", "is_user": true, "is_system": true, "extra": {}, "content": "(aside)", "role": "user",
                "isEnabled": false },
            { "name": "Narrator", "is_user": false, "is_system": false, "extra": { "type": "narrator" }, "content": "Rain.",
                "role": "system" },
        ]),
        &[(codes::BAD_LINE, "/5"), (codes::HIDDEN_MESSAGES, "/3")],
    );
    let header = read(CHAT).value.header.write();
    assert_eq!(header["chat_metadata"], json!({ "note_depth": 4 }));
    assert_eq!(header["user_name"], "Kim");
    let line = r#"{"name":"Nyx","is_user":false,"mes":"cut of"#;
    assert_eq!(header["imported"], json!({ "badLines": [{ "line": 6, "text": line }] }));
}

#[test]
fn a_sillytavern_chat_of_one_line_or_as_a_list_is_read() {
    let message = json!({ "name": "Nyx", "is_user": false, "mes": "Hoo?" });
    let expected = json!([{ "name": "Nyx", "is_user": false, "content": "Hoo?", "role": "assistant" }]);
    check(&message, Format::SillyTavernChat, expected.clone(), &[]);
    let header = json!({ "user_name": "Kim", "character_name": "Nyx", "id": 5 });
    check(json!([header, message]), Format::SillyTavernChat, expected, &[(types::WRONG_TYPE, "/0/id")]);
    check(&header, Format::SillyTavernChat, json!([]), &[(types::WRONG_TYPE, "/id")]);
    let lone = json!({ "mes": false });
    check(
        &lone,
        Format::SillyTavernChat,
        json!([{ "mes": false, "role": "assistant" }]),
        &[(types::WRONG_TYPE, "/mes")],
    );
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
fn wrong_types_in_a_sillytavern_chat_are_kept() {
    let chat = json!([
        { "mes": 5, "is_user": "yes", "is_system": 1, "name": [], "send_date": {}, "extra": 7, "id": "i", "role": "r",
            "content": "c", "metadata": 1, "isEnabled": true, "parentId": "p" },
        { "mes": null, "extra": { "reasoning": 5, "type": [] } },
        "text",
        { "name": "Nyx" },
    ]);
    let session = read(&chat);
    assert_all_kept(&chat, &session.value.write());
    let found = ["/0/mes", "/0/is_user", "/0/is_system", "/0/name", "/2"];
    assert_eq!(findings(&session), found.map(|pointer| (types::WRONG_TYPE, pointer)));
}
