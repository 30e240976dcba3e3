//! What is wrong with the summaries of a session; whatever it is, it hides nothing that it should not.

use std::collections::{BTreeSet, HashMap};

use ctx_types::{Diagnostic, Node, NodeId, Session, excerpt};

use crate::codes;

/// Reports summaries that list themselves, each other in a circle, foreign nodes or nothing.
///
/// Such ids count for nothing, so that these are findings about the file and no faults of what is sent.
/// O(nodes + listed ids).
pub fn check_summaries(session: &Session) -> Vec<Diagnostic> {
    let circles = circles(session);
    let spans = Spans::of(session);
    let summaries = session.nodes().filter(|(_, node)| node.is_summary());
    let mut found = Vec::new();
    for (id, node) in summaries {
        let pointer =
            format!("/nodes/{}/metadata/compressedNodeIds", id.replace('~', "~0").replace('/', "~1"));
        if circles.contains(id) {
            let message =
                format!("the summary `{}` lists itself, alone or in a circle of summaries", excerpt(id));
            found.push(Diagnostic::warning(codes::CYCLIC_SUMMARY, message).at_pointer(pointer.as_str()));
        }
        let is_near = |listed: &NodeId| spans.is_above(listed, id) || spans.is_above(id, listed);
        let others = || node.summarized_ids().iter().filter(|listed| *listed != id);
        let foreign: Vec<&NodeId> = others().filter(|listed| !is_near(listed)).collect();
        let finding = check_listed(id, others().count(), &foreign);
        found.extend(finding.map(|finding| finding.at_pointer(pointer)));
    }
    found
}

/// Reports ids that no path with the summary leads through, and a summary with no others.
fn check_listed(id: &NodeId, listed: usize, foreign: &[&NodeId]) -> Option<Diagnostic> {
    let name = excerpt(id);
    if foreign.len() == listed {
        let message = format!("the summary `{name}` lists no message of its branch; it hides nothing");
        return Some(Diagnostic::warning(codes::EMPTY_SUMMARY, message));
    }
    let first = excerpt(foreign.first()?);
    let what = match foreign.len() {
        1 => format!("`{first}`, which is"),
        count => format!("{count} nodes, the first of them `{first}`, which are"),
    };
    let message = format!("the summary `{name}` lists {what} not on its branch: it hides nothing there");
    Some(Diagnostic::info(codes::FOREIGN_SUMMARY_ID, message))
}

/// When a walk through the whole tree enters each node and when it leaves it.
struct Spans<'a>(HashMap<&'a NodeId, (usize, usize)>);

impl<'a> Spans<'a> {
    /// O(nodes).
    fn of(session: &'a Session) -> Self {
        let mut spans = HashMap::new();
        let mut open = vec![(session.root_id(), false)];
        let mut time = 0;
        while let Some((id, is_done)) = open.pop() {
            time += 1;
            if is_done {
                spans.entry(id).and_modify(|(_, left)| *left = time);
                continue;
            }
            spans.insert(id, (time, time));
            open.push((id, true));
            let children = session.node(id).map(|node| node.children_ids.as_slice()).unwrap_or_default();
            open.extend(children.iter().map(|child| (child, false)));
        }
        Self(spans)
    }

    fn is_above(&self, above: &NodeId, below: &NodeId) -> bool {
        match (self.0.get(above), self.0.get(below)) {
            (Some((entered, left)), Some((inner, _))) => entered < inner && inner < left,
            _ => false,
        }
    }
}

/// Finds the summaries that lead back to themselves by what they list.
///
/// Summaries that list no summary are taken away until none is left that does not list one of the rest; of
/// these, those that no other of the rest lists go too. O(listed ids).
fn circles(session: &Session) -> BTreeSet<NodeId> {
    let is_summary = |id: &NodeId| session.node(id).is_some_and(Node::is_summary);
    let summaries = session.nodes().filter(|(_, node)| node.is_summary());
    let lists: HashMap<&NodeId, Vec<&NodeId>> = summaries
        .map(|(id, node)| (id, node.summarized_ids().iter().filter(|id| is_summary(id)).collect()))
        .collect();
    let mut listed_by: HashMap<&NodeId, Vec<&NodeId>> = HashMap::new();
    for (id, _) in session.nodes().filter(|(id, _)| lists.contains_key(id)) {
        for listed in lists.get(id).into_iter().flatten() {
            listed_by.entry(listed).or_default().push(id);
        }
    }
    let all = || session.nodes().map(|(id, _)| id).filter(|id| lists.contains_key(id));
    let downwards = peel(all(), &lists, &listed_by);
    let rest = all().filter(|id| downwards.contains(*id));
    let both = peel(rest, &listed_by, &lists);
    both.into_iter().filter(|id| downwards.contains(id)).collect()
}

/// Takes away, again and again, nodes from which no edge leads to one that is left; returns the rest.
fn peel<'a>(
    nodes: impl Iterator<Item = &'a NodeId>,
    edges: &HashMap<&'a NodeId, Vec<&'a NodeId>>,
    back: &HashMap<&'a NodeId, Vec<&'a NodeId>>,
) -> BTreeSet<NodeId> {
    let mut left: BTreeSet<NodeId> = nodes.cloned().collect();
    let count = |id: &NodeId, left: &BTreeSet<NodeId>| {
        edges.get(id).into_iter().flatten().filter(|to| left.contains(**to)).count()
    };
    let mut degrees: HashMap<NodeId, usize> = left.iter().map(|id| (id.clone(), count(id, &left))).collect();
    let mut ends: Vec<NodeId> = left.iter().filter(|id| degrees.get(*id) == Some(&0)).cloned().collect();
    while let Some(end) = ends.pop() {
        left.remove(&end);
        for from in back.get(&end).into_iter().flatten().filter(|from| left.contains(**from)) {
            let Some(degree) = degrees.get_mut(*from) else { continue };
            *degree = degree.saturating_sub(1);
            if *degree == 0 {
                ends.push((*from).clone());
            }
        }
    }
    left
}
