//! `ctx macros`: which macros there are, and what a text with macros becomes.

use insta::assert_snapshot;
use serde_json::json;

use crate::{Folder, ctx};

const ENV: (&str, &str) = (
    "env.json",
    r#"{
        "user": "Mei", "char": "Alice", "persona": "{{user}} likes tea.",
        "card": { "description": "{{char}} builds engines.", "first_mes": "Hello, {{user}}." },
        "variables": { "visits": 2 }, "now": "2026-01-31T12:00:00Z", "tz": "Asia/Shanghai",
        "messages": [{ "role": "user", "content": "hi" }, { "role": "assistant", "content": "hello" }]
    }"#,
);

#[test]
fn the_command_line_wins_over_the_environment() {
    let options = "--env env.json --at 2026-02-01T00:00:00Z --tz UTC";
    assert_snapshot!(ctx(&format!("macros expand {{{{datetime}}}} {options}"), &[ENV]), @r"
    exit code 0
    === output
    2026-02-01 00:00:00
    ");
}

#[test]
fn json_tells_who_wrote_what() {
    let text = "a{{user}}{{setvar::b::1}}{{nobody}}";
    let told = crate::assemble::json(&ctx(&format!("macros expand {text} --env env.json --json"), &[ENV]));
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["text", "segments", "diagnostics", "variables", "globalVariables"]);
    assert_eq!(told["text"], "aMei{{nobody}}");
    assert_snapshot!(told["segments"][1], @r#"{"span":{"start":1,"end":4},"source":{"kind":"macro","id":"user","trust":"user"},"via":[{"kind":"input","trust":"preset"}]}"#);
    let place = json!({ "document": "the text", "span": { "start": 25, "end": 35 } });
    assert_eq!(told["diagnostics"][0]["location"], place);
    assert_eq!(told["variables"], json!({ "b": "1", "visits": 2 }));
}

#[test]
fn a_text_may_come_from_standard_input() {
    let folder = Folder::with(&[ENV]);
    assert_snapshot!(folder.ctx_reading("macros expand - --env env.json", "Hi {{user}},\n{{usr}}"), @"
    exit code 0
    === output
    Hi Mei,
    {{usr}}
    === errors
    warning[CTX0300]: unknown macro `usr`
     --> the text:2:1
      |
    2 | {{usr}}
      | ^^^^^^^
      |
      = help: did you mean `user`?
    ");
    assert_snapshot!(folder.ctx_reading("macros expand - --env -", "{}"), @"
    exit code 2
    === errors
    error: standard input (`-`) can be read only once
    ");
}

#[test]
fn an_environment_that_cannot_be_used_is_told() {
    let odd = [("env.json", "{\n  \"user\": 5,\n  \"usr\": \"Mei\"\n}")];
    let told = ctx("macros expand {{user}} --env env.json", &odd);
    assert!(told.starts_with("exit code 0\n=== output\nUser\n=== errors\n"), "{told}");
    for found in [
        "ignored: this is not a string\n --> env.json:2:11",
        "unknown environment field `usr`\n --> env.json:3:3",
    ] {
        assert!(told.contains(&format!("warning[CTX0350]: {found}\n")), "{told}");
    }
}

#[test]
fn macros_are_listed_by_dialect() {
    let listed = ctx("macros list --dialect sillytavern", &[]);
    assert!(listed.contains(" if ") && listed.contains("{{pick::red::green::blue}}"), "{listed}");
    assert!(!listed.contains("shichen"), "{listed}");
}

#[test]
fn the_list_as_json_has_every_fact() {
    let list = crate::assemble::json(&ctx("macros list --json", &[]));
    let list = list.as_array().unwrap();
    let incvar = list.iter().find(|one| one["name"] == "incvar" && one["dialects"][0] == "sillytavern");
    assert_snapshot!(incvar.unwrap(), @r#"{"name":"incvar","aliases":[],"dialects":["sillytavern"],"topic":"variables","arguments":{"min":1,"max":1},"changesState":true,"volatile":false,"description":"Value of a variable after adding 1.","example":"{{incvar::score}}"}"#);
    assert!(list.iter().all(|one| one["dialects"].as_array().is_some_and(|all| !all.is_empty())));
}

#[test]
fn a_text_without_macros_is_one_segment() {
    let told = crate::assemble::json(&ctx("macros expand plain --json", &[]));
    let whole =
        json!([{ "span": { "start": 0, "end": 5 }, "source": { "kind": "input", "trust": "preset" } }]);
    assert_eq!((&told["text"], &told["segments"]), (&json!("plain"), &whole));
}
