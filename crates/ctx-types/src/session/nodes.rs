use std::sync::Arc;

use imbl::{HashMap, Vector};

use crate::session::{FileNode, Node, NodeId, NodePatch};

/// Nodes by id and in file order. Clones share memory. Every access and change is O(log nodes).
///
/// A slot keeps its index for the lifetime of its node. The slots form a circular list in file order, which
/// starts and ends at [`HEAD`].
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    slots: Vector<Slot>,
    by_id: HashMap<NodeId, usize>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) id: NodeId,
    pub(super) node: Arc<Node>,
    pub(super) file: FileNode,
    pub(super) parent: Option<usize>,
    /// Distance from the root; [`UNKNOWN_DEPTH`] until computed.
    pub(super) depth: usize,
    pub(super) previous: usize,
    pub(super) next: usize,
}

pub(super) const UNKNOWN_DEPTH: usize = usize::MAX;

/// A slot without a node.
pub(super) const HEAD: usize = 0;

impl Slot {
    pub(super) fn new(id: NodeId, node: impl Into<Arc<Node>>) -> Self {
        Self { id, node: node.into(), depth: UNKNOWN_DEPTH, ..Self::default() }
    }

    pub(super) fn to_patch(&self) -> NodePatch {
        let (node, file) = (Some(self.node.clone()), self.file.clone());
        NodePatch { id: self.id.clone(), after: None, node, file }
    }

    /// Returns the node in the file.
    pub(super) fn file_node(&self) -> Option<&Node> {
        match &self.file {
            FileNode::Same => Some(&self.node),
            FileNode::Other(node) => Some(node),
            FileNode::Missing => None,
        }
    }
}

impl Nodes {
    /// `slots` are in file order, after [`HEAD`].
    pub(super) fn new(mut slots: Vec<Slot>) -> Self {
        let last = slots.len().saturating_sub(1);
        for (index, slot) in slots.iter_mut().enumerate() {
            slot.previous = index.checked_sub(1).unwrap_or(last);
            slot.next = if index == last { HEAD } else { index + 1 };
        }
        let indexes = slots.iter().enumerate().skip(1);
        let by_id = indexes.map(|(index, slot)| (slot.id.clone(), index)).collect();
        Self { slots: slots.into_iter().collect(), by_id }
    }

    /// Includes malformed nodes.
    pub(super) fn index(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(super) fn slot(&self, index: usize) -> Option<&Slot> {
        self.slots.get(index)
    }

    /// Includes malformed nodes.
    pub(super) fn get(&self, id: &str) -> Option<&Slot> {
        self.slot(self.index(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Slot> {
        self.slots.get_mut(*self.by_id.get(id)?)
    }

    /// Excludes malformed nodes.
    pub(super) fn sound(&self, id: &str) -> Option<&Slot> {
        self.get(id).filter(|slot| !slot.node.is_malformed())
    }

    pub(super) fn parent(&self, slot: &Slot) -> Option<&Slot> {
        self.slot(slot.parent?)
    }

    pub(super) fn leaf_below<'a>(&'a self, mut slot: &'a Slot) -> &'a Slot {
        while let Some(child) = slot.node.selected_child_id().and_then(|id| self.sound(id)) {
            slot = child;
        }
        slot
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        let after = |slot: &Slot| self.slot(slot.next).filter(|_| slot.next != HEAD);
        std::iter::successors(self.slot(HEAD).and_then(after), move |slot| after(slot))
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn id_before(&self, id: &str) -> Option<&NodeId> {
        let previous = self.get(id)?.previous;
        self.slot(previous).filter(|_| previous != HEAD).map(|slot| &slot.id)
    }

    pub(super) fn last(&self) -> usize {
        self.slot(HEAD).map_or(HEAD, |head| head.previous)
    }

    /// Inserts a slot in file order.
    pub(super) fn insert(&mut self, slot: Slot, after: usize) {
        let index = self.slots.len();
        self.by_id.insert(slot.id.clone(), index);
        self.slots.push_back(slot);
        self.place(index, after);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Slot> {
        let index = self.by_id.remove(id)?;
        let slot = std::mem::take(self.slots.get_mut(index)?);
        self.join(slot.previous, slot.next);
        if index + 1 == self.slots.len() {
            self.slots.pop_back();
        }
        Some(slot)
    }

    pub(super) fn move_to_start(&mut self, index: usize) {
        let ends = self.slot(index).map(|slot| (slot.previous, slot.next));
        if let Some((previous, next)) = ends {
            self.join(previous, next);
            self.place(index, HEAD);
        }
    }

    /// Updates the index of the parent after the node changed.
    pub(super) fn update_parent(&mut self, id: &str) {
        let parent = self.get(id).and_then(|slot| self.index(slot.node.parent_id.as_deref()?));
        if let Some(slot) = self.get_mut(id) {
            slot.parent = parent;
        }
    }

    /// Updates the depths of a node and its descendants.
    pub(super) fn update_depths(&mut self, id: &str) {
        let Some(slot) = self.get(id) else { return };
        let depth = match self.parent(slot) {
            None => 0,
            // The update of the new parent sets this depth.
            Some(parent) if parent.depth == UNKNOWN_DEPTH => return,
            Some(parent) => parent.depth + 1,
        };
        let mut below = vec![(self.index(id), depth)];
        while let Some((index, depth)) = below.pop() {
            let Some(index) = index.filter(|index| self.slot(*index).is_some_and(|slot| slot.depth != depth))
            else {
                continue;
            };
            if let Some(slot) = self.slots.get_mut(index) {
                slot.depth = depth;
                let children = slot.node.clone();
                below.extend(children.children_ids.iter().map(|child| (self.index(child), depth + 1)));
            }
        }
    }

    fn place(&mut self, index: usize, after: usize) {
        let next = self.slot(after).map_or(HEAD, |slot| slot.next);
        self.join(after, index);
        self.join(index, next);
    }

    fn join(&mut self, previous: usize, next: usize) {
        if let Some(slot) = self.slots.get_mut(previous) {
            slot.next = next;
        }
        if let Some(slot) = self.slots.get_mut(next) {
            slot.previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nodes: &Nodes) -> String {
        nodes.iter().map(|slot| &*slot.id).collect()
    }

    fn add(nodes: &mut Nodes, id: &str, after: &str) {
        let after = nodes.index(after).unwrap_or(HEAD);
        nodes.insert(Slot::new(id.into(), Node::default()), after);
    }

    #[test]
    fn keeps_file_order_across_inserts_and_removals() {
        let mut nodes = Nodes::new(vec![Slot::default()]);
        add(&mut nodes, "b", "");
        add(&mut nodes, "d", "b");
        add(&mut nodes, "a", "");
        add(&mut nodes, "c", "b");
        assert_eq!(order(&nodes), "abcd");
        let copy = nodes.clone();
        nodes.remove("b");
        assert_eq!((order(&nodes), order(&copy)), ("acd".to_owned(), "abcd".to_owned()));
        add(&mut nodes, "e", "d");
        assert_eq!(nodes.slot(nodes.last()).map(|slot| &*slot.id), Some("e"));
        nodes.move_to_start(nodes.index("c").unwrap());
        assert_eq!(order(&nodes), "cade");
        assert_eq!(nodes.id_before("a").map(|id| &**id), Some("c"));
        for id in ["a", "e", "c", "d"] {
            nodes.remove(id);
        }
        assert_eq!((order(&nodes).as_str(), nodes.len()), ("", 0));
        add(&mut nodes, "f", "");
        assert_eq!(order(&nodes), "f");
    }
}
