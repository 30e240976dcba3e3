use std::collections::{HashMap, HashSet};

use crate::session::apply::TreeEdit;
use crate::session::{FileNode, NodeId, SessionError};

/// Child to changed parent.
type Claims<'a> = HashMap<&'a NodeId, &'a NodeId>;

impl TreeEdit<'_> {
    /// Checks that links are mutual and acyclic, and that the active leaf exists. Unchanged nodes are valid.
    ///
    /// O(changed nodes + their links + the path to unchanged nodes).
    pub(super) fn check(&self) -> Result<(), SessionError> {
        let mut claims = Claims::new();
        for id in self.undo.keys() {
            for child in self.tree.node(id).into_iter().flat_map(|node| &node.children_ids) {
                if claims.insert(child, id).is_some() {
                    return Err(bad_patch(child, "listed twice as a child"));
                }
            }
        }
        for id in self.undo.keys() {
            if let Some(fault) = self.fault(id, &claims) {
                return Err(bad_patch(id, fault));
            }
        }
        if self.tree.node(&self.tree.leaf.id).is_none() {
            return Err(SessionError::UnknownNode { id: self.tree.leaf.id.clone() });
        }
        self.check_cycles()
    }

    fn fault(&self, id: &NodeId, claims: &Claims<'_>) -> Option<&'static str> {
        let claimed_by = |child: &NodeId| claims.get(child).copied();
        let is_changed = |id: &NodeId| self.undo.contains_key(id);
        let former = self.old_parent(id);
        let parent = self.parent(id);
        if let Some(slot) = self.tree.nodes.sound(id) {
            let is_root = *id == self.tree.root_id;
            if is_root != parent.is_none() || (slot.file == FileNode::Missing && !is_root) {
                return Some("only the root may have no parent");
            }
            let is_listed = match parent {
                Some(parent) if is_changed(parent) => claimed_by(id) == Some(parent),
                // An unchanged parent lists the same children.
                parent => claimed_by(id).is_none() && former == parent,
            };
            if !is_listed {
                return Some("its parent does not list it");
            }
            if !slot.node.children_ids.iter().all(|child| self.parent(child) == Some(id)) {
                return Some("lists a child with another parent");
            }
            if !slot.node.last_selected_child_id.iter().all(|child| claimed_by(child) == Some(id)) {
                return Some("the last shown branch is not its child");
            }
        }
        if former != parent && former.is_some_and(|former| !is_changed(former)) {
            return Some("its old parent still lists it");
        }
        let mut former_children = self.old.node(id).into_iter().flat_map(|node| &node.children_ids);
        let is_lost = |child: &NodeId| !is_changed(child) && claimed_by(child) != Some(id);
        former_children.any(is_lost).then_some("an old child still points to it")
    }

    fn check_cycles(&self) -> Result<(), SessionError> {
        let top = self.top();
        let mut safe: HashSet<&NodeId> = HashSet::new();
        for id in self.undo.keys().filter(|id| self.parent(id) != self.old_parent(id)) {
            let mut walk: HashSet<&NodeId> = HashSet::new();
            let mut next = self.tree.nodes.sound(id);
            while let Some(slot) = next.filter(|slot| slot.depth >= top && !safe.contains(&slot.id)) {
                if !walk.insert(&slot.id) {
                    return Err(SessionError::BelowItself { id: slot.id.clone() });
                }
                next = slot.node.parent_id.as_ref().and_then(|parent| self.tree.nodes.sound(parent));
            }
            safe.extend(walk);
        }
        Ok(())
    }

    fn parent(&self, id: &NodeId) -> Option<&NodeId> {
        self.tree.node(id)?.parent_id.as_ref()
    }

    fn old_parent(&self, id: &NodeId) -> Option<&NodeId> {
        self.old.node(id)?.parent_id.as_ref()
    }
}

fn bad_patch(id: &NodeId, fault: &'static str) -> SessionError {
    SessionError::BadPatch { id: id.clone(), fault }
}
