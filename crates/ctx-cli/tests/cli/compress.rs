//! `ctx compress`: conversations that fit into a number of tokens.

use insta::assert_snapshot;

use crate::assemble::json;
use crate::{Folder, ctx};

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
    assert_snapshot!(compress("plan --session t.json --budget 170 --strategy key-message"), @"
    exit code 0
    === output
    compacted by `key-message`: 354 → 148 of 170 tokens, 10 → 6 messages
      keep   m1      18 → 18   leading system messages
      keep   m2      26 → 26   one of the newest messages
      drop   m3 +3   206 → 0   no tokens left for its priority
      keep   m7 +2   89 → 89   one of the newest messages
      keep   m10     15 → 15   current turn
    ");
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
fn what_was_printed_can_be_compressed_again() {
    let folder = Folder::with(&[("t.json", TALK)]);
    let first = json(&folder.ctx("compress run --session t.json --budget 120 --json"));
    assert_eq!(first["report"]["outcome"]["kind"], "compacted");
    assert_eq!(first["report"]["droppedCount"], 8);
    folder.write("again.json", first["messages"].to_string().as_bytes());
    let again = json(&folder.ctx("compress run --session again.json --budget 80 --json"));
    let note = again["messages"][1]["content"].as_str().unwrap();
    assert_snapshot!(note, @"
    U: Hello! Please book room 12 for Ms Ada Bell from 3 May to 7 May.
    R: room:14
    C book_room: room:12 guest:Ada Bell from:2026-05-03 to:2026-05-07
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
fn broken_pairs_are_repaired_and_reported() {
    let broken = r#"[
      { "id": "a", "role": "user", "content": "Look it up." },
      { "id": "b", "role": "assistant", "content": null, "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{}" } } ] },
      { "id": "c", "role": "tool", "tool_call_id": "c9", "content": "lost" }
    ]"#;
    assert_snapshot!(ctx("compress run --session t.json --budget 500", &[("t.json", broken)]), @"
    exit code 0
    === output
    [user]
    Look it up.

    [assistant]
    c1 → look({})

    [tool]
    c1 ←
    [interrupted: this call has no result]
    === errors
    warning[CTX0801]: no earlier call has id `c9`; the result is removed
    --> t.json
     = help: restore the call, or delete the result

    warning[CTX0800]: call `c1` has no result; a placeholder result is added
    --> t.json
    ");
}

#[test]
fn a_loop_stays_whole_and_its_start_is_printed() {
    let result = json(&compress("run --session t.json --budget 300 --loop-start 6 --json"));
    let ids: Vec<&str> =
        result["messages"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
    let start = usize::try_from(result["loopStart"].as_u64().unwrap()).unwrap();
    assert_eq!(ids[start..], ["m7", "m8", "m9", "m10"]);
}

#[test]
fn a_model_can_count() {
    let answer = compress("plan --session t.json --budget 150 --counter model --model gpt-4o");
    assert!(answer.starts_with("exit code 0\n=== output\ncompacted by `telegraphic`: "), "{answer}");
    assert_snapshot!(compress("plan --session t.json --budget 150 --counter model"), @"
    exit code 2
    === errors
    error: `--counter model` requires a model; set one with `--model`
    ");
    assert_snapshot!(compress("run --session t.json --budget 30 --strategy telegrafic"), @"
    exit code 2
    === errors
    error: unknown strategy `telegrafic`; did you mean `telegraphic`?
    ");
}

#[test]
fn one_pinned_member_holds_its_group() {
    for member in ["m3", "m4"] {
        let mut talk: serde_json::Value = serde_json::from_str(TALK).unwrap();
        let all = talk.as_array_mut().unwrap();
        all.iter_mut().find(|message| message["id"] == member).unwrap()["pinned"] = true.into();
        let folder = Folder::with(&[("t.json", &talk.to_string())]);
        for strategy in ["telegraphic", "sentences", "key-message", "last-rounds"] {
            let command = format!("compress run --session t.json --budget 200 --strategy {strategy} --json");
            let result = json(&folder.ctx(&command));
            let messages = result["messages"].as_array().unwrap();
            let ids: Vec<&str> = messages.iter().filter_map(|message| message["id"].as_str()).collect();
            let call = ids.iter().position(|id| *id == "m3").unwrap();
            assert_eq!(ids.get(call + 1), Some(&"m4"), "{member} {strategy}: {ids:?}");
        }
    }
}

#[test]
fn without_a_user_the_newest_message_stays() {
    let word = "word ".repeat(200);
    let said = serde_json::json!([
        { "id": "a", "role": "assistant", "content": word },
        { "id": "b", "role": "assistant", "content": word },
    ]);
    let folder = Folder::with(&[("t.json", &said.to_string())]);
    let result = json(&folder.ctx("compress run --session t.json --budget 100 --json"));
    let messages = result["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["id"], "b");
    assert!(folder.ctx("compress run --session t.json --budget 5").starts_with("exit code 5"));
}

#[test]
fn what_must_stay_is_the_sum_of_its_parts() {
    let long = serde_json::json!([{ "id": "a", "role": "user", "content": "word ".repeat(200) }]);
    let answer = ctx("compress run --session t.json --budget 0", &[("t.json", &long.to_string())]);
    let (needed, part) = answer.split_once(" tokens; the budget is 0: current turn ").unwrap();
    let part = part.split(';').next().unwrap();
    assert_eq!(needed.rsplit(' ').next(), Some(part), "{answer}");
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
