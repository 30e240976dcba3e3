//! `ctx explain AGENT … MSG`: the life of one message.

use insta::assert_snapshot;

use crate::assemble::json;
use crate::ctx;

const AGENT: &str = r"
name: Robin
modelId: gpt-5
regexConfig:
  presets:
  - rules:
    - { id: polite, regex: please, replacement: PLEASE, applyTo: { request: true }, targetRoles: [user] }
presetMessages:
  - { id: identity, name: Who it is, role: system, content: 'You are {{char}}; it is {{time}}.' }
  - { id: rules, role: system, content: Be kind. }
  - { type: chat_history }
  - { id: tail, role: system, content: Be brief., insertionPoint: -1 }
  - { id: off, role: system, content: Never sent., isEnabled: false }
";

const CHAT: &str = r#"[
  { "role": "user", "content": "Hello" },
  { "role": "assistant", "content": "Hi!" },
  { "role": "user", "content": "When does the moon rise?\nTell me please." }
]"#;

const BOOK: &str = r#"{ "entries": {
  "7": { "uid": 7, "key": ["moon"], "content": "The moon is {{pick::bright}}.", "position": 4, "depth": 1 },
  "8": { "uid": 8, "key": ["sun"], "content": "Hot." },
  "9": { "uid": 9, "key": ["star"], "content": "Far." }
} }"#;

/// Reports the life of a message in a context with rules, macros and a worldbook.
#[track_caller]
fn life(arguments: &str) -> String {
    let files = [("a.yaml", AGENT), ("c.json", CHAT), ("w.json", BOOK)];
    let turn = "--session c.json --worldbook w.json --at 2026-01-31T12:00:00Z";
    ctx(&format!("explain a.yaml {turn} {arguments}"), &files)
}

#[test]
fn a_message_that_was_changed_shows_how() {
    assert_snapshot!(life("history:n3"), @"
    exit code 0
    === output
    message 4, user: history:n3
    13 tokens: 10 text, 3 per message

      When does the moon rise?
      Tell me PLEASE.

      bytes   tokens   source                        text
    ────────────────────────────────────────────────────────────────────────────
      0..33        8   history:n3                    When does the moon rise? …
     33..39        2   rule:polite from history:n3   PLEASE
     39..40       <1   history:n3                    .
                   3   overhead:per message

    processors
      session-loader
        loaded as message 2
          When does the moon rise?
          Tell me please.
      regex-processor
        changed text: message 2
          @@ line 1 @@
            When does the moon rise?
          - Tell me please.
          + Tell me PLEASE.

    cache
      message 4 is below message 0, which may change next turn: macro:time, the macro changes every turn
    ");
    assert_eq!(life("--message history:n3"), life("4"));
}

#[test]
fn a_message_that_was_joined_shows_of_what_and_by_whom() {
    assert_snapshot!(life("0"), @"
    exit code 0
    === output
    message 0, system: merged:preset:identity+preset:rules
    19 tokens: 16 text, 3 per message

      You are Robin; it is 12:00 PM.

      ---

      Be kind.

      bytes   tokens   source                            text
    ──────────────────────────────────────────────────────────────
       0..8        3   preset:identity                   You are
      8..13        2   macro:char from preset:identity   Robin
     13..21        3   preset:identity                   ; it is
     21..29        3   macro:time from preset:identity   12:00 PM
     29..30       <1   preset:identity                   .
     30..37        2   separator                         ---
     37..45        3   preset:rules                      Be kind.
                   3   overhead:per message

    processors
      injection-assembler
        created as message 0
          You are Robin; it is 12:00 PM.
        created as message 1
          Be kind.
      merge-system-to-head
        merged messages 0, 1 into message 0: preset:identity, preset:rules
          You are Robin; it is 12:00 PM.

          ---

          Be kind.
        merged preset:identity: joined with the other system messages at the front
        merged preset:rules: joined with the other system messages at the front

    cache
      message 0 may change next turn: macro:time, the macro changes every turn
    ");
    assert_eq!(life("merged:preset:identity+preset:rules"), life("0"));
}

#[test]
fn an_entry_of_a_worldbook_is_handed_over_and_placed() {
    let answer = life("worldbook:w.7");
    let (_, stages) = answer.split_once("processors\n").unwrap();
    assert_snapshot!(stages, @"
      worldbook-processor
        passed on for placement, depth 1
          The moon is bright.
        kept worldbook:w.7: key `moon` in history:n3
      injection-assembler
        placed as message 5, depth 1
          The moon is bright.
      merge-consecutive-roles
        merged messages 3, 4 into message 3: preset:tail, worldbook:w.7
          Be brief.

          ---

          The moon is bright.
        merged worldbook:w.7: joined with neighbors of the same role

    cache
      message 3 is below message 0, which may change next turn: macro:time, the macro changes every turn
    ");
    assert!(answer.contains("12 tokens: 9 text, 3 per message; 5 for worldbook:w.7\n"), "{answer}");
}

#[test]
fn what_is_not_sent_ends_with_why() {
    assert_snapshot!(life("preset:off"), @"
    exit code 0
    === output
    preset:off is not sent: hidden, disabled

    processors
      injection-assembler
        hidden preset:off: disabled
    ");
    // Of several entries that one decision is about, each has its own.
    assert_snapshot!(life("worldbook:w.9"), @"
    exit code 0
    === output
    worldbook:w.9 is not sent: not activated, no key matches

    processors
      no processor received it
      not_activated worldbook:w.9: no key matches
    ");
}

/// A conversation of so many long messages.
fn long_chat(messages: usize) -> String {
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        serde_json::json!({ "role": role, "content": format!("This is message number {n}.") })
    };
    serde_json::Value::Array((0..messages).map(message).collect()).to_string()
}

#[test]
fn a_message_within_a_run_of_dropped_ones_knows_its_decision() {
    let chat = long_chat(41);
    let arguments = "explain --session c.json --context-tokens 60 --message history:n20";
    assert_snapshot!(ctx(arguments, &[("c.json", chat.as_str())]), @"
    exit code 0
    === output
    history:n20 is not sent: dropped, does not fit the budget of 57 tokens

    processors
      no processor received it
      dropped history:n1 and 35 more: does not fit the budget of 57 tokens (926 bytes, at most 907 tokens)
    ");
}

#[test]
fn a_message_of_another_branch_says_so() {
    let session = r#"{ "id": "s", "activeLeafId": "c", "rootNodeId": "r", "nodes": {
        "r": { "id": "r", "parentId": null, "childrenIds": ["a"], "role": "system", "content": "" },
        "a": { "id": "a", "parentId": "r", "childrenIds": ["b", "c"], "role": "user", "content": "Hi" },
        "b": { "id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Ho" },
        "c": { "id": "c", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Hu" } } }"#;
    let answer = ctx("explain --session s.json --message history:b", &[("s.json", session)]);
    assert!(answer.contains("history:b is not sent: not loaded, on another branch\n"), "{answer}");
}

#[test]
fn a_message_that_does_not_exist_is_a_usage_error() {
    for (message, error) in [
        ("9", "no message `9`; there are 5, numbered 0 to 4"),
        ("presett:off", "no message `presett:off`; did you mean `preset:off`?"),
        ("identity", "no message `identity`; did you mean `preset:identity`?"),
        ("history:n33", "no message `history:n33`; did you mean `history:n3`?"),
        (
            "zzz",
            "no message `zzz`; the request has 5 messages; name one by number or by source, for example `history:n1`",
        ),
    ] {
        assert_eq!(life(message), format!("exit code 2\n=== errors\nerror: {error}\n"));
    }
}

#[test]
fn json_is_the_life() {
    let answer = life("0 --json");
    let life = json(&answer);
    let keys: Vec<&String> = life.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["subject", "messages", "steps"]);
    assert_eq!(life["messages"][0]["pieces"][1]["source"]["id"], "char");
    assert_eq!(life["messages"][0]["cost"][1], serde_json::json!({ "part": "per message", "tokens": 3 }));
    assert_eq!(life["messages"][0]["cache"]["isStable"], false);
    assert_eq!(life["steps"][1]["events"][0]["kind"], "joined");
    assert_eq!(life["steps"][1]["decisions"][0]["outcome"], "merged");
    assert_eq!(answer, self::life("0 --json --timings").split_once("=== errors").unwrap().0);
}
