//! Several writers on one conversation, and several conversations on one file.

use std::sync::Arc;
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore as _, LearnedLimit, Notice, StoreError};
use ctx_types::Role;
use ctx_types::session::Node;

use crate::store::place::{Place, on_every_store};
use crate::store::{chat, words};

#[test]
fn nobody_overwrites_what_another_said() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut first = chat(&*store, &["a"]).await.unwrap();
        let mut second = Conversation::load(&*store, "c").await.unwrap();
        first.append(&*store, Node::new(Role::User, "b"), None).await.unwrap();
        let error = second.append(&*store, Node::new(Role::User, "x"), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Stale { expected: 1, found: 2, .. }), "{error}");
        assert_eq!(words(&second), ["a"]);
        let mut second = Conversation::load(&*store, "c").await.unwrap();
        second.append(&*store, Node::new(Role::User, "x"), None).await.unwrap();
        assert_eq!(words(&second), ["a", "b", "x"]);
    });
}

#[test]
fn whoever_holds_a_conversation_gets_what_the_one_before_has_said() {
    on_every_store(|place| async move {
        let (here, there) = (place.open().await, place.open().await);
        let mut one = chat(&*here, &["a"]).await.unwrap();
        let mut other = Conversation::load(&*there, "c").await.unwrap();
        one.append(&*here, Node::new(Role::User, "b"), None).await.unwrap();
        let hold = async |revision| there.hold("c", revision, Duration::ZERO).await.unwrap().unwrap();
        let (held, none) = hold(None).await;
        assert!(none.is_empty());
        drop(held);
        let (_held, steps) = hold(other.known_revision()).await;
        assert!(other.add_steps(steps).unwrap());
        assert_eq!((words(&other), other.revision()), (words(&one), 2));
    });
}

#[test]
fn gives_a_conversation_to_one_turn_at_a_time() {
    on_every_store(|place| async move {
        let (here, there) = (place.open().await, place.open().await);
        let now = Duration::ZERO;
        // The conversation may not exist yet.
        let (held, _) = here.hold("c", None, now).await.unwrap().unwrap();
        assert!(there.hold("c", None, now).await.unwrap().is_none());
        assert!(there.hold("other", None, now).await.unwrap().is_some());
        {
            let waiting = there.hold("c", None, Duration::from_secs(60));
            tokio::pin!(waiting);
            // Poll once, then drop the future.
            tokio::select! { biased; _ = &mut waiting => {}, () = std::future::ready(()) => {} }
        }
        let mut one = Conversation::create(&*here, "c", None).await.unwrap();
        one.append(&*here, Node::new(Role::User, "a"), None).await.unwrap();
        let mut other = None;
        let waiting = Conversation::hold(&*there, "c", &mut other, Duration::from_secs(60));
        let ending = async {
            one.append(&*here, Node::new(Role::Assistant, "b"), None).await.unwrap();
            drop(held);
        };
        let (taken, ()) = tokio::join!(waiting, ending);
        assert_eq!(words(other.as_ref().unwrap()), ["a", "b"]);
        let refused = Conversation::hold(&*here, "c", &mut Some(one), now).await;
        assert!(matches!(refused, Err(StoreError::Held { .. })), "{refused:?}");
        drop(taken);
    });
}

#[test]
fn releases_lease_of_canceled_turn() {
    on_every_store(|place| async move {
        let (here, there) = (place.open().await, place.open().await);
        {
            let taking = here.hold("c", None, Duration::ZERO);
            tokio::pin!(taking);
            // Poll once to send the request to the store, then drop the future.
            tokio::select! { biased; _ = &mut taking => {}, () = std::future::ready(()) => {} }
        }
        assert!(there.hold("c", None, Duration::from_secs(60)).await.unwrap().is_some());
    });
}

#[test]
fn changes_are_told_here_and_to_other_processes() {
    on_every_store(|place| async move {
        let (here, there) = (place.open().await, place.open().await);
        let mut heard = here.watch();
        let mut chat = Conversation::create(&*here, "c", None).await.unwrap();
        chat.append(&*here, Node::new(Role::User, "a"), None).await.unwrap();
        let (notices, place) = there.changes(0).await.unwrap();
        assert_eq!(notices, [Notice::Changed { id: "c".into(), revision: 1 }]);
        there.delete("c").await.unwrap();
        let (notices, _) = here.changes(place).await.unwrap();
        assert_eq!(notices, [Notice::Deleted { id: None }]);
        assert_eq!(heard.recv().await.unwrap(), Notice::Changed { id: "c".into(), revision: 0 });
        assert_eq!(heard.recv().await.unwrap(), Notice::Changed { id: "c".into(), revision: 1 });
    });
}

#[test]
fn many_tasks_write_at_once_and_all_of_it_is_there() {
    on_every_store(|place| async move {
        let tasks: Vec<_> = (0..8).map(|task| tokio::spawn(talk(place.clone(), task))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        let store = place.open().await;
        for task in 0..8 {
            let chat = Conversation::load(&*store, &format!("c{task}")).await.unwrap();
            assert_eq!(words(&chat), (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
        }
    });
}

/// Talks through a handle of its own.
async fn talk(place: Arc<Place>, task: usize) {
    let store = place.open().await;
    let mut chat = Conversation::create(&*store, &format!("c{task}"), None).await.unwrap();
    for number in 0..20 {
        chat.append(&*store, Node::new(Role::User, number.to_string()), None).await.unwrap();
    }
}

#[test]
fn a_change_that_is_given_up_midway_is_settled_by_loading_again() {
    on_every_store(|place| async move {
        let store = place.open().await;
        let mut chat = chat(&*store, &["a"]).await.unwrap();
        {
            let append = chat.append(&*store, Node::new(Role::User, "b"), None);
            tokio::pin!(append);
            // Polled once, so that the store has the step, and then dropped.
            let nothing = std::future::ready(());
            tokio::select! { biased; _ = &mut append => {}, () = nothing => {} }
        }
        let error = chat.append(&*store, Node::new(Role::User, "c"), None).await;
        if matches!(error, Err(StoreError::Unsettled { .. })) {
            chat = Conversation::load(&*store, "c").await.unwrap();
            // All of it or nothing is there.
            assert!([vec!["a"], vec!["a", "b"]].contains(&words(&chat).iter().map(String::as_str).collect()));
        }
    });
}

#[test]
fn a_change_is_told_also_where_nobody_waits_for_it_any_more() {
    crate::store::block_on(async {
        let store = ctx_chat::SqliteStore::in_memory().unwrap();
        let mut chat = chat(&store, &["a"]).await.unwrap();
        let mut heard = store.watch();
        {
            let append = chat.append(&store, Node::new(Role::User, "b"), None);
            tokio::pin!(append);
            let nothing = std::future::ready(());
            tokio::select! { biased; _ = &mut append => {}, () = nothing => {} }
        }
        // Whatever the store does after that, it does after what was given up.
        let chat = Conversation::load(&store, "c").await.unwrap();
        assert_eq!(words(&chat), ["a", "b"]);
        assert_eq!(heard.try_recv().unwrap(), Notice::Changed { id: "c".into(), revision: 2 });
    });
}

#[test]
fn what_is_learned_of_models_is_there_for_all() {
    on_every_store(|place| async move {
        let (here, there) = (place.open().await, place.open().await);
        let limit = |model: &str, tokens| LearnedLimit { model: model.to_owned(), tokens, at_millis: 7 };
        for (model, tokens) in [("b@h", 900), ("a@h", 500), ("b@h", 800)] {
            here.learn(limit(model, tokens)).await.unwrap();
        }
        assert_eq!(there.limits().await.unwrap(), [limit("a@h", 500), limit("b@h", 800)]);
    });
}
