mod appendix;
mod commit;
mod edit;
mod fold;
mod hidden;
mod history;
mod linear;
mod links;
mod load;
mod node;
mod node_message;
mod nodes;
mod op;
mod plan;
mod plan_check;
mod plan_op;
mod repair;
mod sent_messages;
mod totals;

use std::sync::{Arc, OnceLock};

use crate::persist::data_type;

pub use appendix::{AppendedFact, SummaryAppendix};
pub use edit::{Change, NodeEdit};
pub use hidden::{DisplayNode, DisplayState, HiddenSet, display_path, hidden_set, visible_path};
pub use history::{History, HistoryEntry, HistoryError};
pub use links::Links;
pub use node::{Node, NodeMetadata, StoredToolCall};
pub use op::{ActiveLeaf, NodePatch, Patch, SessionError, SessionOp};
pub use sent_messages::{OmissionReason, OmittedMessages};

use nodes::{Nodes, Slot};

/// A node id, unique in its session.
pub type NodeId = Arc<str>;

/// A conversation in AIO Hub's format: a tree of nodes with an active leaf.
///
/// Only [`SessionOp`]s change the tree; each has an exact inverse. All links are valid, and the root is never
/// sent. Errors in a file are reported and repaired in memory; the file keeps them until an operation changes
/// them.
///
/// A clone copies one pointer per node.
///
/// ```
/// use ctx_types::{Node, Role, Session, SessionOp};
///
/// let mut session = Session::new("s1");
/// let node = Box::new(Node::new(Role::User, "hello").with_id("n1"));
/// let append = SessionOp::Append { parent: session.root_id().clone(), node };
/// let undo = session.apply(&append)?;
/// assert_eq!(&**session.active_leaf_id(), "n1");
/// assert_eq!(session.path().len(), 1);
/// session.apply(&undo)?;
/// assert_eq!(session, Session::new("s1"));
/// # Ok::<(), ctx_types::SessionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    /// Data other than the tree.
    pub header: SessionHeader,
    nodes: Nodes,
    root_id: NodeId,
    leaf: ActiveLeaf,
    /// Whether the nodes above the active leaf select its branch.
    is_branch_known: bool,
    sent: OnceLock<sent_messages::SentMessages>,
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
    /// Returns a node that is not malformed.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.sound(id).map(|slot| &slot.node)
    }

    /// Returns the well-formed nodes in file order, including the root.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &Node)> {
        let sound = self.nodes.iter().filter(|slot| !slot.node.is_malformed());
        sound.map(|slot| (&slot.id, &slot.node))
    }

    /// Returns all ids in file order, also of malformed nodes.
    pub fn node_ids(&self) -> impl Iterator<Item = &NodeId> {
        self.nodes.iter().map(|slot| &slot.id)
    }

    /// Returns the root id. The root is never sent.
    pub fn root_id(&self) -> &NodeId {
        &self.root_id
    }

    /// Returns the active leaf; the root if there are no messages.
    pub fn active_leaf_id(&self) -> &NodeId {
        &self.leaf.id
    }

    /// Returns the distance from the root. O(1).
    pub fn depth(&self, id: &str) -> Option<usize> {
        self.nodes.sound(id).map(|slot| slot.depth)
    }

    /// Returns the active branch without the root, oldest first. O(path).
    ///
    /// Includes disabled and hidden messages; see [`visible_path`].
    pub fn path(&self) -> Vec<&Node> {
        self.path_to(&self.leaf.id)
    }

    /// Returns the path to a node without the root; empty if unknown.
    pub fn path_to(&self, id: &str) -> Vec<&Node> {
        let mut path: Vec<&Node> = self.ancestors(id).map(|(_, node)| node).collect();
        path.reverse();
        path
    }

    /// Iterates from a node up to the root, exclusive. O(1) per step.
    pub fn ancestors(&self, id: &str) -> impl Iterator<Item = (&NodeId, &Node)> {
        self.slots_above(id).map(|slot| (&slot.id, &slot.node))
    }

    /// Returns the leaf below a node, following selected or else newest children.
    pub fn leaf_below(&self, id: &str) -> Option<&NodeId> {
        self.nodes.sound(id).map(|slot| &self.nodes.leaf_below(slot).id)
    }

    fn slots_above(&self, id: &str) -> impl Iterator<Item = &Slot> {
        let slots = std::iter::successors(self.nodes.sound(id), |slot| self.nodes.parent(slot));
        slots.take_while(|slot| slot.parent.is_some())
    }
}

/// Compares the files, with their node order, and the trees in memory.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Slot, &Slot)| a.id == b.id && a.stored_links == b.stored_links && a.node == b.node;
        self.root_id == other.root_id
            && self.leaf == other.leaf
            && self.nodes.len() == other.nodes.len()
            && self.outline() == other.outline()
            && self.nodes.iter().zip(other.nodes.iter()).all(same)
    }
}
