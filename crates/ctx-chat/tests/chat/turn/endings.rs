//! How turns end: answers, aborts, failures; nothing is lost and nothing is said twice.

use std::time::Duration;

use ctx_chat::Conversation;
use ctx_types::{GenerationKind, TurnInput};
use serde_json::json;

use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::server::{Answer, Step, delta, end, sse, word};

fn half() -> Answer {
    Answer::stream(vec![Step::Bytes(sse(&[word("Half an ")], false)), Step::Stall])
}

#[test]
fn an_abort_keeps_what_came_and_is_no_error() {
    let mut room = Room::new([half()]);
    room.cancel_at = Some("text");
    let end = room.turn("Hello", |_| ());
    assert_eq!((ending(&end).as_str(), end.text.as_str()), ("aborted", "Half an "));
    assert_eq!(room.stored(), ["user: Hello", "assistant: Half an "]);
    let path = room.conversation.session().path();
    assert_eq!(path[1].metadata.as_ref().unwrap().kept.get("finishReason"), Some(&json!("aborted")));
}

#[test]
fn an_abort_before_the_first_word_stores_no_answer() {
    let mut room = Room::new([half()]);
    room.cancel_at = Some("sending");
    assert_eq!(ending(&room.turn("Hello", |_| ())), "aborted");
    assert_eq!(room.stored(), ["user: Hello"]);
}

#[test]
fn an_abort_among_tools_leaves_a_result_for_every_call() {
    let calls = Answer::calls(&[("a", "echo", "{}"), ("b", "hang", "{}"), ("c", "hang", "{}")]);
    let mut room = Room::new([calls, Answer::text("Fine.")]);
    room.cancel_at = Some("finish echo");
    assert_eq!(ending(&room.turn("Go", |chat| with_bench(chat, &Bench))), "aborted");
    let cancelled = "error: canceled by the user; the outcome is unknown";
    let stored = room.stored();
    assert_eq!(
        stored[2..],
        ["tool(a): {}".to_owned(), format!("tool(b): {cancelled}"), format!("tool(c): {cancelled}")]
    );
    room.cancel = ctx_pipeline::Cancel::default();
    room.cancel_at = None;
    assert_eq!(ending(&room.turn("continue", |chat| with_bench(chat, &Bench))), "answered");
    room.check_requests();
}

#[test]
fn a_failure_keeps_what_came_before_it() {
    let mut room = Room::new([half(), Answer::text("Whole.")]);
    assert_eq!(ending(&room.turn("Hello", |_| ())), "LLM_TIMEOUT");
    let stored = room.stored();
    assert!(stored[1].starts_with("assistant: Half an\n\nLLM_ERROR\n- Code: LLM_TIMEOUT\n"), "{stored:?}");
    assert_eq!(room.conversation.session().path()[1].status.as_deref(), Some("error"));
    room.turn("continue", |_| ());
    room.check_requests();
}

#[test]
fn calls_that_were_cut_off_are_not_carried_out() {
    let call = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "echo", "arguments": "{\"x" } }] });
    let cut = Answer::stream(vec![Step::Bytes(sse(&[word("Let me "), delta(&call)], false)), Step::Close]);
    let mut room = Room::new([cut, Answer::text("Done.")]);
    assert_eq!(ending(&room.turn("Go", |chat| with_bench(chat, &Bench))), "LLM_DISCONNECTED");
    assert!(room.stored()[1].starts_with("assistant: Let me\n\nLLM_ERROR"), "{:?}", room.stored());
    room.turn("continue", |chat| with_bench(chat, &Bench));
    room.check_requests();
}

#[test]
fn a_model_that_says_nothing_has_failed() {
    let mut room = Room::new([Answer::events(&[end("stop")])]);
    assert_eq!(ending(&room.turn("Hello", |_| ())), "LLM_BLANK");
    assert_eq!(room.stored().len(), 2);
    let mut room = Room::new([Answer::events(&[end("content_filter")])]);
    assert_eq!(ending(&room.turn("Hello", |_| ())), "LLM_FILTERED");
}

#[test]
fn a_loop_comes_to_an_end() {
    let mut room = Room::new((0..9).map(|_| Answer::calls(&[("a", "echo", "{}")])));
    let end = room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        chat.max_rounds = 3;
    });
    assert_eq!((ending(&end).as_str(), end.rounds), ("TOO_MANY_ROUNDS", 3));
    assert_eq!((room.server.requests().len(), room.stored().len()), (3, 1 + 3 * 2 + 1));
}

#[test]
fn the_model_is_asked_once_even_where_no_round_is_allowed() {
    let mut room = Room::new([Answer::text("Hi")]);
    assert_eq!(ending(&room.turn("Hello", |chat| chat.max_rounds = 0)), "answered");
}

#[test]
fn an_answer_can_be_continued_in_place() {
    let mut room = Room::new([Answer::text("an answer.")]).said(&["Hello", "This is "]);
    let turn = TurnInput::default().with(|turn| turn.kind = GenerationKind::Continue);
    let request = ctx_chat::TurnRequest { turn, ..Default::default() };
    let end = room.request(request, |_| ()).unwrap();
    assert_eq!(ending(&end), "answered");
    assert_eq!(room.stored(), ["user: Hello", "assistant: This is an answer."]);
    assert_eq!(room.server.requests()[0].messages().last().unwrap().1, "This is ");
}

#[test]
fn a_continuation_that_fails_keeps_what_came() {
    let mut room = Room::new([half()]).said(&["Hello", "This is "]);
    let turn = TurnInput::default().with(|turn| turn.kind = GenerationKind::Continue);
    room.request(ctx_chat::TurnRequest { turn, ..Default::default() }, |_| ()).unwrap();
    let stored = room.stored();
    assert_eq!(stored[1], "assistant: This is Half an ");
    assert!(stored[2].starts_with("assistant: LLM_ERROR"), "{stored:?}");
}

#[test]
fn without_an_input_what_is_pending_is_answered() {
    let mut room = Room::new([Answer::text("Hi")]).said(&["Hello"]);
    room.turn("", |_| ());
    assert_eq!(room.stored(), ["user: Hello", "assistant: Hi"]);
}

#[test]
fn what_the_user_might_say_is_not_stored() {
    let mut room = Room::new([Answer::text("I might ask.")]).said(&["Hello", "Hi"]);
    let turn = TurnInput::default().with(|turn| turn.kind = GenerationKind::Impersonate);
    let end = room.request(ctx_chat::TurnRequest { turn, ..Default::default() }, |_| ()).unwrap();
    assert_eq!(end.text.as_str(), "I might ask.");
    assert_eq!(room.stored(), ["user: Hello", "assistant: Hi"]);
}

#[test]
fn a_context_that_cannot_be_made_is_told_in_the_conversation() {
    let mut room = Room::new([Answer::text("Hi")]);
    let mut request = Room::says(&"word ".repeat(500));
    request.turn.context_tokens = Some(300);
    let end = room.request(request, |_| ()).unwrap();
    assert_eq!(ending(&end), "CONTEXT_TOO_LARGE");
    assert!(room.stored()[1].contains("LLM_ERROR"));
    assert!(room.server.requests().is_empty());
}

#[test]
fn an_answer_that_the_store_cannot_take_is_handed_back() {
    let text = "word ".repeat(40_000);
    let mut room = Room::new([Answer::text(&text)]);
    let pages = tokio::runtime::Builder::new_current_thread().build().unwrap();
    pages.block_on(room.store.limit_pages(16)).unwrap();
    let error = room.request(Room::says("Hello"), |_| ()).unwrap_err();
    assert!(matches!(error.source, ctx_chat::StoreError::Unwritable(_)), "{error}");
    assert_eq!(error.unstored.as_str(), text);
    assert_eq!(room.stored(), ["user: Hello"]);
}

#[test]
fn whoever_cancels_waits_for_no_store_that_another_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut room = Room::new([Answer::text("no")]);
    room.store = ctx_chat::SqliteStore::open_with_patience(&path, Duration::MAX).unwrap();
    room.conversation = block_on(Conversation::create(&room.store, "c", None)).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    room.cancel.cancel();
    // The store has a day: without giving up, this would take as long.
    let error = room.request(Room::says("Hello"), |_| ()).unwrap_err();
    assert!(matches!(error.source, ctx_chat::StoreError::GivenUp), "{error}");
    assert_eq!(error.unstored.as_str(), "Hello");
    other.execute_batch("ROLLBACK").unwrap();
    room.conversation = block_on(Conversation::load(&room.store, "c")).unwrap();
    assert_eq!(room.stored(), [""; 0]);
}
