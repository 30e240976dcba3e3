//! Conversations: a tree of messages, operations that change it, and the log of a turn.

pub(crate) mod appendix;
mod apply;
mod check;
mod edit;
mod fold;
pub(crate) mod hidden;
mod history;
mod linear;
mod load;
mod node;
mod node_message;
mod nodes;
mod op;
mod repair;
pub(crate) mod sent_messages;
pub(crate) mod sent_record;
mod tree;

use std::sync::{Arc, OnceLock};

use crate::persist::data_type;

pub use edit::{Change, NodeEdit};
pub use hidden::visible_path;
pub use history::{History, HistoryEntry, HistoryError};
pub use node::{Node, NodeMetadata, StoredToolCall};
#[doc(hidden)]
pub use op::{ActiveLeaf, FileNode, NodePatch};
pub use op::{Patch, SessionError, SessionOp};

pub use crate::log_line::*;
pub use crate::window::*;

use nodes::Slot;
use tree::Tree;

/// A node id, unique in its session.
pub type NodeId = Arc<str>;

/// A conversation in AIO Hub's format: a tree of nodes with an active leaf.
///
/// Only [`SessionOp`]s change the tree; each has an exact inverse. All links are valid, and the root is never
/// sent. Errors in a file are reported and repaired in memory; the file keeps them until an operation changes
/// them.
///
/// Clones share memory.
///
/// ```
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session, SessionOp};
///
/// let mut session = Session::new("s1");
/// let node = Box::new(Node::new(Role::User, "hello").with_id("n1"));
/// let append = SessionOp::Append { parent: session.root_id().clone(), node };
/// let undo = session.apply(&append)?;
/// assert_eq!(&**session.active_leaf_id(), "n1");
/// assert_eq!(session.path().len(), 1);
/// session.apply(&undo)?;
/// assert_eq!(session, Session::new("s1"));
/// # Ok::<(), ctx_types::session::SessionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    /// Data other than the tree.
    pub header: SessionHeader,
    tree: Tree,
    sent: OnceLock<Arc<sent_messages::SentMessages>>,
    folds: fold::Folds,
}

data_type! {
    /// The fields of a session file other than its tree of messages.
    pub struct SessionHeader {
        /// Session id.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
    }
}

impl Session {
    fn with_tree(header: SessionHeader, tree: Tree) -> Self {
        let session = Self { header, tree, sent: OnceLock::new(), folds: fold::Folds::default() };
        // Cache this now instead of in the first turn.
        session.sent_len();
        session
    }

    /// Returns a node that is not malformed.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.tree.node(id)
    }

    /// Returns the well-formed nodes in file order, including the root.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &Node)> {
        let sound = self.tree.nodes.iter().filter(|slot| !slot.node.is_malformed());
        sound.map(|slot| (&slot.id, &*slot.node))
    }

    /// Returns all ids in file order, also of malformed nodes.
    pub fn node_ids(&self) -> impl Iterator<Item = &NodeId> {
        self.tree.nodes.iter().map(|slot| &slot.id)
    }

    /// Returns the root id. The root is never sent.
    pub fn root_id(&self) -> &NodeId {
        &self.tree.root_id
    }

    /// Returns the active leaf; the root if there are no messages.
    pub fn active_leaf_id(&self) -> &NodeId {
        &self.tree.leaf.id
    }

    /// Returns the distance from the root.
    pub fn depth(&self, id: &str) -> Option<usize> {
        self.tree.nodes.sound(id).map(|slot| slot.depth)
    }

    /// Returns the active branch without the root, oldest first. O(path).
    ///
    /// Includes disabled and hidden messages; see [`visible_path`].
    pub fn path(&self) -> Vec<&Node> {
        let mut path: Vec<&Node> = self.ancestors(&self.tree.leaf.id).map(|(_, node)| node).collect();
        path.reverse();
        path
    }

    /// Iterates from a node up to the root, exclusive.
    pub fn ancestors(&self, id: &str) -> impl Iterator<Item = (&NodeId, &Node)> {
        self.tree.slots_above(id).map(|(_, slot)| (&slot.id, &*slot.node))
    }

    /// Returns the leaf below a node, following selected or else newest children.
    pub fn leaf_below(&self, id: &str) -> Option<&NodeId> {
        let nodes = &self.tree.nodes;
        nodes.sound(id).map(|slot| &nodes.leaf_below(slot).id)
    }
}

/// Compares the files, with their node order, and the trees in memory.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let (own, others) = (&self.tree, &other.tree);
        let same = |(a, b): (&Slot, &Slot)| a.id == b.id && a.file == b.file && a.node == b.node;
        own.root_id == others.root_id
            && own.leaf == others.leaf
            && own.nodes.len() == others.nodes.len()
            && self.outline() == other.outline()
            && own.nodes.iter().zip(others.nodes.iter()).all(same)
    }
}
