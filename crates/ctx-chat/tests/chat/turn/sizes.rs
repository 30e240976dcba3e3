//! Requests that are too large: noticed, made smaller, or refused with a reason.

use std::time::Duration;

use ctx_chat::{
    Chat, ChatLog, Conversation, ConversationStore as _, LearnedLimits, RequestCompression, TurnEvent,
    TurnOutcome, run_turn,
};
use ctx_compress::request::RequestConfig;
use serde_json::json;

use crate::room::{Bench, Room, block_on, ending, with_bench};
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

/// How large the request was that was sent last, in bytes.
fn last_size(room: &Room) -> usize {
    room.server.requests().last().unwrap().body.len()
}

#[test]
fn the_window_that_a_provider_names_is_what_a_request_is_brought_under() {
    let words = [
        "This model's maximum context length is 3000 tokens. However, your messages resulted in 4100 tokens.",
        "prompt is too long: 4100 tokens > 3000 maximum",
        "The input token count (4100) exceeds the maximum number of tokens allowed (3000).",
    ];
    for words in words {
        let refusal = Answer::error(400, "invalid_request_error", words);
        let mut room = long([refusal, Answer::text("In room 12.")]);
        let end = room.turn("Where?", |_| ());
        assert_eq!(ending(&end), "answered", "{words}");
        let usage = end.usage.unwrap();
        let learned = end.learned_budget.unwrap();
        assert!((1_500..2_700).contains(&learned), "{words}: {learned}");
        assert!(usage.used_tokens <= learned, "{words}");
    }
}

#[test]
fn what_was_learned_of_the_window_holds_for_the_next_turn() {
    let refusal = Answer::error(400, "x", "maximum context length is 3000 tokens");
    let mut room = long([refusal, Answer::text("In room 12."), Answer::text("Yes.")]);
    let learned = room.turn("Where?", |_| ()).learned_budget.unwrap();
    let kept = block_on(room.store.limits()).unwrap();
    assert_eq!(
        kept.iter().map(|limit| (limit.model.as_str(), limit.tokens)).collect::<Vec<_>>(),
        [("test-model@127.0.0.1", learned)]
    );
    let limits: &'static LearnedLimits =
        Box::leak(Box::new(block_on(LearnedLimits::load(&room.store, 1_000)).unwrap()));
    let second = room.turn("Really?", |chat| chat.limits = Some(limits));
    assert_eq!((ending(&second).as_str(), second.learned_budget), ("answered", None));
    assert_eq!(second.usage.unwrap().total_budget, learned);
    assert_eq!(room.server.requests().len(), 3, "the third request was small enough at once");
    assert!(last_size(&room) < room.server.requests()[0].body.len() * 3 / 4);
}

#[test]
fn no_answer_waits_for_a_store_that_another_holds_to_keep_what_was_learned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut room = long([overflow(), Answer::text("In room 12.")]);
    let session = room.conversation.session().clone();
    room.store = ctx_chat::SqliteStore::open_with_patience(&path, Duration::MAX).unwrap();
    room.conversation = block_on(Conversation::import(&room.store, "c", session, None)).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let mut watch = move |event: TurnEvent| match event {
        TurnEvent::Overflowed => other.execute_batch("BEGIN IMMEDIATE").unwrap(),
        TurnEvent::Replied { .. } => other.execute_batch("ROLLBACK").unwrap(),
        _ => {}
    };
    let chat = Chat::new(&room.agent, &room.client);
    let log = ChatLog { store: &room.store, conversation: &mut room.conversation, memory: None, lease: None };
    // The store has a day: without giving up, this would take as long.
    let end = block_on(run_turn(&chat, Some(log), Room::says("Where?"), &mut watch, &room.cancel)).unwrap();
    assert_eq!((ending(&end).as_str(), end.text.as_str()), ("answered", "In room 12."));
    assert_eq!(room.stored().last().unwrap(), "assistant: In room 12.");
    assert!(block_on(room.store.limits()).unwrap().is_empty());
}

#[test]
fn what_was_learned_long_ago_counts_no_more() {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let store = ctx_chat::SqliteStore::in_memory().unwrap();
    let limit = ctx_chat::LearnedLimit { model: "m@h".to_owned(), tokens: 900, at_millis: 5 };
    block_on(store.learn(limit)).unwrap();
    let known = |now| block_on(LearnedLimits::load(&store, now)).unwrap().of("m@h");
    assert_eq!([known(5), known(4 + DAY), known(5 + DAY)], [Some(900), Some(900), None]);
}

#[test]
fn what_a_wrong_clock_or_a_damaged_store_says_counts_not() {
    let store = ctx_chat::SqliteStore::in_memory().unwrap();
    let limits = [("ahead@h", 900, i64::MAX), ("none@h", 0, 5), ("tiny@h", 200, 5), ("fine@h", 900, 5)];
    for (model, tokens, at_millis) in limits {
        block_on(store.learn(ctx_chat::LearnedLimit { model: model.to_owned(), tokens, at_millis })).unwrap();
    }
    let known = block_on(LearnedLimits::load(&store, 5)).unwrap();
    assert_eq!(limits.map(|(model, ..)| known.of(model)), [None, None, None, Some(900)]);
}

#[test]
fn a_refusal_that_nothing_confirms_teaches_nothing() {
    // Nothing can be made smaller here; and there a smaller request is refused as well.
    for mut room in [Room::new([overflow()]), long([overflow(), overflow()])] {
        let limits: &'static LearnedLimits = Box::leak(Box::default());
        let end = room.turn("Hello", |chat| chat.limits = Some(limits));
        assert_eq!(ending(&end), "LLM_CONTEXT_OVERFLOW");
        // A retry is announced only if there is one.
        let retries = room.told.iter().filter(|told| *told == "overflowed").count();
        assert_eq!(retries, room.server.requests().len() - 1);
        assert_eq!(block_on(room.store.limits()).unwrap(), []);
        assert_eq!(limits.of("test-model@127.0.0.1"), None);
    }
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
    assert!(
        failure.to_string().starts_with("the request is too large: protected messages need"),
        "{failure}"
    );
    assert!(room.stored().last().unwrap().contains("CONTEXT_TOO_LARGE"));
}

#[test]
fn answers_after_more_tool_rounds_than_fit() {
    let calls = |at: usize| {
        Answer::calls(&[(
            &format!("c{at}"),
            "echo",
            &format!(r#"{{"note":"step {at} took {at} s, warning W{at}"}}"#),
        )])
    };
    let answers: Vec<Answer> = (0..18).map(calls).chain([Answer::text("Done.")]).collect();
    let mut room = Room::new(answers);
    let end = room.turn("Find out why the build fails", |chat| {
        with_bench(chat, &Bench);
        let compression = RequestCompression { token_budget: Some(400), ..RequestCompression::default() };
        chat.compression = Some(compression);
    });
    assert_eq!(ending(&end), "answered");
    let usage = end.usage.unwrap();
    assert!(usage.used_tokens <= 400, "{usage:?}");
    let last = room.server.requests().last().unwrap().json().to_string();
    let has = |text: &str| last.contains(text);
    assert!(
        has("Find out why the build fails") && has(r#""c16""#) && has(r#""c17""#) && !has(r#""c1""#),
        "{last}"
    );
    room.check_requests();
}

fn long_with(prefix: &str, answers: impl IntoIterator<Item = Answer>) -> Room {
    let agent = json!({ "prefix": prefix, "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ] });
    let line = "The red umbrella stands in room 12 since the 3rd of May, said Lin to Robin. ".repeat(6);
    Room::with(Server::script(answers), &agent).said(&[line.as_str(); 30])
}

#[test]
fn compresses_append_only_request_above_budget() {
    let turn = |prefix: &str, tokens: u64| {
        let mut room = long_with(prefix, [Answer::text("In room 12.")]);
        let end = room.turn("Where?", |chat| {
            let token_budget = Some(tokens);
            chat.compression = Some(RequestCompression { token_budget, ..RequestCompression::default() });
        });
        (end.usage.unwrap().used_tokens, room.told.iter().any(|told| told.starts_with("compressed")))
    };
    let (used, _) = turn("moving", 1_000_000);
    let is_compressed = |prefix: &str| turn(prefix, used * 21 / 20).1;
    assert!(is_compressed("moving"));
    assert!(!is_compressed("append-only"));
}

#[test]
fn does_not_repeat_compressed_request() {
    let answers = [overflow(), Answer::text("In room 12."), Answer::text("Yes.")];
    let mut room = long_with("append-only", answers);
    room.turn("Where?", |_| ());
    let report = room.turn("Really?", |_| ()).report.unwrap();
    let planned = report.prefix.unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "the previous request was compressed");
}
