use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;

use crate::session::apply::TreeEdit;
use crate::session::{FileNode, NodeId, SessionError};

impl TreeEdit<'_> {
    /// Checks that links are mutual and acyclic, and that the active leaf exists. Checks the changed
    /// nodes and their neighbors; no other node can become invalid.
    ///
    /// O(changed nodes + neighbors + their links + the path to unchanged nodes).
    pub(super) fn check(&self) -> Result<(), SessionError> {
        let mut ids: IndexSet<&NodeId> = self.undo.keys().collect();
        for node in self.undo.keys().flat_map(|id| [self.old.node(id), self.tree.node(id)]).flatten() {
            ids.extend(node.parent_id.iter().chain(&node.children_ids));
        }
        let slots = || ids.iter().filter_map(|id| self.tree.nodes.sound(id));
        let mut listed_by: HashMap<&NodeId, &NodeId> = HashMap::new();
        for slot in slots() {
            for child in &slot.node.children_ids {
                if listed_by.insert(child, &slot.id).is_some() {
                    return Err(bad_patch(child, "listed twice as a child"));
                }
            }
        }
        for slot in slots() {
            let parent = slot.node.parent_id.as_ref();
            let is_root = slot.id == self.tree.root_id;
            if is_root != parent.is_none() || (slot.file == FileNode::Missing && !is_root) {
                return Err(bad_patch(&slot.id, "only the root may have no parent"));
            }
            let is_known = parent.is_none_or(|parent| ids.contains(parent));
            if is_known && listed_by.get(&slot.id).copied() != parent {
                return Err(bad_patch(&slot.id, "its parent does not list it"));
            }
        }
        for slot in slots() {
            if !slot.node.children_ids.iter().all(|child| self.parent(child) == Some(&slot.id)) {
                return Err(bad_patch(&slot.id, "lists a child with another parent"));
            }
            let selected = &slot.node.last_selected_child_id;
            if !selected.iter().all(|child| listed_by.get(child) == Some(&&slot.id)) {
                return Err(bad_patch(&slot.id, "the last shown branch is not its child"));
            }
        }
        if self.tree.node(&self.tree.leaf.id).is_none() {
            return Err(SessionError::UnknownNode { id: self.tree.leaf.id.clone() });
        }
        self.check_cycles()
    }

    fn check_cycles(&self) -> Result<(), SessionError> {
        let top = self.top();
        let is_moved =
            |id: &&NodeId| self.parent(id) != self.old.node(id).and_then(|node| node.parent_id.as_ref());
        let mut safe: HashSet<&NodeId> = HashSet::new();
        for id in self.undo.keys().filter(is_moved) {
            let mut walk: HashSet<&NodeId> = HashSet::new();
            let mut next = self.tree.nodes.sound(id);
            while let Some(slot) = next.filter(|slot| slot.depth >= top && !safe.contains(&slot.id)) {
                if !walk.insert(&slot.id) {
                    return Err(SessionError::BelowItself { id: slot.id.clone() });
                }
                next = self.parent(&slot.id).and_then(|parent| self.tree.nodes.sound(parent));
            }
            safe.extend(walk);
        }
        Ok(())
    }

    fn parent(&self, id: &NodeId) -> Option<&NodeId> {
        self.tree.node(id)?.parent_id.as_ref()
    }
}

fn bad_patch(id: &NodeId, fault: &'static str) -> SessionError {
    SessionError::BadPatch { id: id.clone(), fault }
}
