//! Appends that come together: each has its own answer, whatever becomes of the others.

#[cfg(feature = "postgres")]
mod postgres;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_chat::{ConversationStore, LogEntry, Notice, Step, StoreError};
use ctx_types::Role;
use ctx_types::session::{Node, Session, SessionOp};
use futures_util::future::{join, join_all};

use crate::store::place::on_every_store;

/// Fewer than a task may begin before others have their turn: so all of them come together.
const CONVERSATIONS: usize = 40;

const ROUNDS: u64 = 6;

/// A step that is called so.
fn step(label: &str) -> Vec<LogEntry> {
    let node = Box::new(Node::new(Role::User, label));
    let op = SessionOp::Append { parent: "root".into(), node };
    vec![LogEntry { at_millis: Some(7), step: Step::Do { label: label.to_owned(), op: Box::new(op) } }]
}

/// What the steps of a conversation are called.
async fn labels(store: &dyn ConversationStore, id: &str) -> Vec<String> {
    let stored = store.load(id).await.unwrap();
    let label = |entry: LogEntry| match entry.step {
        Step::Do { label, .. } => label,
        Step::Undo | Step::Redo => String::new(),
    };
    stored.steps.into_iter().map(label).collect()
}

/// Begins conversations, and returns their ids.
async fn begin(store: &dyn ConversationStore) -> Vec<String> {
    let ids: Vec<String> = (0..CONVERSATIONS).map(|number| format!("c{number}")).collect();
    for id in &ids {
        store.create(id, Session::new("c"), None).await.unwrap();
    }
    ids
}

/// Has both processes append to one revision at once, again and again, and returns what is stored as they were told.
async fn race(stores: &[Arc<dyn ConversationStore>; 2], id: &str) -> Vec<String> {
    let mut said = Vec::new();
    for round in 0..ROUNDS {
        let names = ["a", "b", "c"].map(|name| format!("{name}{round}"));
        let appends = names.iter().zip([0, 1, 0]);
        let told = join_all(appends.map(|(name, at)| stores[at].append(id, round, step(name)))).await;
        let is_stale = |told: &_| matches!(told, Err(StoreError::Stale { expected, found, .. }) if (*expected, *found) == (round, round + 1));
        assert_eq!(told.iter().filter(|told| is_stale(told)).count(), 2, "{told:?}");
        let taken =
            told.iter().position(|told| matches!(told, Ok(revision) if *revision == round + 1)).unwrap();
        said.push(names[taken].clone());
    }
    said
}

/// Asks for changes until all is done, and returns the revisions of which it heard last.
async fn follow(store: &dyn ConversationStore, is_done: &Cell<bool>) -> BTreeMap<String, u64> {
    let (mut heard, mut place) = (BTreeMap::new(), 0);
    loop {
        let is_last = is_done.get();
        let (notices, now) = store.changes(place).await.unwrap();
        assert!(now >= place);
        place = now;
        for notice in notices {
            let Notice::Changed { id, revision } = notice else { continue };
            let before = heard.insert(id, revision);
            assert!(before.is_none_or(|before| before < revision));
        }
        if is_last {
            return heard;
        }
    }
}

#[test]
fn what_two_processes_append_at_once_is_there_once_and_nobody_misses_it() {
    on_every_store(|place| async move {
        let stores = [place.open().await, place.open().await];
        let ids = begin(&*stores[0]).await;
        let is_done = Cell::new(false);
        let racing = async {
            let said = join_all(ids.iter().map(|id| race(&stores, id))).await;
            is_done.set(true);
            said
        };
        let (said, heard) = join(racing, follow(&*stores[1], &is_done)).await;
        for (id, said) in ids.iter().zip(said) {
            assert_eq!(labels(&*stores[1], id).await, said);
            assert_eq!(heard.get(id), Some(&ROUNDS));
        }
    });
}

#[test]
fn an_append_is_checked_against_those_before_it() {
    on_every_store(|place| async move {
        let store = place.open().await;
        store.create("c", Session::new("c"), None).await.unwrap();
        let mut heard = store.watch();
        let appends = [(0, "a"), (1, "b"), (1, "x"), (u64::MAX, "x"), (2, "c")];
        let told = join_all(appends.map(|(expected, name)| store.append("c", expected, step(name)))).await;
        let is_stale = |told: &_, seen| matches!(told, Err(StoreError::Stale { expected, found: 2, .. }) if *expected == seen);
        assert!(matches!(told[..], [Ok(1), Ok(2), _, _, Ok(3)]), "{told:?}");
        assert!(is_stale(&told[2], 1) && is_stale(&told[3], u64::MAX), "{told:?}");
        assert_eq!(labels(&*store, "c").await, ["a", "b", "c"]);
        for revision in 1..=3 {
            assert_eq!(heard.try_recv().unwrap(), Notice::Changed { id: "c".into(), revision });
        }
        assert_eq!(store.list().await.unwrap()[0].changed_millis, Some(7));
    });
}
