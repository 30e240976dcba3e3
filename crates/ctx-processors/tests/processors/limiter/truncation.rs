use serde_json::{Value, json};

use crate::limiter::case::{Case, check, check_decisions, limited};

fn keeping(characters: u32, marker: &str) -> Value {
    json!({ "retainedCharacters": characters, "truncationMarker": marker })
}

/// Each message has 10 tokens.
#[track_caller]
fn check_chat(budget: u32, characters: u32, chat: &'static str, expected: &str) {
    check(Case { budget: Some(budget), config: keeping(characters, "#"), ..Case::new(chat) }, expected);
}

#[test]
fn drops_prefix_that_does_not_fit() {
    check_chat(24, 4, "u a u a u", "a3 u4");
}

#[test]
fn counts_extra_tokens_of_truncated_message() {
    let mut config = keeping(4, "#");
    config["extraTokensPerMessage"] = json!(1);
    let case = Case { config, ..Case::new("u a u a u") };
    check(Case { budget: Some(28), ..case.clone() }, "u2..# a3 u4");
    check(Case { budget: Some(27), ..case }, "a3 u4");
}

#[test]
fn drops_message_not_longer_than_prefix() {
    check_chat(29, 10, "u a u a u", "a3 u4");
    check_chat(29, 4_000_000, "u a u a u", "a3 u4");
}

#[test]
fn drops_messages_older_than_truncated_message() {
    check_chat(29, 1, "u=1 a u a u", "u# a3 u4");
}

#[test]
fn does_not_truncate_calls_and_results() {
    check_chat(29, 4, "u a c:x t:x a u", "a4 u5");
    check_chat(23, 4, "u a c:x a u", "a3 u4");
}

#[test]
fn does_not_truncate_pending_turn() {
    check_chat(20, 4, "u u=5 a=5 u u=8 s=2", "u3 u4 s5");
}

#[test]
fn counts_unloaded_messages_as_dropped() {
    let case = Case { window: Some(25), budget: Some(29), config: keeping(4, "#"), ..Case::new("u a u a u") };
    check(case.clone(), "u2..# a3 u4");
    assert_eq!(limited(&case.run().unwrap()).dropped, 1);
    check_decisions(
        case,
        &[
            "cut history:2: truncated to the first 4 characters (6 bytes)",
            "dropped history:0 and 1 more: does not fit the budget of 29 tokens (20 bytes, at most 20 tokens)",
        ],
    );
}
