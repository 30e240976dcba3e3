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
    assert_snapshot!(ctx("explain --session c.json --models m.json --model mine --reserve 100", &files), @"
    exit code 0
    === output
     processor                 messages   changes   log
    ───────────────────────────────────────────────────────────────────────────────────────────────
     session-loader            0 → 5      +5        5 messages loaded, 0 older messages not loaded
     regex-processor           5 → 5
     transcription-processor   5 → 5
     worldbook-processor       5 → 5
     injection-assembler       5 → 5
     variable-processor        5 → 5
     token-limiter             5 → 5                everything fits without counting
     merge-system-to-head      5 → 5
     merge-consecutive-roles   5 → 5
     asset-resolver            5 → 5

    budget
        500  context window of `mine`
       -100  response reserve
         -3  reply prefix
      = 397  available for messages; 37 used, exact (o200k_base)

    cache
      the first 5 messages are unchanged next turn: 37 tokens
    ");
}

#[test]
fn a_table_of_models_may_be_bad() {
    assert_snapshot!(ctx("assemble --input Hi --models m.json", &[("m.json", "{}")]), @r#"
    exit code 3
    === errors
    error[CTX0402]: a model table must be a list of rows or an object with `models`, not an object without `models`
     --> m.json:1:1
      |
    1 | {}
      | ^^
      |
      = help: write a list of rows, such as `[{"pattern": "^gpt-mine$", "contextWindow": 8000}]`
    "#);
    assert_snapshot!(ctx("assemble --input Hi --models m.json", &[("m.json", "[{]")]), @"
    exit code 3
    === errors
    error[CTX0602]: invalid JSON: key must be a string
     --> m.json:1:3
      |
    1 | [{]
      |   ^
      |
      = help: put keys in double quotes
    ");
    assert_snapshot!(ctx("assemble --input Hi --models m.json", &[("m.json", r#"[{ "patern": "x" }]"#)]), @r#"
    exit code 1
    === output
     #   role   tokens   source   text
    ───────────────────────────────────
     0   user        4   input    Hi

    1 message, about 4 tokens
    === errors
    error[CTX0403]: the row needs a `pattern`: a regular expression for model names
     --> m.json:1:2
      |
    1 | [{ "patern": "x" }]
      |  ^^^^^^^^^^^^^^^^^
      |
      = help: rename `patern` to `pattern`
    "#);
}

#[test]
fn the_settings_of_the_model_stand_below_those_of_the_agent() {
    let settings = r#"{ "processors": [
        { "id": "merge-consecutive-roles", "enabled": false },
        { "id": "merge-system-to-head", "enabled": false } ] }"#;
    let agent = "\
parameters: { processors: [{ id: merge-system-to-head, enabled: true }] }
presetMessages:
  - { role: user, content: First. }
  - { role: user, content: Second. }
";
    let files = [("a.yaml", agent), ("s.json", settings), ("bad.json", "[]")];
    assert_snapshot!(ctx("explain a.yaml --model-settings s.json", &files), @"
    exit code 0
    === output
     processor                 messages   changes   log
    ───────────────────────────────────────────────────────────────────────────────────────────────
     session-loader            0 → 0                0 messages loaded, 0 older messages not loaded
     regex-processor           0 → 0
     transcription-processor   0 → 0
     worldbook-processor       0 → 0
     injection-assembler       0 → 2      +2
     variable-processor        2 → 2
     token-limiter             2 → 2                no budget, nothing to drop
     merge-system-to-head      2 → 2
     asset-resolver            2 → 2

    budget
      no limit for messages; about 10 used, estimated (o200k_base)

    cache
      the first 2 messages are unchanged next turn: 10 tokens
    ");
    let one = [("a.yaml", "presetMessages: [{ role: user, content: First. }]")];
    let shown = ctx("explain a.yaml", &one);
    assert!(shown.contains("the first message is unchanged next turn: 5 tokens"), "{shown}");
    assert_snapshot!(ctx("explain a.yaml --model-settings bad.json", &files), @"
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
