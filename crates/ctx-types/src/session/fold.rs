use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::nodes::Slot;
use crate::session::{Node, NodeId, Session, SessionOp};

/// Maximum number of cached folds of a session.
const MAX_FOLDS: usize = 32;

/// Maximum number of results of a fold. After an edit or a branch switch, a fold continues from an older result.
const MAX_RESULTS: usize = 4;

/// The newest results of each fold, oldest first.
#[derive(Default)]
pub(super) struct Folds(Mutex<BTreeMap<FoldKey, Vec<FoldResult>>>);

/// The result at a node. Valid until a node above changes.
#[derive(Clone)]
struct FoldResult {
    depth: usize,
    slot: usize,
    state: Arc<dyn Any + Send + Sync>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FoldKey {
    state: TypeId,
    key: u64,
}

impl Session {
    /// Folds over the active branch, below the root, and caches results.
    ///
    /// Includes disabled and hidden messages. `step` must be a pure function of state, node, and `key`, which
    /// represents all other inputs. A later call after an append folds only new nodes.
    pub fn fold_path<T: Any + Clone + Send + Sync>(
        &self,
        key: u64,
        start: impl FnOnce() -> T,
        mut step: impl FnMut(&mut T, &NodeId, &Node),
    ) -> Arc<T> {
        let key = FoldKey { state: TypeId::of::<T>(), key };
        let (known, new) = self.find_nearest::<T>(key);
        let mut state = match known {
            Some(known) if new.is_empty() => return known,
            Some(known) => T::clone(&known),
            None => start(),
        };
        for slot in new.iter().rev() {
            step(&mut state, &slot.id, &slot.node);
        }
        let state = Arc::new(state);
        if let Some((slot, leaf)) = self.tree.slots_above(&self.tree.leaf.id).next() {
            let mut folds = self.folds.lock();
            if folds.len() == MAX_FOLDS && !folds.contains_key(&key) {
                folds.clear();
            }
            let results = folds.entry(key).or_default();
            if results.len() == MAX_RESULTS {
                results.remove(0);
            }
            results.push(FoldResult { depth: leaf.depth, slot, state: state.clone() });
        }
        state
    }

    /// Returns the cached result for the lowest node of the path, and the nodes below it.
    fn find_nearest<T: Any + Send + Sync>(&self, key: FoldKey) -> (Option<Arc<T>>, Vec<&Slot>) {
        let known = self.folds.lock().get(&key).cloned().unwrap_or_default();
        let mut new = Vec::new();
        for (index, slot) in self.tree.slots_above(&self.tree.leaf.id) {
            if let Some(known) = known.iter().find(|known| known.slot == index) {
                return (known.state.clone().downcast().ok(), new);
            }
            new.push(slot);
        }
        (None, new)
    }

    /// Returns the smallest depth of a changed existing path.
    ///
    /// Call it before the operation.
    pub(super) fn depth_of_change(&self, op: &SessionOp) -> Option<usize> {
        let depth = |id: &NodeId| self.tree.nodes.get(id).map(|slot| slot.depth);
        match op {
            SessionOp::Append { .. } | SessionOp::ActivateLeaf { .. } => None,
            SessionOp::Insert { after, .. } => depth(after).map(|depth| depth + 1),
            SessionOp::Edit { id, .. } | SessionOp::Toggle { id, .. } | SessionOp::Remove { id } => depth(id),
            SessionOp::Patch(patch) => patch.nodes.iter().filter_map(|node| depth(&node.id)).min(),
        }
    }
}

impl Folds {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<FoldKey, Vec<FoldResult>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget_from(&mut self, depth: usize) {
        let folds = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for results in folds.values_mut() {
            results.retain(|result| result.depth < depth);
        }
    }
}

impl Clone for Folds {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

crate::opaque!(Folds);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::session::NodeEdit;

    fn count_visits(session: &Session, key: u64) -> usize {
        let mut steps = 0;
        let ids = session.fold_path(key, Vec::new, |ids: &mut Vec<NodeId>, id, _| {
            ids.push(id.clone());
            steps += 1;
        });
        let path = session.path();
        assert!(ids.iter().eq(path.iter().filter_map(|node| node.id.as_ref())));
        steps
    }

    fn long_session(count: usize) -> Session {
        Session::linear("s", (0..count).map(|n| Node::new(Role::User, "x").with_id(format!("n{n}")))).0
    }

    #[test]
    fn visits_only_new_messages() {
        let mut session = long_session(5_000);
        assert_eq!(count_visits(&session, 0), 5_000);
        assert_eq!(count_visits(&session, 0), 0);
        let node = Box::new(Node::new(Role::User, "x").with_id("new"));
        session.apply(&SessionOp::Append { parent: "n4999".into(), node }).unwrap();
        assert_eq!(count_visits(&session.clone(), 0), 1);
        assert_eq!(count_visits(&session, 0), 1);
        assert_eq!(count_visits(&session, 1), 5_001, "another key starts another fold");
    }

    #[test]
    fn refolds_messages_below_an_edit() {
        let mut session = long_session(100);
        count_visits(&session, 0);
        let node = Box::new(Node::new(Role::User, "x").with_id("new"));
        session.apply(&SessionOp::Append { parent: "n99".into(), node }).unwrap();
        count_visits(&session, 0);
        let edit = Box::new(NodeEdit::content(crate::Content::Text("y".into())));
        session.apply(&SessionOp::Edit { id: "new".into(), edit: edit.clone() }).unwrap();
        assert_eq!(count_visits(&session, 0), 1);
        session.apply(&SessionOp::Edit { id: "n10".into(), edit }).unwrap();
        assert_eq!(count_visits(&session, 0), 101);
    }
}
