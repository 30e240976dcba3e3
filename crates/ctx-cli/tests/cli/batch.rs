//! `ctx compress` over many conversations.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::masks::{AT, chat, folder, hotel};

#[test]
fn many_conversations_are_a_table() {
    let folder = folder();
    folder.write("more/a.json", serde_json::to_string(&hotel()).unwrap().as_bytes());
    folder.write("more/agent.json", br#"{"presetMessages":[]}"#);
    folder.write("more/bad.json", b"{bad");
    folder.write("more/short.json", br#"[{"role":"user","content":"Hi."}]"#);
    let told = folder.ctx(&format!("compress run --session more chat.json more/a.json --mask {AT}"));
    assert!(
        told.contains("error[CTX0602]: invalid JSON: key must be a string\n --> more/bad.json:1:2\n"),
        "{told}"
    );
    assert_snapshot!(told.split_once("=== errors").unwrap().0, @"
    exit code 3
    === output
     outcome      conversation      messages      tokens
    ─────────────────────────────────────────────────────
     compacted    more/a.json        14 → 11   300 → 238
     failed       more/bad.json
     not needed   more/short.json          1           4
     compacted    chat.json          14 → 11   300 → 238

    4 conversations: 2 compacted, 1 failed, 1 not needed; 124 tokens less
    ");
    assert_snapshot!(folder.ctx("compress plan --session more/*.json --budget 120"), @"
    exit code 3
    === output
     outcome      conversation      messages      tokens
    ─────────────────────────────────────────────────────
     compacted    more/a.json         14 → 2   398 → 118
     failed       more/agent.json
     failed       more/bad.json
     not needed   more/short.json          1          11

    4 conversations: 1 compacted, 2 failed, 1 not needed; 280 tokens less
    === errors
    error[CTX0607]: expected a conversation (a session with `nodes`, a list of messages, or a SillyTavern chat), found an agent
    --> more/agent.json
     = help: use this file as an agent, not as a conversation
    error[CTX0602]: invalid JSON: key must be a string
     --> more/bad.json:1:2
      |
    1 | {bad
      |  ^
      |
      = help: put keys in double quotes
    ");
}

#[test]
fn many_conversations_are_lines_of_json() {
    let folder = folder();
    folder.write("bad.json", b"{bad");
    let answer = folder.ctx(&format!("compress run --session . --mask --from 1 --to 4 --write --json {AT}"));
    let output = answer.split("=== output\n").nth(1).unwrap().split("=== errors").next().unwrap();
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcomes: Vec<_> = lines.iter().map(|line| (&line["file"], &line["outcome"]["kind"])).collect();
    assert_eq!(json!(outcomes), json!([["./bad.json", "failed"], ["./chat.json", "compacted"]]));
    assert!(answer.starts_with("exit code 3\n"));
    assert!(chat(&folder).contains("isCompressionNode"), "one failure does not stop the others");
}
