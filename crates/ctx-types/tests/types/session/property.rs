use ctx_types::session::{Change, History, Node, NodeEdit, NodeId, NodeMetadata, Session, SessionOp};
use ctx_types::{Content, Role};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::session::{assert_sound, bytes, line, load};

/// A random operation before nodes are known: kind, two nodes, a switch.
type Draw = (u8, usize, usize, bool);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    proptest::collection::vec((0_u8..7, 0_usize..64, 0_usize..64, any::<bool>()), 0..12)
}

/// Each node names an earlier node as its parent.
fn sound_file() -> impl Strategy<Value = Value> {
    let node = (any::<usize>(), any::<usize>(), any::<bool>(), any::<bool>());
    (proptest::collection::vec(node, 0..14), any::<usize>(), any::<bool>()).prop_map(
        |(nodes, leaf, shuffled)| {
            let mut file = vec![json!({ "id": "n0", "parentId": null, "childrenIds": [] })];
            for (index, (parent, selected, is_summary, enabled)) in nodes.iter().enumerate() {
                let (id, parent) = (format!("n{}", index + 1), parent % (index + 1));
                let mut node =
                    json!({ "content": id, "id": id, "childrenIds": [], "parentId": format!("n{parent}") });
                if *is_summary {
                    node["metadata"] =
                        json!({ "isCompressionNode": true, "compressedNodeIds": [format!("n{selected}")] });
                }
                if *enabled {
                    node["isEnabled"] = json!(true);
                }
                file.push(node);
                let children = file[parent]["childrenIds"].as_array_mut().unwrap();
                children.push(json!(id));
                let selected = children[selected % children.len()].clone();
                if *enabled {
                    file[parent]["lastSelectedChildId"] = selected;
                }
            }
            let leaf = format!("n{}", leaf % file.len());
            if shuffled {
                file.reverse();
            }
            let nodes: serde_json::Map<String, Value> =
                file.into_iter().map(|node| (node["id"].as_str().unwrap().to_owned(), node)).collect();
            json!({ "activeLeafId": leaf, "x": null, "nodes": nodes, "rootNodeId": "n0", "name": "…" })
        },
    )
}

fn broken_file() -> impl Strategy<Value = Value> {
    let id = || prop_oneof![6 => (0_usize..8).prop_map(|n| json!(format!("n{n}"))), 1 => Just(json!(null)), 1 => Just(json!(7))];
    let node = (
        id(),
        proptest::option::of(id()),
        proptest::collection::vec(id(), 0..4),
        proptest::option::of(id()),
        0..10,
    );
    let node = node.prop_map(|(own, parent, children, selected, kind)| {
        let mut node = json!({ "childrenIds": children, "content": if kind < 7 { "x" } else { "" } });
        for (key, value) in [("parentId", parent), ("lastSelectedChildId", selected)] {
            if let Some(value) = value {
                node[key] = value;
            }
        }
        match kind {
            0 => own,
            1 => json!({ "childrenIds": 5, "id": own, "parentId": [] }),
            2 => {
                node["id"] = own;
                node
            }
            _ => node,
        }
    });
    (proptest::collection::vec(node, 0..8), id(), id()).prop_map(|(nodes, root, leaf)| {
        let nodes: serde_json::Map<String, Value> =
            nodes.into_iter().enumerate().map(|(index, node)| (format!("n{index}"), node)).collect();
        json!({ "rootNodeId": root, "nodes": nodes, "activeLeafId": leaf })
    })
}

fn op(session: &Session, (kind, a, b, switch): Draw, number: usize) -> SessionOp {
    let ids: Vec<NodeId> = session.nodes().map(|(id, _)| id.clone()).chain(["x".into()]).collect();
    let id = ids[a % ids.len()].clone();
    let other = ids[b % ids.len()].clone();
    let new = || {
        let mut node = Node::new(Role::Assistant, "new").with_id(format!("new{number}"));
        if switch {
            let listed = NodeMetadata {
                is_compression_node: Some(true),
                compressed_node_ids: vec![id.clone()],
                ..NodeMetadata::default()
            };
            node.metadata = Some(Box::new(listed));
        }
        Box::new(node)
    };
    match kind {
        0 => SessionOp::Append { parent: other, node: new() },
        1 => SessionOp::Append { parent: session.active_leaf_id().clone(), node: new() },
        2 => SessionOp::Insert { after: other, node: new() },
        3 => SessionOp::Edit { id, edit: edit(switch) },
        4 => SessionOp::Toggle { id, enabled: switch },
        5 => SessionOp::Remove { id },
        _ => SessionOp::ActivateLeaf { id },
    }
}

fn edit(switch: bool) -> Box<NodeEdit> {
    let parts =
        json!([{ "type": "text", "text": "t" }, { "type": "image_url", "image_url": { "url": "u" } }]);
    let content: Content = serde_json::from_value(parts).unwrap();
    Box::new(NodeEdit {
        content: if switch { Change::Set(content) } else { Change::Clear },
        metadata: if switch { Change::Keep } else { Change::Set(Box::default()) },
        ..NodeEdit::default()
    })
}

fn stored(op: &SessionOp) -> SessionOp {
    let text = serde_json::to_string(op).unwrap();
    let read: SessionOp = serde_json::from_str(&text).unwrap();
    assert_eq!(read, *op, "{text}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

/// Applies, undoes, redoes, and stores each operation, then undoes all.
fn check(file: &Value, draws: &[Draw], is_file_sound: bool) {
    let (mut session, diagnostics) = load(file);
    assert!(diagnostics.is_empty() || !is_file_sound, "{diagnostics:?}");
    assert_eq!(bytes(&session), file.to_string());
    assert_sound(&session);
    let mut undos = Vec::new();
    for (number, draw) in draws.iter().enumerate() {
        let before = (bytes(&session), session.clone());
        let op = op(&session, *draw, number);
        let Ok(undo) = session.apply(&op) else {
            assert_eq!(bytes(&session), before.0, "{op:?} failed");
            assert!(session == before.1, "{op:?} failed");
            continue;
        };
        assert_sound(&session);
        let after = (bytes(&session), session.clone());
        if is_file_sound {
            assert_eq!(line(&serde_json::from_str(&after.0).unwrap()), line(&session), "after save and load");
            let mut reloaded: Session = serde_json::from_str(&before.0).unwrap();
            let undo = reloaded.apply(&stored(&op)).unwrap();
            assert_eq!(bytes(&reloaded), after.0, "{op:?} after save and load");
            session = serde_json::from_str(&after.0).unwrap();
            session.apply(&undo).unwrap();
            assert_eq!(bytes(&session), before.0, "{op:?} undone after save and load");
            session = after.1.clone();
        }
        let redo = session.apply(&stored(&undo)).unwrap();
        assert_sound(&session);
        assert_eq!(bytes(&session), before.0, "{op:?} undone");
        assert!(session == before.1, "{op:?} undone");
        let again = match number % 2 {
            0 => session.apply(&stored(&redo)).unwrap(),
            _ => session.apply(&stored(&op)).unwrap(),
        };
        assert_eq!(bytes(&session), after.0, "{op:?} done again");
        assert!(session == after.1, "{op:?} done again");
        assert_eq!(again, undo);
        undos.push(undo);
    }
    for undo in undos.iter().rev() {
        session.apply(undo).unwrap();
        assert_sound(&session);
    }
    assert_eq!(bytes(&session), file.to_string(), "all undone");
}

/// Applies operations through the log with some undos and redos, then undoes and redoes all.
fn check_history(file: &Value, draws: &[Draw]) {
    let (mut session, _) = load(file);
    let mut history = History::default();
    let mut states = vec![bytes(&session)];
    for (number, draw) in draws.iter().enumerate() {
        let op = op(&session, *draw, number);
        if history.apply(&mut session, "op", None, op).is_ok() {
            states.push(bytes(&session));
        }
        if draw.3 && history.undo(&mut session).is_ok() {
            states.pop();
        }
        assert_eq!(Some(&bytes(&session)), states.last());
    }
    for state in states.iter().rev().skip(1) {
        history.undo(&mut session).unwrap();
        assert_eq!(bytes(&session), *state);
    }
    for state in states.iter().skip(1) {
        history.redo(&mut session).unwrap();
        assert_eq!(bytes(&session), *state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undoes_operations_on_valid_trees_exactly(file in sound_file(), draws in draws()) {
        check(&file, &draws, true);
    }

    #[test]
    fn undoes_and_redoes_log_exactly(sound in sound_file(), broken in broken_file(), draws in draws()) {
        check_history(&sound, &draws);
        check_history(&broken, &draws);
    }

    #[test]
    fn undoes_operations_on_broken_trees_exactly(file in broken_file(), draws in draws()) {
        check(&file, &draws, false);
    }
}
