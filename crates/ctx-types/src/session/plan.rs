use indexmap::IndexMap;

use crate::persist::Persist;
use crate::session::linear::root;
use crate::session::links::{Links, StoredLinks};
use crate::session::nodes::Slot;
use crate::session::{ActiveLeaf, Node, NodeId, NodePatch, Patch, Session, SessionError};

pub(super) type Changes = IndexMap<NodeId, NodeState>;

#[derive(Clone, Debug)]
pub(super) struct NodeState {
    /// The previous node in the file, for a new node.
    pub(super) after: Option<NodeId>,
    pub(super) node: Option<(Node, StoredLinks)>,
}

#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) session: &'a Session,
    pub(super) changes: Changes,
    pub(super) leaf: Option<ActiveLeaf>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { session, changes: Changes::new(), leaf: None }
    }

    pub(super) fn from_patch(session: &'a Session, patch: &Patch) -> Result<Self, SessionError> {
        let mut plan = Self { leaf: patch.active_leaf.clone(), ..Self::new(session) };
        for patch in &patch.nodes {
            let state = NodeState::from_patch(patch, session)?;
            if plan.changes.insert(patch.id.clone(), state).is_some() {
                return Err(bad_patch(&patch.id, "set twice"));
            }
        }
        Ok(plan)
    }

    pub(super) fn node(&self, id: &str) -> Option<&Node> {
        match self.changes.get(id) {
            Some(state) => state.node.as_ref().map(|(node, _)| node),
            None => self.session.node(id),
        }
    }

    pub(super) fn old(&self, id: &str) -> Option<&'a Slot> {
        self.session.nodes.sound(id)
    }

    pub(super) fn relink(&mut self, id: &NodeId) -> Result<&mut Node, SessionError> {
        let (node, stored_links) = self.state(id)?;
        *stored_links = StoredLinks::AsIs;
        Ok(node)
    }

    pub(super) fn state(&mut self, id: &NodeId) -> Result<&mut (Node, StoredLinks), SessionError> {
        let unknown = || SessionError::UnknownNode { id: id.clone() };
        if !self.changes.contains_key(id) {
            let slot = self.session.nodes.sound(id).ok_or_else(unknown)?;
            let node = Some((slot.node.clone(), slot.stored_links.clone()));
            let mut state = NodeState { after: None, node };
            state.refresh_placeholders();
            self.changes.insert(slot.id.clone(), state);
        }
        self.changes.get_mut(id).and_then(|state| state.node.as_mut()).ok_or_else(unknown)
    }

    pub(super) fn top(&self) -> usize {
        let slots = self.changes.keys().filter_map(|id| self.old(id));
        slots.map(|slot| slot.depth).min().unwrap_or(usize::MAX)
    }

    pub(super) fn leaf_id(&self) -> &NodeId {
        self.leaf.as_ref().map_or(&self.session.leaf.id, |leaf| &leaf.id)
    }

    /// Returns the nodes above the active leaf that do not select its branch, with the child to select.
    ///
    /// O(distance to the unchanged part of the selected old branch).
    pub(super) fn orphans(&self) -> Vec<(NodeId, NodeId)> {
        let top = self.top();
        let mut orphans = Vec::new();
        let mut child = self.leaf_id();
        loop {
            // Faster than id lookups, and correct above all changes.
            if let Some(slot) = self.old(child).filter(|slot| slot.depth < top) {
                self.add_orphans_above(slot, &mut orphans);
                return orphans;
            }
            let Some(above) = self.node(child).and_then(|node| node.parent_id.as_ref()) else {
                return orphans;
            };
            let Some(node) = self.node(above) else { return orphans };
            if node.last_selected_child_id.as_ref() != Some(child) {
                orphans.push((above.clone(), child.clone()));
            }
            child = above;
        }
    }

    fn add_orphans_above(&self, mut child: &'a Slot, orphans: &mut Vec<(NodeId, NodeId)>) {
        let nodes = &self.session.nodes;
        let mut old_branch = nodes.get(&self.session.leaf.id).filter(|_| self.session.is_branch_known);
        while let Some(above) = nodes.parent(child) {
            if above.node.last_selected_child_id.as_ref() != Some(&child.id) {
                orphans.push((above.id.clone(), child.id.clone()));
            }
            while let Some(lower) = old_branch.filter(|lower| lower.depth > above.depth) {
                old_branch = nodes.parent(lower);
            }
            if old_branch.is_some_and(|old| old.id == above.id) {
                return;
            }
            child = above;
        }
    }
}

impl NodeState {
    fn from_patch(patch: &NodePatch, session: &Session) -> Result<Self, SessionError> {
        let links = patch.links.clone();
        let node = match (patch.node.as_deref().cloned(), links) {
            (Some(node), None) => Some((node, StoredLinks::AsIs)),
            (Some(mut node), Some(mut links)) => {
                links.swap(&mut node);
                Some((node, StoredLinks::Repaired(links)))
            }
            (None, None) => None,
            (None, Some(mut links)) => {
                if patch.id != session.root_id {
                    return Err(bad_patch(&patch.id, "only a root can be without a place in the file"));
                }
                let mut node = root(&patch.id);
                links.swap(&mut node);
                Some((node, StoredLinks::NotStored))
            }
        };
        Ok(Self { after: patch.after.clone(), node })
    }

    /// Updates placeholders as a reload would, to write the same JSON before and after one.
    pub(super) fn refresh_placeholders(&mut self) {
        match &mut self.node {
            None | Some((_, StoredLinks::NotStored)) => {}
            Some((node, StoredLinks::AsIs)) => node.refresh_placeholders(),
            Some((node, StoredLinks::Repaired(links))) => {
                links.swap(node);
                node.refresh_placeholders();
                links.swap(node);
            }
        }
    }

    pub(super) fn into_patch(self, id: NodeId) -> NodePatch {
        let (node, links) = match self.node {
            None => (None, None),
            Some((node, StoredLinks::AsIs)) => (Some(Box::new(node)), None),
            Some((mut node, StoredLinks::Repaired(mut links))) => {
                links.swap(&mut node);
                (Some(Box::new(node)), Some(links))
            }
            Some((node, StoredLinks::NotStored)) => (None, Some(Box::new(Links::from_node(&node)))),
        };
        NodePatch { id, after: self.after, node, links }
    }
}

pub(super) fn bad_patch(id: &NodeId, fault: &'static str) -> SessionError {
    SessionError::BadPatch { id: id.clone(), fault }
}
