//! Files of AIO Hub: an export changes nothing from the first on, and what rows say of some of them.

use ctx_preset_import::{Import, export_agent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{again, files, import_one, rows};

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
    let row = |row: ctx_preset_import::FieldReport<'_>| {
        format!("{} {} {}", row.pointer, row.status, row.to.unwrap_or("-"))
    };
    assert_eq!(rows(&made).iter().map(row).collect::<Vec<_>>().join("\n"), expected.join("\n"));
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
            "/agents/0/name mapped /name",
            "/agents/0/icon approximated /icon",
            "/agents/0/own/a kept /own/a",
            "/agents/0/presetMessages/0/name approximated /greetings/0/name",
            "/agents/0/presetMessages/0/content approximated /greetings/0/content",
            "/agents/0/presetMessages/1/type mapped /presetMessages/0/type",
            "/agents/0/presetMessages/1/content approximated /presetMessages/0/content",
            "/agents/0/presetMessages/1/status approximated /presetMessages/0/status",
            "/agents/0/presetMessages/1/own kept /presetMessages/0/own",
            "/agents/0/presetMessages/2/content kept /presetMessages/1/content",
            "/agents/0/presetMessages/2/injectionStrategy/depth mapped /presetMessages/1/injectionStrategy/depth",
            "/agents/0/presetMessages/2/injectionStrategy/own kept /presetMessages/1/injectionStrategy/own",
            "/agents/0/parameters/temperature kept /parameters/temperature",
            "/agents/0/parameters/topP mapped /parameters/topP",
            "/agents/0/parameters/custom/foo approximated /parameters/custom/params/foo",
            "/agents/0/parameters/contextPostProcessing/rules/0/type approximated /parameters/processors/0/id",
            "/agents/0/parameters/contextPostProcessing/rules/0/enabled approximated /parameters/processors/0/enabled",
            "/agents/0/parameters/contextPostProcessing/rules/0/separator approximated /parameters/processors/0/config/separator",
            "/agents/0/bundledWorldbooks/0/id mapped /bundledWorldbooks/0/id",
            "/agents/0/bundledWorldbooks/0/content/entries/0/key/0 mapped /worldbooks/0/entries/0/key/0",
            "/agents/0/bundledWorldbooks/0/content/entries/0/content mapped /worldbooks/0/entries/0/content",
            "/agents/0/bundledWorldbooks/0/content/entries/0/own kept /worldbooks/0/entries/0/own",
            "/agents/1/name kept /imported/envelope/agents/0/name",
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
            "/detail/nodes/u/id mapped /conversations/0/nodes/u/id",
            "/detail/nodes/u/role mapped /conversations/0/nodes/u/role",
            "/detail/nodes/u/content mapped /conversations/0/nodes/u/content",
            "/detail/nodes/u/own kept /conversations/0/nodes/u/own",
            "/detail/nodes/u/metadata/z kept /conversations/0/nodes/u/metadata/z",
            "/detail/updatedAt approximated /conversations/0/updatedAt",
        ],
    );
    check_rows(
        &json!([{ "role": "user", "content": "Hi", "createdAt": "t", "runId": "r" }]),
        &[
            "/0/role mapped /conversations/0/nodes/n1/role",
            "/0/content mapped /conversations/0/nodes/n1/content",
            "/0/createdAt mapped /conversations/0/nodes/n1/timestamp",
            "/0/runId kept /conversations/0/nodes/n1/runId",
        ],
    );
}
