use ctx_types::session::{Node, Session};
use ctx_types::{Persist, Reader, Role};
use serde_json::json;

use crate::session::{assert_sound, bytes, ids, line};

/// `-` has no id; `!` is malformed.
fn build(words: &str) -> (Session, Vec<String>) {
    let nodes = words.split_whitespace().map(|word| match word {
        "-" => Node::new(Role::User, "text"),
        "!" => Node::read(json!("broken"), &mut Reader::new()),
        id => Node::new(Role::User, "text").with_id(id),
    });
    let (session, diagnostics) = Session::linear("s", nodes);
    (session, diagnostics.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn check(words: &str, expected: &str, diagnostics: &[&str]) {
    let (session, found) = build(words);
    assert_eq!(line(&session), expected);
    assert_eq!(found, diagnostics);
    assert_sound(&session);
    let reloaded: Session = serde_json::from_str(&bytes(&session)).unwrap();
    assert_eq!(reloaded, session);
}

#[test]
fn numbers_messages_without_ids() {
    check("- - -", "root(>n1(>n2(>n3*)))", &[]);
    check("", "root*", &[]);
}

#[test]
fn skips_numbers_already_in_use() {
    check("- n1 - n3 -", "root(>n2(>n1(>n4(>n3(>n5*)))))", &[]);
}

#[test]
fn renames_and_reports_duplicate_id() {
    let message = "error[CTX0123]: duplicate id `a`; the later message is renamed to `n1` (at /2)";
    check("a b a", "root(>a(>b(>n1*)))", &[message]);
}

#[test]
fn renames_root_on_id_collision() {
    check("root -", "root-2(>root(>n1*))", &[]);
}

#[test]
fn keeps_malformed_message_outside_the_tree() {
    check("a ! b", "root(>a(>b*))", &[]);
    let (session, _) = build("a ! b");
    assert_eq!(session.write()["nodes"]["n1"], "broken");
    assert_eq!(ids(session.path()), ["a", "b"]);
}

#[test]
fn builds_many_messages_without_recursion() {
    let count = 200_000;
    let (mut session, _) = Session::linear("s", (0..count).map(|_| Node::default()));
    assert_eq!(session.depth(session.active_leaf_id()), Some(count));
    assert_eq!(session.path().len(), count);
    let append = ctx_types::session::SessionOp::Append {
        parent: session.active_leaf_id().clone(),
        node: Box::new(Node::new(Role::User, "").with_id("last")),
    };
    for _ in 0..100 {
        let undo = session.apply(&append).unwrap();
        session.apply(&undo).unwrap();
    }
}
