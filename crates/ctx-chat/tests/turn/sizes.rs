//! Requests that are too large: noticed, made smaller, or refused with a reason.

use ctx_chat::{RequestCompression, TurnOutcome};
use ctx_compress::request::RequestConfig;

use crate::room::{Bench, Room, ending, with_bench};
use crate::server::{Answer, Server};

fn overflow() -> Answer {
    Answer::error(400, "context_length_exceeded", "this model's maximum context length is 2000 tokens")
}

/// A conversation of some length.
fn long(answers: impl IntoIterator<Item = Answer>) -> Room {
    let line = "The red umbrella stands in room 12 since the 3rd of May, said Lin to Robin. ".repeat(6);
    let texts: Vec<&str> = (0..30).map(|_| line.as_str()).collect();
    Room::new(answers).said(&texts)
}

#[test]
fn a_request_that_overflows_is_made_smaller_and_sent_again() {
    let mut room = long([overflow(), Answer::text("In room 12.")]);
    let before = room.stored();
    let end = room.turn("Where?", |_| ());
    assert_eq!(ending(&end), "answered");
    let [first, second] = &room.server.requests()[..] else { panic!() };
    assert!(second.body.len() * 2 < first.body.len() + 2_000, "{} {}", first.body.len(), second.body.len());
    assert_eq!(second.messages().last().unwrap().1, "Where?");
    assert!(end.learned_budget.is_some());
    assert_eq!(room.stored()[..30], before);
    room.check_requests();
}

#[test]
fn a_second_overflow_ends_the_turn() {
    let mut room = long([overflow(), overflow(), Answer::text("no")]);
    assert_eq!(ending(&room.turn("Where?", |_| ())), "LLM_CONTEXT_OVERFLOW");
    assert_eq!(room.server.requests().len(), 2);
}

#[test]
fn an_overflow_of_what_must_stay_ends_the_turn() {
    let mut room = Room::new([overflow(), Answer::text("no")]);
    assert_eq!(ending(&room.turn("Hello", |_| ())), "LLM_CONTEXT_OVERFLOW");
    assert_eq!(room.server.requests().len(), 1);
    assert_eq!(room.stored().len(), 2);
}

#[test]
fn without_a_compressor_an_overflow_is_an_error() {
    let mut room = long([overflow(), Answer::text("no")]);
    assert_eq!(ending(&room.turn("Where?", |chat| chat.compression = None)), "LLM_CONTEXT_OVERFLOW");
}

#[test]
fn what_was_learned_of_the_window_holds_for_the_rest_of_the_turn() {
    let calls = Answer::calls(&[("a", "echo", "{}")]);
    let mut room = long([overflow(), calls, Answer::text("Done.")]);
    let end = room.turn("Where?", |chat| with_bench(chat, &Bench));
    let usage = end.usage.unwrap();
    assert_eq!(Some(usage.total_budget), end.learned_budget);
}

#[test]
fn the_level_of_usage_is_a_warning_above_sixty_percent() {
    let line = "word ".repeat(200);
    let mut room = Room::new([Answer::text("a"), Answer::text("b")]).said(&[&line, "word"]);
    let budget = |tokens| {
        move |chat: &mut ctx_chat::Chat<'_>| {
            let config = RequestConfig { trigger_threshold: 1.0, ..RequestConfig::default() };
            chat.compression =
                Some(RequestCompression { token_budget: Some(tokens), config, strategy: None });
        }
    };
    let used = room.turn("Hello", budget(100_000)).usage.unwrap().used_tokens;
    assert!(room.told.contains(&"usage normal".to_owned()));
    room.told.clear();
    // A little more than three quarters of it.
    room.turn("Hello", budget(used * 4 / 3));
    assert!(room.told.contains(&"usage warning".to_owned()), "{:?}", room.told);
}

#[test]
fn a_loop_that_fills_the_budget_gives_up_history_first() {
    let line = "Robin counts the umbrellas of room 12 again, and there are seven of them. ".repeat(8);
    let arguments = format!(r#"{{"note":"{line}"}}"#);
    let answers = (0..4).map(|_| Answer::calls(&[("a", "echo", &arguments)])).chain([Answer::text("Seven.")]);
    let mut room = long(answers.collect::<Vec<_>>());
    let end = room.turn("Count", |chat| {
        with_bench(chat, &Bench);
        let compression = RequestCompression { token_budget: Some(5_000), ..RequestCompression::default() };
        chat.compression = Some(compression);
    });
    assert_eq!(ending(&end), "answered");
    let last = room.server.requests().last().unwrap().json();
    let results =
        last["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(results, 4, "what the loop added stays");
    assert!(end.usage.unwrap().usage_percent <= 0.8);
    room.check_requests();
}

#[test]
fn a_loop_that_is_too_large_by_itself_ends_with_a_reason() {
    let arguments = format!(r#"{{"x":"{}"}}"#, "word ".repeat(3_000));
    let server = Server::start(move |_| Answer::calls(&[("a", "echo", &arguments)]));
    let mut room = Room::with(server, &serde_json::json!({}));
    let end = room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        let compression = RequestCompression { token_budget: Some(1_000), ..RequestCompression::default() };
        chat.compression = Some(compression);
    });
    let TurnOutcome::Failed(failure) = &end.outcome else { panic!("{end:?}") };
    assert!(failure.to_string().starts_with("the request is too large: what must stay needs"), "{failure}");
    assert!(room.stored().last().unwrap().contains("CONTEXT_TOO_LARGE"));
}
