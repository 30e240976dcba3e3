//! The next turn repeats the messages that a report calls stable.

use crate::generate;

use std::sync::LazyLock;

use ctx_engine::inspect::SavedContext;
use ctx_engine::{Compile, Context, Engine, read_agent};
use ctx_types::report::{Decision, Outcome, StablePart};
use ctx_types::session::{Node, Session, SessionOp};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{CacheMark, CachePolicy, Message, Persist as _, Reader, Role, TurnInput};
use generate::turn::{Turn, turn};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseResult, TestRunner};
use serde_json::{Value, json};

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

fn talk(count: usize) -> Session {
    let role = |at| if (count - at) % 2 == 1 { Role::User } else { Role::Assistant };
    Session::linear("s", (0..count).map(|at| Node::new(role(at), format!("message {at}")))).0
}

fn assemble(agent: &Value, count: usize, turn: TurnInput) -> Context {
    let agent = read_agent(agent.to_string().as_bytes(), "a.json").unwrap();
    let book = json!({ "entries": [
        { "uid": 1, "constant": true, "content": "always", "position": 4, "depth": 0 },
        { "uid": 2, "key": ["message"], "content": "sometimes", "position": 0 },
    ] });
    let book = Worldbook::read(book, &mut Reader::new());
    let book = LoadedWorldbook { id: "b".into(), name: "b".into(), book: book.into(), is_global: false };
    let with = Compile::default().with(|compile| compile.worldbooks = vec![book]);
    let turn = turn.with(|turn| {
        turn.at_millis = Some(0);
        turn.preview = true;
    });
    ENGINE.compile(&agent.value, &with).assemble_blocking(&talk(count), &turn).unwrap()
}

#[track_caller]
fn check(agent: &Value, expected: &str) {
    check_turn(agent, TurnInput::default(), expected);
}

#[track_caller]
fn check_turn(agent: &Value, turn: TurnInput, expected: &str) {
    let context = assemble(agent, 3, turn);
    assert_eq!(describe_part(&context.report.stable.unwrap()), expected);
}

fn describe_part(part: &StablePart) -> String {
    match &part.ended_by {
        None => format!("{}, all", part.messages),
        Some(end) => format!("{}, then {}: {}", part.messages, end.source, end.reason),
    }
}

fn preset(entries: &Value) -> Value {
    json!({ "presetMessages": entries })
}

#[test]
fn includes_preset_above_conversation() {
    let agent = preset(
        &json!([{ "id": "a", "role": "system", "content": "You are {{char}}." }, { "type": "chat_history" }]),
    );
    check(&agent, "4, all");
}

#[test]
fn ends_at_macro_that_changes_every_turn() {
    let agent = preset(&json!([
        { "id": "a", "role": "user", "content": "Be kind." },
        { "id": "b", "role": "assistant", "content": "It is {{time}}." },
        { "type": "chat_history" },
    ]));
    check(&agent, "1, then macro:time: the macro changes every turn");
}

#[test]
fn ends_at_depth_but_not_at_index() {
    let agent = preset(&json!([
        { "type": "chat_history" },
        { "id": "a", "role": "system", "content": "deep", "injectionStrategy": { "type": "depth", "depth": 1 } },
        { "id": "b", "role": "system", "content": "first", "insertionPoint": 1 },
    ]));
    check(&agent, "3, then preset:a: its position is counted from the end of the conversation");
}

#[test]
fn ends_at_index_beyond_conversation() {
    let agent = preset(&json!([
        { "type": "chat_history" },
        { "id": "b", "role": "system", "content": "late", "insertionPoint": 9 },
    ]));
    check(&agent, "2, then preset:b: its position is or was beyond the conversation");
}

#[test]
fn ends_at_entry_below_conversation() {
    let agent = preset(&json!([
        { "type": "chat_history" },
        { "id": "b", "role": "assistant", "content": "Now I think." },
    ]));
    check(&agent, "3, then preset:b: below the conversation");
}

#[test]
fn ends_at_entry_joined_with_last_message() {
    let agent = preset(&json!([
        { "type": "chat_history" },
        { "id": "b", "role": "user", "content": "Answer briefly." },
    ]));
    check(&agent, "2, then preset:b: below messages of the conversation");
}

#[test]
fn ends_at_dropped_messages() {
    let agent =
        preset(&json!([{ "id": "a", "role": "system", "content": "You help." }, { "type": "chat_history" }]));
    let turn = TurnInput::default().with(|turn| {
        turn.context_tokens = Some(20);
        turn.reserve = Some(0);
    });
    let context = assemble(&agent, 31, turn);
    let expected = "1, then history:n31: older messages are dropped; the next turn may drop more";
    assert_eq!(describe_part(&context.report.stable.unwrap()), expected);
}

#[test]
fn ends_at_conditional_worldbook_entry() {
    let mut agent =
        preset(&json!([{ "id": "a", "role": "system", "content": "You help." }, { "type": "chat_history" }]));
    agent["worldbookIds"] = json!(["b"]);
    check(&agent, "0, then worldbook:b.2: the entry may be inactive");
}

#[test]
fn ends_at_rule_with_depth_range() {
    let mut agent =
        preset(&json!([{ "id": "a", "role": "system", "content": "You help." }, { "type": "chat_history" }]));
    let rule = json!({ "id": "r", "regex": "message", "replacement": "word", "depthRange": { "min": 1 } });
    agent["regexConfig"] = json!({ "presets": [{ "id": "p", "rules": [rule] }] });
    check(&agent, "3, then history:n3: a regex rule changes messages by their depth");
}

#[test]
fn ends_at_further_messages() {
    let further = Message::new(Role::User, "a file", ctx_types::Source::history("further", Role::User));
    let turn = TurnInput::default().with(|turn| turn.further = vec![further]);
    let agent =
        json!({ "parameters": { "processors": [{ "id": "merge-consecutive-roles", "enabled": false }] } });
    check_turn(&agent, turn, "3, then history:further: this turn only");
}

#[test]
fn places_cache_marks_after_instructions_and_stable_prefix() {
    let agent = preset(&json!([
        { "id": "a", "role": "system", "content": "You help." },
        { "type": "chat_history" },
        { "id": "b", "role": "assistant", "content": "Now I think." },
    ]));
    for (cache_marks, expected) in [(CachePolicy::Off, ""), (CachePolicy::Stable, "0 3")] {
        let context = assemble(&agent, 3, TurnInput::default().with(|turn| turn.cache_marks = cache_marks));
        let marked = context.messages.iter().enumerate();
        let marked = marked.filter(|(_, message)| message.cache_mark == Some(CacheMark::Short));
        let marked: Vec<String> = marked.map(|(at, _)| at.to_string()).collect();
        assert_eq!(marked.join(" "), expected, "{cache_marks:?}");
    }
}

fn append_turn(session: &mut Session) {
    for (id, role) in [("answer", Role::Assistant), ("question", Role::User)] {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(role, format!("the {id}")).with_id(id));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    }
}

#[test]
fn repeats_stable_prefix_in_next_turn() {
    // Fixed seed: joins in unusual presets have rare exceptions (see docs/agents.md). The proptest macro
    // would take the seed from the environment.
    let config = ProptestConfig {
        cases: 512,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    TestRunner::new(config).run(&turn(), check_next_turn).unwrap();
}

fn check_next_turn(case: Turn) -> TestCaseResult {
    let case = case.with_text_in_place_of("{{nobody}}", "{{time}}").with_default_formatters();
    let compiled = case.compile(&ENGINE);
    let mut session = case.session();
    let at = |at_millis| case.input().with(|turn| turn.at_millis = Some(at_millis));
    let Ok(first) = compiled.assemble_blocking(&session, &at(0)) else { return Ok(()) };
    let stable = first.report.stable.clone().unwrap();
    let is_said = |message: &Message| message.place == ctx_types::Place::History;
    prop_assume!(first.messages.iter().any(is_said));
    // A continued reply is joined with its continuation.
    prop_assume!(!first.messages.iter().any(|message| message.is_continuation_prefix));
    // An entry deeper than the conversation appears once the conversation is long enough.
    let is_waiting = |decision: &Decision| decision.outcome == Outcome::NotActivated;
    prop_assume!(!first.report.decisions.iter().any(is_waiting));
    if let Some(input) = case.input().input {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(Role::User, input).with_id("input"));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    }
    append_turn(&mut session);
    // If a message did not fit, the first kept message moves.
    let is_older = |decision: &Decision| decision.reason.to_string().starts_with("older than");
    prop_assume!(!first.report.decisions.iter().any(is_older));
    let next = at(7_777_777_777).with(|turn| {
        turn.input = None;
        turn.context_tokens = None;
    });
    let Ok(second) = compiled.assemble_blocking(&session, &next) else { return Ok(()) };
    let (first, second) = (first.to_json(), second.to_json());
    let shared = ctx_engine::inspect::Comparison::new(&saved(&first), &saved(&second)).shared_messages;
    prop_assert!(shared >= stable.messages, "{stable:?}\n{first}\n{second}");
    Ok(())
}

fn saved(context: &Value) -> SavedContext {
    SavedContext::read(context).unwrap()
}
