use crate::{Phrase, phrase};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::{Node, NodeEdit, NodeId};

/// A change of a session, with an exact inverse.
///
/// In JSON, `op` names the variant; nodes have the file format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SessionOp {
    /// Adds a node as the last child of `parent` and activates it.
    Append {
        /// The parent.
        parent: NodeId,
        /// The node, with an id. The operation sets its links.
        node: Box<Node>,
    },
    /// Inserts a node, such as a summary, between `after` and its children.
    ///
    /// If `after` was active, activates the new node.
    Insert {
        /// The parent.
        after: NodeId,
        /// The node, with an id. The operation sets its links.
        node: Box<Node>,
    },
    /// Edits a node.
    Edit {
        /// The node.
        id: NodeId,
        /// The edit.
        edit: Box<NodeEdit>,
    },
    /// Enables or disables a node other than the root.
    Toggle {
        /// The node.
        id: NodeId,
        /// Whether the node is sent.
        enabled: bool,
    },
    /// Removes a node and its descendants; or only a summary, whose children take its place.
    ///
    /// If the active leaf is removed, activates the leaf of the next sibling's branch, the previous sibling's
    /// branch, or the parent. For an active summary, the leaf below it comes first.
    Remove {
        /// The node; not the root.
        id: NodeId,
    },
    /// Activates a node and selects its branch.
    ActivateLeaf {
        /// The node.
        id: NodeId,
    },
    /// Sets the states of nodes. All inverses are patches.
    Patch(Patch),
}

/// New states of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Patch {
    /// Unique nodes, set in this order.
    pub nodes: Vec<NodePatch>,
    /// The new active leaf, if it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_leaf: Option<ActiveLeaf>,
}

/// The new state of a node, or its removal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePatch {
    /// The node.
    pub id: NodeId,
    /// The previous node in the file, for a new node. `None` is the start; an unknown id is the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NodeId>,
    /// The node; `None` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<Node>>,
    /// The node in the file.
    #[serde(default, skip_serializing_if = "FileNode::is_same")]
    pub file: FileNode,
}

/// The node in the file, until an operation changes its links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileNode {
    /// Equal to the node in memory.
    #[default]
    Same,
    /// With invalid links, which are repaired in memory.
    Other(Arc<Node>),
    /// No node: a root that is missing in the file.
    Missing,
}

impl FileNode {
    fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

/// The active leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveLeaf {
    /// The node.
    pub id: NodeId,
    /// Whether the file keeps an invalid value until the leaf changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repair: bool,
}

/// Error of an operation, which changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SessionError {
    /// A node does not exist.
    UnknownNode {
        /// The id.
        id: NodeId,
    },
    /// The id of a new node already exists.
    DuplicateNode {
        /// The id.
        id: NodeId,
    },
    /// A new node has no id or is malformed.
    UnnamedNode {
        /// The parent of the new node.
        parent: NodeId,
    },
    /// The root cannot be removed, moved, or disabled.
    IsRoot {
        /// The id of the root.
        id: NodeId,
    },
    /// A node would become its own descendant.
    BelowItself {
        /// The node.
        id: NodeId,
    },
    /// The patch is for another state of the session.
    BadPatch {
        /// The node.
        id: NodeId,
        /// The mismatch.
        fault: &'static str,
    },
}

impl SessionError {
    /// Returns the error as a phrase.
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
