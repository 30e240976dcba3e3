use ctx_engine::{Compile, CompiledAgent, Engine, Ports};
use ctx_types::session::{Node, Session};
use ctx_types::{Agent, Message, Persist as _, Reader, Role, Source, SourceKind, Trust, TurnInput};
use serde_json::{Value, json};

fn compile(agent: &Value) -> CompiledAgent {
    Engine::new().compile(&Agent::read(agent.clone(), &mut Reader::new()), &Compile::default())
}

fn data(text: &str) -> Message {
    Message::new(Role::User, text, Source::new(SourceKind::File, Trust::File))
}

#[track_caller]
fn check(conversation: &[&str], input: Option<&str>, further: &[&str], expected: &[&str]) {
    let compiled = compile(&json!({
        "presetMessages": [{ "type": "chat_history" }, { "role": "system", "content": "Last." }],
        "parameters": { "processors": [
            { "id": "merge-consecutive-roles", "enabled": false },
            { "id": "merge-system-to-head", "enabled": false },
        ] },
    }));
    let nodes = conversation.iter().map(|text| Node::new(Role::User, *text));
    let (session, _) = Session::linear("s", nodes);
    let turn = TurnInput::default().with(|turn| {
        turn.input = input.map(Into::into);
        turn.further = further.iter().map(|text| data(text)).collect();
    });
    let context = compiled.assemble_blocking(&session, &turn).unwrap();
    let texts: Vec<_> = context.messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, expected);
}

#[test]
fn places_further_messages_after_input() {
    check(&["a"], Some("b"), &["c", "d"], &["a", "b", "c", "d", "Last."]);
}

#[test]
fn places_further_messages_after_conversation() {
    check(&["a"], None, &["c"], &["a", "c", "Last."]);
    check(&["a"], Some(" "), &[" "], &["a", "Last."]);
}

#[test]
fn does_not_expand_macros_in_further_messages() {
    check(&[], None, &["{{time}} {{user}}"], &["{{time}} {{user}}", "Last."]);
}

#[test]
fn keeps_further_messages() {
    let compiled = compile(&json!({}));
    let (session, _) = Session::linear("s", (0..50).map(|_| Node::new(Role::User, "word ".repeat(20))));
    let turn = TurnInput::default().with(|turn| {
        turn.further = vec![data("the file")];
        turn.context_tokens = Some(500);
    });
    let context = compiled.assemble_blocking(&session, &turn);
    let error = context.unwrap_err();
    assert!(
        error.to_string().starts_with("no context fits"),
        "the user messages before it are pending too: {error}"
    );
    let (session, _) = Session::linear(
        "s",
        (0..50).map(|n| Node::new(if n % 2 == 0 { Role::User } else { Role::Assistant }, "word ".repeat(20))),
    );
    let context = compiled.assemble_blocking(&session, &turn).unwrap();
    assert!(context.messages.len() < 40);
    assert!(context.messages.last().unwrap().text().ends_with("the file"));
}

#[test]
fn runs_only_per_message_processors_on_appended_messages() {
    let compiled = compile(&json!({
        "presetMessages": [{ "role": "system", "content": "First." }, { "type": "chat_history" }],
        "regexConfig": { "presets": [{ "id": "p", "name": "p", "enabled": true, "rules": [{
            "id": "r", "regex": "secret", "replacement": "***", "flags": "g", "enabled": true,
            "applyTo": { "render": false, "request": true }, "targetRoles": ["assistant", "user"],
        }] }] },
    }));
    let answer = Message::new(Role::Assistant, "the secret", Source::history("n9", Role::Assistant));
    let (session, turn) = (Session::new("s"), TurnInput::default());
    let appended = compiled.append(&session, &turn, vec![answer], Ports::default());
    let appended = pollster::block_on(appended).unwrap();
    let texts: Vec<_> = appended.messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["the ***"]);
}
