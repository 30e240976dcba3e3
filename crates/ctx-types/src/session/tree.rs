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

    /// Iterates from a node up to the root, exclusive, with the index of each slot.
    pub(super) fn slots_above(&self, id: &str) -> impl Iterator<Item = (usize, &Slot)> {
        let slot = |index| Some((index, self.nodes.slot(index)?));
        let start = self.nodes.index(id).and_then(slot).filter(|(_, slot)| !slot.node.is_malformed());
        let slots = std::iter::successors(start, move |(_, below)| slot(below.parent?));
        slots.take_while(|(_, slot)| slot.parent.is_some())
    }
}
