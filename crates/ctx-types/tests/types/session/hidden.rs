use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::{DisplayState, display_path};
use ctx_types::session::{NodeId, Session, SessionOp, visible_path};
use proptest::prelude::*;

use crate::session::{ids, tree};

/// Returns hidden messages with their summaries.
fn hidden_by(session: &Session) -> BTreeMap<NodeId, NodeId> {
    let hidden = display_path(session, &[]).into_iter().filter_map(|shown| match shown.state {
        DisplayState::Hidden { by } => Some((shown.id.clone(), by)),
        DisplayState::Visible | DisplayState::Disabled => None,
    });
    hidden.collect()
}

fn pairs(session: &Session) -> String {
    let hidden = hidden_by(session);
    let path = session.path().into_iter().filter_map(|node| node.id.as_ref());
    let pairs: Vec<String> = path.filter_map(|id| Some(format!("{id}:{}", hidden.get(id)?))).collect();
    pairs.join(" ")
}

/// `hidden` has `node:summary` pairs; `sent` lists sent nodes.
#[track_caller]
fn check(line: &str, hidden: &str, sent: &str) {
    let session = tree(line);
    assert_eq!(pairs(&session), hidden, "{line}");
    assert_eq!(ids(visible_path(&session)).join(" "), sent, "{line}");
}

#[test]
fn hides_through_chain_of_summaries() {
    check("root(a(sS[a](b(tS[s,b](c(uS[t,c](d*)))))))", "a:u s:u b:u t:u c:u", "u d");
}

#[test]
fn ignores_disabled_inner_summary_below_enabled_outer() {
    check("root(a(b(~sS[a,b](c(tS[s,c](d*))))))", "a:t b:t s:t c:t", "t d");
}

#[test]
fn hides_messages_by_their_own_summary() {
    check("root(a(sS[a](b(tS[b](c*)))))", "a:s b:t", "s t c");
}

#[test]
fn hides_summary_of_only_hidden_messages() {
    check("root(a(b(sS[a,b](c(tS[a,b,c](d*))))))", "a:t b:t s:t c:t", "t d");
    check("root(a(sS[a](tS[a](b*))))", "a:t s:t", "t b");
}

#[test]
fn sends_both_overlapping_summaries() {
    check("root(a(b(sS[a,b](c(tS[b,c](d*))))))", "a:s b:t c:t", "s t d");
}

#[test]
fn shows_originals_on_other_branches() {
    check("root(a(b(sS[a,b](c)) d*))", "", "a d");
    check("root(a(b*(sS[a,b](c))))", "", "a b");
}

#[test]
fn keeps_self_listing_summary_visible() {
    check("root(a(sS[a,s](b*)))", "a:s", "s b");
    check("root(a(sS[s](b*)))", "", "a s b");
}

#[test]
fn prefers_newer_of_mutually_listed_summaries() {
    check("root(a(sS[a,t](b(tS[s,b](c*)))))", "a:t s:t b:t", "t c");
    check("root(a(sS[a,t](b(tS[b,u](uS[s](c*))))))", "a:u s:u b:u t:u", "u c");
}

#[test]
fn accepts_summary_above_its_messages() {
    check("root(sS[a,b](a(b(c*))))", "a:s b:s", "s c");
    check("root(uS[t,b](a(tS[a](b(c*)))))", "a:u t:u b:u", "u c");
    check("root(vS[u](uS[t](a(tS[a](c*)))))", "u:v a:v t:v", "v c");
}

#[test]
fn keeps_messages_hidden_under_hidden_summary() {
    check("root(vS[t](sS[a](a(tS[a](c*)))))", "s:v a:v t:v", "v c");
}

#[test]
fn sends_no_message_of_empty_conversation() {
    check("root*", "", "");
    check("root*(a)", "", "");
}

/// `-` marks nodes that are not shown, `!` disabled nodes, and `:summary` hidden nodes.
#[track_caller]
fn check_display(line: &str, expanded: &[&str], expected: &str) {
    let session = tree(line);
    let expanded: Vec<NodeId> = expanded.iter().map(|id| (*id).into()).collect();
    let shown = display_path(&session, &expanded);
    let shown = shown.iter().map(|shown| {
        let sign = if shown.is_shown { "" } else { "-" };
        match &shown.state {
            DisplayState::Visible => format!("{sign}{}", shown.id),
            DisplayState::Hidden { by } => format!("{sign}{}:{by}", shown.id),
            DisplayState::Disabled => format!("{sign}!{}", shown.id),
        }
    });
    assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{line}");
}

#[test]
fn shows_hidden_messages_of_expanded_summary() {
    let line = "root(a(b(sS[a,b](c(tS[c](d*))))))";
    check_display(line, &[], "-a:s -b:s s -c:t t d");
    check_display(line, &["s"], "a:s b:s s -c:t t d");
    check_display(line, &["s", "t"], "a:s b:s s c:t t d");
    check(line, "a:s b:s c:t", "s t d");
}

#[test]
fn shows_everything_in_expanded_outer_summary() {
    let line = "root(a(~b(sS[a,b](c(tS[s,c](~d*))))))";
    check_display(line, &["t"], "a:t b:t s:t c:t t !d");
    check_display(line, &["s"], "-a:t -b:t -s:t -c:t t !d");
}

#[track_caller]
fn check_after(line: &str, op: &SessionOp, hidden: &str) {
    let mut session = tree(line);
    let before = pairs(&session);
    let undo = session.apply(op).unwrap();
    assert_eq!(pairs(&session), hidden, "{line}");
    session.apply(&undo).unwrap();
    assert_eq!(pairs(&session), before);
}

#[test]
fn updates_hidden_messages_after_each_operation() {
    let append = |parent: &str, id: &str| SessionOp::Append {
        parent: parent.into(),
        node: Box::new(ctx_types::session::Node::new(ctx_types::Role::User, "").with_id(id)),
    };
    let toggle = |id: &str, enabled| SessionOp::Toggle { id: id.into(), enabled };
    let line = "root(a(b(sS[a,b,n](c*))))";
    check_after(line, &append("c", "d"), "a:s b:s");
    check_after(line, &append("c", "n"), "a:s b:s n:s");
    check_after(line, &append("a", "d"), "");
    check_after(line, &toggle("s", false), "");
    check_after(line, &toggle("a", false), "a:s b:s");
    check_after(line, &SessionOp::ActivateLeaf { id: "b".into() }, "");
    check_after(line, &SessionOp::Remove { id: "s".into() }, "");
    check_after(line, &SessionOp::Remove { id: "a".into() }, "");
    check_after("root(a(~sS[a](b*)))", &toggle("s", true), "a:s");
}

fn summaries() -> impl Strategy<Value = Session> {
    let node = (proptest::collection::vec(0_usize..9, 0..4), any::<bool>());
    proptest::collection::vec(node, 1..9).prop_map(|nodes| {
        let count = nodes.len();
        let mut line = "root".to_owned();
        for (index, (listed, enabled)) in nodes.into_iter().enumerate() {
            let listed: Vec<String> = listed.iter().map(|id| format!("n{id}")).collect();
            let (off, leaf) = (if enabled { "" } else { "~" }, if index + 1 == count { "*" } else { "" });
            line = format!("{line}({off}n{index}S[{}]{leaf}", listed.join(","));
        }
        tree(&(line + &")".repeat(count)))
    })
}

fn closure(session: &Session, id: &NodeId) -> BTreeSet<NodeId> {
    let mut closure = BTreeSet::new();
    let mut open = vec![id.clone()];
    while let Some(next) = open.pop() {
        let listed = session.node(&next).map(ctx_types::session::Node::summarized_ids).unwrap_or_default();
        open.extend(
            listed.iter().filter(|id| session.node(id).is_some() && closure.insert((*id).clone())).cloned(),
        );
    }
    closure.remove(id);
    closure
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_sent_and_hidden_messages_consistent(session in summaries()) {
        let set = hidden_by(&session);
        let sent: BTreeSet<String> = ids(visible_path(&session)).into_iter().collect();
        for (id, by) in &set {
            prop_assert!(sent.contains(&**by), "`{by}` hides `{id}` and is not sent");
            let listed = session.node(id).unwrap().summarized_ids();
            let mut others = listed.iter().filter(|other| *other != id && session.node(other).is_some()).peekable();
            let is_redundant = others.peek().is_some() && others.all(|other| set.contains_key(other));
            prop_assert!(closure(&session, by).contains(id) || is_redundant, "`{by}` does not list `{id}`");
        }
        for id in &sent {
            let closure = closure(&session, &id.as_str().into());
            prop_assert!(closure.iter().all(|listed| set.contains_key(listed)), "a message listed by `{id}` is sent");
        }
    }
}

#[test]
fn hides_messages_listed_in_summary() {
    check("root(a(b(sS[a,b](c*))))", "a:s b:s", "s c");
}

#[test]
fn ignores_disabled_summary() {
    check("root(a(b(~sS[a,b](c*))))", "", "a b c");
}

#[test]
fn skips_disabled_messages() {
    check("root(a(~b(c*)))", "", "a c");
}

#[test]
fn hides_inner_summary_and_its_messages() {
    check("root(a(b(sS[a,b](c(tS[s,c](d*))))))", "a:t b:t s:t c:t", "t d");
    check("root(a(b(sS[a,b](c(tS[s,a,b,c](d*))))))", "a:t b:t s:t c:t", "t d");
}

#[test]
fn shows_inner_summary_if_outer_is_disabled() {
    check("root(a(b(sS[a,b](c(~tS[s,c](d*))))))", "a:s b:s", "s c d");
}

#[test]
fn ignores_ids_outside_active_branch() {
    check("root(a(b(sS[a,x,gone](c*)) x))", "a:s", "b s c");
    check("root(a(sS[x](b*)) x)", "", "a s b");
}
