use ctx_engine::{Compile, Context, Engine};
use ctx_types::session::{Node, Session, SessionOp};
use ctx_types::{Agent, Persist, Reader, Role, TurnInput};
use serde_json::{Value, json};

fn agent(preset: &str, snapshots: bool) -> Value {
    json!({
        "name": "Dungeon",
        "variableConfig": { "enabled": true, "definitions": [{ "key": "hp", "initialValue": 10 }] },
        "parameters": { "processors": [{ "id": "variable-processor", "config": { "snapshots": snapshots } }] },
        "presetMessages": [{ "role": "system", "content": preset }, { "type": "chat_history" }],
    })
}

fn assemble(agent: Value, session: &Session, turn: &TurnInput) -> Context {
    let agent = Agent::read(agent, &mut Reader::new());
    Engine::new().compile(&agent, &Compile::default()).assemble_blocking(session, turn).unwrap()
}

fn session() -> Session {
    let texts = ["<svar name=hp op=- value=1>", "nothing", "<svar name=hp op=- value=2>", "nothing"];
    let nodes = texts.iter().enumerate();
    let nodes = nodes.map(|(id, text)| Node::new(Role::Assistant, *text).with_id(format!("n{id}")));
    Session::linear("s", nodes).0
}

#[test]
fn stores_values_with_message_if_enabled() {
    let mut session = session();
    let turn = TurnInput::new("<svar name=hp value=99>");
    let context = assemble(agent("$[hp]", true), &session, &turn);
    let [effect @ SessionOp::Edit { id, .. }] = context.effects.as_slice() else { unreachable!() };
    assert_eq!((&**id, &*context.messages[0].text()), ("n2", "99"));
    session.apply(effect).unwrap();
    let stored = &session.write()["nodes"]["n2"]["metadata"];
    assert_eq!(stored, &json!({ "sessionVariableSnapshot": { "values": { "hp": 7 } } }));
    assert_eq!(assemble(agent("$[hp]", true), &session, &turn).effects, [], "the values are already stored");
}

#[test]
fn does_not_store_in_preview_or_by_default() {
    let before = session();
    let preview = TurnInput::default().with(|turn| turn.preview = true);
    let after = before.clone();
    assert_eq!(assemble(agent("$[hp]", true), &after, &preview).effects, []);
    assert_eq!(assemble(agent("$[hp]", false), &after, &TurnInput::default()).effects, []);
    assert_eq!(after, before);
}

#[test]
fn shows_latest_values_each_turn() {
    let mut session = session();
    for turn in 0..3 {
        let context = assemble(agent("HP=$[hp]", true), &session, &TurnInput::default());
        assert_eq!(context.messages[0].text(), format!("HP={}", 7 - turn));
        context.effects.iter().for_each(|effect| drop(session.apply(effect).unwrap()));
        let node =
            Box::new(Node::new(Role::Assistant, "<svar name=hp op=- value=1>").with_id(format!("t{turn}")));
        let parent = session.active_leaf_id().clone();
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    }
}

#[test]
fn limits_size_of_expanded_variables() {
    let value = "x".repeat(60_000);
    let set = Node::new(Role::Assistant, format!("<svar name=big value={value}>")).with_id("n0");
    let session = Session::linear("s", [set]).0;
    let bomb = "$[big]".repeat(100_000);
    let context = assemble(agent(&bomb, false), &session, &TurnInput::default());
    let written = context.messages[0].text().len() - bomb.len();
    assert!((8_000_000..8 << 20).contains(&written), "{written}");
    let found: Vec<u16> = context.report.diagnostics.iter().map(|finding| finding.code.number()).collect();
    assert_eq!(found, [763]);
}

#[test]
fn reports_first_unknown_variables_and_counts_the_others() {
    let names: String = (0..1_000).map(|n| format!("$[nobody{n}]")).collect::<Vec<_>>().concat();
    let context = assemble(agent(&names.repeat(2), false), &session(), &TurnInput::default());
    let found: Vec<u16> = context.report.diagnostics.iter().map(|finding| finding.code.number()).collect();
    assert_eq!(found, [vec![762; 16], vec![101]].concat());
    let last = context.report.diagnostics.last().unwrap();
    assert_eq!(last.message.to_string(), "984 more diagnostics in this agent are not shown");
}
