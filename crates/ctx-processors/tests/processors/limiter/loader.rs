use ctx_types::{GenerationKind, Place};
use serde_json::json;

use crate::limiter::case::{Case, check, check_decisions, depths, session, skipped, words};

#[track_caller]
fn check_window(tokens: u64, case: Case, expected: (usize, &str)) {
    let run = Case { window: Some(tokens), ..case }.run().unwrap();
    assert_eq!((skipped(&run), words(&run).as_str()), expected);
}

/// Each message has 10 tokens.
#[track_caller]
fn check_chat(tokens: u64, chat: &'static str, expected: (usize, &str)) {
    check_window(tokens, Case::new(chat), expected);
}

#[test]
fn stops_loading_when_budget_is_full() {
    check_chat(20, "u a u a u a u", (4, "u4 a5 u6"));
    check_chat(29, "u a u a u a u", (4, "u4 a5 u6"));
    check_chat(30, "u a u a u a u", (3, "a3 u4 a5 u6"));
}

#[test]
fn starts_loaded_messages_at_group_border() {
    check_chat(15, "u a u c:x t:x a u", (5, "a5 u6"));
    check_chat(25, "u a u c:x t:x a u", (3, ":x t4:x a5 u6"));
    check_chat(25, "u a u c:x,y t:x t:y a u", (3, ":x,y t4:x t5:y a6 u7"));
}

#[test]
fn does_not_start_at_result_without_call() {
    check_chat(15, "u a u a t:x t:y u", (3, "a3 t4:x t5:y u6"));
    check_chat(5, "t:x t:y u", (0, "t0:x t1:y u2"));
}

#[test]
fn loads_complete_pending_turn() {
    check_chat(5, "u a u c:x t:x c:y t:y", (1, "a1 u2 :x t4:x :y t6:y"));
    check_chat(5, "u a u u u", (1, "a1 u2 u3 u4"));
}

#[test]
fn loads_long_tool_loop_from_its_question() {
    let rounds = "c:x t:x ".repeat(500);
    let chat: &'static str = Box::leak(format!("u a u a u {rounds}").into_boxed_str());
    let run = Case { window: Some(100), ..Case::new(chat) }.run().unwrap();
    assert_eq!((skipped(&run), run.draft.messages().len()), (3, 1_002));
    assert_eq!(words(&run).split(' ').take(3).collect::<Vec<_>>(), ["a3", "u4", ":x"]);
}

#[test]
fn loads_complete_tool_loop_without_question() {
    check_chat(5, "c:x t:x c:y t:y", (0, ":x t1:x :y t3:y"));
}

#[test]
fn loads_user_messages_before_input() {
    let input = |chat| Case { input: Some("now"), ..Case::new(chat) };
    check_window(5, input("u a u a"), (3, "a3 now"));
    check_window(5, input("u a u u"), (1, "a1 u2 u3 now"));
    check_window(5, input("u a u c:x t:x"), (3, ":x t4:x now"));
}

#[test]
fn loads_question_of_unfinished_reply() {
    check_chat(5, "u a u p=50", (1, "a1 u2 >p3"));
    let continues = |chat| Case { kind: GenerationKind::Continue, ..Case::new(chat) };
    check_window(5, continues("u a u a=50"), (1, "a1 u2 >a3"));
    check_window(5, continues("u a u c:x t:x a=50"), (1, "a1 u2 :x t4:x >a5"));
}

#[test]
fn places_continued_message_after_conversation() {
    let last = |chat| Case {
        kind: GenerationKind::Continue,
        loader: json!({ "continuation": "last" }),
        preset: depths(&["0", "1"]),
        ..Case::new(chat)
    };
    check(last("u a u"), "u0 B a1 A u2");
    check(last("u a u s"), "u0 a1 B u2 A s3");
    check(last("u a u a"), "u0 a1 B u2 A >a3");
    check(last("u a c:x t:x"), "u0 a1 B :x t3:x A");
    let mine = last("u a u").run().unwrap();
    let place = mine.draft.messages().last().unwrap().place;
    assert_eq!(place, Place::Skeleton);
}

#[test]
fn places_quiet_instruction_after_conversation() {
    let quiet = |setting: &str| Case {
        kind: GenerationKind::Quiet,
        loader: json!({ "quietInput": setting }),
        preset: depths(&["0", "1"]),
        input: Some("now"),
        ..Case::new("u a")
    };
    check(quiet("instruction"), "u0 B a1 A now");
    check(quiet("message"), "u0 a1 B now A");
}

#[test]
fn loads_no_question_for_second_reply() {
    check_chat(5, "u a u a p", (3, "a3 >p4"));
}

#[test]
fn treats_only_last_message_as_unfinished() {
    check_chat(5, "u a p u", (2, "p2 u3"));
    check_chat(5, "u p u a", (3, "a3"));
}

#[test]
fn treats_summary_as_neither_question_nor_reply() {
    check_chat(15, "u a u S:0 u", (2, "S3 u4"));
    check_chat(5, "u a u u S:0,1", (0, "u2 u3 S4"));
}

#[test]
fn loads_leading_system_messages_at_any_size() {
    check_chat(5, "s s u a u", (1, "s0 s1 a3 u4"));
    check_chat(25, "s s u a u", (0, "s0 s1 u2 a3 u4"));
    check_chat(5, "s s", (0, "s0 s1"));
}

#[test]
fn ignores_disabled_blank_and_hidden_messages() {
    check_chat(25, "u a d=90 b u", (0, "u0 a1 u4"));
    check_chat(15, "u a d=90 b u", (1, "a1 u4"));
    check_chat(15, "u=90 a S:0 u", (1, "S2 u3"));
}

#[test]
fn records_disabled_and_blank_messages_at_any_size() {
    let expected = ["hidden history:1: disabled (10 bytes)", "dropped history:2: blank (0 bytes)"];
    check_decisions(Case { window: Some(5), ..Case::new("u d b u a u") }, &expected);
    check_decisions(Case::new("u d b u a u"), &expected);
}

#[test]
fn accepts_empty_conversation() {
    check_chat(5, "", (0, ""));
    check_window(5, Case { input: Some("hello"), ..Case::default() }, (0, "hello"));
}

#[test]
fn counts_tokens_of_calls() {
    // A call has 4 tokens: its id, its name, its arguments.
    check_chat(23, "u a u c:x t:x a u", (3, ":x t4:x a5 u6"));
    check_chat(36, "u a u c:x t:x a u", (2, "u2 :x t4:x a5 u6"));
}

#[test]
fn counts_bytes_of_text_without_breaks() {
    check_chat(1_000_000, "u=900000 a=900000 u=900000", (1, "a1 u2"));
    assert_eq!(session("u=900000").sent_bytes(1), 900_000);
}
