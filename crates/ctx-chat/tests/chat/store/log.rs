//! Steps: kept before the call returns, undone and redone after a restart.

use ctx_chat::{Conversation, ConversationStore, SqliteStore, StoreError};
use ctx_types::Role;
use ctx_types::session::{Node, Session, SessionOp};

use crate::store::place::on_every_store;
use crate::store::{block_on, chat, words};

/// Writes three things, does what the test does, and compares what is said in memory and after loading.
#[track_caller]
fn check(steps: &[&str], expected: &[&str]) {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &["a", "b", "c"]).await.unwrap();
        for step in steps {
            match *step {
                "undo" => chat.undo(&*store, None).await.unwrap(),
                "redo" => chat.redo(&*store, None).await.unwrap(),
                "reload" => chat = Conversation::load(&*place.open().await, "c").await.unwrap(),
                words => drop(chat.append(&*store, Node::new(Role::User, words), None).await.unwrap()),
            }
        }
        let loaded = Conversation::load(&*store, "c").await.unwrap();
        assert!(loaded.session() == chat.session());
        assert_eq!(loaded.revision(), chat.revision());
        assert_eq!((words(&chat), words(&loaded)), (owned(expected), owned(expected)));
    });
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|words| (*words).to_owned()).collect()
}

#[test]
fn what_was_said_is_there_again() {
    check(&["reload"], &["a", "b", "c"]);
}

#[test]
fn undo_and_redo_survive_a_restart() {
    check(&["undo", "reload"], &["a", "b"]);
    check(&["undo", "undo", "reload", "redo"], &["a", "b"]);
    check(&["undo", "reload", "redo", "reload"], &["a", "b", "c"]);
}

#[test]
fn a_new_message_ends_what_can_be_redone() {
    check(&["undo", "d", "reload"], &["a", "b", "d"]);
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &["a"]).await.unwrap();
        chat.undo(&*store, None).await.unwrap();
        chat.append(&*store, Node::new(Role::User, "b"), None).await.unwrap();
        assert!(matches!(chat.redo(&*store, None).await, Err(StoreError::History(_))));
    });
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &["a"]).await.unwrap();
        let before = chat.clone();
        let op = SessionOp::Remove { id: "nobody".into() };
        assert!(matches!(chat.apply(&*store, "remove", op, None).await, Err(StoreError::Session(_))));
        assert_eq!(chat.session(), before.session());
        assert_eq!(chat.revision(), before.revision());
    });
}

#[test]
fn many_steps_are_loaded_through_checkpoints() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &[]).await.unwrap();
        for number in 0..400 {
            chat.append(&*store, Node::new(Role::User, number.to_string()), None).await.unwrap();
        }
        chat.undo(&*store, None).await.unwrap();
        let stored = store.load("c").await.unwrap();
        assert!(stored.checkpoint.revision > 0);
        assert!(stored.steps.len() < 400);
        let mut loaded = Conversation::load(&*store, "c").await.unwrap();
        assert!(loaded.session() == chat.session());
        loaded.redo(&*store, None).await.unwrap();
        assert_eq!(words(&loaded).len(), 400);
    });
}

#[test]
fn what_can_be_undone_is_the_same_after_loading_however_much_was_said() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &["a", "b", "c"]).await.unwrap();
        chat.undo(&*store, None).await.unwrap();
        chat.undo(&*store, None).await.unwrap();
        chat.redo(&*store, None).await.unwrap();
        for said in 1..=60 {
            chat.append(&*store, Node::new(Role::User, said.to_string()), Some(said)).await.unwrap();
            if ![1, 49, 50, 51, 60].contains(&said) {
                continue;
            }
            let loaded = Conversation::load(&*store, "c").await.unwrap();
            assert_eq!(loaded.history(), chat.history(), "{said}");
            assert!(loaded.session() == chat.session(), "{said}");
        }
    });
}

#[test]
fn new_messages_have_ids_that_an_imported_conversation_has_not() {
    on_every_store(|place| async move {
        let nodes = ["n7", "n2", "n99999999999999999999", "na", "m3"];
        let nodes = nodes.map(|id| Node::new(Role::User, "x").with_id(id));
        let (store, session) = (place.open().await, Session::linear("c", nodes).0);
        let mut chat = Conversation::import(&*store, "c", session, None).await.unwrap();
        let mut ids = Vec::new();
        for _ in 0..2 {
            ids.push(chat.append(&*store, Node::new(Role::User, "y"), None).await.unwrap());
        }
        assert_eq!(ids, ["n8".into(), "n9".into()]);
        let mut again = Conversation::load(&*store, "c").await.unwrap();
        assert_eq!(again.append(&*store, Node::new(Role::User, "y"), None).await.unwrap(), "n10".into());
    });
}

/// Takes in what the store has beyond a conversation; says whether that could be done.
async fn catch_up(chat: &mut Conversation, store: &dyn ConversationStore) -> bool {
    let Some(known) = chat.known_revision() else { return false };
    chat.add_steps(store.since("c", known).await.unwrap()).unwrap()
}

#[test]
fn what_others_said_is_taken_in_and_what_they_took_back_too() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut one = Conversation::create(&*store, "c", None).await.unwrap();
        one.append(&*store, Node::new(Role::User, "first"), Some(1)).await.unwrap();
        let mut two = one.clone();
        for text in ["a", "b"] {
            two.append(&*store, Node::new(Role::User, text), Some(1)).await.unwrap();
        }
        assert!(catch_up(&mut one, &*store).await);
        assert_eq!((one.session(), one.history(), one.revision()), (two.session(), two.history(), 3));
        one.append(&*store, Node::new(Role::User, "c"), None).await.unwrap();
        one.undo(&*store, None).await.unwrap();
        let before = two.session().clone();
        assert!(!catch_up(&mut two, &*store).await);
        assert_eq!((two.session(), two.revision()), (&before, 3));
        let mut two = Conversation::load(&*store, "c").await.unwrap();
        assert_eq!((one.session(), one.history(), one.revision()), (two.session(), two.history(), 5));
        assert!(catch_up(&mut two, &*store).await);
        two.append(&*store, Node::new(Role::User, "d"), None).await.unwrap();
        store.delete("c").await.unwrap();
    });
}

#[test]
fn another_conversation_of_the_same_name_is_not_taken_for_what_is_known() {
    on_every_store(|place| async move {
        let store = place.open().await;
        for count in [1, 6] {
            let mut one = Conversation::create(&*store, "c", None).await.unwrap();
            for _ in 0..3 {
                one.append(&*store, Node::new(Role::User, "old"), Some(1)).await.unwrap();
            }
            store.delete("c").await.unwrap();
            let mut other = Conversation::create(&*store, "c", None).await.unwrap();
            for _ in 0..count {
                other.append(&*store, Node::new(Role::User, "new"), Some(1)).await.unwrap();
            }
            let before = one.session().clone();
            assert!(!catch_up(&mut one, &*store).await);
            assert_eq!((one.session(), one.revision()), (&before, 3));
            store.delete("c").await.unwrap();
        }
    });
}

#[test]
fn conversations_are_listed_the_latest_first_and_deleted_whole() {
    on_every_store(|place| async move {
        let store = place.open().await;
        for (id, at) in [("old", 1), ("new", 2)] {
            Conversation::create(&*store, id, Some(at)).await.unwrap();
        }
        let ids = |entries: Vec<ctx_chat::ConversationEntry>| -> Vec<String> {
            entries.into_iter().map(|entry| entry.id).collect()
        };
        assert_eq!(ids(store.list().await.unwrap()), ["new", "old"]);
        let counts = ["", "n", "new", "newer"].map(|prefix| store.count(prefix));
        let counts = futures_util::future::join_all(counts).await;
        assert_eq!(counts.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [2, 1, 1, 0]);
        store.delete("new").await.unwrap();
        assert_eq!(ids(store.list().await.unwrap()), ["old"]);
        assert!(matches!(store.delete("new").await, Err(StoreError::NotFound { .. })));
        assert!(matches!(Conversation::load(&*store, "new").await, Err(StoreError::NotFound { .. })));
        assert!(matches!(Conversation::create(&*store, "old", None).await, Err(StoreError::Exists { .. })));
    });
}

#[test]
fn renames_conversation_in_list_and_file() {
    block_on(async {
        let store = SqliteStore::in_memory().unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        store.rename("c", Some("Garden".to_owned())).await.unwrap();
        // The open conversation still has the old title.
        chat.append(&store, Node::new(Role::User, "a"), None).await.unwrap();
        assert_eq!(store.list().await.unwrap()[0].name.as_deref(), Some("Garden"));
        let loaded = Conversation::load(&store, "c").await.unwrap();
        assert_eq!(loaded.session().header.name.as_deref(), Some("Garden"));
        assert!(matches!(store.rename("other", None).await, Err(StoreError::NotFound { .. })));
    });
}
