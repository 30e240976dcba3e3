//! Operations on a session, and their exact inverses.

use crate::{Phrase, phrase};
use serde::{Deserialize, Serialize};

use crate::session::{Links, Node, NodeEdit, NodeId};

/// A change of a session. Undo, redo, the stored log and change notices are lists of these.
///
/// In JSON the key `op` names the variant, and nodes are spelled as in files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SessionOp {
    /// Adds a new node as the last child of `parent` and makes it the active leaf.
    Append {
        /// The node above the new one.
        parent: NodeId,
        /// The new node, with an id; its links are set by the operation.
        node: Box<Node>,
    },
    /// Adds a new node as the only child of `after`, whose children it adopts.
    ///
    /// This is how a summary comes to stand behind what it stands for. If `after` was the active leaf, the
    /// new node is.
    Insert {
        /// The node above the new one.
        after: NodeId,
        /// The new node, with an id; its links are set by the operation.
        node: Box<Node>,
    },
    /// Changes what a node says.
    Edit {
        /// The node.
        id: NodeId,
        /// The change.
        edit: Box<NodeEdit>,
    },
    /// Switches a node on or off; not the root.
    Toggle {
        /// The node.
        id: NodeId,
        /// Whether it is sent.
        enabled: bool,
    },
    /// Moves one node to the end of another's children; its own children take its old place.
    Move {
        /// The node; not the root.
        id: NodeId,
        /// The node that it goes below; not itself nor one of its descendants.
        parent: NodeId,
    },
    /// Moves a node, with everything below it, to the end of another's children.
    Graft {
        /// The topmost node of the branch; not the root.
        id: NodeId,
        /// The node that it goes below; not itself nor one of its descendants.
        parent: NodeId,
    },
    /// Removes a node with everything below it; of a summary only the node itself: its children take its
    /// place.
    ///
    /// If the active leaf goes, the end of the next sibling's branch becomes active, else that of the
    /// previous one, else the node above. For a summary that was the active leaf, the end of the branch below
    /// it comes first.
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
#[serde(rename_all = "camelCase", default)]
pub struct Patch {
    /// The nodes, each at most once; they are set in this order.
    pub nodes: Vec<NodePatch>,
    /// The new active leaf, if it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_leaf: Option<ActiveLeaf>,
}

/// The new state of one node.
///
/// A node without a state is removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePatch {
    /// The node.
    pub id: NodeId,
    /// For a node that did not exist: the node before it in the file; absent for the first of the file.
    /// The end of the file, if there is no such node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NodeId>,
    /// The node as the file has it; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<Node>>,
    /// The links in memory where those of the file are not sound; with them alone, a root that the file
    /// does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Box<Links>>,
}

/// The node at which a conversation goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveLeaf {
    /// The node.
    pub id: NodeId,
    /// Whether it only stands in for what the file says, which is not sound and stays until it is changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repair: bool,
}

/// Why an operation cannot be applied; the session is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SessionError {
    /// A node that the operation names does not exist.
    UnknownNode {
        /// The id.
        id: NodeId,
    },
    /// The id of a new node is taken.
    DuplicateNode {
        /// The id.
        id: NodeId,
    },
    /// A new node has no id, or is no object.
    UnnamedNode {
        /// The node above the new one.
        parent: NodeId,
    },
    /// The root can be neither removed nor moved nor switched.
    IsRoot {
        /// The id of the root.
        id: NodeId,
    },
    /// A node would come to stand below itself.
    BelowItself {
        /// The node.
        id: NodeId,
    },
    /// A patch does not fit the session: it was made for another state of it.
    BadPatch {
        /// The node.
        id: NodeId,
        /// What is wrong.
        fault: &'static str,
    },
}

impl SessionError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::UnknownNode { id } => phrase!("no node `{id}`", id = id.to_string()),
            Self::DuplicateNode { id } => phrase!("node `{id}` already exists", id = id.to_string()),
            Self::UnnamedNode { parent } => {
                phrase!("the new node below `{parent}` has no id", parent = parent.to_string())
            }
            Self::IsRoot { id } => {
                phrase!("`{id}` is the root; it cannot be removed, moved, or disabled", id = id.to_string())
            }
            Self::BelowItself { id } => phrase!("`{id}` cannot go below itself", id = id.to_string()),
            Self::BadPatch { id, fault } => {
                phrase!(
                    "the patch does not fit node `{id}`: {fault}",
                    id = id.to_string(),
                    fault = Phrase::from(*fault)
                )
            }
        }
    }
}
