//! The index of a session, with the node of each message.

use std::collections::BTreeSet;

use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Message, Place, Role, Source};

use crate::recall::index::RecallIndex;

/// An index over the nodes of a session: other branches first if they are included, then the active path.
///
/// Disabled nodes and summaries have no words in it.
///
/// ```
/// use ctx_compress::recall::SessionIndex;
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session};
///
/// let said = |(n, text): (usize, &str)| Node::new(Role::User, text).with_id(format!("n{n}"));
/// let (session, _) = Session::linear("s", ["The pier is green.", "A lamp burns."].into_iter().enumerate().map(said));
/// let nodes = SessionIndex::of(&session, false);
/// let hit = nodes.index().search(&[("which pier?", 100)]).hits[0];
/// assert_eq!(nodes.id(hit.message), Some("n0"));
/// ```
#[derive(Debug, Default)]
pub struct SessionIndex {
    index: RecallIndex,
    ids: Vec<NodeId>,
    others: usize,
}

impl SessionIndex {
    /// Indexes the active path, and other branches if they are included. O(bytes).
    pub fn of(session: &Session, with_branches: bool) -> Self {
        let mut nodes = Self::default();
        if with_branches {
            nodes.add_others(off_path(session));
        }
        nodes.add_path(session);
        nodes
    }

    /// Adds the nodes of other branches, which are before the path.
    pub fn add_others<'a>(&mut self, others: impl IntoIterator<Item = (&'a NodeId, &'a Node)>) {
        others.into_iter().for_each(|(id, node)| self.add(id, node));
        self.others = self.ids.len();
        self.index.settle_after(self.others);
    }

    /// Adds the new nodes of the active path if it begins with the nodes that were added before. O(new messages).
    pub fn add_path(&mut self, session: &Session) {
        let path = session.ancestors(session.active_leaf_id());
        let new: Vec<(&NodeId, &Node)> = path.take_while(|(id, _)| Some(*id) != self.ids.last()).collect();
        let added = new.len();
        new.into_iter().rev().for_each(|(id, node)| self.add(id, node));
        self.index.settle_after(added);
    }

    fn add(&mut self, id: &NodeId, node: &Node) {
        // What may not be recalled has its number all the same.
        let nothing = || Message::new(Role::System, "", Source::history(id.clone(), Role::System));
        self.index.add(&recallable(id, node).unwrap_or_else(nothing));
        self.ids.push(id.clone());
    }

    /// Returns the index over these nodes.
    pub const fn index(&self) -> &RecallIndex {
        &self.index
    }

    /// Returns the number of nodes, including those of other branches.
    pub const fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there is no node.
    pub const fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the number of nodes of other branches.
    pub const fn others(&self) -> usize {
        self.others
    }

    /// Returns the id of the node at a position.
    pub fn id(&self, at: usize) -> Option<&str> {
        self.ids.get(at).map(|id| &**id)
    }

    /// Returns the message at a position if it can be recalled.
    pub fn message(&self, session: &Session, at: usize) -> Option<Message> {
        let id = self.ids.get(at)?;
        session.node(id).and_then(|node| recallable(id, node))
    }
}

/// Returns the nodes that are not on the active path. O(tree).
pub fn off_path(session: &Session) -> Vec<(&NodeId, &Node)> {
    let path: BTreeSet<&NodeId> = session.ancestors(session.active_leaf_id()).map(|(id, _)| id).collect();
    let is_off = |(id, _): &(&NodeId, &Node)| !path.contains(*id) && *id != session.root_id();
    session.nodes().filter(is_off).collect()
}

/// Returns the message of a node, unless it is disabled or a summary.
pub fn recallable(id: &NodeId, node: &Node) -> Option<Message> {
    let message = (node.is_enabled() && !node.is_summary()).then(|| node.to_message(id))?;
    if node.is_pinned() { Some(message.with(|message| message.place = Place::Pinned)) } else { Some(message) }
}
