//! Appends that come together: each has its own answer, whatever becomes of the others.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_chat::{ConversationStore, LogEntry, Notice, Step, StoreError};
use ctx_types::{Node, Role, SessionOp};
use futures_util::future::{join, join_all};
use serde_json::json;

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
        store.create(id, json!({ "nodes": [] }), None).await.unwrap();
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
        for (name, told) in names.into_iter().zip(told) {
            match told {
                Ok(revision) => said.push((name, revision)),
                Err(StoreError::Stale { expected, found, .. }) => {
                    assert_eq!((expected, found), (round, round + 1))
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(
            said.iter().map(|(_, revision)| *revision).collect::<Vec<_>>(),
            (1..=round + 1).collect::<Vec<_>>()
        );
    }
    said.into_iter().map(|(name, _)| name).collect()
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
            let Notice::Changed { id, revision } = notice else { panic!("{notice:?}") };
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
        store.create("c", json!({}), None).await.unwrap();
        let mut heard = store.watch();
        let appends = [(0, "a"), (1, "b"), (1, "x"), (2, "c")];
        let told = join_all(appends.map(|(expected, name)| store.append("c", expected, step(name)))).await;
        assert!(
            matches!(told[..], [Ok(1), Ok(2), Err(StoreError::Stale { found: 2, .. }), Ok(3)]),
            "{told:?}"
        );
        assert_eq!(labels(&*store, "c").await, ["a", "b", "c"]);
        for revision in 1..=3 {
            assert_eq!(heard.try_recv().unwrap(), Notice::Changed { id: "c".into(), revision });
        }
        assert_eq!(store.list().await.unwrap()[0].changed_millis, Some(7));
    });
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::store::block_on;
    use crate::store::postgres::{Schema, client, drop_schema};

    #[test]
    fn appends_that_come_together_share_a_transaction() {
        block_on(async {
            let Some(schema) = Schema::new().await else { return };
            let store = schema.open().await;
            let ids = begin(&store).await;
            let told = join_all(ids.iter().map(|id| store.append(id, 0, step("a")))).await;
            assert!(told.iter().all(|told| matches!(told, Ok(1))), "{told:?}");
            let sql = "SELECT count(*), count(DISTINCT xmin::text) FROM ctx_steps";
            let row = client(schema.config()).await.query_one(sql, &[]).await.unwrap();
            assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (ids.len() as i64, 1));
            drop_schema(schema.name()).await;
        });
    }

    #[test]
    fn one_that_fails_harms_no_other() {
        block_on(async {
            let Some(schema) = Schema::new().await else { return };
            let store = schema.open().await;
            for id in ["a", "b", "c", "gone"] {
                store.create(id, json!({}), None).await.unwrap();
            }
            store.delete("gone").await.unwrap();
            let appends = [("a", "1"), ("gone", "x"), ("b", "1"), ("a", "x")]
                .map(|(id, name)| store.append(id, 0, step(name)));
            let told = join_all(appends).await;
            assert!(
                matches!(
                    told[..],
                    [Ok(1), Err(StoreError::NotFound { .. }), Ok(1), Err(StoreError::Stale { found: 1, .. })]
                ),
                "{told:?}"
            );
            // The server takes no such label, and no such id: with them the whole transaction fails.
            for (id, name) in [("c", "\0"), ("\0", "x")] {
                let at = labels(&store, "a").await.len() as u64;
                let (appends, next) = ([("a", "n"), (id, name), ("b", "n")], at + 1);
                let told = join_all(appends.map(|(id, name)| {
                    let expected = if id == "a" || id == "b" { at } else { 0 };
                    store.append(id, expected, step(name))
                }))
                .await;
                assert!(matches!(&told[1], Err(StoreError::Database(_))), "{told:?}");
                assert_eq!((told[0].as_ref().ok(), told[2].as_ref().ok()), (Some(&next), Some(&next)));
            }
            for (id, said) in [("a", &["1", "n", "n"][..]), ("b", &["1", "n", "n"]), ("c", &[])] {
                assert_eq!(labels(&store, id).await, said);
            }
            drop_schema(schema.name()).await;
        });
    }

    #[test]
    fn nobody_waits_for_a_conversation_that_another_has() {
        block_on(async {
            let Some(schema) = Schema::new().await else { return };
            let store = schema.open().await;
            let ids = begin(&store).await;
            let mut other = client(schema.config()).await;
            let transaction = other.transaction().await.unwrap();
            transaction
                .execute("SELECT FROM ctx_conversations WHERE id = 'c3' FOR UPDATE", &[])
                .await
                .unwrap();
            let (held, free): (Vec<_>, Vec<_>) = ids.iter().partition(|id| *id == "c3");
            let freed = async {
                let told = join_all(free.iter().map(|id| store.append(id, 0, step("a")))).await;
                transaction.rollback().await.unwrap();
                told
            };
            let (held, told) = join(store.append(held[0], 0, step("a")), freed).await;
            assert!(matches!(held, Ok(1)), "{held:?}");
            assert!(told.iter().all(|told| matches!(told, Ok(1))), "{told:?}");
            drop_schema(schema.name()).await;
        });
    }

    #[test]
    fn a_store_that_is_dropped_leaves_no_connection() {
        block_on(async {
            let Some(schema) = Schema::new().await else { return };
            let store = schema.open().await;
            store.create("c", json!({}), None).await.unwrap();
            store.append("c", 0, step("a")).await.unwrap();
            assert_eq!(schema.connections().await, 2);
            drop(store.clone());
            store.append("c", 1, step("b")).await.unwrap();
            drop(store);
            schema.until_unconnected().await;
            drop_schema(schema.name()).await;
        });
    }
}
