use crate::phrase;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::message::Role;
use crate::persist::{Reader, UnknownKeysCache};
use crate::session::fold::Folds;
use crate::session::links::StoredLinks;
use crate::session::nodes::{Nodes, Position};
use crate::session::{ActiveLeaf, Node, NodeId, Session, SessionHeader};
use crate::wording::excerpt;

impl Session {
    /// Creates a session without messages.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self::with_root(id.into(), free_root_id(|_| false))
    }

    /// Creates a session without branches, oldest message first; the last is active.
    ///
    /// Messages without an id get `n1`, `n2`, …, if free. So do duplicates, which are reported with the
    /// message's index as pointer. Links are replaced. Malformed messages stay in the file but not in the
    /// tree. O(messages).
    ///
    /// ```
    /// use ctx_types::{Node, Role, Session};
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
        let mut session = Self::with_root(id.into(), free_root_id(|id| taken.contains(id)));
        session.nodes.reserve(nodes.len());
        session.chain(ids, nodes);
        // Cache this now instead of in the first turn.
        session.sent_len();
        (session, reader.finish())
    }

    fn with_root(id: Arc<str>, root_id: NodeId) -> Self {
        let mut nodes = Nodes::default();
        let index = nodes.insert(root_id.clone(), root(&root_id), StoredLinks::AsIs, Position::First);
        if let Some(root) = nodes.slot_mut(index) {
            root.depth = 0;
        }
        Self {
            header: SessionHeader { id: Some(id), ..SessionHeader::default() },
            nodes,
            leaf: ActiveLeaf { id: root_id.clone(), is_repair: false },
            root_id,
            is_branch_known: true,
            sent: OnceLock::new(),
            folds: Folds::default(),
        }
    }

    fn chain(&mut self, ids: Vec<NodeId>, nodes: Vec<Node>) {
        let mut above = self.nodes.index(&self.root_id);
        let mut sharing = UnknownKeysCache::default();
        for (id, mut node) in ids.into_iter().zip(nodes) {
            sharing.share(&mut node.kept);
            if node.is_malformed() {
                self.nodes.insert(id, node, StoredLinks::AsIs, Position::Last);
                continue;
            }
            let mut depth = 0;
            if let Some(slot) = above.and_then(|index| self.nodes.slot_mut(index)) {
                slot.node.children_ids = vec![id.clone()];
                slot.node.last_selected_child_id = Some(id.clone());
                node.parent_id = Some(slot.id.clone());
                depth = slot.depth + 1;
            }
            node.id = Some(id.clone());
            node.children_ids = Vec::new();
            node.last_selected_child_id = None;
            self.leaf.id = id.clone();
            let index = self.nodes.insert(id, node, StoredLinks::AsIs, Position::Last);
            if let Some(slot) = self.nodes.slot_mut(index) {
                slot.parent = above;
                slot.depth = depth;
            }
            above = Some(index);
        }
        if let Some(leaf) = above.and_then(|index| self.nodes.slot_mut(index)) {
            leaf.node.begin_links();
        }
    }
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
    names.find(|name| !is_taken(name)).unwrap_or_default().into()
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
