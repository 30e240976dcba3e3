//! `ctx assemble`: what it prints in each format.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Folder, ctx};

pub(crate) const AGENT: &str = "\
name: Robin
modelId: gpt-5
presetMessages:
  - { id: identity, role: system, content: 'You are {{char}}; it is {{time}}.' }
  - { type: chat_history }
  - { id: tail, role: system, content: Be brief., insertionPoint: -1 }
  - { id: off, role: system, content: Never sent., isEnabled: false }
";

pub(crate) const CHAT: &str = r#"[
  { "role": "user", "content": "Hello" },
  { "role": "assistant", "content": "Hi!" },
  { "role": "user", "content": "When do I sow basil?" },
  { "role": "assistant", "content": null, "tool_calls": [
    { "id": "call_1", "type": "function", "function": { "name": "season", "arguments": "{}" } } ] },
  { "role": "tool", "tool_call_id": "call_1", "content": "early spring\nor later" }
]"#;

/// Assembles the agent and the chat at a fixed time.
#[track_caller]
pub(crate) fn assemble(arguments: &str) -> String {
    let files = [("a.yaml", AGENT), ("c.json", CHAT)];
    ctx(&format!("assemble --at 2026-01-31T12:00:00Z {arguments}"), &files)
}

/// Reads what was printed as JSON.
pub(crate) fn json(answer: &str) -> Value {
    let (_, output) = answer.split_once("=== output\n").unwrap();
    let (output, _) = output.split_once("=== errors\n").unwrap_or((output, ""));
    serde_json::from_str(output).unwrap()
}

#[test]
fn a_table_shows_one_line_for_each_message() {
    assert_snapshot!(assemble("a.yaml --session c.json --input Thanks! --tz Asia/Shanghai"), @"
    exit code 0
    === output
     #   role        tokens   source                   text
    ─────────────────────────────────────────────────────────────────────────────────
     0   system          15   preset:identity          You are Robin; it is 8:00 PM.
     1   user             4   history:n1               Hello
     2   assistant        5   history:n2               Hi!
     3   user             9   history:n3               When do I sow basil?
     4   assistant        8   history:n4               call_1 → season({})
     5   tool            11   history:n5               call_1 ← early spring …
     6   system           6   preset:tail (index -1)   Be brief.
     7   user             5   input                    Thanks!

    8 messages, 63 of 299997 tokens

    moved, merged, or dropped:
      hidden preset:off: disabled
    ");
}

#[test]
fn without_an_agent_the_conversation_alone_is_shown() {
    assert_snapshot!(assemble("--session c.json"), @"
    exit code 0
    === output
     #   role        tokens   source       text
    ───────────────────────────────────────────────────────────────
     0   user             4   history:n1   Hello
     1   assistant        5   history:n2   Hi!
     2   user             9   history:n3   When do I sow basil?
     3   assistant        8   history:n4   call_1 → season({})
     4   tool            11   history:n5   call_1 ← early spring …

    5 messages, about 37 tokens
    ");
}

#[test]
fn text_is_the_messages_and_nothing_else() {
    assert_snapshot!(assemble("a.yaml --session c.json --format text"), @"
    exit code 0
    === output
    [system]
    You are Robin; it is 12:00 PM.

    [user]
    Hello

    [assistant]
    Hi!

    [system]
    Be brief.

    [user]
    When do I sow basil?

    [assistant]
    call_1 → season({})

    [tool]
    call_1 ←
    early spring
    or later
    ");
}

#[test]
fn a_snapshot_has_sources_segments_and_decisions() {
    let answer = assemble("a.yaml --session c.json --format snapshot");
    assert!(
        answer.starts_with("exit code 0\n=== output\n--- 0 system · preset:identity · skeleton"),
        "{answer}"
    );
    for part in
        ["\n  8..13 macro:char via preset:identity\n", "\n=== decisions\nhidden preset:off: disabled\n"]
    {
        assert!(answer.contains(part), "{answer}");
    }
}

#[test]
fn json_has_messages_report_and_effects() {
    let result = json(&assemble("a.yaml --session c.json --json"));
    assert_eq!(result, json(&assemble("a.yaml --session c.json --format json")));
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messages", "report", "effects"]);
    assert_eq!(result["messages"][0]["source"]["id"], "identity");
    assert_snapshot!(result["messages"][4], @r#"{"role":"user","content":"When do I sow basil?","source":{"kind":"history","id":"n3","trust":"user"},"tokens":9,"place":"history"}"#);
    assert_snapshot!(result["report"]["decisions"], @r#"[{"outcome":"hidden","source":{"kind":"preset","id":"off","index":3,"trust":"preset"},"reason":"disabled","count":1}]"#);
}

#[test]
fn the_report_is_written_beside_the_result() {
    let folder = Folder::with(&[("a.yaml", "presetMessages: [{ role: system, content: '{{usr}}' }]")]);
    assert_snapshot!(folder.ctx("assemble a.yaml --format text --report r.json"), @"
    exit code 0
    === output
    [system]
    {{usr}}
    === errors
    warning[CTX0300]: unknown macro `usr`
     --> a.yaml:1:44
      |
    1 | presetMessages: [{ role: system, content: '{{usr}}' }]
      |                                            ^^^^^^^
      |
      = help: did you mean `user`?
    ");
    let report = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_snapshot!(report["diagnostics"], @r#"[{"code":"CTX0300","severity":"warning","message":"unknown macro `usr`","arguments":{"name":"usr"},"location":{"document":"a.yaml","pointer":"/presetMessages/0/content","span":{"start":0,"end":7}},"help":"did you mean `user`?","helpArguments":{"name":"user"}}]"#);
    assert_eq!(report, json(&folder.ctx("assemble a.yaml --json"))["report"]);
}

#[test]
fn what_reading_found_is_in_the_report_too() {
    let answer =
        ctx("assemble --session c.json --json", &[("c.json", r#"[{ "role": "narrator", "content": "x" }]"#)]);
    assert!(answer.contains(r#""code": "CTX0631""#), "{answer}");
}

#[test]
fn long_ids_and_wide_letters_keep_the_table_in_shape() {
    let long = "a-very-long-identifier-that-somebody-made-up-for-an-entry-of-a-preset";
    let agent = serde_json::json!({ "presetMessages": [
        { "id": long, "role": "system", "content": "这是一个很长的系统提示".repeat(12) },
        { "id": "控制\u{1b}[31m", "role": "user", "content": "\n\n\tfirst\u{7} line\nsecond" },
        { "role": "assistant", "content": "👩‍🚀🧑🏽‍🌾" },
        { "role": "user", "content": [
            { "type": "text", "text": "look" }, { "type": "image_url", "image_url": { "url": "data:" } } ] },
        { "role": "assistant", "content": "", "attachments": [{ "id": "f1", "name": "photo.png" }] },
    ] });
    assert_snapshot!(ctx("assemble a.json", &[("a.json", &agent.to_string())]), @"
    exit code 0
    === output
     #   role        tokens   source                                     text
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     0   system          87   preset:a-very-long-identifier-that-some…   这是一个很长的系统提示这是一个很长的系统提示这是…
     1   user             9   preset:控制�[31m                           first� line …
     2   assistant       16   preset#2                                   👩‍🚀🧑🏽‍🌾
     3   user           769   preset#3                                   [image_url] look
     4   assistant       12   preset#4                                   [附件: 1 - photo.png]

    5 messages, about 893 tokens

    moved, merged, or dropped:
      degraded preset#4: a placeholder replaces `photo.png`: cannot load it: not found: the attachment has no path
    === errors
    warning[CTX0790]: a placeholder replaces `photo.png`: cannot load it: not found: the attachment has no path (in `preset#4`)
     = help: set the folder of the files with `--assets`, and check that the file exists
    ");
}

/// Assembles a conversation of so many messages.
fn long(count: usize, arguments: &str) -> String {
    let message = |n: usize| {
        let role = if n % 2 == 1 { "user" } else { "assistant" };
        format!("{{ \"role\": \"{role}\", \"content\": \"Message {n}\" }}")
    };
    let chat = (1..=count).map(message).collect::<Vec<_>>().join(",");
    let agent = "presetMessages: [{ id: head, role: system, content: Be brief. }, { type: chat_history }]";
    ctx(
        &format!("assemble a.yaml --session c.json {arguments}"),
        &[("a.yaml", agent), ("c.json", &format!("[{chat}]"))],
    )
}

#[test]
fn long_runs_of_the_conversation_are_folded() {
    assert_snapshot!(long(40, ""), @r"
    exit code 0
    === output
     #      role        tokens   source           text
    ────────────────────────────────────────────────────────────
     0      system           6   preset:head      Be brief.
     1      user             6   history:n1       Message 1
     2–39                  228   history:n2–n39   … 38 messages
     40     assistant        6   history:n40      Message 40

    41 messages, about 246 tokens
    ");
}

#[test]
fn short_runs_and_all_messages_are_shown() {
    assert!(!long(12, "").contains("messages  ") && long(12, "").contains("Message 6"));
    assert_eq!((1..=40).filter(|n| long(40, "--all").contains(&format!("Message {n}\n"))).count(), 40);
}

#[test]
fn each_format_prints_the_body_of_its_dialect() {
    for (format, key) in [
        ("openai-responses --model gpt-5", "input"),
        ("anthropic --model claude-sonnet-4-5", "system"),
        ("gemini --model gemini-3-pro", "contents"),
        ("completion --model qwen3", "prompt"),
    ] {
        let body = json(&assemble(&format!("a.yaml --session c.json --format {format}")));
        assert!(body.get(key).is_some(), "{format}: {body:#}");
    }
}

#[test]
fn attached_files_outside_of_the_folder_are_not_read() {
    let session = r#"[{"role": "user", "content": "Look.", "attachments": [
        {"id": "a", "name": "a.txt", "path": "../secret.txt"}, {"id": "b", "name": "b.txt", "path": "/etc/passwd"}
    ]}]"#;
    let folder = Folder::with(&[("chat/s.json", session), ("secret.txt", "SECRET"), ("files/a.txt", "open")]);
    let answer = folder.ctx("assemble --session chat/s.json --format openai --model gpt-4o");
    assert!(answer.starts_with("exit code 0\n") && answer.matches("CTX0790").count() == 2, "{answer}");
    assert!(!answer.contains("SECRET") && !answer.contains("root:"), "{answer}");
    let missing = folder.ctx("assemble --session chat/s.json --assets nowhere");
    let told = "exit code 3\n=== errors\nerror: cannot open the folder `nowhere`: no such file or folder\n";
    assert_eq!(missing, told);
}
