use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctx_compress::recall::{SessionIndex, off_path, recallable};
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Message, Place, Text};

/// Recall index of a conversation's active branch, cached for later turns.
///
/// Put it on the blackboard before a run, and store it with the conversation. It grows with new messages and
/// is rebuilt for another branch. It never changes results. A clone is O(1) and shares the index.
#[derive(Clone, Debug, Default)]
pub struct RecallCache(Arc<Mutex<IndexedBranch>>);

#[derive(Debug, Default)]
struct IndexedBranch {
    nodes: SessionIndex,
    print: BranchFingerprint,
    /// Hashes of the texts of `nodes`, by position, up to the last request for vectors. `None` for a blank
    /// text.
    hashes: Vec<Option<u64>>,
    /// Vectors by node. Unlike positions, ids are the same on every branch.
    vectors: HashMap<NodeId, NodeVector>,
}

#[derive(Debug)]
struct NodeVector {
    hash: u64,
    vector: Vec<f32>,
}

#[derive(Clone, Debug)]
pub(crate) struct NodeText {
    id: NodeId,
    hash: u64,
    pub(crate) text: Text,
}

pub(crate) struct BranchIndex<'a>(MutexGuard<'a, IndexedBranch>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BranchFingerprint {
    others: Option<u64>,
    path: Option<u64>,
}

impl RecallCache {
    /// Updates the index to the active leaf. O(new messages); O(branch) for another branch; O(tree) with
    /// other branches.
    pub(crate) fn follow(&self, session: &Session, with_branches: bool) -> BranchIndex<'_> {
        let mut followed = self.lock();
        let others = if with_branches { off_path(session) } else { Vec::new() };
        let mut off = NodeFingerprints::default();
        for (id, node) in &others {
            off.push(id, node);
        }
        let path = session.fold_path(0, NodeFingerprints::default, NodeFingerprints::push);
        let known = followed.nodes.len() - followed.nodes.others();
        let of_known = known.checked_sub(1).and_then(|last| path.0.get(last).copied());
        if followed.print != (BranchFingerprint { others: off.last(), path: of_known }) {
            let mut vectors = std::mem::take(&mut followed.vectors);
            // Keep some vectors of removed nodes. A concurrent turn may need them.
            if vectors.len() > 2 * session.nodes().count() {
                vectors.retain(|id, _| session.node(id).is_some());
            }
            *followed = IndexedBranch { vectors, ..IndexedBranch::default() };
            followed.nodes.add_others(others);
        }
        followed.nodes.add_path(session);
        followed.print = BranchFingerprint { others: off.last(), path: path.last() };
        BranchIndex(followed)
    }

    /// Clears the index and the vectors of all clones.
    pub fn clear(&self) {
        *self.lock() = IndexedBranch::default();
    }

    /// Returns whether the index has no messages and no vectors.
    pub fn is_empty(&self) -> bool {
        let followed = self.lock();
        followed.nodes.is_empty() && followed.vectors.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, IndexedBranch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Branch of a turn. While the turn waits, other turns may index other branches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnPath<'a> {
    kept: &'a RecallCache,
    session: &'a Session,
    with_branches: bool,
    print: BranchFingerprint,
}

impl<'a> TurnPath<'a> {
    pub(crate) fn new(kept: &'a RecallCache, session: &'a Session, with_branches: bool) -> Self {
        let print = kept.follow(session, with_branches).0.print;
        Self { kept, session, with_branches, print }
    }

    /// Returns the index of this branch. Rebuilds it if another turn replaced it. Usually O(1).
    pub(crate) fn index(&self) -> BranchIndex<'a> {
        let followed = self.kept.lock();
        if followed.print == self.print {
            return BranchIndex(followed);
        }
        drop(followed);
        self.kept.follow(self.session, self.with_branches)
    }

    pub(crate) fn without_vectors(&self, most: usize) -> Vec<NodeText> {
        let mut path = self.index();
        path.add_hashes(self.session);
        let new = (0..path.len()).rev().filter(|at| path.vector(*at).is_none());
        let text = |at: usize| {
            let (id, hash) = (path.id(at)?.into(), path.0.hashes.get(at).copied().flatten()?);
            let message = path.message(self.session, at)?;
            Some(NodeText { id, hash, text: Text::from(&*message.text()) })
        };
        new.filter_map(text).take(most).collect()
    }

    /// A missing vector is empty.
    pub(crate) fn with_vectors<T>(&self, read: impl FnOnce(&[&[f32]]) -> T) -> T {
        let mut path = self.index();
        path.add_hashes(self.session);
        let vectors: Vec<&[f32]> = (0..path.len()).map(|at| path.vector(at).unwrap_or_default()).collect();
        read(&vectors)
    }

    /// Another turn may have indexed another branch since the texts were read.
    pub(crate) fn keep_vectors(&self, vectors: impl Iterator<Item = (NodeText, Vec<f32>)>) {
        let by_node = vectors.map(|(node, vector)| (node.id, NodeVector { hash: node.hash, vector }));
        self.kept.lock().vectors.extend(by_node);
    }
}

impl BranchIndex<'_> {
    fn add_hashes(&mut self, session: &Session) {
        let followed = &mut *self.0;
        for at in followed.hashes.len()..followed.nodes.len() {
            let message = followed.nodes.message(session, at);
            let text = message.as_ref().map(Message::text).filter(|text| !text.trim().is_empty());
            followed.hashes.push(text.map(|text| {
                // The hash never leaves this process, so the standard hasher is enough.
                let mut hash = DefaultHasher::new();
                text.hash(&mut hash);
                hash.finish()
            }));
        }
    }

    /// Ignores the vector of an earlier text.
    fn vector(&self, at: usize) -> Option<&[f32]> {
        let hash = self.0.hashes.get(at).copied().flatten()?;
        let known = self.0.vectors.get(self.id(at)?).filter(|known| known.hash == hash)?;
        (!known.vector.is_empty()).then_some(&*known.vector)
    }
}

impl Deref for BranchIndex<'_> {
    type Target = SessionIndex;

    fn deref(&self) -> &SessionIndex {
        &self.0.nodes
    }
}

/// A hash for each node that covers the node and all above it.
#[derive(Clone, Default)]
struct NodeFingerprints(imbl::Vector<u64>);

impl NodeFingerprints {
    fn push(&mut self, id: &NodeId, node: &Node) {
        let mut print = DefaultHasher::new();
        (self.last(), id).hash(&mut print);
        if let Some(message) = recallable(id, node) {
            (message.place == Place::Pinned, message.role, message.text(), &message.name).hash(&mut print);
            for call in &message.tool_calls {
                (&call.name, call.arguments.as_str()).hash(&mut print);
            }
        }
        self.0.push_back(print.finish());
    }

    fn last(&self) -> Option<u64> {
        self.0.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::session::{NodeEdit, SessionOp};
    use ctx_types::{Content, Role};

    use super::*;

    fn found(kept: &RecallCache, session: &Session, question: &str) -> Vec<String> {
        let path = kept.follow(session, false);
        let hits = path.index().search(&[(question, 100)]).hits;
        let ids = hits.iter().filter(|hit| path.message(session, hit.message).is_some());
        ids.filter_map(|hit| path.id(hit.message).map(str::to_owned)).collect()
    }

    #[test]
    fn updates_index_with_conversation() {
        let node = |n: usize, text: &str| Node::new(Role::User, text).with_id(format!("n{n}"));
        let texts = ["a lighthouse", "green", "blue", "yellow", "grey"];
        let nodes = texts.iter().enumerate().map(|(n, text)| node(n, text));
        let (mut session, _) = Session::linear("s", nodes);
        let kept = RecallCache::default();
        let first = |session: &Session, question: &str| found(&kept, session, question).into_iter().next();
        assert_eq!(first(&session, "lighthouse").as_deref(), Some("n0"));
        let parent = session.active_leaf_id().clone();
        session.apply(&SessionOp::Append { parent, node: Box::new(node(5, "the harbour")) }).unwrap();
        assert_eq!(first(&session, "harbour").as_deref(), Some("n5"));
        // Another branch.
        session
            .apply(&SessionOp::Append { parent: "n3".into(), node: Box::new(node(6, "a walnut")) })
            .unwrap();
        session.apply(&SessionOp::ActivateLeaf { id: "n6".into() }).unwrap();
        assert_eq!(first(&session, "harbour"), None);
        assert_eq!(first(&session, "walnut").as_deref(), Some("n6"));
        assert_eq!(kept.follow(&session, false).index().len(), 5);
        // Disabled by the user.
        session.apply(&SessionOp::Toggle { id: "n6".into(), enabled: false }).unwrap();
        assert_eq!(first(&session, "walnut"), None);
    }

    fn lengths(turn: &TurnPath<'_>) -> Vec<usize> {
        turn.with_vectors(|vectors| vectors.iter().map(|vector| vector.len()).collect())
    }

    fn keep(turn: &TurnPath<'_>, texts: Vec<NodeText>) {
        let vectors: Vec<Vec<f32>> = texts.iter().map(|node| vec![1.0; node.text.len()]).collect();
        turn.keep_vectors(texts.into_iter().zip(vectors));
    }

    #[test]
    fn keeps_vectors_by_message_while_turns_interleave() {
        let node = |id: &str, text: &str| Box::new(Node::new(Role::User, text).with_id(id));
        let (mut first, _) = Session::linear("s", [*node("n0", "a"), *node("n1", "bb")]);
        first.apply(&SessionOp::Append { parent: "n1".into(), node: node("f2", "ccc") }).unwrap();
        let mut second = first.clone();
        second.apply(&SessionOp::Append { parent: "n0".into(), node: node("s1", "dddd") }).unwrap();
        second.apply(&SessionOp::Append { parent: "s1".into(), node: node("s2", "eeeee") }).unwrap();
        let kept = RecallCache::default();
        let one = TurnPath::new(&kept, &first, false);
        let texts_of_one = one.without_vectors(9);
        let other = TurnPath::new(&kept, &second, false);
        let texts_of_other = other.without_vectors(9);
        keep(&one, texts_of_one);
        keep(&other, texts_of_other);
        assert_eq!(lengths(&one), [1, 2, 3]);
        assert_eq!(lengths(&other), [1, 4, 5]);
        assert!(one.without_vectors(9).is_empty() && other.without_vectors(9).is_empty());
    }

    #[test]
    fn requests_new_vector_for_edited_message() {
        let (mut session, _) = Session::linear("s", [Node::new(Role::User, "a").with_id("n0")]);
        let kept = RecallCache::default();
        let turn = TurnPath::new(&kept, &session, false);
        let texts = turn.without_vectors(9);
        let edit = Box::new(NodeEdit::content(Content::Text("bb".into())));
        let mut edited = session.clone();
        edited.apply(&SessionOp::Edit { id: "n0".into(), edit }).unwrap();
        let later = TurnPath::new(&kept, &edited, false);
        keep(&turn, texts);
        assert_eq!(lengths(&later), [0], "the vector belongs to the text before the edit");
        keep(&later, later.without_vectors(9));
        assert_eq!(lengths(&later), [2]);
        session.apply(&SessionOp::Toggle { id: "n0".into(), enabled: false }).unwrap();
        assert_eq!(lengths(&TurnPath::new(&kept, &session, false)), [0]);
    }
}
