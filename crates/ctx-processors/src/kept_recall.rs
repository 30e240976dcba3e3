//! The index of a conversation, kept between its turns.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctx_compress::recall::RecallIndex;
use ctx_types::{Fingerprint, Message, Node, NodeId, Role, Session, Source};

/// What `recall` knows of the active path of a conversation, for its later turns.
///
/// It goes on the blackboard before a run; whoever holds the conversation keeps it. It grows by the messages that are
/// new, and is made anew where the path is another one: it is nothing but a faster way to what the conversation
/// says. A clone is O(1) and is the same index.
#[derive(Clone, Debug, Default)]
pub struct KeptRecall(Arc<Mutex<Followed>>);

#[derive(Debug, Default)]
struct Followed {
    index: RecallIndex,
    /// The nodes of the path, oldest first.
    ids: Vec<NodeId>,
    /// What tells this path from others: that of each node and all above it.
    print: Option<Fingerprint>,
}

/// The index, up to the active leaf.
pub(crate) struct PathRecall<'a>(MutexGuard<'a, Followed>);

impl KeptRecall {
    /// Brings the index up to the active leaf. O(new messages); O(path) where the path is another one.
    pub(crate) fn follow(&self, session: &Session) -> PathRecall<'_> {
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let prints = session.fold_path(0, Prints::default, Prints::push);
        if followed.print != followed.ids.len().checked_sub(1).and_then(|last| prints.get(last)) {
            *followed = Followed::default();
        }
        let new = prints.len - followed.ids.len();
        let mut new: Vec<(&NodeId, &Node)> = session.ancestors(session.active_leaf_id()).take(new).collect();
        new.reverse();
        for (id, node) in new {
            let message = match is_recallable(node) {
                true => node.to_message(id),
                // It has no words, and its number all the same.
                false => Message::new(Role::System, "", Source::history(id.clone(), Role::System)),
            };
            followed.index.push(&message);
            followed.ids.push(id.clone());
        }
        followed.print = prints.len.checked_sub(1).and_then(|last| prints.get(last));
        PathRecall(followed)
    }
}

impl PathRecall<'_> {
    pub(crate) fn index(&self) -> &RecallIndex {
        &self.0.index
    }

    /// Returns the id of the node at a position of the path.
    pub(crate) fn id(&self, at: usize) -> Option<&str> {
        self.0.ids.get(at).map(|id| &**id)
    }

    /// Returns the message at a position of the path.
    pub(crate) fn message(&self, session: &Session, at: usize) -> Option<Message> {
        let id = self.0.ids.get(at)?;
        session.node(id).filter(|node| is_recallable(node)).map(|node| node.to_message(id))
    }
}

/// Returns whether a node is a turn of the conversation that is switched on.
fn is_recallable(node: &Node) -> bool {
    node.is_enabled() && !node.is_summary()
}

/// For each node of a path a number that stands for it and all above it.
///
/// Full blocks are shared between copies, so that a copy is cheap.
#[derive(Clone, Default)]
struct Prints {
    blocks: Vec<Arc<Vec<Fingerprint>>>,
    last: Vec<Fingerprint>,
    len: usize,
}

const BLOCK: usize = 1_024;

impl Prints {
    fn push(&mut self, id: &NodeId, node: &Node) {
        let before = self.len.checked_sub(1).and_then(|last| self.get(last));
        let before = Fingerprint::default().text(&before.map(|print| print.to_string()).unwrap_or_default());
        let mut print = before.text(id).number(u64::from(is_recallable(node)));
        if is_recallable(node) {
            let message = node.to_message(id);
            print = print.text(message.role.as_str()).text(&message.text());
            for call in &message.tool_calls {
                print = print.text(&call.name).text(&call.arguments);
            }
            print = print.text(message.name.as_deref().unwrap_or_default());
        }
        self.last.push(print);
        self.len += 1;
        if self.last.len() == BLOCK {
            self.blocks.push(Arc::new(std::mem::take(&mut self.last)));
        }
    }

    fn get(&self, at: usize) -> Option<Fingerprint> {
        match self.blocks.get(at / BLOCK) {
            Some(block) => block.get(at % BLOCK).copied(),
            None => self.last.get(at - self.blocks.len() * BLOCK).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::SessionOp;

    use super::*;

    /// Returns how many of the kept nodes a search finds.
    fn found(kept: &KeptRecall, session: &Session, question: &str) -> Vec<String> {
        let path = kept.follow(session);
        let hits = path.index().search(&[(question, 100)]);
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
        assert_eq!(kept.follow(&session).index().len(), 5);
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
