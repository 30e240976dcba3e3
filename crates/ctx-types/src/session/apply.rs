use std::sync::Arc;

use indexmap::IndexMap;

use crate::session::nodes::{HEAD, Slot};
use crate::session::tree::Tree;
use crate::session::{FileNode, Node, NodeEdit, NodeId, NodePatch, Patch, Session, SessionError, SessionOp};

impl Session {
    /// Applies an operation and returns its exact inverse. An error changes nothing.
    ///
    /// The inverse restores the file byte for byte, including repaired errors. Linear in the changed nodes, their
    /// links, and the nodes with a new depth, times the logarithm of all nodes. The first operation may also walk
    /// to the root to select the active branch.
    pub fn apply(&mut self, op: &SessionOp) -> Result<SessionOp, SessionError> {
        let mut edit = TreeEdit { old: &self.tree, tree: self.tree.clone(), undo: IndexMap::new() };
        edit.apply(op)?;
        let undo = edit.undo.into_values().rev().collect();
        let tree = edit.tree;
        let changed_from = self.depth_of_change(op);
        let leaf_before = std::mem::replace(&mut self.tree, tree).leaf;
        let active_leaf = (leaf_before != self.tree.leaf).then(|| leaf_before.clone());
        let undo = Patch { nodes: undo, active_leaf };
        self.update_sent_messages(op, &leaf_before.id, &undo);
        if let Some(depth) = changed_from {
            self.folds.forget_from(depth);
        }
        Ok(SessionOp::Patch(undo))
    }
}

/// An operation on a copy of the tree.
pub(super) struct TreeEdit<'a> {
    pub(super) old: &'a Tree,
    pub(super) tree: Tree,
    /// The former states of the changed nodes, in order of the changes.
    pub(super) undo: IndexMap<NodeId, NodePatch>,
}

impl TreeEdit<'_> {
    fn apply(&mut self, op: &SessionOp) -> Result<(), SessionError> {
        match op {
            SessionOp::Append { parent, node } => self.append(parent, node)?,
            SessionOp::Insert { after, node } => self.insert(after, node)?,
            SessionOp::Remove { id } => self.remove(id)?,
            SessionOp::ActivateLeaf { id } => self.activate(id)?,
            SessionOp::Edit { id, edit } => return self.edit(id, edit),
            SessionOp::Toggle { id, enabled } => return self.toggle(id, *enabled),
            SessionOp::Patch(patch) => return self.patch(patch),
        }
        self.update_places();
        for (above, child) in self.unselected() {
            self.change(&above)?.last_selected_child_id = Some(child);
        }
        self.tree.is_branch_known = true;
        self.tree.leaf.is_repair = false;
        Ok(())
    }

    fn append(&mut self, parent: &NodeId, node: &Node) -> Result<(), SessionError> {
        let id = self.create(parent, node)?;
        self.change(parent)?.children_ids.push(id.clone());
        self.tree.leaf.id = id;
        Ok(())
    }

    fn insert(&mut self, after: &NodeId, node: &Node) -> Result<(), SessionError> {
        let id = self.create(after, node)?;
        let above = self.change(after)?;
        let children = std::mem::replace(&mut above.children_ids, vec![id.clone()]);
        let selected = above.last_selected_child_id.replace(id.clone());
        for child in &children {
            self.change(child)?.parent_id = Some(id.clone());
        }
        let node = self.change(&id)?;
        node.children_ids = children;
        node.last_selected_child_id = selected;
        if self.tree.leaf.id == *after {
            self.tree.leaf.id = id;
        }
        Ok(())
    }

    /// Adds a node at the end of the file, but not to its parent's children.
    fn create(&mut self, parent: &NodeId, node: &Node) -> Result<NodeId, SessionError> {
        let unnamed = || SessionError::UnnamedNode { parent: parent.clone() };
        let id = node.id.clone().filter(|_| !node.is_malformed()).ok_or_else(unnamed)?;
        if self.tree.nodes.get(&id).is_some() {
            return Err(SessionError::DuplicateNode { id });
        }
        self.change(parent)?;
        let mut node = node.clone();
        node.parent_id = Some(parent.clone());
        node.children_ids = Vec::new();
        node.last_selected_child_id = None;
        node.begin_links();
        node.refresh_placeholders();
        let last = self.tree.nodes.last();
        self.add(Slot::new(id.clone(), node), last);
        Ok(id)
    }

    fn remove(&mut self, id: &NodeId) -> Result<(), SessionError> {
        self.check_branch(id)?;
        let slot = self.tree.nodes.get(id).filter(|slot| slot.node.is_summary());
        let is_summary = slot.is_some();
        let next_leaf = match slot.filter(|slot| !slot.node.children_ids.is_empty()) {
            Some(slot) => self.tree.nodes.leaf_below(slot).id.clone(),
            None => self.next_leaf(id)?,
        };
        if is_summary {
            self.replace_by_children(id)?;
            self.drop_node(id);
        } else {
            self.detach(id)?;
            let mut branch = vec![id.clone()];
            while let Some(id) = branch.pop() {
                branch.extend(self.drop_node(&id).into_iter().flat_map(|node| node.children_ids.clone()));
            }
        }
        if self.tree.node(&self.tree.leaf.id).is_none() {
            self.tree.leaf.id = next_leaf;
        }
        Ok(())
    }

    fn activate(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let slot = self.tree.nodes.sound(id).ok_or_else(|| SessionError::UnknownNode { id: id.clone() })?;
        self.tree.leaf.id = slot.id.clone();
        Ok(())
    }

    fn edit(&mut self, id: &NodeId, edit: &NodeEdit) -> Result<(), SessionError> {
        if *id == self.tree.root_id && !edit.is_enabled.is_keep() {
            return Err(SessionError::IsRoot { id: id.clone() });
        }
        self.edit_node(id, |node| edit.apply(node))
    }

    fn toggle(&mut self, id: &NodeId, enabled: bool) -> Result<(), SessionError> {
        self.check_branch(id)?;
        if self.tree.node(id).is_some_and(|node| node.is_enabled() != enabled) {
            self.edit_node(id, |node| node.is_enabled = Some(enabled))?;
        }
        Ok(())
    }

    fn patch(&mut self, patch: &Patch) -> Result<(), SessionError> {
        for state in &patch.nodes {
            self.set(state)?;
        }
        if let Some(leaf) = &patch.active_leaf {
            self.tree.leaf = leaf.clone();
        }
        self.check()?;
        self.update_places();
        self.tree.is_branch_known = self.old.is_branch_known && self.unselected().is_empty();
        Ok(())
    }

    fn set(&mut self, state: &NodePatch) -> Result<(), SessionError> {
        let fail = |fault| Err(SessionError::BadPatch { id: state.id.clone(), fault });
        if self.undo.contains_key(&state.id) {
            return fail("set twice");
        }
        let is_sound = |node: &Arc<Node>| !node.is_malformed() && node.id.as_ref() == Some(&state.id);
        if !state.node.iter().all(is_sound) {
            return fail("its id differs");
        }
        match (self.tree.nodes.get_mut(&state.id), &state.node) {
            (Some(slot), _) if slot.node.is_malformed() => {
                return fail("there is no object at this position");
            }
            (Some(slot), Some(node)) => {
                self.undo.insert(slot.id.clone(), slot.to_patch());
                slot.node = node.clone();
                slot.file = state.file.clone();
            }
            (None, Some(node)) => {
                let nodes = &self.tree.nodes;
                let after = state.after.as_ref().map_or(HEAD, |id| nodes.index(id).unwrap_or(nodes.last()));
                let slot = Slot::new(state.id.clone(), node.clone());
                self.add(Slot { file: state.file.clone(), ..slot }, after);
            }
            (_, None) => {
                self.check_branch(&state.id)?;
                self.drop_node(&state.id);
            }
        }
        Ok(())
    }

    /// Edits fields other than links, also in the file.
    fn edit_node(&mut self, id: &NodeId, edit: impl Fn(&mut Node)) -> Result<(), SessionError> {
        if *id == self.tree.root_id {
            // With new content, the root may be undetectable, so the file must name it.
            edit(self.change(id)?);
            return Ok(());
        }
        let slot = self.slot(id)?;
        edit(Arc::make_mut(&mut slot.node));
        if let FileNode::Other(node) = &mut slot.file {
            edit(Arc::make_mut(node));
        }
        Ok(())
    }

    /// Returns a node to change. The file then has the same links.
    fn change(&mut self, id: &NodeId) -> Result<&mut Node, SessionError> {
        let slot = self.slot(id)?;
        slot.file = FileNode::Same;
        Ok(Arc::make_mut(&mut slot.node))
    }

    fn slot(&mut self, id: &NodeId) -> Result<&mut Slot, SessionError> {
        let slot = self.tree.nodes.get_mut(id).filter(|slot| !slot.node.is_malformed());
        let slot = slot.ok_or_else(|| SessionError::UnknownNode { id: id.clone() })?;
        if !self.undo.contains_key(id) {
            self.undo.insert(slot.id.clone(), slot.to_patch());
            // As a reload would, to write the same JSON before and after one.
            Arc::make_mut(&mut slot.node).refresh_placeholders();
            if let FileNode::Other(node) = &mut slot.file {
                Arc::make_mut(node).refresh_placeholders();
            }
        }
        Ok(slot)
    }

    fn add(&mut self, slot: Slot, after: usize) {
        let removal = NodePatch { id: slot.id.clone(), ..NodePatch::default() };
        self.undo.insert(slot.id.clone(), removal);
        self.tree.nodes.insert(slot, after);
    }

    fn drop_node(&mut self, id: &NodeId) -> Option<Arc<Node>> {
        let after = self.tree.nodes.id_before(id).cloned();
        let slot = self.tree.nodes.remove(id)?;
        self.undo.insert(slot.id.clone(), NodePatch { after, ..slot.to_patch() });
        Some(slot.node)
    }

    fn detach(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let neighbor = self.neighbor(id).cloned();
        let above = self.change(&self.parent_of(id)?)?;
        above.children_ids.retain(|child| child != id);
        if above.last_selected_child_id.as_ref() == Some(id) {
            above.last_selected_child_id = neighbor;
        }
        Ok(())
    }

    fn replace_by_children(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let node = self.tree.node(id);
        let children = node.map(|node| node.children_ids.clone()).unwrap_or_default();
        let selected = node.and_then(Node::selected_child_id).cloned();
        let Some(selected) = selected else { return self.detach(id) };
        let parent = self.parent_of(id)?;
        for child in &children {
            self.change(child)?.parent_id = Some(parent.clone());
        }
        let above = self.change(&parent)?;
        if let Some(place) = above.children_ids.iter().position(|child| child == id) {
            above.children_ids.splice(place..=place, children);
        }
        if above.last_selected_child_id.as_ref() == Some(id) {
            above.last_selected_child_id = Some(selected);
        }
        Ok(())
    }

    fn check_branch(&self, id: &NodeId) -> Result<(), SessionError> {
        if *id == self.tree.root_id {
            return Err(SessionError::IsRoot { id: id.clone() });
        }
        self.tree.node(id).map(|_| ()).ok_or_else(|| SessionError::UnknownNode { id: id.clone() })
    }

    fn parent_of(&self, id: &NodeId) -> Result<NodeId, SessionError> {
        let parent = self.tree.node(id).and_then(|node| node.parent_id.clone());
        parent.ok_or_else(|| SessionError::UnknownNode { id: id.clone() })
    }

    fn neighbor(&self, id: &NodeId) -> Option<&NodeId> {
        let siblings = &self.tree.node(self.tree.node(id)?.parent_id.as_ref()?)?.children_ids;
        let place = siblings.iter().position(|sibling| sibling == id)?;
        siblings.get(place + 1).or_else(|| siblings.get(place.checked_sub(1)?))
    }

    fn next_leaf(&self, id: &NodeId) -> Result<NodeId, SessionError> {
        match self.neighbor(id).and_then(|sibling| self.tree.nodes.sound(sibling)) {
            Some(sibling) => Ok(self.tree.nodes.leaf_below(sibling).id.clone()),
            None => self.parent_of(id),
        }
    }

    fn update_places(&mut self) {
        for id in self.undo.keys() {
            self.tree.nodes.update_parent(id);
        }
        for id in self.undo.keys() {
            self.tree.nodes.update_depths(id);
        }
    }

    /// Returns the depth above which no node has changed.
    pub(super) fn top(&self) -> usize {
        let slots = self.undo.keys().filter_map(|id| self.old.nodes.get(id));
        slots.map(|slot| slot.depth).min().unwrap_or(usize::MAX)
    }

    /// Returns the nodes above the active leaf that do not select its branch, with the child to select.
    ///
    /// O(distance to the unchanged part of the selected old branch).
    fn unselected(&self) -> Vec<(NodeId, NodeId)> {
        let (top, nodes) = (self.top(), &self.tree.nodes);
        let mut old_branch = self.old.nodes.get(&self.old.leaf.id).filter(|_| self.old.is_branch_known);
        let mut found = Vec::new();
        let mut next = nodes.get(&self.tree.leaf.id);
        while let Some(child) = next {
            let Some(above) = nodes.parent(child) else { break };
            if above.node.last_selected_child_id.as_ref() != Some(&child.id) {
                found.push((above.id.clone(), child.id.clone()));
            }
            while let Some(lower) = old_branch.filter(|lower| lower.depth > above.depth) {
                old_branch = self.old.nodes.parent(lower);
            }
            if above.depth < top && old_branch.is_some_and(|old| old.id == above.id) {
                break;
            }
            next = Some(above);
        }
        found
    }
}
