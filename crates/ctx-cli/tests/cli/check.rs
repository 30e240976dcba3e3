//! `ctx check`: what counts as wrong, and which exit code it gives.

use insta::assert_snapshot;

use crate::{Folder, ctx};

/// An entry that goes nowhere, and a macro that does not exist.
const ORPHAN: &str = "\
presetMessages:
  - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
  - { type: chat_history }
";

/// Only the macro.
const WARNING: &str = "presetMessages:\n  - content: \"Hello {{usr}}\"\n";

const CLEAN: &str = "presetMessages: [{ role: system, content: Be kind. }]\n";

#[test]
fn an_orphan_target_is_an_error_and_is_named() {
    assert_snapshot!(ctx("check a.yaml", &[("a.yaml", ORPHAN)]), @"
    exit code 1
    === output
    checked `a.yaml` as an agent
    1 file checked: 1 error, 1 warning
    === errors
    error[CTX0200]: unknown anchor `chat_histroy`; the entry stays at its list position
     --> a.yaml:2:31
      |
    2 |   - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
      |                               ^^^^^^^^^^^^
      |
      = help: did you mean `chat_history`?

    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:2:61
      |
    2 |   - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
      |                                                             ^^^^^^^
      |
      = help: did you mean `user`?
    ");
}

#[test]
fn warnings_pass_unless_they_are_denied() {
    let passed = ctx("check a.yaml", &[("a.yaml", WARNING)]);
    assert!(passed.starts_with("exit code 0\n") && passed.contains("0 errors, 1 warning\n"), "{passed}");
    let denied = ctx("check a.yaml --deny-warnings", &[("a.yaml", WARNING)]);
    assert!(denied.starts_with("exit code 1\n"), "{denied}");
}

#[test]
fn a_guess_is_told_of_a_file_and_of_a_folder_that_holds_it() {
    let files = [("of/actor.json", "{\"name\": \"Actor\", \"content\": \"You act.\", \"icon\": \"x\"}")];
    let told = ctx("check of/actor.json", &files);
    assert!(
        told.starts_with("exit code 0\n=== output\nchecked `of/actor.json` as a user profile\n"),
        "{told}"
    );
    assert!(told.contains("warning[CTX0629]: ") && told.contains("\n --> of/actor.json:1:1\n"), "{told}");
    assert_eq!(ctx("check of", &files), told);
}

#[test]
fn a_file_that_nothing_tells_is_refused_unless_its_format_is_named() {
    let files = [("actor.json", "{\"name\": \"Actor\", \"content\": \"You act.\"}")];
    assert_snapshot!(ctx("check actor.json", &files), @"
    exit code 3
    === output
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0607]: expected an agent, a preset, a worldbook, a conversation, a request body or a user profile, found an object with the keys `name`, `content`
    --> actor.json
     = help: name the format with `--as`, for example `profile`, `agent`
    ");
    assert_snapshot!(ctx("check actor.json --as profile", &files), @"
    exit code 0
    === output
    checked `actor.json` as a user profile
    1 file checked: 0 errors, 0 warnings
    ");
}

#[test]
fn a_folder_is_checked_file_by_file() {
    let files = [
        ("presets/a.yaml", ORPHAN),
        ("presets/deep/b.YML", WARNING),
        (
            "presets/chat.jsonl",
            "{\"role\":\"user\",\"content\":\"Hi\"}\n{\"role\":\"bot\",\"content\":\"Ho\"}\n",
        ),
        ("presets/notes.txt", "not ours"),
        ("presets/other.json", "{\"compilerOptions\":{}}"),
        ("presets/.git/config.json", "{"),
        ("presets/node_modules/x/package.json", "{"),
    ];
    let told = ctx("check presets", &files);
    let (output, _) = told.split_once("=== errors\n").unwrap();
    assert_snapshot!(output, @"
    exit code 1
    === output
    checked `presets/a.yaml` as an agent
    checked `presets/chat.jsonl` as a list of chat messages
    checked `presets/deep/b.YML` as an agent
    3 files checked: 1 error, 3 warnings
    ");
}

#[test]
fn agents_conversations_and_profiles_are_checked() {
    let files = [
        ("agent.yaml", CLEAN),
        ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]"),
        ("profile.yaml", "name: Alex\ncontent: likes tea\n"),
    ];
    assert_snapshot!(ctx("check agent.yaml chat.json profile.yaml", &files), @"
    exit code 0
    === output
    checked `agent.yaml` as an agent
    checked `chat.json` as a list of chat messages
    checked `profile.yaml` as a user profile
    3 files checked: 0 errors, 0 warnings
    ");
}

#[test]
fn many_files_are_not_all_named() {
    let names: Vec<String> = (0..22).map(|number| format!("p/{number}.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, CLEAN)).collect();
    let answer = ctx("check p", &files);
    assert_eq!(answer.matches(" as an agent\n").count(), 20, "{answer}");
    assert!(answer.contains("\nand 2 more files; use `--json` to list all\n22 files checked"), "{answer}");
}

#[test]
fn json_has_every_finding_with_its_position() {
    let found = crate::assemble::json(&ctx("check --json a.yaml", &[("a.yaml", ORPHAN)]));
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["files", "errors", "warnings", "findings", "kinds"]);
    assert_eq!((&found["errors"], &found["warnings"]), (&1.into(), &1.into()));
    assert_eq!(found["kinds"]["a.yaml"], "agent");
    assert_snapshot!(found["findings"][0], @r#"{"code":"CTX0200","severity":"error","message":"unknown anchor `chat_histroy`; the entry stays at its list position","arguments":{"name":"chat_histroy"},"location":{"document":"a.yaml","pointer":"/presetMessages/0/anchorTarget"},"help":"did you mean `chat_history`?","helpArguments":{"name":"chat_history"},"position":{"file":"a.yaml","line":2,"column":31},"fix":{"pointer":"/presetMessages/0/anchorTarget","value":"chat_history"}}"#);
    assert_snapshot!(found["findings"][1], @r#"{"code":"CTX0300","severity":"warning","message":"unknown macro `usr`","arguments":{"name":"usr"},"location":{"document":"a.yaml","pointer":"/presetMessages/0/content","span":{"start":6,"end":13}},"help":"did you mean `user`?","helpArguments":{"name":"user"},"position":{"file":"a.yaml","line":2,"column":61},"fix":{"pointer":"/presetMessages/0/content","old":"usr","new":"user"}}"#);
}

#[test]
fn an_unreadable_file_does_not_hide_what_is_wrong_with_the_others() {
    let files = [("a.yaml", "presetMessages:\n  - content: {{char}} is nice\n"), ("b.yaml", WARNING)];
    let told = ctx("check a.yaml missing.yaml b.yaml", &files);
    let output =
        "exit code 3\n=== output\nchecked `b.yaml` as an agent\n3 files checked: 2 errors, 1 warning\n";
    assert!(told.starts_with(output), "{told}");
    for found in [
        "error[CTX0603]: invalid YAML: presetMessages[0].content: invalid type: map, where a key should be a string\n --> a.yaml:2:15\n",
        "error[CTX0900]: cannot read `missing.yaml`: no such file or folder\n--> missing.yaml\n",
        "warning[CTX0300]: unknown macro `usr`\n --> b.yaml:2:21\n",
    ] {
        assert!(told.contains(found), "{told}");
    }
    assert!(told.contains(" = help: quote values that start with `{{`\n"), "{told}");
}

#[test]
fn json_of_an_unreadable_file_comes_with_a_message_for_people() {
    let told = ctx("check --json missing.yaml", &[]);
    let errors =
        "=== errors\nerror[CTX0900]: cannot read `missing.yaml`: no such file or folder\n--> missing.yaml";
    assert!(told.starts_with("exit code 3\n") && told.trim_end().ends_with(errors), "{told}");
    let found = crate::assemble::json(&told);
    assert_eq!((&found["errors"], &found["findings"][0]["code"]), (&1.into(), &"CTX0900".into()));
}

#[test]
fn standard_input_is_checked_too() {
    let told = Folder::with(&[]).ctx_reading("check -", WARNING);
    assert!(told.starts_with("exit code 0\n=== output\nchecked `standard input` as an agent\n"), "{told}");
    assert!(told.contains("unknown macro `usr`\n --> standard input:2:21\n"), "{told}");
}

/// People share character cards as pictures.
#[test]
fn a_picture_is_told_from_a_damaged_text() {
    let folder = Folder::with(&[]);
    folder.write("card.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert_snapshot!(folder.ctx("check card.png"), @"
    exit code 3
    === output
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0601]: the file is a PNG image, not a text file
    --> card.png
     = help: import the PNG file of a character card with `ctx import`
    ");
}

#[test]
fn a_macro_that_breaks_the_prompt_cache_is_found_with_what_it_costs() {
    let agent = "\
presetMessages:
    - { role: system, content: \"Now: {{time}}.\" }
    - { role: system, content: Answer in one sentence and be kind to everybody who asks. }
    - { type: chat_history }
";
    assert_snapshot!(ctx("check a.yaml", &[("a.yaml", agent)]), @r#"
    exit code 0
    === output
    checked `a.yaml` as an agent
    1 file checked: 0 errors, 1 warning
    === errors
    info[CTX0707]: moving text breaks the prompt cache; tokens billed again in 50 turns, about: `preset#0` 220000
     --> a.yaml:1:1
      |
    1 | presetMessages:
      | ^^^^^^^^^^^^^^^
      |
      = help: set `prefix: auto` to keep sent text in place, or `prefix: moving` to accept the cost

    warning[CTX0706]: `time` changes every turn: about 16 tokens of the preset and the whole conversation miss the prompt cache
     --> a.yaml:2:38
      |
    2 |     - { role: system, content: "Now: {{time}}." }
      |                                      ^^^^^^^^
      |
      = help: move it to a separate entry below the conversation: `injectionStrategy: {type: depth, depth: 0}`
    "#);
}

#[test]
fn a_request_body_is_looked_at_as_its_provider_does() {
    let body =
        r#"{"model":"claude","max_tokens":5,"system":"Be kind.","messages":[{"role":"user","content":""}]}"#;
    let told = ctx("check request.json", &[("request.json", body)]);
    let kind = "exit code 1\n=== output\nchecked `request.json` as an Anthropic Messages request body\n";
    assert!(told.starts_with(kind), "{told}");
    assert!(told.contains("error[CTX0532]: the message is empty\n --> request.json:1:91\n"), "{told}");
}

#[test]
fn follows_request_rules_of_custom_models() {
    let body = r#"{"model":"mine","temperature":0.5,"messages":[{"role":"user","content":"Hi"}]}"#;
    let models = r#"{"models": [{"pattern": "^mine$", "request": {"samplers": "none"}}]}"#;
    let files = [("request.json", body), ("models.json", models)];
    assert!(ctx("check request.json", &files).starts_with("exit code 0"));
    let found = ctx("check request.json --models models.json", &files);
    assert!(found.contains("error[CTX0536]: the model does not accept parameter `temperature`"), "{found}");
}

#[test]
fn checks_current_folder_without_arguments() {
    let output = ctx("check", &[("agent.yaml", "presetMessages: []"), ("notes.md", "none")]);
    assert!(output.ends_with("1 file checked: 0 errors, 0 warnings\n"), "{output}");
    assert!(output.starts_with("exit code 0") && output.contains("agent.yaml"), "{output}");
}

#[test]
fn findings_about_a_session_in_halves_lead_below_its_detail() {
    let halves = r#"{ "index": { "id": "s" }, "detail": { "id": "s", "rootNodeId": "root", "activeLeafId": "s1", "nodes": {
        "root": { "id": "root", "parentId": null, "childrenIds": ["a"], "role": "system", "content": "" },
        "a": { "id": "a", "parentId": "root", "childrenIds": ["s1"], "role": "user", "content": "Hello" },
        "s1": { "id": "s1", "parentId": "a", "childrenIds": [], "role": "system", "content": "They greet.",
          "metadata": { "isCompressionNode": true, "compressedNodeIds": ["a", "a"] } } } } }"#;
    let found = ctx("check chat.json --json", &[("chat.json", halves)]);
    assert!(found.contains(r#""pointer": "/detail/nodes/s1/metadata/compressedNodeIds/1""#), "{found}");
}

#[test]
fn wide_text_moves_no_mark() {
    let folder = Folder::with(&[]);
    let wide = "\u{feff}presetMessages:\n  - content: x {{usr}}\n".encode_utf16();
    folder.write("a.yaml", &wide.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let printed = folder.ctx("check a.yaml");
    assert!(printed.contains("unknown macro `usr`\n --> a.yaml:2:16\n"), "{printed}");
}

#[test]
fn checks_each_request_of_a_log() {
    let good = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hi"}]}"#;
    let bad = r#"{"at":"2026-11-29T10:15:00Z","request":{"model":"claude-opus-5","system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}}"#;
    let log = [good, bad, good].join("\n");
    assert_snapshot!(ctx("check log.jsonl", &[("log.jsonl", &log)]), @r#"
    exit code 1
    === output
    checked `log.jsonl` as a log of requests
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0530]: required parameter `max_tokens` is missing
     --> log.jsonl:2:40
      |
    2 | ...00Z","request":{"model":"claude-opus-5","system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: correct the field; the provider rejects the request
    "#);
}
