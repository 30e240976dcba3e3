//! Several writers on one conversation, and several conversations on one file.

use ctx_chat::{Conversation, ConversationStore, Notice, SqliteStore, StoreError};
use ctx_types::{Node, Role};

use crate::{block_on, chat, words};

#[test]
fn nobody_overwrites_what_another_said() {
    block_on(async {
        let (store, mut first) = chat(&["a"]).await.unwrap();
        let mut second = Conversation::load(&store, "c").await.unwrap();
        first.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        let error = second.append(&store, Node::new(Role::User, "x"), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Stale { expected: 1, found: 2, .. }), "{error}");
        assert_eq!(words(&second), ["a"]);
        let mut second = Conversation::load(&store, "c").await.unwrap();
        second.append(&store, Node::new(Role::User, "x"), None).await.unwrap();
        assert_eq!(words(&second), ["a", "b", "x"]);
    });
}

#[test]
fn changes_are_told_here_and_to_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let here = SqliteStore::open(&path).unwrap();
        let there = SqliteStore::open(&path).unwrap();
        let mut heard = here.watch();
        let mut chat = Conversation::create(&here, "c", None).await.unwrap();
        chat.append(&here, Node::new(Role::User, "a"), None).await.unwrap();
        let (notices, place) = there.changes(0).await.unwrap();
        assert_eq!(notices, [Notice { id: "c".into(), revision: Some(1) }]);
        there.delete("c").await.unwrap();
        let (notices, _) = here.changes(place).await.unwrap();
        assert_eq!(notices, [Notice { id: "c".into(), revision: None }]);
        assert_eq!(heard.recv().await.unwrap(), Notice { id: "c".into(), revision: Some(0) });
        assert_eq!(heard.recv().await.unwrap(), Notice { id: "c".into(), revision: Some(1) });
    });
}

#[test]
fn many_tasks_write_at_once_and_all_of_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let tasks: Vec<_> = (0..8).map(|task| tokio::spawn(talk(store.clone(), task))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        for task in 0..8 {
            let chat = Conversation::load(&store, &format!("c{task}")).await.unwrap();
            assert_eq!(words(&chat), (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
        }
    });
}

async fn talk(store: SqliteStore, task: usize) {
    let mut chat = Conversation::create(&store, &format!("c{task}"), None).await.unwrap();
    for number in 0..20 {
        chat.append(&store, Node::new(Role::User, number.to_string()), None).await.unwrap();
    }
}

#[test]
fn a_change_that_is_given_up_midway_is_settled_by_loading_again() {
    block_on(async {
        let (store, mut chat) = chat(&["a"]).await.unwrap();
        {
            let append = chat.append(&store, Node::new(Role::User, "b"), None);
            tokio::pin!(append);
            // Polled once, so that the store has the step, and then dropped.
            let nothing = std::future::ready(());
            tokio::select! { biased; _ = &mut append => {}, () = nothing => {} }
        }
        let error = chat.append(&store, Node::new(Role::User, "c"), None).await;
        if matches!(error, Err(StoreError::Unsettled { .. })) {
            chat = Conversation::load(&store, "c").await.unwrap();
            assert_eq!(words(&chat), ["a", "b"]);
        }
    });
}
