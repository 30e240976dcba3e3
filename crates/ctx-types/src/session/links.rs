//! What ties a node into its tree, and how that differs from what the file says.

use serde::{Deserialize, Serialize};

use crate::session::{Node, NodeId};

/// What ties a node into its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Links {
    /// The id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    /// The node above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    /// The nodes below, oldest branch first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children_ids: Vec<NodeId>,
    /// The branch that was last shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_selected_child_id: Option<NodeId>,
}

impl Links {
    /// Returns the links of a node.
    pub(super) fn of(node: &Node) -> Self {
        Self {
            id: node.id.clone(),
            parent_id: node.parent_id.clone(),
            children_ids: node.children_ids.clone(),
            last_selected_child_id: node.last_selected_child_id.clone(),
        }
    }

    /// Exchanges the links of a node for these.
    pub(super) fn swap(&mut self, node: &mut Node) {
        std::mem::swap(&mut self.id, &mut node.id);
        std::mem::swap(&mut self.parent_id, &mut node.parent_id);
        std::mem::swap(&mut self.children_ids, &mut node.children_ids);
        std::mem::swap(&mut self.last_selected_child_id, &mut node.last_selected_child_id);
    }
}

/// How a node is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filing {
    /// As it is.
    AsIs,
    /// With the links that its file had: those of the node were repaired, and no operation touched them since.
    Repaired(Box<Links>),
    /// Not at all: a root that was made for a file without one, and that no operation touched since.
    Unfiled,
}
