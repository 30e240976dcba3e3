//! `ctx compress`: conversations that fit into a number of tokens.

use insta::assert_snapshot;

use crate::ctx;

/// A conversation of 354 tokens.
const TALK: &str = r#"[
  { "id": "m1", "role": "system", "content": "You keep the diary of a hotel." },
  { "id": "m2", "role": "user", "content": "Hello! Please book room 12 for Ms Ada Bell from 3 May to 7 May." },
  { "id": "m3", "role": "assistant", "content": null, "tool_calls": [
    { "id": "c1", "type": "function", "function": { "name": "find_rooms", "arguments": "{\"from\": \"2026-05-03\", \"to\": \"2026-05-07\"}" } } ] },
  { "id": "m4", "role": "tool", "tool_call_id": "c1", "content": "{\"free\": [{\"room\": 12, \"price\": 140, \"view\": \"Lake Zurich\"}, {\"room\": 14, \"price\": 90, \"view\": \"garden\"}]}" },
  { "id": "m5", "role": "assistant", "content": null, "tool_calls": [
    { "id": "c2", "type": "function", "function": { "name": "book_room", "arguments": "{\"room\": 12, \"guest\": \"Ada Bell\", \"from\": \"2026-05-03\", \"to\": \"2026-05-07\"}" } } ] },
  { "id": "m6", "role": "tool", "tool_call_id": "c2", "content": "{\"booking\": \"B-7781\", \"ok\": true}" },
  { "id": "m7", "role": "assistant", "content": "It is done: room 12 is booked for Ada Bell, and the booking is B-7781. Would you like anything else today?" },
  { "id": "m8", "role": "user", "content": "Thank you so much, that is really very kind of you! She must not be called before 9:00, by the way." },
  { "id": "m9", "role": "assistant", "content": "I have written that down." },
  { "id": "m10", "role": "user", "content": "When does she come?" }
]"#;

#[track_caller]
fn compress(arguments: &str) -> String {
    ctx(&format!("compress {arguments}"), &[("t.json", TALK)])
}

#[test]
fn a_plan_says_what_becomes_of_each_message() {
    assert_snapshot!(compress("plan --session t.json --budget 120"), @"
    exit code 0
    === output
    compacted by `telegraphic`: 354 → 115 of 120 tokens, 10 → 3 messages
      keep     m1                      18 → 18   leading system messages
      write    note-8064b2e1b6eed4d2   0 → 82    replaces older messages
      digest   m2 +7                   321 → 0   older than the newest messages
      keep     m10                     15 → 15   current turn
    ");
    let chinese = compress("plan --session t.json --budget 120 --lang zh");
    assert!(chinese.contains("摘录") && !chinese.contains("生成摘要"), "{chinese}");
    assert_snapshot!(compress("plan --session t.json --budget 354"), @"
    exit code 0
    === output
    not needed (354 of 354 tokens, 10 messages)
    ");
}

#[test]
fn the_messages_are_what_fits() {
    assert_snapshot!(compress("run --session t.json --budget 120"), @"
    exit code 0
    === output
    [system]
    You keep the diary of a hotel.

    [system]
    U: Hello! Please book room 12 for Ms Ada Bell from 3 May to 7 May.
    R: room:12 price:140 view:Lake Zurich room:14 price:90 view:garden
    C book_room: room:12 guest:Ada Bell from:2026-05-03 to:2026-05-07
    R: booking:B-7781
    U: much kind of must not called before 9:00 by way.
    A: written down.

    [user]
    When does she come?
    ");
}

#[test]
fn what_cannot_fit_names_its_parts() {
    assert_snapshot!(compress("run --session t.json --budget 30"), @"
    exit code 5
    === errors
    error: protected messages need 33 tokens; the budget is 30: leading system messages 18, current turn 15; raise `--budget` to at least 33
    ");
}

#[test]
fn a_model_can_count() {
    let answer = compress("plan --session t.json --budget 150 --counter model --model gpt-4o");
    assert!(answer.starts_with("exit code 0\n=== output\ncompacted by `telegraphic`: "), "{answer}");
}

#[test]
fn options_of_summaries_need_summaries() {
    for option in [
        "--from 1",
        "--to 2",
        "--auto",
        "--roll-up",
        "--set x=y",
        "--summarizer cmd:zzz",
        "--summarizer-window 9",
    ] {
        let answer = compress(&format!("run --session t.json --budget 300 {option}"));
        let name = option.split(' ').next().unwrap();
        let expected = format!("`{name}` requires `--mask`");
        assert!(answer.starts_with("exit code 2") && answer.contains(&expected), "{answer}");
    }
}

#[test]
fn a_loop_begins_within_the_messages() {
    assert!(compress("run --session t.json --budget 300 --loop-start 10").starts_with("exit code 0"));
    assert_snapshot!(compress("run --session t.json --budget 300 --loop-start 11"), @"
    exit code 2
    === errors
    error: `--loop-start 11` is past the end of the context (10 messages)
    ");
}
