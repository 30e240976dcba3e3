//! Cases with `aimock`, whose answers stand in `aimock.json` and which takes requests with the right key only.

use std::sync::Arc;
use std::time::Duration;

use ctx_chat::{
    ApiKey, Chat, ChatLog, Client, Conversation, Endpoint, Masks, ModelSummarizer, RequestShape, RetryPolicy,
    SqliteStore, TimeLimits, preview_turn, run_turn,
};
use ctx_compress::mask::{MaskConfig, TriggerMode};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::foreign::{Foreign, KEY};
use crate::relay::Relay;
use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::{Case, cases, check_bodies, long};

pub(crate) const CASES: &[Case] = cases![
    a_tool_round_with_parallel_calls_comes_in_pieces,
    too_many_requests_without_a_wait_are_tried_again,
    a_wait_that_is_too_long_ends_the_turn,
    a_broken_server_is_asked_again,
    a_connection_that_breaks_before_a_word_is_tried_again,
    a_body_that_is_no_answer_is_tried_again,
    a_stall_before_the_first_word_is_tried_again,
    an_answer_that_breaks_off_is_kept_and_gone_on_from,
    an_overflow_is_compressed_and_sent_once_more,
    a_summary_that_fails_leaves_the_rest_as_it_is,
    what_a_dry_run_shows_is_what_arrives,
    the_second_turn_begins_like_the_first,
    the_key_goes_to_the_server_and_nowhere_else,
];

/// A place at the server that no other case sees.
struct Desk<'a> {
    server: &'a Foreign,
    dialect: Dialect,
    id: String,
}

impl Desk<'_> {
    /// What arrived here, oldest first, as the journal has it.
    fn journal(&self) -> Vec<Value> {
        let entries = self.server.get(&format!("/__aimock/journal?testId={}", self.id));
        entries.as_array().unwrap().clone()
    }

    /// The bodies that arrived; the server writes all dialects down as chat completions, and a mark of its own.
    fn bodies(&self) -> Vec<Value> {
        let body = |entry: &Value| {
            let mut body = entry["body"].clone();
            body.as_object_mut().unwrap().shift_remove("_endpointType");
            body
        };
        self.journal().iter().map(body).collect()
    }

    fn endpoint(&self) -> Endpoint {
        let headers = vec![("x-test-id".to_owned(), self.id.clone().into())];
        Endpoint { headers, ..crate::endpoint(self.dialect, self.server.url("/v1")) }
    }
}

fn agent() -> Value {
    json!({ "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ] })
}

/// A room with this server, and an endpoint changed by the case.
fn room<'a>(
    server: &'a Foreign,
    dialect: Dialect,
    id: &str,
    change: impl FnOnce(&mut Endpoint),
) -> Room<Desk<'a>> {
    let desk = Desk { server, dialect, id: format!("{id}-{dialect}") };
    let mut endpoint = desk.endpoint();
    change(&mut endpoint);
    Room::at(desk, endpoint, &agent())
}

impl Room<Desk<'_>> {
    /// Checks that the server was asked so often, and that it was asked well.
    #[track_caller]
    fn check_asked(&self, times: usize) {
        let bodies = self.server.bodies();
        assert_eq!(bodies.len(), times, "{bodies:?}");
        check_bodies(&bodies, Dialect::OpenaiChat);
    }
}

fn a_tool_round_with_parallel_calls_comes_in_pieces(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, "tools", |_| ());
    let end = room.turn("Call both", |chat| with_bench(chat, &Bench));
    assert_eq!((ending(&end).as_str(), end.rounds), ("answered", 2));
    let expected = [
        "user: Call both",
        "assistant: Let me look. [call_a first] [call_b second] [call_c echo]",
        "tool(call_a): one",
        "tool(call_b): two",
        "tool(call_c): {\"text\":\"你好 🎉 \\\"quoted\\\"\"}",
        "assistant: One, two and the rest.",
    ];
    assert_eq!(room.stored(), expected);
    let begun = room.told.iter().filter(|line| line.starts_with("call "));
    assert_eq!(
        begun.collect::<Vec<_>>(),
        ["call 0 call_a first", "call 1 call_b second", "call 2 call_c echo"]
    );
    assert!(room.told.iter().filter(|line| *line == "delta").count() > 17, "arguments came in pieces");
    room.check_asked(2);
    let sent = room.server.bodies()[1]["messages"].clone();
    let ids: Vec<&Value> =
        sent.as_array().unwrap().iter().filter_map(|message| message.get("tool_call_id")).collect();
    assert_eq!(ids, ["call_a", "call_b", "call_c"]);
}

/// Sends something to which the server has an answer the second time.
#[track_caller]
fn check_second_time(mut room: Room<Desk<'_>>, text: &str, answer: &str) {
    assert_eq!(ending(&room.turn(text, |_| ())), "answered", "{:?}", room.stored());
    assert_eq!(room.stored(), [format!("user: {text}"), format!("assistant: {answer}")]);
    assert_eq!(room.told.iter().filter(|line| line.starts_with("retry")).count(), 1, "{:?}", room.told);
    room.check_asked(2);
}

fn too_many_requests_without_a_wait_are_tried_again(server: &Foreign, dialect: Dialect) {
    // The server always says how long to wait.
    let relay = Relay::without("retry-after", server.address());
    let room = room(server, dialect, "busy", |endpoint| {
        endpoint.base_url = format!("http://{}/v1", relay.address());
    });
    check_second_time(room, "Too many", "Now.");
}

fn a_wait_that_is_too_long_ends_the_turn(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, "early", |_| ());
    assert_eq!(ending(&room.turn("Too early", |_| ())), "LLM_RATE_LIMITED");
    assert!(room.stored()[1].ends_with("retry after 3600 s"), "{:?}", room.stored());
    room.check_asked(1);
}

fn a_broken_server_is_asked_again(server: &Foreign, dialect: Dialect) {
    check_second_time(room(server, dialect, "broken", |_| ()), "Broken", "Whole again.");
}

fn a_connection_that_breaks_before_a_word_is_tried_again(server: &Foreign, dialect: Dialect) {
    check_second_time(room(server, dialect, "lost", |_| ()), "Hang up", "Back again.");
}

fn a_body_that_is_no_answer_is_tried_again(server: &Foreign, dialect: Dialect) {
    check_second_time(room(server, dialect, "scribble", |_| ()), "Scribble", "Readable.");
}

fn a_stall_before_the_first_word_is_tried_again(server: &Foreign, dialect: Dialect) {
    let short = TimeLimits { first_token: Duration::from_millis(500), ..TimeLimits::default() };
    check_second_time(
        room(server, dialect, "stall", |endpoint| endpoint.time = short),
        "Think first",
        "Thought.",
    );
}

fn an_answer_that_breaks_off_is_kept_and_gone_on_from(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, "half", |_| ());
    let end = ending(&room.turn("Break off", |_| ()));
    assert!(["LLM_DISCONNECTED", "LLM_TRUNCATED"].contains(&end.as_str()), "{end}");
    let stored = room.stored();
    assert!(stored[1].starts_with("assistant: Half") && stored[1].contains("LLM_ERROR"), "{stored:?}");
    assert_eq!(room.server.bodies().len(), 1, "nothing is sent again after the first word");
    assert_eq!(ending(&room.turn("continue", |_| ())), "answered");
    room.check_asked(2);
}

fn an_overflow_is_compressed_and_sent_once_more(server: &Foreign, dialect: Dialect) {
    let texts = long();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut room = room(server, dialect, "overflow", |_| ()).said(&texts);
    let before = room.stored();
    assert_eq!(ending(&room.turn("Long window", |_| ())), "answered");
    let stored = room.stored();
    assert_eq!(stored[..30], before, "the conversation itself stays as it is");
    assert_eq!(stored[30..], ["user: Long window", "assistant: In room 12."]);
    room.check_asked(2);
    let sizes: Vec<usize> = room.server.bodies().iter().map(|body| body.to_string().len()).collect();
    assert!(sizes[1] * 3 < sizes[0] * 2, "{sizes:?}");
}

fn a_summary_that_fails_leaves_the_rest_as_it_is(server: &Foreign, dialect: Dialect) {
    let texts = long();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut room = room(server, dialect, "summary", |_| ()).said(&texts);
    let before = room.stored();
    let endpoint = room.server.endpoint();
    let once = RetryPolicy { retries: 1, ..endpoint.retry };
    let client = Arc::new(Client::new(Endpoint { retry: once, ..endpoint }).unwrap());
    let shape = RequestShape { model: "summaries".to_owned(), ..RequestShape::default() };
    let summarizer = ModelSummarizer::new(client, shape);
    let config = MaskConfig {
        trigger_mode: TriggerMode::Count,
        count_threshold: 20,
        summary_retries: 0,
        ..MaskConfig::default()
    };
    let end = room.turn("Hello", |chat| chat.masks = Some(Masks { config, summarizer: &summarizer }));
    assert_eq!(ending(&end), "answered");
    let is_notice = |line: &String| line.starts_with("not summarized: the summarizer failed (");
    assert!(room.told.iter().any(is_notice), "{:?}", room.told);
    let stored = room.stored();
    assert_eq!(stored[..30], before, "no message is hidden or changed");
    assert_eq!(stored[30..], ["user: Hello", "assistant: Hi there, who are you?"]);
    let models: Vec<Value> = room.server.bodies().iter().map(|body| body["model"].clone()).collect();
    assert_eq!(json!(models), json!(["summaries", "summaries", "test-model"]));
}

fn what_a_dry_run_shows_is_what_arrives(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, "dry", |_| ()).said(&["你好 🎉", "A \"quoted\" \\ \u{1} word"]);
    let body = {
        let mut chat = Chat::new(&room.agent, &room.client);
        with_bench(&mut chat, &Bench);
        let preview = preview_turn(&chat, Some(room.conversation.session()), None, Room::says("Hello"));
        block_on(preview).unwrap().body
    };
    assert!(room.server.journal().is_empty(), "a dry run sends nothing");
    room.turn("Hello", |chat| with_bench(chat, &Bench));
    let entry = room.server.journal().remove(0);
    assert_eq!(entry["headers"]["content-length"], body.len().to_string());
    // Of other dialects, the journal has a translation; `llmock` has them as they came.
    if dialect == Dialect::OpenaiChat {
        assert_eq!(room.server.bodies()[0].to_string(), String::from_utf8(body).unwrap());
    }
}

fn the_second_turn_begins_like_the_first(server: &Foreign, dialect: Dialect) {
    let mut room = room(server, dialect, "prefix", |_| ());
    room.turn("Hello", |_| ());
    room.turn("I am Robin", |_| ());
    room.check_asked(2);
    let messages: Vec<Vec<Value>> =
        room.server.bodies().iter().map(|body| body["messages"].as_array().unwrap().clone()).collect();
    assert_eq!(messages[1].len(), messages[0].len() + 2);
    assert!(messages[1].starts_with(&messages[0]), "a provider's cache of the first holds for the second");
}

fn the_key_goes_to_the_server_and_nowhere_else(server: &Foreign, dialect: Dialect) {
    let wrong = "sk-TESTCANARY-that-nobody-knows";
    let folder = tempfile::tempdir().unwrap();
    let mut shown = Vec::new();
    for (key, expected) in [(KEY, "answered"), (wrong, "LLM_UNAUTHORIZED")] {
        let mut room = room(server, dialect, "key", |endpoint| {
            endpoint.key = Some(ApiKey::new(key, "the test").unwrap());
        });
        room.store = SqliteStore::open(&folder.path().join("chats.db")).unwrap();
        room.conversation =
            block_on(Conversation::create(&room.store, key.split('-').next_back().unwrap(), None)).unwrap();
        let mut watch = |event| shown.push(format!("{event:?}"));
        let chat = Chat::new(&room.agent, &room.client);
        let log =
            ChatLog { store: &room.store, conversation: &mut room.conversation, memory: None, lease: None };
        let end =
            block_on(run_turn(&chat, Some(log), Room::says("Hello"), &mut watch, &room.cancel)).unwrap();
        assert_eq!(ending(&end), expected, "{end:?}");
        shown.push(format!("{end:?} {:?} {chat:?} {}", room.client, json!(room.conversation.to_file())));
    }
    assert!(shown.iter().all(|text| !text.contains("CANARY")), "{shown:?}");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"CANARY"), "{}", path.display());
    }
}
