//! Checks the summaries of a session.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ctx_types::internal::{DisplayState, display_path, excerpt, pointer_step};
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Code, Diagnostic, Phrase, phrase};

use crate::codes;

/// Reports summaries that list themselves or each other, unknown nodes, nothing, or nodes twice; summaries that replace
/// the same messages; and summaries that hide the messages of a disabled one.
///
/// Invalid ids are ignored when messages are sent. Pointers refer to the session's own form. O(nodes + listed ids).
///
/// ```
/// use ctx_compress::mask::check_summaries;
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session};
///
/// let mut summary = Node::new(Role::System, "They talk.");
/// let metadata = summary.metadata.get_or_insert_default();
/// (metadata.is_compression_node, metadata.compressed_node_ids) = (Some(true), vec!["n1".into(), "n9".into()]);
/// let (session, _) = Session::linear("s1", [Node::new(Role::User, "Hello"), summary]);
/// let found = check_summaries(&session);
/// assert_eq!(found[0].location.pointer.as_deref(), Some("/nodes/n2/metadata/compressedNodeIds/1"));
/// ```
pub fn check_summaries(session: &Session) -> Vec<Diagnostic> {
    let circles = circles(session);
    let spans = Spans::of(session);
    let mut overlaps = overlaps(session);
    let summaries = session.nodes().filter(|(_, node)| node.is_summary());
    let mut found = Vec::new();
    for (id, node) in summaries {
        let name = excerpt(id);
        if circles.contains(id) {
            let message = phrase!("summary `{name}` lists itself, directly or through other summaries", name);
            found.push(finding(codes::CYCLIC_SUMMARY, message, id, None));
        }
        found.extend(check_listed(session, id, node, &spans));
        found.extend(overlaps.remove(id));
    }
    found
}

/// Makes a warning about all ids of a summary or one of them.
fn finding(code: Code, message: Phrase, summary: &NodeId, index: Option<usize>) -> Diagnostic {
    let summary = pointer_step(summary);
    let item = index.map(|index| format!("/{index}")).unwrap_or_default();
    let pointer = format!("/nodes/{summary}/metadata/compressedNodeIds{item}");
    Diagnostic::warning(code, message).at_pointer(pointer)
}

/// Reports ids on other branches, duplicate ids, and disabled summaries.
fn check_listed(session: &Session, id: &NodeId, node: &Node, spans: &Spans<'_>) -> Vec<Diagnostic> {
    let (name, ids) = (excerpt(id), node.summarized_ids());
    let is_near = |listed: &NodeId| spans.is_above(listed, id) || spans.is_above(id, listed);
    let foreign: Vec<usize> = ids
        .iter()
        .enumerate()
        .filter(|(_, listed)| *listed != id && !is_near(listed))
        .map(|(index, _)| index)
        .collect();
    if foreign.len() == ids.iter().filter(|listed| *listed != id).count() {
        let message = phrase!("summary `{name}` lists no message of its branch; it hides nothing", name);
        return vec![finding(codes::EMPTY_SUMMARY, message, id, None)];
    }
    let mut found = Vec::new();
    if let Some((index, first)) = foreign.first().and_then(|index| Some((*index, ids.get(*index)?))) {
        let shown = excerpt(first);
        let why = Phrase::from(if session.node(first).is_none() {
            "which is not a node"
        } else {
            "which is not on its branch"
        });
        let message = match foreign.len() {
            1 => phrase!("summary `{name}` lists `{shown}`, {why}; it is ignored", name, shown, why),
            count => phrase!(
                "summary `{name}` lists {count} ids that are not on its branch (first: `{shown}`); they are ignored",
                name,
                count,
                shown
            ),
        };
        let finding = finding(codes::FOREIGN_SUMMARY_ID, message, id, Some(index));
        found.push(Diagnostic { severity: ctx_types::Severity::Info, ..finding });
    }
    let mut seen = BTreeSet::new();
    let doubled = ids.iter().enumerate().find(|(_, listed)| !seen.insert(*listed));
    found.extend(doubled.map(|(index, listed)| {
        let message = phrase!("summary `{name}` lists `{listed}` twice", name, listed = excerpt(listed));
        finding(codes::DOUBLED_SUMMARY_ID, message, id, Some(index))
    }));
    let is_off = |listed: &NodeId| {
        let node = session.node(listed).filter(|_| is_near(listed));
        node.is_some_and(|node| node.is_summary() && !node.is_enabled())
    };
    let off = ids.iter().enumerate().find(|(_, listed)| node.is_enabled() && is_off(listed));
    found.extend(off.map(|(index, listed)| {
        let inner = excerpt(listed);
        let message = phrase!(
            "summary `{name}` lists disabled summary `{inner}` and hides the messages of `{inner}`",
            name,
            inner
        );
        let help = phrase!("to show those messages, disable the outer summary");
        let finding = finding(codes::SUMMARY_OF_A_DISABLED_ONE, message, id, Some(index)).with_help(help);
        Diagnostic { severity: ctx_types::Severity::Info, ..finding }
    }));
    found
}

/// Finds visible summaries that list nodes of an earlier visible one.
fn overlaps(session: &Session) -> BTreeMap<NodeId, Diagnostic> {
    let path = display_path(session, &[]);
    let on_path: BTreeSet<&NodeId> = path.iter().map(|shown| shown.id).collect();
    let is_sent = |state: &DisplayState| *state == DisplayState::Visible;
    let mut owners: BTreeMap<&NodeId, &NodeId> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for shown in path.iter().filter(|shown| shown.node.is_summary() && is_sent(&shown.state)) {
        let ids = shown.node.summarized_ids().iter().enumerate().filter(|(_, id)| on_path.contains(id));
        let mut shared: Vec<(usize, &NodeId, &NodeId)> = Vec::new();
        for (index, id) in ids {
            match owners.get(id) {
                Some(owner) if *owner != shown.id => shared.push((index, id, owner)),
                Some(_) => {}
                None => drop(owners.insert(id, shown.id)),
            }
        }
        let Some((index, first, owner)) = shared.first() else { continue };
        let (name, owner, first) = (excerpt(shown.id), excerpt(owner), excerpt(first));
        let count = shared.len();
        let nodes = if count == 1 {
            phrase!("`{first}`", first)
        } else {
            phrase!("{count} nodes (first: `{first}`)", count, first)
        };
        let message = phrase!(
            "summary `{name}` lists {nodes}, also listed by `{owner}`; both are sent",
            name,
            nodes,
            owner
        );
        let help = phrase!("disable or delete one of them");
        let finding = finding(codes::OVERLAPPING_SUMMARIES, message, shown.id, Some(*index)).with_help(help);
        found.insert(shown.id.clone(), finding);
    }
    found
}

/// The times at which a walk through the tree enters and leaves each node.
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

/// Finds summaries that list themselves through others.
///
/// Removes summaries that list none of the rest, and then those that none of the rest lists. O(listed ids).
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

/// Removes nodes without an edge to the rest until none is left; returns the rest.
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
