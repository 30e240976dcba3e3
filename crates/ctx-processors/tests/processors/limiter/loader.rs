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
    check_window(tokens, Case::of(chat), expected);
}

#[test]
fn the_window_ends_where_the_budget_is_certainly_full() {
    check_chat(20, "u a u a u a u", (4, "u4 a5 u6"));
    check_chat(29, "u a u a u a u", (4, "u4 a5 u6"));
    check_chat(30, "u a u a u a u", (3, "a3 u4 a5 u6"));
}

#[test]
fn everything_is_loaded_if_it_fits_whatever_its_tokens() {
    check_chat(126, "u a u a u a u", (0, "u0 a1 u2 a3 u4 a5 u6"));
    check_chat(70, "u a u a u a u", (0, "u0 a1 u2 a3 u4 a5 u6"));
}

#[test]
fn the_window_begins_at_the_border_of_a_group() {
    check_chat(15, "u a u c:x t:x a u", (5, "a5 u6"));
    check_chat(25, "u a u c:x t:x a u", (3, ":x t4:x a5 u6"));
    check_chat(25, "u a u c:x,y t:x t:y a u", (3, ":x,y t4:x t5:y a6 u7"));
}

#[test]
fn results_without_calls_are_no_border() {
    check_chat(15, "u a u a t:x t:y u", (3, "a3 t4:x t5:y u6"));
    check_chat(5, "t:x t:y u", (0, "t0:x t1:y u2"));
}

#[test]
fn the_whole_pending_turn_is_loaded() {
    check_chat(5, "u a u c:x t:x c:y t:y", (1, "a1 u2 :x t4:x :y t6:y"));
    check_chat(5, "u a u u u", (1, "a1 u2 u3 u4"));
}

#[test]
fn a_tool_loop_longer_than_the_window_is_loaded_from_its_question() {
    let rounds = "c:x t:x ".repeat(500);
    let chat: &'static str = Box::leak(format!("u a u a u {rounds}").into_boxed_str());
    let run = Case { window: Some(100), ..Case::of(chat) }.run().unwrap();
    assert_eq!((skipped(&run), run.draft.messages().len()), (3, 1_002));
    assert_eq!(words(&run).split(' ').take(3).collect::<Vec<_>>(), ["a3", "u4", ":x"]);
}

#[test]
fn a_tool_loop_without_a_question_is_loaded_whole() {
    check_chat(5, "c:x t:x c:y t:y", (0, ":x t1:x :y t3:y"));
}

#[test]
fn the_input_is_the_pending_turn_with_the_user_messages_before_it() {
    let input = |chat| Case { input: Some("now"), ..Case::of(chat) };
    check_window(5, input("u a u a"), (3, "a3 now"));
    check_window(5, input("u a u u"), (1, "a1 u2 u3 now"));
    check_window(5, input("u a u c:x t:x"), (3, ":x t4:x now"));
}

#[test]
fn the_question_of_an_unfinished_answer_is_pending() {
    check_chat(5, "u a u p=50", (1, "a1 u2 >p3"));
    let continues = |chat| Case { kind: GenerationKind::Continue, ..Case::of(chat) };
    check_window(5, continues("u a u a=50"), (1, "a1 u2 >a3"));
    check_window(5, continues("u a u c:x t:x a=50"), (1, "a1 u2 :x t4:x >a5"));
}

#[test]
fn what_the_turn_goes_on_with_stands_behind_the_conversation() {
    let last = |chat| Case {
        kind: GenerationKind::Continue,
        loader: json!({ "continuation": "last" }),
        preset: depths(&["0", "1"]),
        ..Case::of(chat)
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
fn a_quiet_instruction_stands_behind_the_conversation() {
    let quiet = |setting: &str| Case {
        kind: GenerationKind::Quiet,
        loader: json!({ "quietInput": setting }),
        preset: depths(&["0", "1"]),
        input: Some("now"),
        ..Case::of("u a")
    };
    check(quiet("instruction"), "u0 B a1 A now");
    check(quiet("message"), "u0 a1 B now A");
}

#[test]
fn a_second_answer_is_the_beginning_of_one_without_a_question() {
    check_chat(5, "u a u a p", (3, "a3 >p4"));
}

#[test]
fn only_the_last_message_can_be_unfinished() {
    check_chat(5, "u a p u", (2, "p2 u3"));
    check_chat(5, "u p u a", (3, "a3"));
}

#[test]
fn a_summary_is_neither_question_nor_answer() {
    check_chat(15, "u a u S:0 u", (2, "S3 u4"));
    check_chat(5, "u a u u S:0,1", (0, "u2 u3 S4"));
}

#[test]
fn leading_instructions_are_loaded_with_any_window() {
    check_chat(5, "s s u a u", (1, "s0 s1 a3 u4"));
    check_chat(25, "s s u a u", (0, "s0 s1 u2 a3 u4"));
    check_chat(5, "s s", (0, "s0 s1"));
}

#[test]
fn later_instructions_are_conversation() {
    check_chat(5, "s u s u", (1, "s0 s2 u3"));
}

#[test]
fn what_is_left_out_does_not_count() {
    check_chat(25, "u a d=90 b u", (0, "u0 a1 u4"));
    check_chat(15, "u a d=90 b u", (1, "a1 u4"));
    check_chat(15, "u=90 a S:0 u", (1, "S2 u3"));
}

#[test]
fn what_is_left_out_is_decided_whatever_the_window() {
    let expected = ["hidden history:1: disabled (10 bytes)", "dropped history:2: blank (0 bytes)"];
    check_decisions(Case { window: Some(5), ..Case::of("u d b u a u") }, &expected);
    check_decisions(Case::of("u d b u a u"), &expected);
}

#[test]
fn without_a_size_everything_is_loaded() {
    check(Case::of("u a u a u"), "u0 a1 u2 a3 u4");
}

#[test]
fn an_empty_conversation_is_no_mistake() {
    check_chat(5, "", (0, ""));
    check_window(5, Case { input: Some("hello"), ..Case::default() }, (0, "hello"));
}

#[test]
fn calls_count_as_tokens() {
    // A call has 4 tokens: its id, its name, its arguments.
    check_chat(23, "u a u c:x t:x a u", (3, ":x t4:x a5 u6"));
    check_chat(36, "u a u c:x t:x a u", (2, "u2 :x t4:x a5 u6"));
}

#[test]
fn a_text_without_a_break_counts_as_it_is() {
    check_chat(1_000_000, "u=900000 a=900000 u=900000", (1, "a1 u2"));
    assert_eq!(session("u=900000").sent_bytes(1), 900_000);
}
