use crate::phrase;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::message::Role;
use crate::persist::{Reader, UnknownKeysCache};
use crate::session::nodes::{Nodes, Slot};
use crate::session::tree::Tree;
use crate::session::{ActiveLeaf, Node, NodeId, Session, SessionHeader};
use crate::wording::excerpt;

impl Session {
    /// Creates a session without messages.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self::with_tree(header(id.into()), chain(free_root_id(|_| false), Vec::new(), Vec::new()))
    }

    /// Creates a session without branches, oldest message first; the last is active.
    ///
    /// Messages without an id get `n1`, `n2`, …, if free. So do duplicates, which are reported with the
    /// message's index as pointer. Links are replaced. Malformed messages stay in the file but not in the
    /// tree. O(messages).
    ///
    /// ```
    /// use ctx_types::Role;
    /// use ctx_types::session::{Node, Session};
    ///
    /// let messages = [Node::new(Role::User, "hello"), Node::new(Role::Assistant, "hi")];
    /// let (session, diagnostics) = Session::linear("s1", messages);
    /// assert_eq!(&**session.active_leaf_id(), "n2");
    /// assert!(diagnostics.is_empty());
    /// ```
    pub fn linear(id: impl Into<Arc<str>>, nodes: impl IntoIterator<Item = Node>) -> (Self, Vec<Diagnostic>) {
        let nodes: Vec<Node> = nodes.into_iter().collect();
        let mut reader = Reader::new();
        let (ids, taken) = assign_ids(&nodes, &mut reader);
        let root_id = free_root_id(|id| taken.contains(id));
        let tree = chain(root_id, ids, nodes);
        (Self::with_tree(header(id.into()), tree), reader.finish())
    }
}

fn header(id: Arc<str>) -> SessionHeader {
    SessionHeader { id: Some(id), ..SessionHeader::default() }
}

fn chain(root_id: NodeId, ids: Vec<NodeId>, nodes: Vec<Node>) -> Tree {
    let mut slots = Vec::with_capacity(nodes.len() + 2);
    slots.extend([Slot::default(), Slot { depth: 0, ..Slot::new(root_id.clone(), root(&root_id)) }]);
    let root_index = slots.len() - 1;
    let mut last = root_index;
    let mut sharing = UnknownKeysCache::default();
    for (id, mut node) in ids.into_iter().zip(nodes) {
        sharing.share(&mut node.kept);
        if node.is_malformed() {
            slots.push(Slot::new(id, node));
            continue;
        }
        let above = &mut slots[last];
        let links = Arc::make_mut(&mut above.node);
        links.children_ids = vec![id.clone()];
        links.last_selected_child_id = Some(id.clone());
        node.parent_id = Some(above.id.clone());
        node.id = Some(id.clone());
        node.children_ids = Vec::new();
        node.last_selected_child_id = None;
        let depth = above.depth + 1;
        let parent = Some(std::mem::replace(&mut last, slots.len()));
        slots.push(Slot { parent, depth, ..Slot::new(id, node) });
    }
    if last != root_index {
        Arc::make_mut(&mut slots[last].node).begin_links();
    }
    let leaf = ActiveLeaf { id: slots[last].id.clone(), is_repair: false };
    Tree { nodes: Nodes::new(slots), root_id, leaf, is_branch_known: true }
}

pub(super) fn root(id: &NodeId) -> Node {
    let mut root = Node::new(Role::System, "").with_id(id.clone());
    root.begin_links();
    root.kept.set("parentId", serde_json::Value::Null);
    root
}

pub(super) fn free_root_id(is_taken: impl Fn(&str) -> bool) -> NodeId {
    let numbered = (2_usize..).map(|number| format!("root-{number}"));
    let mut names = std::iter::once("root".to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).expect("the numbers do not end").into()
}

fn assign_ids(nodes: &[Node], reader: &mut Reader) -> (Vec<NodeId>, HashSet<NodeId>) {
    let taken: HashSet<NodeId> = nodes.iter().filter_map(|node| node.id.clone()).collect();
    let mut seen: HashSet<NodeId> = HashSet::with_capacity(taken.len());
    let mut ids = Vec::with_capacity(nodes.len());
    let (mut number, mut written) = (0_usize, String::new());
    for (index, node) in nodes.iter().enumerate() {
        if let Some(id) = node.id.as_ref().filter(|id| seen.insert(Arc::clone(id))) {
            ids.push(id.clone());
            continue;
        }
        let fresh = fresh_id(&mut number, &taken, &mut written);
        if let Some(id) = &node.id {
            let id = excerpt(id);
            let message =
                phrase!("duplicate id `{id}`; the later message is renamed to `{fresh}`", id, fresh);
            reader.at_index(index, |reader| reader.report(Diagnostic::error(codes::NODE_ID, message)));
        }
        ids.push(fresh);
    }
    (ids, taken)
}

fn fresh_id(number: &mut usize, taken: &HashSet<NodeId>, written: &mut String) -> NodeId {
    loop {
        *number += 1;
        written.clear();
        let _ = write!(written, "n{number}");
        if !taken.contains(written.as_str()) {
            return written.as_str().into();
        }
    }
}
