use indexmap::IndexMap;

use crate::persist::Persist;
use crate::session::linear::root;
use crate::session::links::{Filing, Links};
use crate::session::nodes::Slot;
use crate::session::{ActiveLeaf, Node, NodeId, NodePatch, Patch, Session, SessionError};

pub(super) type Changes = IndexMap<NodeId, NodeState>;

#[derive(Clone, Debug)]
pub(super) struct NodeState {
    /// The previous node in the file, for a new node.
    pub(super) after: Option<NodeId>,
    pub(super) node: Option<(Node, Filing)>,
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

    pub(super) fn of_patch(session: &'a Session, patch: &Patch) -> Result<Self, SessionError> {
        let mut plan = Self { leaf: patch.active_leaf.clone(), ..Self::new(session) };
        for patch in &patch.nodes {
            let state = NodeState::of_patch(patch, session)?;
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
        let (node, filing) = self.state(id)?;
        *filing = Filing::AsIs;
        Ok(node)
    }

    pub(super) fn state(&mut self, id: &NodeId) -> Result<&mut (Node, Filing), SessionError> {
        let unknown = || SessionError::UnknownNode { id: id.clone() };
        if !self.changes.contains_key(id) {
            let slot = self.session.nodes.sound(id).ok_or_else(unknown)?;
            let node = Some((slot.node.clone(), slot.filing.clone()));
            let mut state = NodeState { after: None, node };
            state.settle();
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
    pub(super) fn strays(&self) -> Vec<(NodeId, NodeId)> {
        let top = self.top();
        let mut strays = Vec::new();
        let mut child = self.leaf_id();
        loop {
            // Faster than id lookups, and correct above all changes.
            if let Some(slot) = self.old(child).filter(|slot| slot.depth < top) {
                self.add_strays_above(slot, &mut strays);
                return strays;
            }
            let Some(above) = self.node(child).and_then(|node| node.parent_id.as_ref()) else {
                return strays;
            };
            let Some(node) = self.node(above) else { return strays };
            if node.last_selected_child_id.as_ref() != Some(child) {
                strays.push((above.clone(), child.clone()));
            }
            child = above;
        }
    }

    fn add_strays_above(&self, mut child: &'a Slot, strays: &mut Vec<(NodeId, NodeId)>) {
        let nodes = &self.session.nodes;
        let mut old_way = nodes.get(&self.session.leaf.id).filter(|_| self.session.is_way_known);
        while let Some(above) = nodes.parent(child) {
            if above.node.last_selected_child_id.as_ref() != Some(&child.id) {
                strays.push((above.id.clone(), child.id.clone()));
            }
            while let Some(lower) = old_way.filter(|lower| lower.depth > above.depth) {
                old_way = nodes.parent(lower);
            }
            if old_way.is_some_and(|old| old.id == above.id) {
                return;
            }
            child = above;
        }
    }
}

impl NodeState {
    fn of_patch(patch: &NodePatch, session: &Session) -> Result<Self, SessionError> {
        let links = patch.links.clone();
        let node = match (patch.node.as_deref().cloned(), links) {
            (Some(node), None) => Some((node, Filing::AsIs)),
            (Some(mut node), Some(mut links)) => {
                links.swap(&mut node);
                Some((node, Filing::Repaired(links)))
            }
            (None, None) => None,
            (None, Some(mut links)) => {
                if patch.id != session.root_id {
                    return Err(bad_patch(&patch.id, "only a root can be without a place in the file"));
                }
                let mut node = root(&patch.id);
                links.swap(&mut node);
                Some((node, Filing::Unfiled))
            }
        };
        Ok(Self { after: patch.after.clone(), node })
    }

    /// Updates placeholders as a reload would, to write the same JSON before and after one.
    pub(super) fn settle(&mut self) {
        match &mut self.node {
            None | Some((_, Filing::Unfiled)) => {}
            Some((node, Filing::AsIs)) => node.settle(),
            Some((node, Filing::Repaired(links))) => {
                links.swap(node);
                node.settle();
                links.swap(node);
            }
        }
    }

    pub(super) fn into_patch(self, id: NodeId) -> NodePatch {
        let (node, links) = match self.node {
            None => (None, None),
            Some((node, Filing::AsIs)) => (Some(Box::new(node)), None),
            Some((mut node, Filing::Repaired(mut links))) => {
                links.swap(&mut node);
                (Some(Box::new(node)), Some(links))
            }
            Some((node, Filing::Unfiled)) => (None, Some(Box::new(Links::of(&node)))),
        };
        NodePatch { id, after: self.after, node, links }
    }
}

pub(super) fn bad_patch(id: &NodeId, fault: &'static str) -> SessionError {
    SessionError::BadPatch { id: id.clone(), fault }
}
