//! `ctx explain`: stages, budget, decisions.

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT, json};
use crate::{Folder, ctx};

/// Explains the agent with the chat at a fixed time.
#[track_caller]
fn explain(arguments: &str) -> String {
    let files = [("a.yaml", AGENT), ("c.json", CHAT)];
    ctx(&format!("explain --at 2026-01-31T12:00:00Z {arguments}"), &files)
}

/// A conversation with this many messages.
fn long_chat(messages: usize) -> String {
    let message = |n| {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        serde_json::json!({ "role": role, "content": format!("This is message number {n}.") })
    };
    serde_json::Value::Array((0..messages).map(message).collect()).to_string()
}

#[test]
fn a_conversation_over_budget_lists_the_dropped_run_as_one_decision() {
    let chat = long_chat(41);
    let files = [("a.yaml", AGENT), ("c.json", chat.as_str())];
    let answer =
        ctx("explain a.yaml --session c.json --context-tokens 100 --at 2026-01-31T12:00:00Z", &files);
    assert_snapshot!(answer, @"
    exit code 0
    === output
     processor                 messages   changes   log
    ─────────────────────────────────────────────────────────────────────────────────────────────────
     session-loader            0 → 10     +10       10 messages loaded, 31 older messages not loaded
     regex-processor           10 → 10
     transcription-processor   10 → 10
     worldbook-processor       10 → 10
     injection-assembler       10 → 12    +2
     variable-processor        12 → 12
     token-limiter             12 → 9     -3        3 messages dropped or truncated, 91 tokens kept
     merge-system-to-head      9 → 9
     merge-consecutive-roles   9 → 9
     asset-resolver            9 → 9

    budget
       100  context limit
        -3  reply prefix
      = 97  available for messages; 91 used, exact (o200k_base)

    cache
      no message is guaranteed to stay unchanged next turn
      message 0 may change: macro:time in preset:identity, the macro changes every turn

    decisions
      hidden preset:off: disabled
      dropped history:n1 and 33 more: does not fit the budget of 97 tokens (874 bytes, at most 817 tokens)
    ");
}

#[test]
fn all_of_a_long_conversation_that_is_not_read_is_one_decision_too() {
    let chat = long_chat(10_001);
    let answer = ctx("explain --session c.json --context-tokens 100", &[("c.json", chat.as_str())]);
    let dropped: Vec<&str> = answer.lines().filter(|line| line.contains("history:n1 ")).collect();
    assert_snapshot!(dropped.join("\n"), @"  dropped history:n1 and 9992 more: does not fit the budget of 97 tokens (278694 bytes, at most 278674 tokens)");
}

#[test]
fn json_is_the_report() {
    let report = json(&explain("a.yaml --session c.json --json"));
    assert_eq!(report["stages"][0]["id"], "session-loader");
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["diagnostics", "decisions", "stages", "usage", "stable"]);
    assert_eq!(report, json(&explain("a.yaml --session c.json --json --timings")));
}

#[test]
fn without_a_window_nothing_is_limited() {
    let answer = explain("--session c.json");
    assert!(answer.contains("budget\n  no limit for messages; about 37 used, estimated (o200k_base)\n"));
}

#[test]
fn timings_are_a_column() {
    let answer = explain("a.yaml --session c.json --timings");
    let header = answer.lines().nth(2).unwrap();
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["processor", "messages", "changes", "time", "log"]
    );
    let limiter = answer.lines().find(|line| line.contains("token-limiter")).unwrap();
    assert!([" µs ", " ms ", " s "].iter().any(|unit| limiter.contains(unit)), "{limiter}");
}

#[test]
fn timings_stand_beside_other_results() {
    for arguments in ["explain --json", "assemble --format openai --model gpt-5"] {
        let with = ctx(&format!("{arguments} --input Hi --timings"), &[]);
        let (result, errors) = with.split_once("=== errors\n").unwrap();
        let without = ctx(&format!("{arguments} --input Hi"), &[]);
        assert_eq!(result, without);
        assert!(errors.starts_with(" processor "), "{errors}");
        assert!(errors.contains("\n all processors "), "{errors}");
    }
}

#[test]
fn a_table_of_models_is_tried_before_the_built_in_one() {
    let models =
        r#"[{ "pattern": "^mine$", "contextWindow": 500, "encoding": "o200k_base", "count": "exact" }]"#;
    let files = [("m.json", models), ("c.json", CHAT)];
    let told = ctx("explain --session c.json --models m.json --model mine --reserve 100", &files);
    assert!(told.contains("\n    500  context window of `mine`\n   -100  response reserve\n"), "{told}");
    assert!(told.contains("\n  = 397  available for messages; 37 used, exact (o200k_base)\n"), "{told}");
}

#[test]
fn a_table_of_models_may_be_bad() {
    let told = |table: &str| ctx("assemble --input Hi --models m.json", &[("m.json", table)]);
    let unreadable = told("{}");
    assert!(unreadable.starts_with("exit code 3\n=== errors\nerror[CTX0402]: "), "{unreadable}");
    let bad_row = told(r#"[{ "patern": "x" }]"#);
    assert!(bad_row.starts_with("exit code 1\n=== output\n"), "{bad_row}");
    assert!(bad_row.contains("error[CTX0403]: ") && bad_row.contains("\n --> m.json:1:2\n"), "{bad_row}");
}

#[test]
fn the_settings_of_the_model_are_an_object() {
    let one = [("a.yaml", "presetMessages: [{ role: user, content: First. }]"), ("bad.json", "[]")];
    let shown = ctx("explain a.yaml", &one);
    assert!(shown.contains("the first message is unchanged next turn: 5 tokens"), "{shown}");
    assert_snapshot!(ctx("explain a.yaml --model-settings bad.json", &one), @"
    exit code 3
    === errors
    error: `bad.json` is not a settings object (with keys such as `processors`)
    ");
}

#[test]
fn a_part_with_text_costs_something() {
    let chat = r#"[{ "role": "user", "content": "When do I sow basil, and when do I sow parsley?" }]"#;
    let folder = Folder::with(&[("c.json", chat)]);
    let check = |arguments: &str, expected: &str| {
        let told = folder.ctx(&format!("{arguments} --session c.json --no-config --input a"));
        let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
        let found = rows.iter().find(|row| row.contains(&"input") && row.contains(&"<1"));
        assert_eq!(found.map(|row| row.join(" ")).as_deref(), Some(expected), "{told}");
    };
    check("assemble", "<1 input a");
    check("explain --message 0", "54..55 <1 input a");
}

#[test]
fn lists_the_blocks_of_a_request() {
    let body = serde_json::json!({
        "model": "claude-sonnet-4-5",
        "tools": [{ "name": "read_file", "input_schema": { "type": "object" } }],
        "system": [{ "type": "text", "text": "You keep the lamps.", "cache_control": { "type": "ephemeral" } }],
        "messages": [
            { "role": "user", "content": "Which lamps?" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "t1", "name": "read_file", "input": { "path": "a" } },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "Two \u{1b}[31m." }] },
        ],
    });
    let usage = serde_json::json!({ "input_tokens": 9, "cache_read_input_tokens": 500 });
    let log = format!("{}\n{}\n", body, serde_json::json!({ "request": body, "usage": usage }));
    let files = [("body.json", &*body.to_string()), ("log.jsonl", &*log)];
    assert_snapshot!(ctx("explain body.json", &files), @r#"
    exit code 0
    === output
     place               role        kind     tokens   cache   text
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     tool 1                          tool         13           read_file: {"name":"read_file","input_schema":{"type":"obj…
     system part 1       system      text          5   short   You keep the lamps.
     message 1           user        text          3           Which lamps?
     message 2           assistant   text          3           I look.
     message 2, part 2   assistant   call         22           {"type":"tool_use","id":"t1","name":"read_file","input":{"…
     message 3           user        result        7           Two �[31m.

    tools: 13 tokens, 1 block
    system prompt: 5 tokens, 1 block
    messages: 35 tokens, 4 blocks
    all blocks: 53 tokens, estimated (o200k_base)
    model claude-sonnet-4-5, API anthropic
    "#);
    assert_snapshot!(ctx("count body.json", &files), @r#"
    exit code 0
    === output
     #   role        tokens   source       text
    ────────────────────────────────────────────────────────────────────────────
     0   system           9   history:n1   You keep the lamps.
     1   user             7   history:n2   Which lamps?
     2   assistant       15   history:n3   I look. t1 → read_file({"path":"a"})
     3   tool            12   history:n4   t1 ← Two �[31m.

    4 messages, about 43 tokens

    1 tool: 366 tokens; in all 409 tokens
    estimated (o200k_base), for `claude-sonnet-4-5`
    "#);
    assert_snapshot!(ctx("count log.jsonl", &files), @"
    exit code 0
    === output
    2 requests, 562 tokens; `ctx diff` shows each
    ");
    assert!(
        ctx("explain log.jsonl 2", &files)
            .contains("counted by the provider: 509 tokens, 500 of them from the cache")
    );
    assert_snapshot!(ctx("explain log.jsonl", &files), @"
    exit code 2
    === errors
    error: `log.jsonl` is a log; add the number of a request, as `ctx diff log.jsonl` prints it
    ");
    assert_snapshot!(ctx("explain log.jsonl 3", &files), @"
    exit code 3
    === errors
    error: `log.jsonl` has no request 3
    ");
    assert!(ctx("explain body.json --json", &files).contains(r#""in": "tools""#));
}
