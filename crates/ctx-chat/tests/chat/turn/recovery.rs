//! Conversations that were interrupted go on.

use ctx_chat::{Chat, Conversation, INTERRUPTED, preview_turn};
use ctx_types::Role;
use ctx_types::session::{Node, StoredToolCall};
use serde_json::json;

use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::server::{Answer, Step};

fn calling(ids: &[&str]) -> Node {
    let mut node = Node::new(Role::Assistant, "");
    let call = |id: &&str| StoredToolCall {
        id: Some((*id).into()),
        name: Some("echo".into()),
        arguments: Some("{}".into()),
        ..StoredToolCall::default()
    };
    node.tool_calls = ids.iter().map(call).collect();
    node
}

fn result(id: &str) -> Node {
    let mut node = Node::new(Role::Tool, "done");
    node.tool_call_id = Some(id.into());
    node
}

/// Opens a conversation of these messages, and compares what it then holds and how much was found.
#[track_caller]
fn check(nodes: Vec<Node>, expected: &[&str], found: usize) {
    let mut room = Room::new([Answer::text("Fine.")]);
    block_on(async {
        for node in nodes {
            room.conversation.append(&room.store, node, None).await.unwrap();
        }
    });
    let (conversation, diagnostics) = block_on(Conversation::open(&room.store, "c", Some(1))).unwrap();
    room.conversation = conversation;
    assert_eq!(room.stored(), expected);
    assert_eq!(diagnostics.len(), found, "{diagnostics:?}");
    assert!(block_on(room.conversation.recover(&room.store, None)).unwrap().is_empty());
    assert_eq!(ending(&room.turn("continue", |_| ())), "answered");
    room.check_requests();
}

fn user(text: &str) -> Node {
    Node::new(Role::User, text)
}

#[test]
fn a_call_that_was_interrupted_gets_a_result_that_says_so() {
    let interrupted = format!("tool(a): {INTERRUPTED}");
    check(vec![user("Go"), calling(&["a"])], &["user: Go", "assistant:  [a echo]", &interrupted], 1);
}

#[test]
fn of_parallel_calls_only_those_without_a_result_get_one() {
    let (a, c) = (format!("tool(a): {INTERRUPTED}"), format!("tool(c): {INTERRUPTED}"));
    let calls = "assistant:  [a echo] [b echo] [c echo]";
    check(
        vec![user("Go"), calling(&["a", "b", "c"]), result("b")],
        &["user: Go", calls, "tool(b): done", &a, &c],
        2,
    );
}

#[test]
fn an_interruption_in_the_middle_is_repaired_in_its_place() {
    let interrupted = format!("tool(a): {INTERRUPTED}");
    let later = vec![user("Go"), calling(&["a"]), user("And?"), Node::new(Role::Assistant, "Hm.")];
    let expected = ["user: Go", "assistant:  [a echo]", &interrupted, "user: And?", "assistant: Hm."];
    check(later, &expected, 1);
    let late = vec![user("Go"), calling(&["a"]), user("And?"), result("a"), calling(&["b"])];
    let interrupted = format!("tool(b): {INTERRUPTED}");
    let calls = ["assistant:  [a echo]", "assistant:  [b echo]"];
    check(late, &["user: Go", calls[0], "user: And?", "tool(a): done", calls[1], &interrupted], 1);
}

#[test]
fn what_is_whole_stays_as_it_is() {
    let expected = ["user: Go", "assistant:  [a echo]", "tool(a): done"];
    check(vec![user("Go"), calling(&["a"]), result("a")], &expected, 0);
    check(vec![user("Go")], &["user: Go"], 0);
}

#[test]
fn a_turn_that_was_dropped_midway_is_repaired_by_the_next() {
    let calls = Answer::calls(&[("a", "hang", "{}")]);
    let mut room = Room::new([calls, Answer::text("Fine.")]);
    let chat = Chat::new(&room.agent, &room.client);
    let log = ctx_chat::ChatLog {
        store: &room.store,
        conversation: &mut room.conversation,
        memory: None,
        lease: None,
    };
    let mut chat = chat;
    with_bench(&mut chat, &Bench);
    if let Some(access) = &mut chat.tools {
        access.limits.time = std::time::Duration::from_secs(60);
    }
    block_on(async {
        let (started, has_started) = tokio::sync::oneshot::channel();
        let mut started = Some(started);
        let mut watch = |event| {
            if let ctx_chat::TurnEvent::ToolStarted { .. } = event {
                started.take().unwrap().send(()).unwrap();
            }
        };
        tokio::select! {
            _ = ctx_chat::run_turn(&chat, Some(log), Room::says("Go"), &mut watch, &room.cancel) => unreachable!(),
            _ = has_started => {}
        }
    });
    assert_eq!(ending(&room.turn("continue", |chat| with_bench(chat, &Bench))), "answered");
    assert_eq!(room.stored()[2], format!("tool(a): {INTERRUPTED}"));
    room.check_requests();
}

#[test]
fn two_writers_lose_nothing_and_double_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let open = || ctx_chat::SqliteStore::open(file.path()).unwrap();
    let mut first = Room::new([Answer::text("One.")]);
    first.store = open();
    first.conversation = block_on(Conversation::create(&first.store, "c", None)).unwrap();
    let mut second = Room::new([Answer::text("Two.")]);
    second.store = open();
    second.conversation = block_on(Conversation::load(&second.store, "c")).unwrap();
    assert_eq!(ending(&first.turn("A", |_| ())), "answered");
    // The second has not seen that, and begins a branch of its own.
    assert_eq!(ending(&second.turn("B", |_| ())), "answered");
    let again = block_on(Conversation::load(&first.store, "c")).unwrap();
    let mut texts: Vec<_> = again
        .session()
        .nodes()
        .filter(|(id, _)| *id != again.session().root_id())
        .map(|(id, node)| node.to_message(id).text().into_owned())
        .collect();
    texts.sort();
    assert_eq!(texts, ["A", "B", "One.", "Two."]);
}

/// Compares the bytes of a preview with those that the server then receives.
#[track_caller]
fn check_preview(mut room: Room, text: &str) {
    let mut chat = Chat::new(&room.agent, &room.client);
    with_bench(&mut chat, &Bench);
    let preview = preview_turn(&chat, Some(room.conversation.session()), None, Room::says(text));
    let preview = block_on(preview).unwrap();
    let before = room.stored();
    room.turn(text, |chat| with_bench(chat, &Bench));
    assert_eq!(
        String::from_utf8(preview.body).unwrap(),
        String::from_utf8(room.server.requests()[0].body.clone()).unwrap()
    );
    assert!(room.stored().len() > before.len());
}

#[test]
fn a_preview_is_what_is_sent_byte_for_byte() {
    check_preview(Room::new([Answer::text("Hi")]), "Hello");
    check_preview(Room::new([Answer::text("Hi")]).said(&["Hello", "你好 🎉", "More"]), "And \"this\"?");
    check_preview(Room::new([Answer::text("Hi")]).said(&["Pending"]), "");
    let mut room = Room::new([Answer::text("Hi")]);
    block_on(room.conversation.append(&room.store, calling(&["a", "b"]), None)).unwrap();
    check_preview(room, "Hello");
}

#[test]
fn a_preview_of_a_context_that_cannot_be_made_says_why() {
    let room = Room::new([]);
    let chat = Chat::new(&room.agent, &room.client);
    let mut request = Room::says(&"word ".repeat(500));
    request.turn.context_tokens = Some(300);
    let failure = block_on(preview_turn(&chat, None, None, request)).unwrap_err();
    assert_eq!(failure.code(), "CONTEXT_TOO_LARGE");
}

#[test]
fn a_failed_round_after_tools_can_be_continued() {
    let calls = Answer::calls(&[("a", "echo", "{}")]);
    let broken = Answer::stream(vec![Step::Close]);
    let mut room = Room::new([calls, broken.clone(), broken, Answer::text("Fine.")]);
    assert_eq!(ending(&room.turn("Go", |chat| with_bench(chat, &Bench))), "LLM_DISCONNECTED");
    assert_eq!(ending(&room.turn("continue", |chat| with_bench(chat, &Bench))), "answered");
    let roles: Vec<_> = room.server.requests()[3].messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(json!(roles), json!(["system", "user", "assistant", "tool", "user"]));
    room.check_requests();
}
