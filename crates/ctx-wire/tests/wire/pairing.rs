//! Which tool calls and results belong together.

use ctx_types::{Message, Role, Source, ToolCall};
use ctx_wire::pairing;

/// Checks a conversation written as `call a b | result a | user`, where `_` is an empty id.
#[track_caller]
fn check(conversation: &str, findings: &[&str]) {
    let messages: Vec<Message> = conversation.split('|').map(read).collect();
    let found: Vec<String> = pairing::check(&messages).iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

fn read(line: &str) -> Message {
    let mut words = line.split_whitespace();
    let word = words.next().unwrap();
    let ids: Vec<&str> = words.map(|id| if id == "_" { "" } else { id }).collect();
    let role = match word {
        "call" => Role::Assistant,
        "result" => Role::Tool,
        role => Role::parse(role).unwrap(),
    };
    let mut message = Message::new(role, "text", Source::history("n", role));
    if role == Role::Tool {
        message.tool_call_id = ids.first().map(|&id| id.into());
    } else {
        let call = |&id: &&str| ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
        message.tool_calls = ids.iter().map(call).collect();
    }
    message
}

#[test]
fn results_directly_behind_their_calls_are_fine_in_any_order() {
    check("user | call a b | result b | result a | assistant | user | call c | result c", &[]);
}

#[test]
fn a_call_without_a_result_is_an_error() {
    check(
        "call a b | result b",
        &["error[CTX0522]: call `a` has no result (at /messages/0/tool_calls/0/id)"],
    );
}

#[test]
fn a_result_without_a_call_is_an_error() {
    check("user | result a", &["error[CTX0521]: no earlier call has id `a` (at /messages/1/tool_call_id)"]);
}

#[test]
fn a_call_after_its_result_does_not_count() {
    check(
        "result a | call a",
        &[
            "error[CTX0521]: no earlier call has id `a` (at /messages/0/tool_call_id)",
            "error[CTX0522]: call `a` has no result (at /messages/1/tool_calls/0/id)",
        ],
    );
}

#[test]
fn calls_of_a_user_are_no_calls() {
    check("user a | result a", &["error[CTX0521]: no earlier call has id `a` (at /messages/1/tool_call_id)"]);
}

#[test]
fn a_message_between_call_and_result_is_an_error() {
    for between in ["user", "system", "assistant"] {
        check(
            &format!("call a | {between} | result a"),
            &[
                "error[CTX0525]: the result of call `a` must follow the call directly (at /messages/2/tool_call_id)",
            ],
        );
    }
}

#[test]
fn a_second_result_is_an_error() {
    check(
        "call a | result a | result a",
        &["error[CTX0524]: call `a` already has a result (at /messages/2/tool_call_id)"],
    );
}

#[test]
fn an_id_twice_in_one_message_is_an_error() {
    check(
        "call a a | result a",
        &["error[CTX0523]: duplicate call id `a` in one message (at /messages/0/tool_calls/1/id)"],
    );
}

#[test]
fn an_id_used_again_later_is_a_warning_and_pairs_with_the_nearest_call() {
    check(
        "call a | result a | call a | result a",
        &[
            "warning[CTX0523]: duplicate call id `a`, also in an earlier message (at /messages/2/tool_calls/0/id)",
        ],
    );
}

#[test]
fn empty_ids_pair_with_nothing() {
    check(
        "call _ | result _ | result",
        &[
            "error[CTX0520]: the tool call has no id (at /messages/0/tool_calls/0)",
            "error[CTX0520]: the tool result has no call id (at /messages/1)",
            "error[CTX0520]: the tool result has no call id (at /messages/2)",
        ],
    );
}

#[test]
fn findings_are_in_the_order_of_the_messages() {
    check(
        "call a | user | result b",
        &[
            "error[CTX0522]: call `a` has no result (at /messages/0/tool_calls/0/id)",
            "error[CTX0521]: no earlier call has id `b` (at /messages/2/tool_call_id)",
        ],
    );
}
