//! Files of AIO Hub: an export changes nothing from the first on, and what rows say of some of them.

use ctx_preset_import::{Import, export_agent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{again, files, import_one, rows, show_row};

fn export(made: &Import) -> Value {
    let books: Vec<_> = made.worldbooks.iter().map(|named| (&*named.name, &named.book)).collect();
    export_agent(made.agent.as_ref().unwrap(), &books)
}

#[track_caller]
fn check(document: &Value) {
    let made = again(import_one(document));
    let once = export(&made);
    let twice = export(&again(import_one(&once)));
    assert_eq!(twice.to_string(), once.to_string(), "{document}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_exported_agent_stays_as_it_is(file in files::aio()) {
        check(&file);
    }
}

/// Checks what a document's rows say: pointer, status and place of each.
#[track_caller]
fn check_rows(document: &Value, expected: &[&str]) {
    let made = import_one(document);
    assert_eq!(rows(&made).iter().map(show_row).collect::<Vec<_>>().join("\n"), expected.join("\n"));
}

#[test]
fn a_row_tells_what_became_of_a_field() {
    let book = json!({ "entries": [{ "key": ["moon"], "content": "Hollow.", "own": 1 }] });
    let agent = json!({
        "name": "Ada", "icon": "x", "own": { "a": 1 },
        "presetMessages": [
            { "name": "First Message", "content": "Hi" },
            { "type": "user_profile", "content": "User Profile", "status": "complete", "own": 1 },
            { "content": 5, "injectionStrategy": { "depth": 2, "own": 1 } },
        ],
        "parameters": {
            "temperature": "hot", "topP": 1, "custom": { "foo": 1 },
            "contextPostProcessing": { "rules": [{ "type": "a", "enabled": true, "separator": "s" }] },
        },
        "bundledWorldbooks": [{ "id": "w", "content": book }],
    });
    let export =
        json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [agent, { "name": "Eve" }], "at": 5 });
    check_rows(
        &export,
        &[
            "/version approximated ",
            "/type approximated ",
            "/agents/*/name mapped /name",
            "/agents/*/icon approximated /icon",
            "/agents/*/own kept /own",
            "/agents/*/presetMessages/*/name approximated /greetings/*/name",
            "/agents/*/presetMessages/*/content approximated /greetings/*/content",
            "/agents/*/presetMessages/*/type mapped /presetMessages/*/type",
            "/agents/*/presetMessages/*/content approximated /presetMessages/*/content",
            "/agents/*/presetMessages/*/status approximated /presetMessages/*/status",
            "/agents/*/presetMessages/*/own kept /presetMessages/*/own",
            "/agents/*/presetMessages/*/content kept /presetMessages/*/content",
            "/agents/*/presetMessages/*/injectionStrategy/depth mapped /presetMessages/*/injectionStrategy/depth",
            "/agents/*/presetMessages/*/injectionStrategy/own kept /presetMessages/*/injectionStrategy/own",
            "/agents/*/parameters/temperature kept /parameters/temperature",
            "/agents/*/parameters/topP mapped /parameters/topP",
            "/agents/*/parameters/custom approximated /parameters/custom/params",
            "/agents/*/parameters/contextPostProcessing/rules/*/type approximated /parameters/processors/*/id",
            "/agents/*/parameters/contextPostProcessing/rules/*/enabled approximated /parameters/processors/*/enabled",
            "/agents/*/parameters/contextPostProcessing/rules/*/separator approximated /parameters/processors/*/config/separator",
            "/agents/*/bundledWorldbooks/*/id mapped /bundledWorldbooks/*/id",
            "/agents/*/bundledWorldbooks/*/content/entries/*/key mapped /worldbooks/0/entries/*/key",
            "/agents/*/bundledWorldbooks/*/content/entries/*/content mapped /worldbooks/0/entries/*/content",
            "/agents/*/bundledWorldbooks/*/content/entries/*/own kept /worldbooks/0/entries/*/own",
            "/agents/*/name kept /imported/envelope/agents/*/name",
            "/at kept /imported/envelope/at",
        ],
    );
}

#[test]
fn the_size_of_the_context_is_told_field_by_field() {
    let management = |value: Value| {
        json!({
            "enabled": value, "maxContextTokens": value, "includesAnswer": value, "retainedCharacters": value, "own": value,
        })
    };
    let check = |value: Value, [number, flag]: [&str; 2]| {
        let parameters = json!({ "maxTokens": value, "contextManagement": management(value) });
        let row =
            |(field, status): &(&str, &str)| format!("/parameters/{field} {status} /parameters/{field}");
        let rows = [
            ("maxTokens", number),
            ("contextManagement/enabled", flag),
            ("contextManagement/maxContextTokens", number),
            ("contextManagement/includesAnswer", flag),
            ("contextManagement/retainedCharacters", number),
            ("contextManagement/own", "kept"),
        ];
        let expected: Vec<String> = rows.iter().map(row).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_rows(&json!({ "parameters": parameters }), &expected);
    };
    check(json!(5), ["mapped", "kept"]);
    check(json!(true), ["kept", "mapped"]);
    check(json!("x"), ["kept", "kept"]);
}

#[test]
fn a_row_of_a_profile_or_a_conversation_tells_its_place() {
    check_rows(
        &json!({ "name": "Kim", "content": "Tea.", "icon": "x", "own": 1 }),
        &[
            "/name mapped /profile/name",
            "/content mapped /profile/content",
            "/icon approximated /profile/icon",
            "/own kept /profile/own",
        ],
    );
    let message = json!({ "id": "u", "role": "user", "content": "Hi", "own": 1, "metadata": { "z": 1 } });
    let detail = json!({ "id": "s", "rootNodeId": "r", "nodes": { "u": message }, "updatedAt": "b" });
    check_rows(
        &json!({ "index": { "id": "s", "name": "S", "updatedAt": "a" }, "detail": detail }),
        &[
            "/index/id approximated /conversations/0/id",
            "/index/name mapped /conversations/0/name",
            "/index/updatedAt kept /conversations/0/imported/index/updatedAt",
            "/detail/id mapped /conversations/0/id",
            "/detail/rootNodeId mapped /conversations/0/rootNodeId",
            "/detail/nodes/*/id mapped /conversations/0/nodes/*/id",
            "/detail/nodes/*/role mapped /conversations/0/nodes/*/role",
            "/detail/nodes/*/content mapped /conversations/0/nodes/*/content",
            "/detail/nodes/*/own kept /conversations/0/nodes/*/own",
            "/detail/nodes/*/metadata/z kept /conversations/0/nodes/*/metadata/z",
            "/detail/updatedAt approximated /conversations/0/updatedAt",
        ],
    );
    check_rows(
        &json!([{ "role": "user", "content": "Hi", "createdAt": "t", "runId": "r" }]),
        &[
            "/*/role mapped /conversations/0/nodes/*/role",
            "/*/content mapped /conversations/0/nodes/*/content",
            "/*/createdAt mapped /conversations/0/nodes/*/timestamp",
            "/*/runId kept /conversations/0/nodes/*/runId",
        ],
    );
}
