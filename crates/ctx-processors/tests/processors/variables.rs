use ctx_processors::internal::{VariableDefinitions, Variables};
use ctx_types::session::{Node, NodeEdit, NodeId, Session, SessionOp};
use ctx_types::{Content, Persist, Reader, Role};
use proptest::prelude::*;
use serde_json::json;

fn definitions() -> VariableDefinitions {
    let config = json!({ "enabled": true, "definitions": [
        { "key": "hp", "initialValue": 50, "min": 0, "max": 100 },
        { "key": "mood", "initialValue": "calm" },
    ] });
    VariableDefinitions::read(&config, &mut |_| ()).unwrap()
}

fn format_variables(session: &Session, definitions: &VariableDefinitions) -> String {
    let variables = Variables::from_session(session, definitions);
    let each = variables.iter().map(|(path, value)| format!("{path}={}", value.to_text()));
    each.collect::<Vec<_>>().join(" ")
}

/// The same session with empty caches.
fn forgetful(session: &Session) -> Session {
    let mut fresh = Session::read(session.write(), &mut Reader::new());
    fresh.apply(&SessionOp::ActivateLeaf { id: session.active_leaf_id().clone() }).unwrap();
    fresh
}

fn node(id: usize, text: &str, role: Role) -> Box<Node> {
    Box::new(Node::new(role, text).with_id(format!("n{id}")))
}

fn session(texts: &[&str]) -> Session {
    let nodes = texts.iter().enumerate().map(|(id, text)| *node(id, text, Role::Assistant));
    Session::linear("s", nodes).0
}

#[track_caller]
fn check(session: &Session, expected: &str) {
    assert_eq!(format_variables(session, &definitions()), expected);
}

#[test]
fn recomputes_values_for_other_definitions() {
    let session = session(&["<svar name=hp value=70>"]);
    check(&session, "hp=70 mood=calm");
    let config = json!({ "enabled": true, "definitions": [{ "key": "hp", "max": 60 }] });
    let other = VariableDefinitions::read(&config, &mut |_| ()).unwrap();
    assert_eq!(format_variables(&session, &other), "hp=60");
    check(&session, "hp=70 mood=calm");
}

#[test]
fn reads_values_from_all_parts() {
    let mut session = session(&["x"]);
    let parts = json!([{ "type": "text", "text": "<svar name=hp value=1>" }, { "type": "text", "text": "<svar name=hp>" }]);
    let content: Content = serde_json::from_value(parts).unwrap();
    let edit = SessionOp::Edit { id: "n0".into(), edit: Box::new(NodeEdit::content(content)) };
    session.apply(&edit).unwrap();
    let variables = Variables::from_session(&session, &definitions());
    assert_eq!(variables.get("hp").unwrap().to_text(), "1");
    let pointers: Vec<_> =
        variables.findings().into_iter().map(|one| one.location.pointer.unwrap()).collect();
    assert_eq!(pointers, ["/nodes/n0/content/1/text"]);
}

fn text() -> impl Strategy<Value = String> {
    let tag = (
        prop::sample::select(vec!["hp", "mood", "new", "a.b", "界"]),
        prop::sample::select(vec!["=", "+", "-", "*", "/", "pow"]),
        prop::sample::select(vec!["0", "1", "7", "-3", "x", "[1]", "1e308"]),
    );
    let tag = tag.prop_map(|(name, op, value)| format!("<svar name={name} op={op} value='{value}'/> "));
    prop::collection::vec(prop_oneof![3 => tag, 1 => Just("plain <svar name=".to_owned())], 0..3)
        .prop_map(|pieces| pieces.concat())
}

fn op(session: &Session, (kind, at, number, text): &(u8, usize, usize, String)) -> SessionOp {
    let ids: Vec<NodeId> = session.nodes().map(|(id, _)| id.clone()).collect();
    let id = ids[at % ids.len()].clone();
    let new = node(1_000 + number, text, if number % 3 == 0 { Role::User } else { Role::Assistant });
    match kind {
        0..=3 => SessionOp::Append { parent: session.active_leaf_id().clone(), node: new },
        4 => SessionOp::Append { parent: id, node: new },
        5 => SessionOp::Edit { id, edit: Box::new(NodeEdit::content(Content::Text(text.as_str().into()))) },
        6 => SessionOp::Toggle { id, enabled: number % 2 == 0 },
        7 => SessionOp::Remove { id },
        8 => SessionOp::Insert { after: id, node: new },
        _ => SessionOp::ActivateLeaf { id },
    }
}

proptest! {
    #[test]
    fn computes_same_values_with_and_without_cache(
        draws in prop::collection::vec((0_u8..10, any::<usize>(), 0_usize..10_000, text()), 1..40),
    ) {
        let definitions = definitions();
        let mut session = Session::new("s");
        let mut undos = Vec::new();
        for draw in &draws {
            undos.extend(session.apply(&op(&session, draw)));
            let known = Variables::from_session(&session, &definitions);
            prop_assert_eq!(known, Variables::from_session(&forgetful(&session), &definitions));
        }
        while let Some(undo) = undos.pop() {
            session.apply(&undo).unwrap();
            let known = Variables::from_session(&session, &definitions);
            prop_assert_eq!(known, Variables::from_session(&forgetful(&session), &definitions));
        }
        prop_assert_eq!(format_variables(&session, &definitions), "hp=50 mood=calm");
    }
}
