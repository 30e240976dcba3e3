use crate::session::nodes::{Position, UNKNOWN_DEPTH};
use crate::session::plan::{Changes, NodeState, Plan};
use crate::session::{ActiveLeaf, NodeId, NodePatch, Patch, Session, SessionError, SessionOp};

impl Session {
    /// Applies an operation and returns its exact inverse. An error changes nothing.
    ///
    /// The inverse restores the file byte for byte, including repaired errors. Linear in the changed nodes, their
    /// links, and the nodes with a new depth. The first operation may also walk to the root to select the active
    /// branch.
    pub fn apply(&mut self, op: &SessionOp) -> Result<SessionOp, SessionError> {
        let mut plan = match op {
            SessionOp::Patch(patch) => Plan::from_patch(self, patch)?,
            _ => Plan::new(self),
        };
        plan.add(op)?;
        plan.check()?;
        let is_branch_known = match op {
            SessionOp::Edit { .. } | SessionOp::Toggle { .. } => self.is_branch_known,
            SessionOp::Patch(_) => self.is_branch_known && plan.orphans().is_empty(),
            _ => true,
        };
        let Plan { changes, leaf, .. } = plan;
        let leaf_before = self.leaf.id.clone();
        let changed_from = self.depth_of_change(op);
        let undo = self.commit(changes, leaf);
        self.update_sent_messages(op, &leaf_before, &undo);
        if let Some(depth) = changed_from {
            self.folds.forget_from(depth);
        }
        self.is_branch_known = is_branch_known;
        Ok(SessionOp::Patch(undo))
    }

    fn commit(&mut self, changes: Changes, leaf: Option<ActiveLeaf>) -> Patch {
        let changed: Vec<NodeId> = changes.keys().cloned().collect();
        let mut undo = Patch::default();
        undo.nodes.extend(changes.into_iter().map(|(id, state)| self.exchange(id, state)));
        undo.nodes.reverse();
        undo.active_leaf = leaf.map(|leaf| std::mem::replace(&mut self.leaf, leaf));
        for id in &changed {
            self.find_parent(id);
        }
        for id in &changed {
            self.measure_depths(id);
        }
        undo
    }

    fn exchange(&mut self, id: NodeId, state: NodeState) -> NodePatch {
        let index = self.nodes.index(&id);
        let mut old = NodeState { after: None, node: None };
        match (index, state.node) {
            (None, None) => {}
            (None, Some((node, stored_links))) => {
                let position = match &state.after {
                    None => Position::First,
                    Some(after) => self.nodes.index(after).map_or(Position::Last, Position::After),
                };
                self.nodes.insert(id.clone(), node, stored_links, position);
            }
            (Some(index), None) => {
                old.after = self.nodes.id_before(index).cloned();
                old.node = self.nodes.remove(index).map(|slot| (slot.node, slot.stored_links));
            }
            (Some(index), Some((node, stored_links))) => {
                if let Some(slot) = self.nodes.slot_mut(index) {
                    let node = std::mem::replace(&mut slot.node, node);
                    old.node = Some((node, std::mem::replace(&mut slot.stored_links, stored_links)));
                }
            }
        }
        old.into_patch(id)
    }

    fn find_parent(&mut self, id: &NodeId) {
        let Some(index) = self.nodes.index(id) else { return };
        let parent = self.nodes.slot(index).and_then(|slot| slot.node.parent_id.as_deref());
        let parent = parent.and_then(|parent| self.nodes.index(parent));
        if let Some(slot) = self.nodes.slot_mut(index) {
            slot.parent = parent;
        }
    }

    fn measure_depths(&mut self, id: &NodeId) {
        let Some(slot) = self.nodes.get(id) else { return };
        let depth = match self.nodes.parent(slot) {
            None => 0,
            // The walk from the new parent sets this depth.
            Some(parent) if parent.depth == UNKNOWN_DEPTH => return,
            Some(parent) => parent.depth + 1,
        };
        let mut below = vec![(self.nodes.index(id), depth)];
        while let Some((index, depth)) = below.pop() {
            let Some(slot) = index.and_then(|index| self.nodes.slot_mut(index)) else { continue };
            if std::mem::replace(&mut slot.depth, depth) != depth {
                let children = slot.node.children_ids.clone();
                below.extend(children.iter().map(|child| (self.nodes.index(child), depth + 1)));
            }
        }
    }
}
