use std::collections::{HashMap, HashSet};

use crate::session::links::StoredLinks;
use crate::session::nodes::Slot;
use crate::session::plan::{NodeState, Plan, bad_patch};
use crate::session::{Node, NodeId, SessionError};

impl Plan<'_> {
    /// Checks that links are mutual and acyclic, and that root and active leaf exist. Unchanged nodes are
    /// valid. O(changed nodes + their links + the path to unchanged nodes).
    pub(super) fn check(&self) -> Result<(), SessionError> {
        let check = Check { plan: self, claims: self.claims()? };
        for (id, state) in &self.changes {
            if self.session.nodes.get(id).is_some_and(|slot| slot.node.is_malformed()) {
                return Err(bad_patch(id, "there is no object at this position"));
            }
            match &state.node {
                Some((node, stored_links)) => check.node(id, node, stored_links)?,
                None => check.removal(id)?,
            }
            check.former_children(id)?;
        }
        if self.node(self.leaf_id()).is_none() {
            return Err(SessionError::UnknownNode { id: self.leaf_id().clone() });
        }
        check.check_cycles()
    }

    fn claims(&self) -> Result<HashMap<&NodeId, &NodeId>, SessionError> {
        let mut claims = HashMap::new();
        for (id, state) in &self.changes {
            for child in state.node.iter().flat_map(|(node, _)| &node.children_ids) {
                if claims.insert(child, id).is_some() {
                    return Err(bad_patch(child, "listed twice as a child"));
                }
            }
        }
        Ok(claims)
    }
}

struct Check<'a> {
    plan: &'a Plan<'a>,
    /// Child to changed parent.
    claims: HashMap<&'a NodeId, &'a NodeId>,
}

impl Check<'_> {
    fn node(&self, id: &NodeId, node: &Node, stored_links: &StoredLinks) -> Result<(), SessionError> {
        let fail = |fault| Err(bad_patch(id, fault));
        if node.is_malformed() || node.id.as_ref() != Some(id) {
            return fail("its id differs");
        }
        let is_root = *id == self.plan.session.root_id;
        if is_root != node.parent_id.is_none() || (*stored_links == StoredLinks::NotStored && !is_root) {
            return fail("only the root may have no parent");
        }
        if !self.is_listed_by_parent(id, node.parent_id.as_ref()) {
            return fail("its parent does not list it");
        }
        let former = self.former_parent(id).filter(|former| node.parent_id.as_ref() != Some(former));
        if former.is_some_and(|former| !self.plan.changes.contains_key(former)) {
            return fail("its old parent still lists it");
        }
        if !node.children_ids.iter().all(|child| self.is_child(child, id)) {
            return fail("lists a child with another parent");
        }
        let selected = node.last_selected_child_id.as_ref();
        if selected.is_some_and(|child| self.claims.get(child).copied() != Some(id)) {
            return fail("the last shown branch is not its child");
        }
        Ok(())
    }

    fn removal(&self, id: &NodeId) -> Result<(), SessionError> {
        if self.old(id).is_none() {
            return Err(SessionError::UnknownNode { id: id.clone() });
        }
        let Some(former) = self.former_parent(id) else {
            return Err(SessionError::IsRoot { id: id.clone() });
        };
        if self.plan.changes.contains_key(former) {
            Ok(())
        } else {
            Err(bad_patch(id, "its old parent still lists it"))
        }
    }

    fn former_children(&self, id: &NodeId) -> Result<(), SessionError> {
        let mut former = self.old(id).into_iter().flat_map(|slot| &slot.node.children_ids);
        let stays = |child: &NodeId| !self.plan.changes.contains_key(child);
        if former.any(|child| stays(child) && self.claims.get(child).copied() != Some(id)) {
            Err(bad_patch(id, "an old child still points to it"))
        } else {
            Ok(())
        }
    }

    fn check_cycles(&self) -> Result<(), SessionError> {
        let top = self.plan.top();
        let is_above = |id: &NodeId| self.old(id).is_some_and(|slot| slot.depth < top);
        let mut safe: HashSet<&NodeId> = HashSet::new();
        for (id, state) in &self.plan.changes {
            let mut walk: HashSet<&NodeId> = HashSet::new();
            let mut next = Some(id).filter(|_| self.is_moved(id, state));
            while let Some(id) = next.filter(|id| !safe.contains(*id) && !is_above(id)) {
                if !walk.insert(id) {
                    return Err(SessionError::BelowItself { id: id.clone() });
                }
                next = self.plan.node(id).and_then(|node| node.parent_id.as_ref());
            }
            safe.extend(walk);
        }
        Ok(())
    }

    fn old(&self, id: &NodeId) -> Option<&Slot> {
        self.plan.old(id)
    }

    fn former_parent(&self, id: &NodeId) -> Option<&NodeId> {
        self.old(id)?.node.parent_id.as_ref()
    }

    fn is_listed_by_parent(&self, id: &NodeId, parent: Option<&NodeId>) -> bool {
        let claim = self.claims.get(id).copied();
        match parent {
            Some(parent) if self.plan.changes.contains_key(parent) => claim == Some(parent),
            // An unchanged parent lists the same children.
            parent => claim.is_none() && self.former_parent(id) == parent,
        }
    }

    fn is_child(&self, child: &NodeId, parent: &NodeId) -> bool {
        self.plan.node(child).is_some_and(|node| node.parent_id.as_ref() == Some(parent))
    }

    fn is_moved(&self, id: &NodeId, state: &NodeState) -> bool {
        let new = state.node.as_ref().and_then(|(node, _)| node.parent_id.as_ref());
        new != self.former_parent(id)
    }
}
