use ctx_types::session::{History, HistoryError, Node, NodeEdit, NodeMetadata, Session, SessionOp};
use ctx_types::{Content, Role};
use serde_json::{Value, json};

use crate::session::{assert_sound, bytes, line, load, tree};

fn summary(id: &str, listed: &[&str]) -> Box<Node> {
    let mut node = Node::new(Role::System, "in short").with_id(id);
    node.metadata = Some(Box::new(NodeMetadata {
        is_compression_node: Some(true),
        compressed_node_ids: listed.iter().map(|id| (*id).into()).collect(),
        ..NodeMetadata::default()
    }));
    Box::new(node)
}

fn compress(after: &str) -> SessionOp {
    SessionOp::Insert { after: after.into(), node: summary("s", &["a", "b"]) }
}

fn append(session: &mut Session, parent: &str, id: &str) {
    let node = Box::new(Node::new(Role::User, id).with_id(id));
    session.apply(&SessionOp::Append { parent: parent.into(), node }).unwrap();
}

fn edit(id: &str, text: &str) -> SessionOp {
    let edit = Box::new(NodeEdit::content(Content::Text(text.into())));
    SessionOp::Edit { id: id.into(), edit }
}

#[track_caller]
fn check(before: &str, ops: &[SessionOp], meanwhile: impl FnOnce(&mut Session), undone: &str, redone: &str) {
    let (mut session, mut history) = (tree(before), History::default());
    for op in ops {
        history.apply(&mut session, "it", Some(7), op.clone()).unwrap();
    }
    meanwhile(&mut session);
    history = stored(&history, &mut session);
    history.undo(&mut session).unwrap();
    assert_sound(&session);
    assert_eq!(line(&session), undone, "undone");
    history = stored(&history, &mut session);
    history.redo(&mut session).unwrap();
    assert_sound(&session);
    assert_eq!(line(&session), redone, "redone");
}

fn stored(history: &History, session: &mut Session) -> History {
    history.write(&mut session.header);
    *session = serde_json::from_str(&bytes(session)).unwrap();
    let (read, found) = History::read(&session.header);
    assert_eq!(found, []);
    assert_eq!(read, *history);
    read
}

#[test]
fn restores_file_exactly_on_undo() {
    let (mut session, mut history) = (tree("r(a(b(>c*) d))"), History::default());
    let before = bytes(&session);
    history.apply(&mut session, "compress", None, compress("b")).unwrap();
    let after = bytes(&session);
    assert_eq!(&*history.undo(&mut session).unwrap(), "compress");
    assert_eq!(bytes(&session), before);
    assert_eq!(&*history.redo(&mut session).unwrap(), "compress");
    assert_eq!(bytes(&session), after);
}

#[test]
fn fails_if_nothing_to_undo_or_redo() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    assert_eq!(history.undo(&mut session), Err(HistoryError::Empty { direction: "undo" }));
    history.apply(&mut session, "x", None, compress("b")).unwrap();
    assert_eq!(history.redo(&mut session).unwrap_err().to_string(), "nothing to redo");
}

#[test]
fn clears_redo_after_new_operation() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    history.apply(&mut session, "x", None, compress("b")).unwrap();
    history.undo(&mut session).unwrap();
    history.apply(&mut session, "y", None, edit("a", "z")).unwrap();
    assert_eq!((history.undoable().len(), history.redoable().len()), (1, 0));
}

#[test]
fn omits_failed_operation_from_log() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    let error = history.apply(&mut session, "x", None, compress("z")).unwrap_err();
    assert_eq!(error.to_string(), "no node `z`");
    assert_eq!(history, History::default());
}

#[test]
fn keeps_messages_after_undone_summary() {
    check(
        "r(a(b*))",
        &[compress("b")],
        |session| append(session, "s", "n"),
        "r(>a(>b(>n*)))",
        "r(>a(>b(>s(>n*))))",
    );
}

#[test]
fn undoes_summary_despite_later_messages() {
    check(
        "r(a(b(>c*)))",
        &[compress("b")],
        |session| append(session, "c", "n"),
        "r(>a(>b(>c(>n*))))",
        "r(>a(>b(>s(>c(>n*)))))",
    );
}

#[test]
fn keeps_other_edits_when_undoing() {
    let (mut session, mut history) = (tree("r(a(b(>c*)))"), History::default());
    history.apply(&mut session, "compress", None, compress("b")).unwrap();
    session.apply(&edit("b", "better")).unwrap();
    history.undo(&mut session).unwrap();
    let text = |session: &Session, id: &str| session.node(id).unwrap().content.clone();
    assert_eq!(text(&session, "b"), Some(Content::Text("better".into())));
    assert!(session.node("s").is_none());
}

#[test]
fn undoes_edit_despite_later_messages() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    history.apply(&mut session, "edit", None, edit("b", "new")).unwrap();
    append(&mut session, "b", "n");
    history.undo(&mut session).unwrap();
    assert_eq!(session.node("b").unwrap().content, Some(Content::Text("b".into())));
    assert_eq!(line(&session), "r(>a(>b(>n*)))");
}

#[test]
fn rejects_undo_of_overwritten_edit() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    history.apply(&mut session, "edit", None, edit("b", "new")).unwrap();
    session.apply(&edit("b", "newer")).unwrap();
    let before = session.clone();
    let error = history.undo(&mut session).unwrap_err();
    assert_eq!(error.to_string(), "cannot undo `edit`: `b` was edited since");
    assert!(session == before && history.undoable().len() == 1);
}

#[test]
fn undoes_toggle_despite_later_messages() {
    check(
        "r(a(b*))",
        &[SessionOp::Toggle { id: "b".into(), enabled: false }],
        |session| append(session, "b", "n"),
        "r(>a(>b(>n*)))",
        "r(>a(>~b(>n*)))",
    );
}

#[test]
fn restores_deleted_summary_despite_later_messages() {
    check(
        "r(a(b(>sS[a,b](>c*))))",
        &[SessionOp::Remove { id: "s".into() }],
        |session| append(session, "c", "n"),
        "r(>a(>b(>s(>c(>n*)))))",
        "r(>a(>b(>c(>n*))))",
    );
}

#[test]
fn rejects_undo_of_deleted_summary() {
    let (mut session, mut history) = (tree("r(a(b*))"), History::default());
    history.apply(&mut session, "compress", None, compress("b")).unwrap();
    session.apply(&SessionOp::Remove { id: "s".into() }).unwrap();
    let error = history.undo(&mut session).unwrap_err();
    assert_eq!(error.to_string(), "cannot undo `compress`: `s` no longer exists");
}

#[test]
fn limits_log_by_count_and_size() {
    let (mut session, mut history) = (tree("r(a*)"), History::default());
    for number in 0..60 {
        history.apply(&mut session, &number.to_string(), None, edit("a", &number.to_string())).unwrap();
    }
    let labels: Vec<&str> = history.undoable().iter().map(|entry| &*entry.label).collect();
    assert_eq!((labels.len(), labels[0], labels[49]), (50, "10", "59"));
    let huge = "x".repeat(3 << 20);
    history.apply(&mut session, "huge", None, edit("a", &huge)).unwrap();
    assert_eq!(history.undoable().len(), 50);
    history.apply(&mut session, "huge again", None, edit("a", &huge)).unwrap();
    assert_eq!(history.undoable().len(), 0, "the inverse holds the old text and the operation the new text");
}

#[test]
fn undoes_compression_before_messages_larger_than_the_log() {
    let (mut session, mut history) = (tree("r(a(b(>c*) d))"), History::default());
    let mut parent = "c".to_owned();
    for at in 0..10 {
        let id = format!("m{at}");
        append(&mut session, &parent, &id);
        session.apply(&edit(&id, &"many words ".repeat(50_000))).unwrap();
        parent = id;
    }
    let before = bytes(&session);
    history.apply(&mut session, "compress", None, compress("b")).unwrap();
    assert_eq!(&*history.undo(&mut session).unwrap(), "compress");
    assert!(bytes(&session) == before, "the message is as it was");
}

#[test]
fn writes_no_log_without_operations() {
    let mut session = tree("r(a*)");
    let before = bytes(&session);
    History::default().write(&mut session.header);
    assert_eq!(bytes(&session), before);
}

#[test]
fn keeps_log_of_another_version() {
    let newer = json!({ "version": 2, "steps": [1, 2] });
    let document = json!({
        "nodes": {
            "r": { "id": "r", "role": "system", "content": "", "childrenIds": ["a"] },
            "a": { "id": "a", "role": "user", "content": "hello", "parentId": "r", "childrenIds": [] },
        },
        "rootNodeId": "r",
        "activeLeafId": "a",
        "operationLog": newer,
    });
    let (mut session, _) = load(&document);
    let (mut history, found) = History::take(&mut session.header);
    assert_eq!(found.len(), 1);
    let written = |session: &mut Session, history: &History| {
        history.write(&mut session.header);
        serde_json::from_str::<Value>(&bytes(session)).unwrap()["operationLog"].clone()
    };
    assert_eq!(written(&mut session, &history), newer);
    history.apply(&mut session, "it", None, edit("a", "hi")).unwrap();
    assert_eq!(written(&mut session, &history)["otherVersion"], newer);
    stored(&history, &mut session);
    history.undo(&mut session).unwrap();
    assert_eq!(written(&mut session, &history)["otherVersion"], newer);
}

#[test]
fn reports_unreadable_log() {
    let found = |log: Value| {
        let (session, _) = load(&json!({ "nodes": {}, "operationLog": log }));
        let (history, found) = History::read(&session.header);
        let places = found.iter().map(|found| found.location.pointer.clone().unwrap_or_default());
        (history.undoable().len(), places.collect::<Vec<_>>())
    };
    assert_eq!(found(json!(null)), (0, vec![]));
    assert_eq!(found(json!(7)), (0, vec!["/operationLog".to_owned()]));
    assert_eq!(found(json!({ "version": 2 })), (0, vec!["/operationLog".to_owned()]));
    assert_eq!(found(json!({ "version": 1, "undo": {} })), (0, vec![]));
    let entry = json!({ "label": "x", "op": { "op": "toggle", "id": "a", "enabled": true },
        "wayBack": { "op": "patch" }, "state": "0" });
    assert_eq!(
        found(json!({ "version": 1, "undo": [entry, { "op": "fly" }, entry] })),
        (1, vec!["/operationLog/undo/1".to_owned()])
    );
}
