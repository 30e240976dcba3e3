use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::nodes::Slot;
use crate::session::{Node, NodeId, Session, SessionOp};

/// Newest results at leaves, for fast branch switches.
const MAX_TIPS: usize = 8;

/// Maximum number of cached folds per state type. The least recently extended is dropped first.
///
/// The code limits the number of types but not of keys: agents with different variables may share a session.
/// A limit for all types would break as soon as another feature folds.
const MAX_KEYS: usize = 4;

#[derive(Default)]
pub(super) struct Folds(Mutex<Vec<Fold>>);

/// Valid until a node above changes.
#[derive(Clone)]
struct Fold {
    key: FoldKey,
    /// Oldest first.
    tips: VecDeque<Tip>,
}

/// The result at a node.
#[derive(Clone)]
struct Tip {
    depth: usize,
    slot: usize,
    state: Arc<dyn Any + Send + Sync>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
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
        let result = Arc::new(state);
        let mut folds = self.folds.lock();
        let mut fold = Folds::take(&mut folds, key);
        if let Some((index, leaf)) = self.tree.slots_above(&self.tree.leaf.id).next() {
            fold.tips.push_back(Tip { depth: leaf.depth, slot: index, state: result.clone() });
            let excess = fold.tips.len().saturating_sub(MAX_TIPS);
            fold.tips.drain(..excess);
        }
        folds.push(fold);
        Folds::drop_oldest(&mut folds, key.state);
        result
    }

    fn find_nearest<T: Any + Send + Sync>(&self, key: FoldKey) -> (Option<Arc<T>>, Vec<&Slot>) {
        let folds = self.folds.lock();
        let fold = folds.iter().find(|fold| fold.key == key);
        let mut new = Vec::new();
        for (index, slot) in self.tree.slots_above(&self.tree.leaf.id) {
            let known = fold.and_then(|fold| fold.tips.iter().find(|tip| tip.slot == index));
            if let Some(known) = known.and_then(|tip| tip.state.clone().downcast::<T>().ok()) {
                return (Some(known), new);
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
    fn lock(&self) -> MutexGuard<'_, Vec<Fold>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(folds: &mut Vec<Fold>, key: FoldKey) -> Fold {
        match folds.iter().position(|fold| fold.key == key) {
            Some(index) => folds.remove(index),
            None => Fold { key, tips: VecDeque::new() },
        }
    }

    fn drop_oldest(folds: &mut Vec<Fold>, state: TypeId) {
        let is_same = |fold: &Fold| fold.key.state == state;
        if folds.iter().filter(|fold| is_same(fold)).count() > MAX_KEYS
            && let Some(oldest) = folds.iter().position(is_same)
        {
            folds.remove(oldest);
        }
    }

    pub(super) fn forget_from(&mut self, depth: usize) {
        let folds = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for fold in folds {
            fold.tips.retain(|tip| tip.depth < depth);
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
    use crate::{NodeEdit, Role};

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

    #[test]
    fn reuses_result_when_switching_back_to_branch() {
        let mut session = long_session(100);
        count_visits(&session, 0);
        for number in 0..MAX_TIPS {
            let node = Box::new(Node::new(Role::User, "x").with_id(format!("b{number}")));
            session.apply(&SessionOp::Append { parent: "n97".into(), node }).unwrap();
            count_visits(&session, 0);
        }
        session.apply(&SessionOp::ActivateLeaf { id: "b0".into() }).unwrap();
        assert_eq!(count_visits(&session, 0), 0);
        session.apply(&SessionOp::ActivateLeaf { id: "n99".into() }).unwrap();
        assert_eq!(count_visits(&session, 0), 100, "only the newest results are cached");
    }

    #[test]
    fn drops_oldest_key_of_a_type() {
        let session = long_session(3);
        (0..10).for_each(|key| assert_eq!(count_visits(&session, key), 3));
        assert_eq!(session.folds.lock().len(), MAX_KEYS);
        assert_eq!((count_visits(&session, 9), count_visits(&session, 0)), (0, 3));
    }

    #[test]
    fn caches_every_state_type() {
        #[derive(Clone)]
        struct State<const N: usize>;
        fn steps<const N: usize>(session: &Session) -> usize {
            let mut steps = 0;
            session.fold_path(0, || State::<N>, |_, _, _| steps += 1);
            steps
        }
        let mut session = long_session(100);
        let turn = |session: &Session| {
            [steps::<0>, steps::<1>, steps::<2>, steps::<3>, steps::<4>, steps::<5>, steps::<6>, steps::<7>]
                .map(|fold| fold(session))
        };
        assert_eq!(turn(&session), [100; 8]);
        let node = Box::new(Node::new(Role::User, "x").with_id("new"));
        session.apply(&SessionOp::Append { parent: "n99".into(), node }).unwrap();
        assert_eq!(turn(&session), [1; 8]);
    }
}
