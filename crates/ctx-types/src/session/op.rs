//! Operations on a session, and their exact inverses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::{Content, Role};
use crate::session::{Node, NodeId, NodeMetadata};

/// A change of a session. Undo, redo, the stored log and change notices are lists of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
#[non_exhaustive]
pub enum SessionOp {
    /// Adds a new node below `parent` and makes it the active leaf.
    Append {
        /// The node above the new one.
        parent: NodeId,
        /// The new node; its links are set by the operation.
        node: Box<Node>,
    },
    /// Changes what a node says.
    Edit {
        /// The node.
        id: NodeId,
        /// The change.
        edit: Box<NodeEdit>,
    },
    /// Switches a node on or off.
    Toggle {
        /// The node.
        id: NodeId,
        /// Whether it is sent.
        enabled: bool,
    },
    /// Moves one node below another; its children take its old place.
    Move {
        /// The node.
        id: NodeId,
        /// The node that it goes below; not one of its own descendants.
        parent: NodeId,
    },
    /// Moves a node with everything below it.
    Graft {
        /// The topmost node of the branch.
        id: NodeId,
        /// The node that it goes below; not one of its own descendants.
        parent: NodeId,
    },
    /// Removes a node with everything below it; of a summary only the node itself, its children move up.
    Remove {
        /// The node; not the root.
        id: NodeId,
    },
    /// Makes a node the active leaf and remembers the way to it.
    ActivateLeaf {
        /// The node.
        id: NodeId,
    },
    /// Sets nodes to given states; the inverse of any operation is one of these.
    Patch(Patch),
}

/// The new states of some nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The nodes, each at most once.
    pub nodes: Vec<NodePatch>,
    /// The new active leaf, if it changes.
    pub active_leaf: Option<NodeId>,
}

/// The new state of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodePatch {
    /// The node.
    pub id: NodeId,
    /// Its position in the session's list of nodes, when it is new.
    pub index: usize,
    /// The state; none removes the node.
    pub node: Option<Box<Node>>,
}

/// A change of what a node says; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeEdit {
    /// The new content.
    pub content: Option<ContentEdit>,
}

/// Placeholder for the persisted form of a content edit.
pub type ContentEdit = String;

/// Why an operation cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A node that the operation names does not exist.
    #[error("no node `{id}`")]
    UnknownNode {
        /// The id.
        id: NodeId,
    },
}

#[allow(unused, reason = "sketch")]
type Unused = (Content, Role, NodeMetadata, Arc<str>);
