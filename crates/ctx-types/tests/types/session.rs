//! Sessions through the public API.
//!
//! One-line trees: in `root(a(b >c*) d)`, `>` marks the selected branch, `*` the active leaf, `~` a disabled
//! node, and `S[b,c]` a summary with its listed ids.

mod file;
mod hidden;
mod history;
mod linear;
mod message;
mod op;
mod property;

use std::collections::BTreeSet;

use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Diagnostic, Persist, Reader};
use serde_json::{Value, json};

fn load(file: &Value) -> (Session, Vec<Diagnostic>) {
    let mut reader = Reader::new();
    let session = Session::read(file.clone(), &mut reader);
    (session, reader.finish())
}

fn bytes(session: &Session) -> String {
    let text = serde_json::to_string(session).unwrap();
    assert_eq!(text, session.write().to_string(), "both ways to write agree");
    text
}

#[track_caller]
fn tree(line: &str) -> Session {
    let mut file = json!({ "id": "s", "nodes": {}, "rootNodeId": "", "activeLeafId": "" });
    let mut parents: Vec<String> = Vec::new();
    let mut last = String::new();
    for token in tokens(line) {
        match token.as_str() {
            "(" => parents.push(std::mem::take(&mut last)),
            ")" => last = parents.pop().unwrap(),
            name => last = add_node(&mut file, name, parents.last().map(String::as_str)),
        }
    }
    let (session, diagnostics) = load(&file);
    assert_eq!(diagnostics, [], "{line}");
    session
}

fn tokens(line: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    let mut in_list = false;
    for letter in line.chars() {
        in_list = (in_list || letter == '[') && letter != ']';
        match letter {
            '(' | ')' if !in_list => tokens.extend([letter.to_string(), String::new()]),
            ' ' => tokens.push(String::new()),
            _ => tokens.last_mut().unwrap().push(letter),
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

fn add_node(file: &mut Value, token: &str, parent: Option<&str>) -> String {
    let (head, listed) = token.split_once("S[").unwrap_or((token, ""));
    let id = head.trim_matches(['>', '~', '*']);
    let mut node = json!({ "id": id, "parentId": parent, "childrenIds": [], "content": id, "role": "user" });
    if token.contains("S[") {
        let ids = listed.split([']', ',']).filter(|id| !id.is_empty() && *id != "*");
        node["metadata"] = json!({ "isCompressionNode": true, "compressedNodeIds": ids.collect::<Vec<_>>() });
    }
    if head.contains('~') {
        node["isEnabled"] = json!(false);
    }
    file["nodes"][id] = node;
    if token.ends_with('*') {
        file["activeLeafId"] = json!(id);
    }
    let Some(parent) = parent else {
        file["rootNodeId"] = json!(id);
        return id.to_owned();
    };
    let above = &mut file["nodes"][parent];
    above["childrenIds"].as_array_mut().unwrap().push(json!(id));
    if head.contains('>') {
        above["lastSelectedChildId"] = json!(id);
    }
    id.to_owned()
}

/// Omits the ids that summaries list.
fn line(session: &Session) -> String {
    fn write(session: &Session, id: &str, is_selected: bool, line: &mut String) {
        let node = session.node(id).unwrap();
        line.push_str(if is_selected { ">" } else { "" });
        line.push_str(if node.is_enabled() { "" } else { "~" });
        line.push_str(id);
        line.push_str(if **session.active_leaf_id() == *id { "*" } else { "" });
        for (index, child) in node.children_ids.iter().enumerate() {
            line.push(if index == 0 { '(' } else { ' ' });
            write(session, child, node.last_selected_child_id.as_ref() == Some(child), line);
        }
        line.push_str(if node.children_ids.is_empty() { "" } else { ")" });
    }
    let mut line = String::new();
    write(session, session.root_id(), false, &mut line);
    line
}

#[track_caller]
fn assert_sound(session: &Session) {
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let mut below = vec![(session.root_id().clone(), None, 0)];
    while let Some((id, parent, depth)) = below.pop() {
        let node = session.node(&id).unwrap_or_else(|| panic!("`{id}` does not exist"));
        assert!(seen.insert(id.clone()), "`{id}` is listed twice");
        assert_eq!((&node.id, &node.parent_id), (&Some(id.clone()), &parent));
        assert_eq!(session.depth(&id), Some(depth), "depth of `{id}`");
        let selected = &node.last_selected_child_id;
        assert!(
            selected.iter().all(|selected| node.children_ids.contains(selected)),
            "`{id}` selects no child"
        );
        let child = |child: &NodeId| (child.clone(), Some(id.clone()), depth + 1);
        below.extend(node.children_ids.iter().map(child));
    }
    assert_eq!(seen.len(), session.nodes().count(), "some nodes are out of reach");
    assert!(session.node(session.active_leaf_id()).is_some(), "the leaf does not exist");
    assert_eq!(session.path().len(), session.depth(session.active_leaf_id()).unwrap());
    assert_folds(session);
}

#[track_caller]
fn assert_folds(session: &Session) {
    let said = |node: &Node| (node.id.clone(), node.is_enabled(), node.content.clone());
    let folded = session.fold_path(1, Vec::new, |path, _, node| path.push(said(node)));
    assert_eq!(*folded, session.path().into_iter().map(said).collect::<Vec<_>>());
}

fn ids<'a>(nodes: impl IntoIterator<Item = &'a ctx_types::session::Node>) -> Vec<String> {
    nodes.into_iter().map(|node| node.id.as_ref().unwrap().to_string()).collect()
}
