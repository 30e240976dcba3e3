//! The index of a conversation, kept between its turns.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctx_compress::recall::{SessionIndex, off_path, recallable};
use ctx_types::{Node, NodeId, Place, Session, Text};

/// What `recall` knows of the active path of a conversation, for its later turns.
///
/// It goes on the blackboard before a run; whoever holds the conversation keeps it. It grows by the messages that are
/// new, and is made anew where the path is another one: it is nothing but a faster way to what the conversation
/// says. A clone is O(1) and is the same index.
#[derive(Clone, Debug, Default)]
pub struct KeptRecall(Arc<Mutex<Followed>>);

#[derive(Debug, Default)]
struct Followed {
    nodes: SessionIndex,
    print: NodesPrint,
    /// The vectors of nodes, where something gives them; empty for those that have none.
    vectors: Vec<Vec<f32>>,
}

/// The index, up to the active leaf.
pub(crate) struct PathRecall<'a>(MutexGuard<'a, Followed>);

/// What tells nodes from others: those of other branches, and the last one of the path with all above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodesPrint {
    others: Option<u64>,
    path: Option<u64>,
}

impl KeptRecall {
    /// Brings the index up to the active leaf. O(new messages); O(path) where the path is another one, and O(tree)
    /// with other branches.
    pub(crate) fn follow(&self, session: &Session, with_branches: bool) -> PathRecall<'_> {
        let mut followed = self.lock();
        let others = if with_branches { off_path(session) } else { Vec::new() };
        let mut off = Prints::default();
        for (id, node) in &others {
            off.push(id, node);
        }
        let path = session.fold_path(0, Prints::default, Prints::push);
        let known = followed.nodes.len() - followed.nodes.others();
        let of_known = known.checked_sub(1).and_then(|last| path.get(last));
        if followed.print != (NodesPrint { others: off.last(), path: of_known }) {
            *followed = Followed::default();
            followed.nodes.add_others(others);
        }
        followed.nodes.add_path(session);
        followed.print = NodesPrint { others: off.last(), path: path.last() };
        PathRecall(followed)
    }

    /// Returns the index as it was left with a print, or brings it there again if somebody else used it since. O(1)
    /// mostly.
    pub(crate) fn again(&self, print: NodesPrint, session: &Session, with_branches: bool) -> PathRecall<'_> {
        let followed = self.lock();
        if followed.print == print {
            return PathRecall(followed);
        }
        drop(followed);
        self.follow(session, with_branches)
    }

    /// Returns the newest messages that have no vector yet, `most` at the most, by their positions.
    pub(crate) fn without_vectors(&self, session: &Session, most: usize) -> Vec<(usize, Text)> {
        let followed = self.lock();
        let is_new = |at: &usize| followed.vectors.get(*at).is_none_or(Vec::is_empty);
        let new = (0..followed.nodes.len()).rev().filter(is_new);
        let text = |at: usize| {
            let message = followed.nodes.message(session, at)?;
            let text = message.text();
            (!text.trim().is_empty()).then(|| (at, Text::from(&*text)))
        };
        new.filter_map(text).take(most).collect()
    }

    /// Keeps vectors of messages, by their positions.
    pub(crate) fn keep_vectors(&self, vectors: impl Iterator<Item = (usize, Vec<f32>)>) {
        let mut followed = self.lock();
        let len = followed.nodes.len();
        followed.vectors.resize(len, Vec::new());
        for (at, vector) in vectors {
            followed.vectors.get_mut(at).into_iter().for_each(|kept| kept.clone_from(&vector));
        }
    }

    /// Looks at the vectors of messages, by their positions; empty ones are not known.
    pub(crate) fn with_vectors<T>(&self, look: impl FnOnce(&[Vec<f32>]) -> T) -> T {
        look(&self.lock().vectors)
    }

    fn lock(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PathRecall<'_> {
    /// Returns what tells these nodes from others.
    pub(crate) fn print(&self) -> NodesPrint {
        self.0.print
    }
}

impl Deref for PathRecall<'_> {
    type Target = SessionIndex;

    fn deref(&self) -> &SessionIndex {
        &self.0.nodes
    }
}

/// For each node of a path a number that stands for it and all above it.
///
/// Full blocks are shared between copies, so that a copy is cheap.
#[derive(Clone, Default)]
struct Prints {
    blocks: Vec<Arc<Vec<u64>>>,
    last: Vec<u64>,
    len: usize,
}

const BLOCK: usize = 1_024;

impl Prints {
    fn push(&mut self, id: &NodeId, node: &Node) {
        // It never leaves this process, so the standard library's hasher will do; it is faster.
        let mut print = DefaultHasher::new();
        (self.last(), id).hash(&mut print);
        if let Some(message) = recallable(id, node) {
            (message.place == Place::Pinned, message.role, message.text(), &message.name).hash(&mut print);
            for call in &message.tool_calls {
                (&call.name, call.arguments.as_str()).hash(&mut print);
            }
        }
        let print = print.finish();
        self.last.push(print);
        self.len += 1;
        if self.last.len() == BLOCK {
            self.blocks.push(Arc::new(std::mem::take(&mut self.last)));
        }
    }

    fn last(&self) -> Option<u64> {
        self.len.checked_sub(1).and_then(|last| self.get(last))
    }

    fn get(&self, at: usize) -> Option<u64> {
        match self.blocks.get(at / BLOCK) {
            Some(block) => block.get(at % BLOCK).copied(),
            None => self.last.get(at - self.blocks.len() * BLOCK).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::{Role, SessionOp};

    use super::*;

    /// Returns how many of the kept nodes a search finds.
    fn found(kept: &KeptRecall, session: &Session, question: &str) -> Vec<String> {
        let path = kept.follow(session, false);
        let hits = path.index().search(&[(question, 100)]).hits;
        let ids = hits.iter().filter(|hit| path.message(session, hit.message).is_some());
        ids.filter_map(|hit| path.id(hit.message).map(str::to_owned)).collect()
    }

    #[test]
    fn the_index_follows_the_conversation() {
        let node = |n: usize, text: &str| Node::new(Role::User, text).with_id(format!("n{n}"));
        let texts = ["a lighthouse", "green", "blue", "yellow", "grey"];
        let nodes = texts.iter().enumerate().map(|(n, text)| node(n, text));
        let (mut session, _) = Session::linear("s", nodes);
        let kept = KeptRecall::default();
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
        // Switched off by the user.
        session.apply(&SessionOp::Toggle { id: "n6".into(), enabled: false }).unwrap();
        assert_eq!(first(&session, "walnut"), None);
    }

    #[test]
    fn long_paths_have_a_number_for_each_node() {
        let nodes = (0..2_500).map(|n| Node::new(Role::User, format!("text {n}")).with_id(format!("n{n}")));
        let (session, _) = Session::linear("s", nodes);
        let prints = session.fold_path(0, Prints::default, Prints::push);
        let all: std::collections::BTreeSet<_> = (0..2_500).filter_map(|at| prints.get(at)).collect();
        assert_eq!((all.len(), prints.len, prints.get(2_500)), (2_500, 2_500, None));
    }
}
