//! The whole tree, without texts: runs of messages between branchings.

use std::collections::HashSet;

use ctx_types::Content;
use ctx_types::session::{NodeId, Session};

use super::path::start;
use crate::api_talk::{RunView, TreeView};

/// How many runs are told.
const MAX_RUNS: usize = 2_000;

/// How much of the first message of a run is shown.
const MAX_HEAD: usize = 80;

/// Shows the tree. O(messages).
pub(crate) fn tree(session: &Session) -> TreeView {
    let active = active(session);
    let mut runs = Vec::new();
    // Depth first, so that branches stand below each other; the newest is put first, and taken last.
    let mut open: Vec<(NodeId, Option<usize>)> = vec![(session.root_id().clone(), None)];
    while let Some((first, above)) = open.pop() {
        if runs.len() >= MAX_RUNS {
            return TreeView { runs, is_cut: true };
        }
        let (run, ends) = follow(session, &first, above, &active);
        let here = runs.len();
        runs.extend(run);
        let above = if runs.len() > here { Some(here) } else { above };
        open.extend(ends.into_iter().rev().map(|child| (child, above)));
    }
    TreeView { runs, is_cut: false }
}

/// Returns the first messages of the runs of the active path.
fn active(session: &Session) -> HashSet<&NodeId> {
    let mut active = HashSet::from([session.root_id()]);
    let mut below = None;
    for (id, node) in session.ancestors(session.active_leaf_id()) {
        if node.children_ids.len() > 1 {
            active.extend(below);
        }
        below = Some(id);
    }
    active.extend(below);
    active
}

/// Follows a run to its branching or end; none of a root that says nothing.
fn follow(
    session: &Session,
    first: &NodeId,
    above: Option<usize>,
    active: &HashSet<&NodeId>,
) -> (Option<RunView>, Vec<NodeId>) {
    let Some(mut node) = session.node(first) else { return (None, Vec::new()) };
    if node.parent_id.is_none() && node.content.as_ref().is_none_or(Content::is_blank) {
        return (None, node.children_ids.clone());
    }
    let text = node.to_message(first).text().into_owned();
    let mut run = RunView {
        above,
        first: first.to_string(),
        last: String::new(),
        messages: 0,
        summaries: 0,
        role: node.role.unwrap_or_default().to_string(),
        head: start(text.trim_start().lines().next().unwrap_or_default(), MAX_HEAD).to_owned(),
        is_active: active.contains(first),
    };
    let mut last = first;
    let ends = loop {
        if node.is_summary() {
            run.summaries += 1;
        } else {
            run.messages += 1;
        }
        match node.children_ids.as_slice() {
            [only] => match session.node(only) {
                Some(next) => (node, last) = (next, only),
                None => break Vec::new(),
            },
            several => break several.to_vec(),
        }
    };
    run.last = last.to_string();
    (Some(run), ends)
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;
    use ctx_types::session::{Node, SessionOp};

    use super::*;

    #[test]
    fn runs_end_where_branches_begin() {
        let nodes = ["a", "b", "c"].map(|text| Node::new(Role::User, text));
        let (mut session, _) = Session::linear("s", nodes);
        let ids: Vec<NodeId> = session.path().iter().filter_map(|node| node.id.clone()).collect();
        let parent = ids[ids.len() - 3].clone();
        let node = Box::new(Node::new(Role::User, "other\nline").with_id("x"));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
        let tree = tree(&session);
        let shown: Vec<_> =
            tree.runs.iter().map(|run| (run.above, run.messages, run.head.as_str(), run.is_active)).collect();
        assert_eq!(shown, [(None, 1, "a", true), (Some(0), 2, "b", false), (Some(0), 1, "other", true)]);
    }
}
