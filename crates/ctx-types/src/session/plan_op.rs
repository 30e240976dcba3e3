use crate::persist::Persist;
use crate::session::links::StoredLinks;
use crate::session::plan::{NodeState, Plan};
use crate::session::{ActiveLeaf, Node, NodeEdit, NodeId, SessionError, SessionOp};

impl Plan<'_> {
    pub(super) fn add(&mut self, op: &SessionOp) -> Result<(), SessionError> {
        self.add_changes(op)?;
        for state in self.changes.values_mut() {
            state.refresh_placeholders();
        }
        Ok(())
    }

    fn add_changes(&mut self, op: &SessionOp) -> Result<(), SessionError> {
        match op {
            SessionOp::Append { parent, node } => self.append(parent, node)?,
            SessionOp::Insert { after, node } => self.insert(after, node)?,
            SessionOp::Move { id, parent } => self.move_node(id, parent)?,
            SessionOp::Graft { id, parent } => self.graft(id, parent)?,
            SessionOp::Remove { id } => self.remove(id)?,
            SessionOp::ActivateLeaf { id } => self.activate(id)?,
            SessionOp::Edit { id, edit } => return self.edit(id, edit),
            SessionOp::Toggle { id, enabled } => return self.toggle(id, *enabled),
            SessionOp::Patch(_) => return Ok(()),
        }
        self.update_leaf()
    }

    fn append(&mut self, parent: &NodeId, node: &Node) -> Result<(), SessionError> {
        let id = self.create(parent, node)?;
        self.relink(parent)?.children_ids.push(id.clone());
        self.set_leaf(id);
        Ok(())
    }

    fn insert(&mut self, after: &NodeId, node: &Node) -> Result<(), SessionError> {
        let id = self.create(after, node)?;
        let above = self.relink(after)?;
        let children = std::mem::replace(&mut above.children_ids, vec![id.clone()]);
        let selected = above.last_selected_child_id.replace(id.clone());
        for child in &children {
            self.relink(child)?.parent_id = Some(id.clone());
        }
        let node = self.relink(&id)?;
        node.children_ids = children;
        node.last_selected_child_id = selected;
        if self.leaf_id() == after {
            self.set_leaf(id);
        }
        Ok(())
    }

    /// Adds a node at the end of the file, but not to its parent's children.
    fn create(&mut self, parent: &NodeId, node: &Node) -> Result<NodeId, SessionError> {
        let unnamed = || SessionError::UnnamedNode { parent: parent.clone() };
        let id = node.id.clone().filter(|_| !node.is_malformed()).ok_or_else(unnamed)?;
        if self.session.nodes.get(&id).is_some() {
            return Err(SessionError::DuplicateNode { id });
        }
        self.relink(parent)?;
        let mut node = node.clone();
        node.parent_id = Some(parent.clone());
        node.children_ids = Vec::new();
        node.last_selected_child_id = None;
        node.begin_links();
        node.refresh_placeholders();
        let after = self.session.nodes.last_id().cloned();
        self.changes.insert(id.clone(), NodeState { after, node: Some((node, StoredLinks::AsIs)) });
        Ok(id)
    }

    fn move_node(&mut self, id: &NodeId, parent: &NodeId) -> Result<(), SessionError> {
        self.check_target(id, parent)?;
        self.replace_by_children(id)?;
        let node = self.relink(id)?;
        node.children_ids = Vec::new();
        node.last_selected_child_id = None;
        self.attach(id, parent)
    }

    fn graft(&mut self, id: &NodeId, parent: &NodeId) -> Result<(), SessionError> {
        self.check_target(id, parent)?;
        self.detach(id)?;
        self.attach(id, parent)
    }

    fn remove(&mut self, id: &NodeId) -> Result<(), SessionError> {
        self.check_branch(id)?;
        if self.session.node(id).is_some_and(Node::is_summary) {
            return self.remove_summary(id);
        }
        let next_leaf = self.next_leaf(id)?;
        self.detach(id)?;
        let mut branch = vec![id.clone()];
        while let Some(id) = branch.pop() {
            branch.extend(self.session.node(&id).into_iter().flat_map(|node| node.children_ids.clone()));
            self.changes.insert(id, NodeState { after: None, node: None });
        }
        if self.node(self.leaf_id()).is_none() {
            self.set_leaf(next_leaf);
        }
        Ok(())
    }

    fn remove_summary(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let has_children = self.session.node(id).is_some_and(|node| !node.children_ids.is_empty());
        let below = self.session.leaf_below(id).cloned();
        let next_leaf = match below.filter(|_| has_children) {
            Some(below) => below,
            None => self.next_leaf(id)?,
        };
        self.replace_by_children(id)?;
        self.changes.insert(id.clone(), NodeState { after: None, node: None });
        if self.leaf_id() == id {
            self.set_leaf(next_leaf);
        }
        Ok(())
    }

    fn activate(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let slot = self.old(id).ok_or_else(|| SessionError::UnknownNode { id: id.clone() })?;
        self.set_leaf(slot.id.clone());
        Ok(())
    }

    fn edit(&mut self, id: &NodeId, edit: &NodeEdit) -> Result<(), SessionError> {
        let is_root = *id == self.session.root_id;
        if is_root && !edit.is_enabled.is_keep() {
            return Err(SessionError::IsRoot { id: id.clone() });
        }
        // With new content, the root may be undetectable, so the file must name it.
        let node = if is_root { self.relink(id)? } else { &mut self.state(id)?.0 };
        edit.apply(node);
        Ok(())
    }

    fn toggle(&mut self, id: &NodeId, enabled: bool) -> Result<(), SessionError> {
        self.check_branch(id)?;
        if self.session.node(id).is_some_and(|node| node.is_enabled() != enabled) {
            self.state(id)?.0.is_enabled = Some(enabled);
        }
        Ok(())
    }

    fn check_branch(&self, id: &NodeId) -> Result<(), SessionError> {
        if *id == self.session.root_id {
            return Err(SessionError::IsRoot { id: id.clone() });
        }
        self.old(id).map(|_| ()).ok_or_else(|| SessionError::UnknownNode { id: id.clone() })
    }

    fn check_target(&self, id: &NodeId, parent: &NodeId) -> Result<(), SessionError> {
        self.check_branch(id)?;
        let target = self.old(parent).ok_or_else(|| SessionError::UnknownNode { id: parent.clone() })?;
        let depth = self.old(id).map_or(0, |slot| slot.depth);
        let nodes = &self.session.nodes;
        let mut way = std::iter::successors(Some(target), |slot| nodes.parent(slot));
        if way.find(|slot| slot.depth <= depth).is_some_and(|slot| slot.id == *id) {
            Err(SessionError::BelowItself { id: id.clone() })
        } else {
            Ok(())
        }
    }

    fn detach(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let neighbour = self.neighbour(id).cloned();
        let parent = self.parent_of(id)?;
        let above = self.relink(&parent)?;
        above.children_ids.retain(|child| child != id);
        if above.last_selected_child_id.as_ref() == Some(id) {
            above.last_selected_child_id = neighbour;
        }
        Ok(())
    }

    fn replace_by_children(&mut self, id: &NodeId) -> Result<(), SessionError> {
        let node = self.session.node(id);
        let children = node.map(|node| node.children_ids.clone()).unwrap_or_default();
        let selected = node.and_then(Node::selected_child_id).cloned();
        let Some(selected) = selected else { return self.detach(id) };
        let parent = self.parent_of(id)?;
        for child in &children {
            self.relink(child)?.parent_id = Some(parent.clone());
        }
        let above = self.relink(&parent)?;
        if let Some(place) = above.children_ids.iter().position(|child| child == id) {
            above.children_ids.splice(place..=place, children);
        }
        if above.last_selected_child_id.as_ref() == Some(id) {
            above.last_selected_child_id = Some(selected);
        }
        Ok(())
    }

    fn attach(&mut self, id: &NodeId, parent: &NodeId) -> Result<(), SessionError> {
        self.relink(id)?.parent_id = Some(parent.clone());
        self.relink(parent)?.children_ids.push(id.clone());
        Ok(())
    }

    fn parent_of(&self, id: &NodeId) -> Result<NodeId, SessionError> {
        let parent = self.node(id).and_then(|node| node.parent_id.clone());
        parent.ok_or_else(|| SessionError::UnknownNode { id: id.clone() })
    }

    fn neighbour(&self, id: &NodeId) -> Option<&NodeId> {
        let siblings = &self.node(self.node(id)?.parent_id.as_ref()?)?.children_ids;
        let place = siblings.iter().position(|sibling| sibling == id)?;
        siblings.get(place + 1).or_else(|| siblings.get(place.checked_sub(1)?))
    }

    fn next_leaf(&self, id: &NodeId) -> Result<NodeId, SessionError> {
        match self.neighbour(id).and_then(|sibling| self.session.leaf_below(sibling)) {
            Some(leaf) => Ok(leaf.clone()),
            None => self.parent_of(id),
        }
    }

    fn set_leaf(&mut self, id: NodeId) {
        self.leaf = Some(ActiveLeaf { id, is_repair: false });
    }

    fn update_leaf(&mut self) -> Result<(), SessionError> {
        if self.session.leaf.is_repair && self.leaf.is_none() {
            self.set_leaf(self.session.leaf.id.clone());
        }
        for (above, child) in self.orphans() {
            self.relink(&above)?.last_selected_child_id = Some(child);
        }
        Ok(())
    }
}
