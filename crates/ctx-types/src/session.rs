//! Sessions: conversations as trees of nodes with an active leaf.

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
mod sent;
mod totals;

use std::sync::{Arc, OnceLock};

use crate::persist::noun;

pub use appendix::{AppendedFact, SummaryAppendix};
pub use edit::{Change, NodeEdit};
pub use hidden::{DisplayNode, DisplayState, HiddenSet, display_path, hidden_set, visible_path};
pub use history::{History, HistoryEntry, HistoryError};
pub use links::Links;
pub use node::{Node, NodeMetadata, StoredToolCall};
pub use op::{ActiveLeaf, NodePatch, Patch, SessionError, SessionOp};
pub use sent::{LeftOut, LeftOutReason};

use nodes::{Nodes, Slot};

/// The id of a node, unique within its session.
pub type NodeId = Arc<str>;

/// A conversation: a tree of nodes with an active leaf, in AIO Hub's form.
///
/// A linear conversation is a tree without branches. The tree changes only through [`SessionOp`]s, each of
/// which returns its exact inverse. Its links are always sound, and it always has a root, which is never
/// sent: what is wrong in a file is reported when it is read and repaired in memory; the file keeps it until
/// an operation touches it.
///
/// A clone shares its nodes with the original until one of the two changes them; it costs a pointer a node.
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
    /// Everything beside the tree.
    pub header: SessionHeader,
    nodes: Nodes,
    root_id: NodeId,
    leaf: ActiveLeaf,
    /// Whether every node above the active leaf is known to select the way to it.
    is_way_known: bool,
    /// What is sent of the active path, unless it is to be found again.
    sent: OnceLock<sent::Sent>,
    /// What folds over the path came to, as far as it is known.
    folds: fold::Folds,
}

noun! {
    /// Everything of a session's file beside its tree.
    pub struct SessionHeader {
        /// The id of the session.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
    }
}

impl Session {
    /// Returns a node; a malformed one is never returned.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.sound(id).map(|slot| &slot.node)
    }

    /// Returns the nodes in the order of the file, the root among them, malformed ones not.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &Node)> {
        let sound = self.nodes.iter().filter(|slot| !slot.node.is_malformed());
        sound.map(|slot| (&slot.id, &slot.node))
    }

    /// Returns the ids of all nodes in the order of the file, those of malformed ones too.
    pub fn node_ids(&self) -> impl Iterator<Item = &NodeId> {
        self.nodes.iter().map(|slot| &slot.id)
    }

    /// Returns the id of the root, which is never sent.
    pub fn root_id(&self) -> &NodeId {
        &self.root_id
    }

    /// Returns the id of the node at which the conversation goes on; the root if there is no message.
    pub fn active_leaf_id(&self) -> &NodeId {
        &self.leaf.id
    }

    /// Returns a node's distance from the root, which has 0. O(1).
    pub fn depth(&self, id: &str) -> Option<usize> {
        self.nodes.sound(id).map(|slot| slot.depth)
    }

    /// Returns the active path: from the root, which is left out, to the active leaf.
    ///
    /// O(path). Everything on it takes part, also what is switched off or hidden by a summary; see
    /// [`visible_path`] for what is sent.
    pub fn path(&self) -> Vec<&Node> {
        self.path_to(&self.leaf.id)
    }

    /// Returns the path from the root, which is left out, to a node; nothing if there is no such node.
    pub fn path_to(&self, id: &str) -> Vec<&Node> {
        let mut path: Vec<&Node> = self.ancestors(id).map(|(_, node)| node).collect();
        path.reverse();
        path
    }

    /// Walks from a node, which comes first, up to the root, which is left out. Each step is O(1).
    pub fn ancestors(&self, id: &str) -> impl Iterator<Item = (&NodeId, &Node)> {
        self.slots_above(id).map(|slot| (&slot.id, &slot.node))
    }

    /// Returns the leaf to which a branch leads: from a node down along the branches last shown, else the
    /// newest.
    pub fn leaf_below(&self, id: &str) -> Option<&NodeId> {
        self.nodes.sound(id).map(|slot| &self.nodes.leaf_below(slot).id)
    }

    /// Walks the slots from a node up to the root, which is left out.
    fn slots_above(&self, id: &str) -> impl Iterator<Item = &Slot> {
        let slots = std::iter::successors(self.nodes.sound(id), |slot| self.nodes.parent(slot));
        slots.take_while(|slot| slot.parent.is_some())
    }
}

/// Two sessions are equal if they write equal files, nodes in the same order, and have equal trees in memory.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Slot, &Slot)| a.id == b.id && a.filing == b.filing && a.node == b.node;
        self.root_id == other.root_id
            && self.leaf == other.leaf
            && self.nodes.len() == other.nodes.len()
            && self.outline() == other.outline()
            && self.nodes.iter().zip(other.nodes.iter()).all(same)
    }
}
