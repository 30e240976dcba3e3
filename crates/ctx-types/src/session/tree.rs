use crate::session::nodes::{Nodes, Slot};
use crate::session::{ActiveLeaf, Node, NodeId};

/// The nodes of a session and its active branch. Clones share memory.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Nodes,
    pub(super) root_id: NodeId,
    pub(super) leaf: ActiveLeaf,
    /// Whether the nodes above the active leaf select its branch.
    pub(super) is_branch_known: bool,
}

impl Tree {
    /// Excludes malformed nodes.
    pub(super) fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.sound(id).map(|slot| &*slot.node)
    }

    /// Iterates from a node up to the root, exclusive.
    pub(super) fn slots_above(&self, id: &str) -> impl Iterator<Item = &Slot> {
        let slots = std::iter::successors(self.nodes.sound(id), |slot| self.nodes.parent(slot));
        slots.take_while(|slot| slot.parent.is_some())
    }
}
