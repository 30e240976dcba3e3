use std::collections::HashMap;
use std::sync::Arc;

use crate::session::links::StoredLinks;
use crate::session::{Node, NodeId};

/// Nodes by id and in file order. Every change is O(1).
///
/// A slot keeps its index for the lifetime of its node. A linked list stores the order. Clones share
/// unchanged slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    slots: Vec<Option<Arc<Slot>>>,
    free: Vec<usize>,
    by_id: Arc<HashMap<NodeId, usize>>,
    first: Option<usize>,
    last: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) id: NodeId,
    pub(super) node: Node,
    pub(super) stored_links: StoredLinks,
    pub(super) parent: Option<usize>,
    /// Distance from the root; [`UNKNOWN_DEPTH`] until computed.
    pub(super) depth: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

pub(super) const UNKNOWN_DEPTH: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    First,
    After(usize),
    Last,
}

impl Nodes {
    /// Includes malformed nodes.
    pub(super) fn index(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(super) fn slot(&self, index: usize) -> Option<&Slot> {
        self.slots.get(index)?.as_deref()
    }

    pub(super) fn slot_mut(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(index)?.as_mut().map(Arc::make_mut)
    }

    /// Includes malformed nodes.
    pub(super) fn get(&self, id: &str) -> Option<&Slot> {
        self.slot(self.index(id)?)
    }

    /// Excludes malformed nodes.
    pub(super) fn sound(&self, id: &str) -> Option<&Slot> {
        self.get(id).filter(|slot| !slot.node.is_malformed())
    }

    pub(super) fn parent(&self, slot: &Slot) -> Option<&Slot> {
        self.slot(slot.parent?)
    }

    pub(super) fn leaf_below<'a>(&'a self, mut slot: &'a Slot) -> &'a Slot {
        while let Some(child) = slot.node.selected_child_id().and_then(|id| self.sound_after(slot, id)) {
            slot = child;
        }
        slot
    }

    /// Tries the next slot first: a child usually follows its parent.
    fn sound_after(&self, slot: &Slot, id: &str) -> Option<&Slot> {
        let next = slot.next.and_then(|next| self.slot(next)).filter(|next| *next.id == *id);
        next.or_else(|| self.get(id)).filter(|slot| !slot.node.is_malformed())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        let first = self.first.and_then(|index| self.slot(index));
        std::iter::successors(first, |slot| self.slot(slot.next?))
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first, |index| self.slot(*index)?.next)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.slots.reserve(additional);
        Arc::make_mut(&mut self.by_id).reserve(additional);
    }

    pub(super) fn id_before(&self, index: usize) -> Option<&NodeId> {
        Some(&self.slot(self.slot(index)?.previous?)?.id)
    }

    pub(super) fn last_id(&self) -> Option<&NodeId> {
        Some(&self.slot(self.last?)?.id)
    }

    pub(super) fn insert(
        &mut self,
        id: NodeId,
        node: Node,
        stored_links: StoredLinks,
        position: Position,
    ) -> usize {
        let slot = Slot {
            id: id.clone(),
            node,
            stored_links,
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
        nodes.insert(id.into(), Node::default(), StoredLinks::AsIs, position)
    }

    #[test]
    fn keeps_file_order_across_inserts_and_removals() {
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
