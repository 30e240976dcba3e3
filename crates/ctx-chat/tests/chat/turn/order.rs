//! The order of a turn, by the names that the design gives to its tests, and what holds without its parts.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ctx_chat::{
    Chat, ChatLog, Conversation, ConversationStore as _, MessageTags, RequestCompression, SqliteStore,
    StoreError, TurnEvent, TurnRequest, run_turn, with_compression,
};
use ctx_engine::TurnCache;
use ctx_pipeline::Cancel;
use ctx_types::session::SessionOp;
use ctx_types::{StoredAttachment, Text, TurnInput};
use serde_json::json;

use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::server::{Answer, Server, Step, sse, word};

#[test]
fn should_persist_user_message_before_llm_call() {
    let mut room = Room::new([Answer::text("Hi")]);
    room.turn("Hello", |_| ());
    let place = |line: &str| room.told.iter().position(|told| told.starts_with(line)).unwrap();
    assert!(place("stored user") < place("sending 1"), "{:?}", room.told);
    assert_eq!(room.stored(), ["user: Hello", "assistant: Hi"]);
}

#[test]
fn a_question_that_the_store_refuses_is_asked_of_nobody() {
    let mut room = Room::new([Answer::text("no")]).said(&["Hello", "Hi"]);
    let pages = tokio::runtime::Builder::new_current_thread().build().unwrap();
    pages.block_on(room.store.limit_pages(16)).unwrap();
    let error = room.request(Room::says(&"word ".repeat(40_000)), |_| ()).unwrap_err();
    assert!(matches!(error.source, StoreError::Unwritable(_)), "{error}");
    assert_eq!((room.stored().len(), room.server.requests().len()), (2, 0));
}

/// Runs a turn that another process replaces. The turn must end without a stored reply.
#[track_caller]
fn check_replaced(answer: Answer, replace: impl Fn(&Path, &Cancel, &TurnEvent) + Sync) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut room = Room::new([answer]);
    room.store = SqliteStore::open(file.path()).unwrap();
    room.conversation = block_on(Conversation::create(&room.store, "c", None)).unwrap();
    let (lease, _) = block_on(room.store.hold("c", None, Duration::ZERO)).unwrap().unwrap();
    let chat = Chat::new(&room.agent, &room.client);
    let (store, conversation) = (&room.store, &mut room.conversation);
    let log = ChatLog { store, conversation, memory: None, lease: Some(&lease) };
    let mut watch = |event| replace(file.path(), lease.lost(), &event);
    let ended = block_on(run_turn(&chat, Some(log), Room::says("Hello"), &mut watch, &room.cancel));
    let error = ended.unwrap_err();
    assert!(matches!(error.source, StoreError::LeaseLost { .. }), "{error}");
    assert_eq!(error.unstored.as_str(), "Hi");
    assert_eq!(room.stored(), ["user: Hello"]);
}

#[test]
fn stores_no_reply_after_another_process_took_the_lease() {
    check_replaced(Answer::text("Hi"), |path, _, event| {
        if matches!(event, TurnEvent::Sending { .. }) {
            let other = rusqlite::Connection::open(path).unwrap();
            assert_eq!(other.execute("UPDATE leases SET owner = 'other'", []).unwrap(), 1);
        }
    });
}

#[test]
fn stops_request_when_lease_is_lost() {
    let words = Step::Bytes(sse(&[word("Hi")], false));
    check_replaced(Answer::stream(vec![words, Step::Stall]), |_, lost, event| {
        if matches!(event, TurnEvent::Delta(_)) {
            lost.cancel();
        }
    });
}

#[test]
fn what_was_compressed_for_a_question_that_is_refused_is_forgotten() {
    let agent =
        json!({ "presetMessages": [{ "type": "chat_history" }], "parameters": with_compression(None) });
    let long = "The red umbrella stands in room 12 since the 3rd of May. ".repeat(10);
    let mut room = Room::with(Server::script([Answer::text("no")]), &agent).said(&[long.as_str(); 40]);
    let pages = tokio::runtime::Builder::new_current_thread().build().unwrap();
    pages.block_on(room.store.limit_pages(1)).unwrap();
    let mut request = Room::says(&"word ".repeat(4_000));
    request.turn.context_tokens = Some(8_000);
    let (chat, memory) = (Chat::new(&room.agent, &room.client), TurnCache::default());
    let (store, conversation) = (&room.store, &mut room.conversation);
    let log = ChatLog { store, conversation, memory: Some(&memory), lease: None };
    let error = block_on(run_turn(&chat, Some(log), request, &mut |_| (), &room.cancel)).unwrap_err();
    assert!(matches!(error.source, StoreError::Unwritable(_)), "{error}");
    assert!(!memory.is_compressed());
}

/// The context is built while the store is waited for: it counts only if the store took what it was built with.
#[test]
fn a_question_is_sent_with_what_another_changed_before_it_was_stored() {
    let mut room = Room::new([Answer::text("Yes.")]).said(&["Hello", "Hi"]);
    let mut other = block_on(Conversation::load(&room.store, "c")).unwrap();
    let first = other.session().path()[0].id.clone().unwrap();
    let op = SessionOp::Toggle { id: first, enabled: false };
    block_on(other.apply(&room.store, "switch off", op, None)).unwrap();
    room.turn("And now?", |_| ());
    let sent: Vec<String> = room.server.requests()[0].messages().into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent, ["Be kind.", "Hi", "And now?"]);
    assert_eq!(room.stored(), ["user: Hello", "assistant: Hi", "user: And now?", "assistant: Yes."]);
}

#[test]
fn should_load_conversation_history() {
    let mut room = Room::new([Answer::text("Hi")]).said(&["My name is Lin.", "Hello Lin."]);
    room.conversation = block_on(ctx_chat::Conversation::load(&room.store, "c")).unwrap();
    room.turn("Who am I?", |_| ());
    assert_eq!(room.stored().len(), 4);
}

#[test]
fn should_include_history_in_llm_context() {
    let mut room = Room::new([Answer::text("Lin.")]).said(&["My name is Lin.", "Hello Lin."]);
    room.turn("Who am I?", |_| ());
    let sent = room.server.requests()[0].messages();
    let sent: Vec<String> = sent.into_iter().map(|(role, text)| format!("{role}: {text}")).collect();
    assert_eq!(
        sent,
        ["system: Be kind.", "user: My name is Lin.", "assistant: Hello Lin.", "user: Who am I?"]
    );
    room.check_requests();
}

#[test]
fn should_compress_when_over_threshold() {
    let long = "The red umbrella stands in room 12 since the 3rd of May. ".repeat(20);
    let texts: Vec<&str> = (0..10).map(|_| long.as_str()).collect();
    let mut room = Room::new([Answer::text("Yes.")]).said(&texts);
    let before = room.stored();
    room.turn("Where is it?", |chat| {
        let token_budget = Some(2_000);
        chat.compression = Some(RequestCompression { token_budget, ..RequestCompression::default() });
    });
    assert_eq!(room.told.iter().filter(|line| line.starts_with("compressed")).count(), 1, "{:?}", room.told);
    assert!(room.told.contains(&"usage compressing".to_owned()));
    let sent = room.server.requests()[0].messages();
    assert_eq!(sent.last().unwrap().1, "Where is it?");
    assert!(room.server.requests()[0].body.len() < long.len() * 5, "{sent:?}");
    assert_eq!(room.stored()[..before.len()], before, "the conversation itself stays as it is");
}

#[test]
fn should_persist_error_as_assistant_message() {
    let mut room = Room::new([Answer::error(401, "invalid_api_key", "no"), Answer::text("Better now.")]);
    let end = room.turn("Hello", |_| ());
    assert_eq!(ending(&end), "LLM_UNAUTHORIZED");
    let error = "assistant: LLM_ERROR\n- Code: LLM_UNAUTHORIZED\n- Message: the provider rejected the request: status 401: no; check the API key";
    assert_eq!(room.stored(), ["user: Hello", error]);
    let end = room.turn("continue", |_| ());
    assert_eq!(ending(&end), "answered");
    let sent = room.server.requests()[1].messages();
    let sent: Vec<&str> = sent.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(sent, ["Be kind.", "Hello\n\n---\n\ncontinue"]);
    room.check_requests();
}

#[test]
fn without_a_conversation_nothing_is_loaded_or_stored() {
    let room = Room::new([Answer::text("Hi")]).said(&["Old", "Older"]);
    let before = room.stored();
    let chat = Chat::new(&room.agent, &room.client);
    let mut watch = |_| ();
    let end = run_turn(&chat, None, Room::says("Hello"), &mut watch, &room.cancel);
    assert_eq!(block_on(end).unwrap().text, Text::from("Hi"));
    let sent = room.server.requests()[0].messages();
    assert_eq!(sent.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["Be kind.", "Hello"]);
    assert_eq!((room.stored(), room.conversations()), (before, 1));
}

#[test]
fn without_a_conversation_tools_work_all_the_same() {
    let room = Room::new([Answer::calls(&[("a", "echo", "{}")]), Answer::text("Done.")]);
    let mut chat = Chat::new(&room.agent, &room.client);
    with_bench(&mut chat, &Bench);
    let mut watch = |_| ();
    let end = block_on(run_turn(&chat, None, Room::says("Go"), &mut watch, &room.cancel)).unwrap();
    assert_eq!((ending(&end).as_str(), end.text.as_str()), ("answered", "Done."));
    room.check_requests();
}

#[test]
fn without_a_compressor_nothing_is_made_smaller() {
    let long = "word ".repeat(2_000);
    let mut room = Room::new([Answer::text("Hi")]).said(&[&long, "I see."]);
    room.turn("Hello", |chat| chat.compression = None);
    assert!(!room.told.iter().any(|line| line.starts_with("compressed") || line.starts_with("usage")));
    assert!(room.server.requests()[0].body.len() > long.len());
}

#[test]
fn messages_of_older_forms_are_sent_as_they_were_meant() {
    let old = json!([
        { "role": "user", "content": "What is the weather?" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{}" } },
        ] },
        { "role": "tool", "tool_call_id": "c1", "content": "rain", "partType": "tool_result", "toolName": "weather" },
        { "role": "assistant", "content": "The app was restarted.", "includeInContext": false },
        { "role": "assistant", "content": "It rains." },
    ]);
    let session = ctx_engine::read_conversation(old.to_string().as_bytes(), "old.json");
    let mut room = Room::new([Answer::text("Yes.")]);
    room.conversation =
        block_on(ctx_chat::Conversation::import(&room.store, "old", session.unwrap().value, None)).unwrap();
    room.turn("Still?", |_| ());
    let sent = room.server.requests()[0].json();
    let roles: Vec<_> =
        sent["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(json!(roles), json!(["system", "user", "assistant", "tool", "assistant", "user"]));
    assert!(!sent.to_string().contains("restarted"));
    room.check_requests();
}

#[test]
fn a_tool_round_is_stored_message_by_message_before_the_next_call() {
    let calls = Answer::calls(&[("a", "first", "{}"), ("b", "second", "{}")]);
    let mut room = Room::new([calls, Answer::text("One and two.")]);
    let end = room.turn("Count", |chat| with_bench(chat, &Bench));
    assert_eq!((ending(&end).as_str(), end.rounds), ("answered", 2));
    let expected = [
        "user: Count",
        "assistant:  [a first] [b second]",
        "tool(a): one",
        "tool(b): two",
        "assistant: One and two.",
    ];
    assert_eq!(room.stored(), expected);
    let told: Vec<&str> = room.told.iter().map(String::as_str).filter(|line| *line != "delta").collect();
    let expected = [
        "found CTX0402",
        "stored user n1",
        "sending 1",
        "call 0 a first",
        "call 1 b second",
        "replied",
        "stored assistant n2",
        "start first",
        "start second",
        "finish first false",
        "stored tool n3",
        "finish second false",
        "stored tool n4",
        "sending 2",
        "text One ",
        "text and ",
        "text two.",
        "replied",
        "stored assistant n5",
    ];
    let told: Vec<&str> = told.into_iter().filter(|line| !line.starts_with("found")).collect();
    assert_eq!(told, expected[1..]);
    room.check_requests();
}

/// How they are sent is decided by processors that this engine does not have.
#[test]
fn files_without_a_word_are_a_message() {
    let mut room = Room::new([Answer::text("Nice.")]);
    let file = StoredAttachment { name: Some("bed.png".into()), ..StoredAttachment::default() };
    let request = TurnRequest { attachments: vec![file.clone()], ..TurnRequest::default() };
    room.request(request, |_| ()).unwrap();
    assert_eq!(room.stored(), ["user: ", "assistant: Nice."]);
    let path = room.conversation.session().path();
    let files: Vec<_> = path.iter().map(|node| node.attachments.clone()).collect();
    assert_eq!(files[files.len() - 2..], [vec![file], Vec::new()]);
}

#[test]
fn every_message_has_its_tags_and_its_time() {
    let mut room = Room::new([Answer::text("Hi")]);
    let tags = MessageTags { mode: Some("agent".into()), run_id: Some("r1".into()), agent_id: None };
    let turn = TurnInput::new("Hello");
    room.request(TurnRequest { turn, tags, raw: Some("hello".into()), ..TurnRequest::default() }, |_| ())
        .unwrap();
    let path = room.conversation.session().path();
    for node in &path {
        let metadata = &node.metadata.as_ref().unwrap().kept;
        assert_eq!(
            (metadata.get("mode"), metadata.get("runId")),
            (Some(&json!("agent")), Some(&json!("r1")))
        );
        assert!(node.timestamp.as_deref().unwrap().starts_with("1970-01-01T00:00:0"));
    }
    assert_eq!(path[0].metadata.as_ref().unwrap().kept.get("rawContent"), Some(&json!("hello")));
}

#[test]
fn a_turn_can_run_on_any_thread() {
    fn is_send<T: Send>(_: &T) {}
    let room = Room::new([]);
    let chat = Chat::new(&room.agent, &room.client);
    let mut watch = |_| ();
    is_send(&run_turn(&chat, None, Room::says("Hello"), &mut watch, &room.cancel));
}

#[test]
fn what_was_sent_when_the_server_answers_was_stored_before() {
    let path = tempfile::NamedTempFile::new().unwrap();
    let store = ctx_chat::SqliteStore::open(path.path()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, file) = (seen.clone(), path.path().to_owned());
    let server = Server::start(move |_| {
        // Another process would see the same.
        let store = ctx_chat::SqliteStore::open(&file).unwrap();
        let chat = block_on(ctx_chat::Conversation::load(&store, "c")).unwrap();
        let mut log = log.lock().unwrap();
        log.push(chat.session().path().len());
        if log.len() == 1 { Answer::calls(&[("a", "echo", "{}")]) } else { Answer::text("Done") }
    });
    let mut room = Room::with(server, &json!({}));
    room.conversation = block_on(ctx_chat::Conversation::create(&store, "c", None)).unwrap();
    room.store = store;
    room.turn("Go", |chat| with_bench(chat, &Bench));
    assert_eq!(*seen.lock().unwrap(), [1, 3]);
}

#[test]
fn repeats_requests_of_an_append_only_conversation() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
        { "role": "system", "content": "Note of {{time}}.", "injectionStrategy": { "type": "depth", "depth": 2 } },
    ] });
    let answers = [
        Answer::text("Hi."),
        Answer::calls(&[("c1", "echo", "{}")]),
        Answer::text("Read."),
        Answer::text("Bye."),
    ];
    let mut room = Room::with(Server::script(answers), &agent);
    for (minute, text) in (0..).zip(["Hello", "Read a file", "Good night"]) {
        let mut request = Room::says(text);
        request.turn.at_millis = Some(minute * 60_000);
        room.request(request, |chat| with_bench(chat, &Bench)).unwrap();
    }
    let requests = room.server.requests();
    assert_eq!(requests.len(), 4);
    for pair in requests.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|request| request.json()["messages"].clone());
        let (before, after) = (before.as_array().unwrap(), after.as_array().unwrap());
        assert_eq!(before[..], after[..before.len()]);
    }
}
