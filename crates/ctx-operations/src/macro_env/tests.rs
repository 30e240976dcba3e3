//! What is read of an environment's file, and what is said of the rest.

use ctx_macros::{Dialect, Registry, Template};
use ctx_types::{Source, SourceKind};
use serde_json::json;

use super::*;

/// Expands a text of SillyTavern with an environment and checks what the file is told, as pointers.
#[track_caller]
fn check(file: &Value, text: &str, expected: &str, left_out: &[&str]) {
    let EnvFile { env, mut state, diagnostics } = EnvFile::read(file);
    let found: Vec<_> =
        diagnostics.iter().map(|found| found.location.pointer.as_deref().unwrap_or("")).collect();
    assert_eq!(found, left_out, "{file}: {diagnostics:?}");
    assert!(diagnostics.iter().all(|found| found.code.to_string() == "CTX0350"));
    let template = Template::parse(&Text::from(text), Dialect::SillyTavern, &Registry::builtin());
    let origin = Source::new(SourceKind::Preset, Trust::Preset);
    assert_eq!(template.expand(&env, &mut state, &origin).text, expected);
}

#[test]
fn numbers_of_any_size_are_read_or_reported() {
    let swiped =
        |swipe: Value| json!({ "messages": [{ "role": "user", "content": "a", "swipe_id": swipe }] });
    check(&swiped(json!(2)), "{{currentSwipeId}}", "3", &[]);
    check(&swiped(json!(u64::MAX)), "{{currentSwipeId}}", "", &["/messages/0/swipe_id"]);
    check(&swiped(json!("y")), "{{currentSwipeId}}", "", &["/messages/0/swipe_id"]);
    for at in [i64::MIN, i64::MAX] {
        let messages =
            json!([{ "role": "user", "content": "a", "at": at }, { "role": "assistant", "content": "b" }]);
        let file = json!({ "now": 0, "messages": messages });
        check(&file, "{{idleDuration}}", "just now", &["/messages/0/at"]);
        check(&json!({ "now": at }), "", "", &["/now"]);
    }
}

#[test]
fn what_is_of_another_type_is_left_out_with_its_place() {
    check(
        &json!({ "messages": [5, null, "x"] }),
        "{{lastMessage}}",
        "",
        &["/messages/0", "/messages/1", "/messages/2"],
    );
    check(&json!({ "messages": [{ "content": 5 }] }), "{{lastMessage}}", "", &["/messages/0/content"]);
    check(
        &json!({ "messages": [{ "mes": "a", "swipes": "x" }] }),
        "{{lastMessage}}",
        "a",
        &["/messages/0/swipes"],
    );
    check(
        &json!({ "messages": [{ "mes": "a", "role": 5 }] }),
        "{{lastCharMessage}}",
        "a",
        &["/messages/0/role"],
    );
    check(
        &json!({ "group": [5, {}, "Ann", { "name": "Bo" }] }),
        "{{group}}",
        "Ann, Bo",
        &["/group/0", "/group/1"],
    );
    check(&json!({ "extensions": [5] }), "", "", &["/extensions/0"]);
    check(&json!({ "assets": 5, "assetGroups": [5] }), "", "", &["/assets", "/assetGroups/0"]);
    check(&json!({ "assets": [5, { "id": "a" }], "assetGroups": 5 }), "", "", &["/assets/0", "/assetGroups"]);
    check(&json!({ "tz": "Mars/X", "locale": "xx" }), "", "", &["/tz", "/locale"]);
    check(&json!({ "outlets": { "a/b": 5 } }), "", "", &["/outlets/a~1b"]);
}

#[test]
fn a_card_gives_its_name_and_keeps_the_numbers_of_its_greetings() {
    check(&json!({ "card": { "name": "Ada" } }), "{{char}}", "Ada", &[]);
    check(&json!({ "card": { "data": { "name": "Ada" } }, "char": "Bea" }), "{{char}}", "Bea", &[]);
    check(
        &json!({ "card": { "data": 5, "description": "tall" } }),
        "{{description}}",
        "tall",
        &["/card/data"],
    );
    let greetings = json!({ "card": { "first_mes": "0", "alternate_greetings": ["a", 5, "b"] } });
    check(&greetings, "{{greeting::3}}", "b", &["/card/alternate_greetings/1"]);
    let note = json!({ "card": { "data": { "extensions": { "depth_prompt": { "prompt": 5 } } } } });
    check(&note, "", "", &["/card/data/extensions/depth_prompt/prompt"]);
}

#[test]
fn messages_have_words_in_parts_and_blank_ones_hide_nothing() {
    let parts = json!([{ "type": "text", "text": "hel" }, { "type": "image" }, { "text": "lo" }, 5]);
    let said = json!({ "role": "user", "content": parts });
    check(&json!({ "messages": [said] }), "{{lastMessage}}", "hello", &["/messages/0/content/3"]);
    let messages = json!([
        { "role": "user", "content": "ask" },
        { "role": "assistant", "content": "answer", "swipes": ["x", "answer"], "swipe_id": 1 },
        { "role": "assistant", "content": " " },
    ]);
    let text = "{{lastMessage}} {{lastCharMessage}} {{lastMessageId}} {{currentSwipeId}}/{{lastSwipeId}}";
    check(&json!({ "messages": messages }), text, "answer answer 2 2/2", &[]);
}

#[test]
fn of_many_findings_the_rest_is_counted() {
    let EnvFile { diagnostics, .. } = EnvFile::read(&json!({ "messages": vec![5; 1_000] }));
    assert_eq!(diagnostics.len(), 65);
}
