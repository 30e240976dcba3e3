use ctx_types::session::{Change, Node, NodeEdit, NodePatch, Patch, Session, SessionError, SessionOp};
use ctx_types::{Content, Role};

use crate::session::{assert_sound, bytes, line, tree};

#[track_caller]
fn check(before: &str, op: &SessionOp, after: &str) {
    let mut session = tree(before);
    let original = bytes(&session);
    let undo = session.apply(op).unwrap();
    assert_eq!(line(&session), after);
    assert_sound(&session);
    let done = bytes(&session);
    let reloaded: Session = serde_json::from_str(&done).unwrap();
    assert_eq!(line(&reloaded), after, "after save and load");
    let redo = session.apply(&stored(&undo)).unwrap();
    assert_eq!(bytes(&session), original, "undone");
    assert_sound(&session);
    session.apply(&stored(&redo)).unwrap();
    assert_eq!(bytes(&session), done, "done again");
}

#[track_caller]
fn stored(op: &SessionOp) -> SessionOp {
    let text = serde_json::to_string(op).unwrap();
    let read: SessionOp = serde_json::from_str(&text).unwrap();
    assert_eq!(read, *op, "{text}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

#[track_caller]
fn check_error(before: &str, op: &SessionOp, expected: &str) {
    let mut session = tree(before);
    let original = bytes(&session);
    let error = session.apply(op).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(bytes(&session), original);
    assert_eq!(session, tree(before));
}

fn append(parent: &str, id: &str) -> SessionOp {
    SessionOp::Append { parent: parent.into(), node: Box::new(Node::new(Role::User, id).with_id(id)) }
}

fn insert(after: &str, id: &str) -> SessionOp {
    SessionOp::Insert { after: after.into(), node: Box::new(Node::new(Role::System, id).with_id(id)) }
}

fn remove(id: &str) -> SessionOp {
    SessionOp::Remove { id: id.into() }
}

fn toggle(id: &str, enabled: bool) -> SessionOp {
    SessionOp::Toggle { id: id.into(), enabled }
}

fn activate(id: &str) -> SessionOp {
    SessionOp::ActivateLeaf { id: id.into() }
}

#[test]
fn activates_appended_node() {
    check("root*", &append("root", "a"), "root(>a*)");
    check("root(>a*)", &append("a", "b"), "root(>a(>b*))");
}

#[test]
fn starts_branch_at_node_with_children() {
    check("root(>a(>b*))", &append("a", "c"), "root(>a(b >c*))");
    check("root(>a(>b*) x)", &append("x", "c"), "root(a(>b) >x(>c*))");
}

#[test]
fn selects_path_to_appended_node() {
    check("root(a(b(c*) x) y)", &append("c", "d"), "root(>a(>b(>c(>d*)) x) y)");
}

#[test]
fn moves_children_below_inserted_node() {
    check("root(>a(b >c*))", &insert("a", "s"), "root(>a(>s(b >c*)))");
    check("root(a(b c) >x*)", &insert("a", "s"), "root(a(>s(b c)) >x*)");
    check("root(>a*)", &insert("root", "s"), "root(>s(>a*))");
}

#[test]
fn activates_node_inserted_after_leaf() {
    check("root(>a*)", &insert("a", "s"), "root(>a(>s*))");
    check("root(>a*(b))", &insert("a", "s"), "root(>a(>s*(b)))");
}

#[test]
fn removes_entire_branch() {
    check("root(>a* b(c d))", &remove("b"), "root(>a*)");
    check("root(a(>b c) >d*)", &remove("b"), "root(a(>c) >d*)");
}

#[test]
fn activates_nearest_branch_after_removal() {
    check("root(a >b(>c*) d(>e f))", &remove("b"), "root(a >d(>e* f))");
    check("root(a >b* d(e f))", &remove("b"), "root(a >d(e >f*))");
    check("root(x a(>e f) >b*)", &remove("b"), "root(x >a(>e* f))");
    check("root(>a(>b(>c*)))", &remove("b"), "root(>a*)");
    check("root(>a(>b*))", &remove("a"), "root*");
}

#[test]
fn replaces_removed_summary_with_its_children() {
    check("root(>a(x >sS[a](b >c*) y))", &remove("s"), "root(>a(x b >c* y))");
    check("root(a(>sS[a](b(>d) c)) >z*)", &remove("s"), "root(a(b(>d) >c) >z*)");
}

#[test]
fn activates_neighbor_of_removed_summary_leaf() {
    check("root(>a(>sS[a]*))", &remove("s"), "root(>a*)");
    check("root(>a(>sS[a]*(b >c)))", &remove("s"), "root(>a(b >c*))");
    check("root(>a(>sS[a]* b))", &remove("s"), "root(>a(>b*))");
}

#[test]
fn writes_only_changed_toggle() {
    check("root(>a*)", &toggle("a", false), "root(>~a*)");
    check("root(>~a*)", &toggle("a", true), "root(>a*)");
    check("root(>a*)", &toggle("a", true), "root(>a*)");
    let mut session = tree("root(>a*)");
    session.apply(&toggle("a", true)).unwrap();
    assert_eq!(bytes(&session), bytes(&tree("root(>a*)")));
}

#[test]
fn selects_path_to_activated_leaf() {
    check("root(>a(>b*) c(d e))", &activate("d"), "root(a(>b) >c(>d* e))");
    check("root(>a(>b*))", &activate("a"), "root(>a*(>b))");
    check("root(>a*)", &activate("root"), "root*(>a)");
}

#[test]
fn sets_and_clears_fields_by_edit() {
    let edit = NodeEdit {
        content: Change::Set(Content::Text("new".into())),
        role: Change::Clear,
        name: Change::Set("Ada".into()),
        ..NodeEdit::default()
    };
    let op = SessionOp::Edit { id: "a".into(), edit: Box::new(edit) };
    check("root(>a*)", &op, "root(>a*)");
    let mut session = tree("root(>a*)");
    session.apply(&op).unwrap();
    let node = serde_json::json!(session.node("a").unwrap());
    let expected = r#"{"id":"a","parentId":"root","childrenIds":[],"content":"new","name":"Ada"}"#;
    assert_eq!(node.to_string(), expected);
}

#[test]
fn rejects_operations_on_unknown_nodes() {
    let line = "root(>a*)";
    for op in [append("x", "n"), insert("x", "n"), remove("x"), toggle("x", false), activate("x")] {
        check_error(line, &op, "no node `x`");
    }
    check_error(line, &SessionOp::Edit { id: "x".into(), edit: Box::default() }, "no node `x`");
}

#[test]
fn rejects_changes_to_root() {
    let is_root = "`root` is the root; it cannot be removed, moved, or disabled";
    let edit = NodeEdit { is_enabled: Change::Set(false), ..NodeEdit::default() };
    let edit = SessionOp::Edit { id: "root".into(), edit: Box::new(edit) };
    for op in [remove("root"), toggle("root", true), edit] {
        check_error("root(>a*)", &op, is_root);
    }
}

#[test]
fn requires_unique_id_for_new_node() {
    check_error("root(>a*)", &append("a", "a"), "node `a` already exists");
    check_error("root(>a*)", &insert("a", "root"), "node `root` already exists");
    let op = SessionOp::Append { parent: "a".into(), node: Box::default() };
    check_error("root(>a*)", &op, "the new node below `a` has no id");
}

#[test]
fn ignores_links_of_new_node() {
    let mut node = Node::new(Role::User, "n").with_id("n");
    node.parent_id = Some("root".into());
    node.children_ids = vec!["a".into()];
    node.last_selected_child_id = Some("a".into());
    let op = SessionOp::Append { parent: "a".into(), node: Box::new(node) };
    check("root(>a*)", &op, "root(>a(>n*))");
}

#[track_caller]
fn check_patch(patch: Patch, expected: &str) {
    check_error("root(>a(>b*) c)", &SessionOp::Patch(patch), expected);
}

fn patch(id: &str, parent: Option<&str>, children: &[&str]) -> NodePatch {
    let mut node = Node::new(Role::User, id).with_id(id);
    node.parent_id = parent.map(Into::into);
    node.children_ids = children.iter().map(|child| (*child).into()).collect();
    NodePatch { id: id.into(), node: Some(node.into()), ..NodePatch::default() }
}

fn removal(id: &str) -> NodePatch {
    NodePatch { id: id.into(), ..NodePatch::default() }
}

#[test]
fn rejects_patch_that_breaks_links() {
    let one = |node| Patch { nodes: vec![node], active_leaf: None };
    let fault = |id: &str, fault: &str| format!("the patch does not fit node `{id}`: {fault}");
    check_patch(one(patch("n", Some("a"), &[])), &fault("n", "its parent does not list it"));
    check_patch(one(patch("c", Some("a"), &[])), &fault("c", "its parent does not list it"));
    check_patch(one(patch("a", Some("root"), &[])), &fault("b", "its parent does not list it"));
    check_patch(one(patch("a", Some("root"), &["b", "x"])), &fault("a", "lists a child with another parent"));
    check_patch(one(patch("a", Some("root"), &["b", "b"])), &fault("b", "listed twice as a child"));
    check_patch(one(patch("a", None, &["b"])), &fault("a", "only the root may have no parent"));
    check_patch(one(removal("b")), &fault("a", "lists a child with another parent"));
    check_patch(one(removal("x")), "no node `x`");
    check_patch(one(removal("root")), &SessionError::IsRoot { id: "root".into() }.to_string());
    let twice = Patch { nodes: vec![removal("c"), removal("c")], active_leaf: None };
    check_patch(twice, &fault("c", "set twice"));
}

#[test]
fn rejects_patch_that_creates_cycle() {
    let nodes =
        vec![patch("root", None, &["c"]), patch("a", Some("b"), &["b"]), patch("b", Some("a"), &["a"])];
    check_patch(Patch { nodes, active_leaf: None }, "`a` cannot go below itself");
}

#[test]
fn rejects_patch_that_removes_active_leaf() {
    let nodes = vec![removal("b"), patch("a", Some("root"), &[])];
    check_patch(Patch { nodes, active_leaf: None }, "no node `b`");
}

#[test]
fn serializes_operations_with_file_keys() {
    let op = stored(&append("root", "a"));
    let expected = r#"{"op":"append","parent":"root","node":{"id":"a","content":"a","role":"user","status":"complete"}}"#;
    assert_eq!(serde_json::to_string(&op).unwrap(), expected);
    let edit = NodeEdit { attachments: Change::Clear, ..NodeEdit::content(Content::Text("x".into())) };
    let op = stored(&SessionOp::Edit { id: "a".into(), edit: Box::new(edit) });
    let expected = r#"{"op":"edit","id":"a","edit":{"content":"x","attachments":null}}"#;
    assert_eq!(serde_json::to_string(&op).unwrap(), expected);
}
