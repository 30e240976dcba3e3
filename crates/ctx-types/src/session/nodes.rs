//! The nodes of a session: by id, in the order of the file, with the way up and the depth beside each.

use std::collections::HashMap;
use std::sync::Arc;

use crate::session::links::Filing;
use crate::session::{Node, NodeId};

/// Nodes by id and in the order of the file; every change costs O(1).
///
/// Slots keep their index as long as their node exists. The order of the file is a linked list through them. A copy
/// shares all of them, until one of the two is changed: who keeps earlier states keeps only what was different in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    slots: Vec<Option<Arc<Slot>>>,
    free: Vec<usize>,
    by_id: Arc<HashMap<NodeId, usize>>,
    first: Option<usize>,
    last: Option<usize>,
}

/// A node with what is known about it beside its file.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The key under which the file has the node.
    pub(super) id: NodeId,
    /// The node, with links that are sound.
    pub(super) node: Node,
    /// How the node is written.
    pub(super) filing: Filing,
    /// The slot of the node above.
    pub(super) parent: Option<usize>,
    /// The distance from the root; [`UNKNOWN_DEPTH`] for a moment after the node was made.
    pub(super) depth: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

/// The depth of a node that has none yet, and of a malformed one.
pub(super) const UNKNOWN_DEPTH: usize = usize::MAX;

/// A place in the order of the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    /// Before all others.
    First,
    /// Directly after a slot.
    After(usize),
    /// After all others.
    Last,
}

impl Nodes {
    /// Returns the slot of an id, also of a malformed node.
    pub(super) fn index(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns a slot.
    pub(super) fn slot(&self, index: usize) -> Option<&Slot> {
        self.slots.get(index)?.as_deref()
    }

    /// Returns a slot.
    pub(super) fn slot_mut(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(index)?.as_mut().map(Arc::make_mut)
    }

    /// Returns the slot of an id, also of a malformed node.
    pub(super) fn get(&self, id: &str) -> Option<&Slot> {
        self.slot(self.index(id)?)
    }

    /// Returns the slot of an id unless the node is malformed.
    pub(super) fn sound(&self, id: &str) -> Option<&Slot> {
        self.get(id).filter(|slot| !slot.node.is_malformed())
    }

    /// Returns the slot of the node above.
    pub(super) fn parent(&self, slot: &Slot) -> Option<&Slot> {
        self.slot(slot.parent?)
    }

    /// Walks down along the branches last shown, else the newest, to a leaf.
    pub(super) fn leaf_below<'a>(&'a self, mut slot: &'a Slot) -> &'a Slot {
        while let Some(child) = slot.node.selected_child_id().and_then(|id| self.sound_after(slot, id)) {
            slot = child;
        }
        slot
    }

    /// Returns the slot of an id, which is mostly the next one of the file, unless the node is malformed.
    fn sound_after(&self, slot: &Slot, id: &str) -> Option<&Slot> {
        let next = slot.next.and_then(|next| self.slot(next)).filter(|next| *next.id == *id);
        next.or_else(|| self.get(id)).filter(|slot| !slot.node.is_malformed())
    }

    /// Returns all slots in the order of the file.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        let first = self.first.and_then(|index| self.slot(index));
        std::iter::successors(first, |slot| self.slot(slot.next?))
    }

    /// Returns the slots' indexes in the order of the file.
    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first, |index| self.slot(*index)?.next)
    }

    /// Returns the number of nodes, malformed ones included.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns an upper bound of the slots' indexes.
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Makes room for more nodes at once.
    pub(super) fn reserve(&mut self, additional: usize) {
        self.slots.reserve(additional);
        Arc::make_mut(&mut self.by_id).reserve(additional);
    }

    /// Returns the key of the node that the file has before a slot.
    pub(super) fn id_before(&self, index: usize) -> Option<&NodeId> {
        Some(&self.slot(self.slot(index)?.previous?)?.id)
    }

    /// Returns the key of the last node of the file.
    pub(super) fn last_id(&self) -> Option<&NodeId> {
        Some(&self.slot(self.last?)?.id)
    }

    /// Adds a node under a key that is free, and returns its slot.
    pub(super) fn insert(&mut self, id: NodeId, node: Node, filing: Filing, position: Position) -> usize {
        let slot = Slot {
            id: id.clone(),
            node,
            filing,
            parent: None,
            depth: UNKNOWN_DEPTH,
            previous: None,
            next: None,
        };
        let index = self.allocate(slot);
        Arc::make_mut(&mut self.by_id).insert(id, index);
        self.link(index, position);
        index
    }

    /// Removes a node.
    pub(super) fn remove(&mut self, index: usize) -> Option<Slot> {
        let slot = Arc::unwrap_or_clone(self.slots.get_mut(index)?.take()?);
        Arc::make_mut(&mut self.by_id).remove(&slot.id);
        self.free.push(index);
        self.join(slot.previous, slot.next);
        Some(slot)
    }

    fn allocate(&mut self, slot: Slot) -> usize {
        if let Some(index) = self.free.pop()
            && let Some(place) = self.slots.get_mut(index)
        {
            *place = Some(Arc::new(slot));
            return index;
        }
        self.slots.push(Some(Arc::new(slot)));
        self.slots.len() - 1
    }

    fn link(&mut self, index: usize, position: Position) {
        let previous = match position {
            Position::First => None,
            Position::After(previous) => Some(previous),
            Position::Last => self.last,
        };
        let next = match previous {
            Some(previous) => self.slot(previous).and_then(|slot| slot.next),
            None => self.first,
        };
        self.join(previous, Some(index));
        self.join(Some(index), next);
    }

    /// Makes two slots neighbours in the order of the file; without one, the other is the first or last.
    fn join(&mut self, previous: Option<usize>, next: Option<usize>) {
        match previous.and_then(|index| self.slot_mut(index)) {
            Some(slot) => slot.next = next,
            None => self.first = next,
        }
        match next.and_then(|index| self.slot_mut(index)) {
            Some(slot) => slot.previous = previous,
            None => self.last = previous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nodes: &Nodes) -> String {
        nodes.iter().map(|slot| &*slot.id).collect()
    }

    fn add(nodes: &mut Nodes, id: &str, position: Position) -> usize {
        nodes.insert(id.into(), Node::default(), Filing::AsIs, position)
    }

    #[test]
    fn the_order_of_the_file_survives_inserts_and_removals() {
        let mut nodes = Nodes::default();
        let b = add(&mut nodes, "b", Position::Last);
        add(&mut nodes, "d", Position::Last);
        add(&mut nodes, "a", Position::First);
        add(&mut nodes, "c", Position::After(b));
        assert_eq!(order(&nodes), "abcd");
        nodes.remove(b);
        assert_eq!(order(&nodes), "acd");
        add(&mut nodes, "e", Position::Last);
        assert_eq!(order(&nodes), "acde");
        assert_eq!(nodes.last_id().map(|id| &**id), Some("e"));
        for id in ["a", "e", "c", "d"] {
            nodes.remove(nodes.index(id).unwrap());
        }
        assert_eq!((order(&nodes).as_str(), nodes.len()), ("", 0));
        add(&mut nodes, "f", Position::First);
        assert_eq!(order(&nodes), "f");
    }
}
