//! Whatever is done, the store and the memory say the same.

use ctx_chat::{Conversation, ConversationStore};
use ctx_types::session::{Change, Node, NodeEdit, NodeId, SessionOp};
use ctx_types::{Content, Role};
use proptest::prelude::*;

use crate::store::place::on_every_store;

/// Something that somebody does; numbers choose nodes.
#[derive(Clone, Debug)]
enum Deed {
    Say(String),
    Edit(usize, String),
    Toggle(usize, bool),
    Remove(usize),
    Activate(usize),
    Undo,
    Redo,
    Reload,
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => "[a-z雪]{0,5}".prop_map(Deed::Say),
        2 => (any::<usize>(), "[a-z]{0,5}").prop_map(|(node, text)| Deed::Edit(node, text)),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(node, on)| Deed::Toggle(node, on)),
        1 => any::<usize>().prop_map(Deed::Remove),
        1 => any::<usize>().prop_map(Deed::Activate),
        2 => Just(Deed::Undo),
        2 => Just(Deed::Redo),
        1 => Just(Deed::Reload),
    ]
}

async fn act(store: &dyn ConversationStore, chat: &mut Conversation, deed: Deed) {
    let ids: Vec<NodeId> = chat.session().nodes().map(|(id, _)| id.clone()).collect();
    let node = |number: usize| ids[number % ids.len()].clone();
    let op = match deed {
        Deed::Say(words) => {
            chat.append(store, Node::new(Role::User, words), None).await.unwrap();
            return;
        }
        // What cannot be undone, redone or done is refused; the comparison below is what counts.
        Deed::Undo => return chat.undo(store, None).await.unwrap_or_default(),
        Deed::Redo => return chat.redo(store, None).await.unwrap_or_default(),
        Deed::Reload => {
            *chat = Conversation::load(store, "c").await.unwrap();
            return;
        }
        Deed::Edit(number, text) => {
            let content = Change::Set(Content::Text(text.into()));
            SessionOp::Edit { id: node(number), edit: Box::new(NodeEdit { content, ..NodeEdit::default() }) }
        }
        Deed::Toggle(number, enabled) => SessionOp::Toggle { id: node(number), enabled },
        Deed::Remove(number) => SessionOp::Remove { id: node(number) },
        Deed::Activate(number) => SessionOp::ActivateLeaf { id: node(number) },
    };
    chat.apply(store, "deed", op, None).await.unwrap_or_default();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn loading_gives_what_is_in_memory(deeds in prop::collection::vec(any_deed(), 1..24)) {
        on_every_store(|place| {
            let deeds = deeds.clone();
            async move {
                let store = place.open().await;
                let mut chat = Conversation::create(&*store, "c", None).await.unwrap();
                for deed in deeds {
                    act(&*store, &mut chat, deed).await;
                    let loaded = Conversation::load(&*store, "c").await.unwrap();
                    assert!(loaded.session() == chat.session());
                    assert!(loaded.history() == chat.history());
                    assert_eq!(loaded.revision(), chat.revision());
                }
            }
        });
    }
}
