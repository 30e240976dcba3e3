use serde::{Deserialize, Serialize};

use crate::session::{Node, NodeId};

/// The links of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Links {
    /// The node's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    /// The parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    /// The children, oldest branch first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children_ids: Vec<NodeId>,
    /// The last selected child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_selected_child_id: Option<NodeId>,
}

impl Links {
    pub(super) fn from_node(node: &Node) -> Self {
        Self {
            id: node.id.clone(),
            parent_id: node.parent_id.clone(),
            children_ids: node.children_ids.clone(),
            last_selected_child_id: node.last_selected_child_id.clone(),
        }
    }

    pub(super) fn swap(&mut self, node: &mut Node) {
        std::mem::swap(&mut self.id, &mut node.id);
        std::mem::swap(&mut self.parent_id, &mut node.parent_id);
        std::mem::swap(&mut self.children_ids, &mut node.children_ids);
        std::mem::swap(&mut self.last_selected_child_id, &mut node.last_selected_child_id);
    }
}

/// How the file stores a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StoredLinks {
    /// Unchanged.
    AsIs,
    /// With the file's invalid links, which are repaired in memory.
    Repaired(Box<Links>),
    /// Not stored: a root that is missing in the file.
    NotStored,
}
