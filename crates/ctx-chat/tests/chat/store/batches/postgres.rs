//! What shares a transaction in `PostgreSQL`, and what does not.

use ctx_chat::{ConversationStore as _, Notice, PostgresStore, StoreError};
use ctx_types::session::Session;
use futures_util::future::{join, join_all};

use crate::store::batches::{begin, labels, step};
use crate::store::block_on;
use crate::store::postgres::{Schema, WAITING, client, drop_schema};

fn on_postgres(test: impl AsyncFnOnce(PostgresStore, &Schema)) {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        test(schema.open().await, &schema).await;
        drop_schema(schema.name()).await;
    });
}

/// Appends at once, each a step to a revision of a conversation.
async fn append(store: &PostgresStore, steps: &[(&str, u64, &str)]) -> Vec<Result<u64, StoreError>> {
    join_all(steps.iter().map(|(id, expected, label)| store.append(id, *expected, step(label)))).await
}

#[test]
fn appends_that_come_together_share_a_transaction() {
    on_postgres(async |store, schema| {
        let ids = begin(&store).await;
        let told = append(&store, &ids.iter().map(|id| (&**id, 0, "a")).collect::<Vec<_>>()).await;
        assert!(told.iter().all(|told| matches!(told, Ok(1))), "{told:?}");
        let sql = "SELECT count(*), count(DISTINCT xmin::text) FROM ctx_steps";
        let row = client(schema.config()).await.query_one(sql, &[]).await.unwrap();
        let (steps, transactions): (i64, i64) = (row.get(0), row.get(1));
        assert_eq!((usize::try_from(steps), transactions), (Ok(ids.len()), 1));
    });
}

#[test]
fn one_that_is_refused_harms_no_other() {
    on_postgres(async |store, _| {
        for id in ["a", "b", "gone"] {
            store.create(id, Session::new("c"), None).await.unwrap();
        }
        store.delete("gone").await.unwrap();
        let steps = [("a", 0, "1"), ("gone", 0, "x"), ("b", 0, "1"), ("a", 0, "x")];
        let told = append(&store, &steps).await;
        let (gone, stale) = (matches!(told[1], Err(StoreError::NotFound { .. })), &told[3]);
        assert!(matches!((&told[0], gone, &told[2]), (Ok(1), true, Ok(1))), "{told:?}");
        assert!(matches!(stale, Err(StoreError::Stale { expected: 0, found: 1, .. })), "{told:?}");
        assert_eq!([labels(&store, "a").await, labels(&store, "b").await], [["1"], ["1"]]);
    });
}

#[test]
fn one_with_which_the_transaction_fails_harms_no_other() {
    on_postgres(async |store, _| {
        for id in ["a", "b", "c"] {
            store.create(id, Session::new("c"), None).await.unwrap();
        }
        // The server takes no such label, and no such id.
        for (revision, (id, label)) in [("c", "\0"), ("\0", "x")].into_iter().enumerate() {
            let revision = revision as u64;
            let steps = [("a", revision, "n"), (id, 0, label), ("b", revision, "n")];
            let told = append(&store, &steps).await;
            assert!(matches!(&told[..], [Ok(_), Err(StoreError::Database(_)), Ok(_)]), "{told:?}");
        }
        let said = [labels(&store, "a").await, labels(&store, "b").await, labels(&store, "c").await];
        assert_eq!(said, [&["n", "n"][..], &["n", "n"], &[]]);
    });
}

#[test]
fn nobody_waits_for_a_conversation_that_another_has() {
    on_postgres(async |store, schema| {
        let ids = begin(&store).await;
        let mut other = client(schema.config()).await;
        let transaction = other.transaction().await.unwrap();
        transaction.execute("SELECT FROM ctx_conversations WHERE id = 'c3' FOR UPDATE", &[]).await.unwrap();
        let free: Vec<_> = ids.iter().filter(|id| *id != "c3").map(|id| (&**id, 0, "a")).collect();
        let others = async {
            let told = append(&store, &free).await;
            transaction.rollback().await.unwrap();
            told
        };
        let (held, told) = join(store.append("c3", 0, step("a")), others).await;
        assert!(matches!(held, Ok(1)), "{held:?}");
        assert!(told.iter().all(|told| matches!(told, Ok(1))), "{told:?}");
    });
}

/// The lock of the journal; processes of every version take it.
const JOURNAL: i64 = 0x0063_7478_6c6f_6773;

#[test]
fn who_asks_for_changes_misses_none_that_is_committed_late() {
    on_postgres(async |store, schema| {
        store.create("c", Session::new("c"), None).await.unwrap();
        let mut other = client(schema.config()).await;
        let transaction = other.transaction().await.unwrap();
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&JOURNAL]).await.unwrap();
        transaction
            .execute("INSERT INTO ctx_journal (conversation, revision) VALUES ('z', 1)", &[])
            .await
            .unwrap();
        let late = async {
            schema.until_waiting().await;
            let (_, place) = store.changes(0).await.unwrap();
            transaction.commit().await.unwrap();
            place
        };
        let (told, place) = join(store.append("c", 0, step("a")), late).await;
        assert!(matches!(told, Ok(1)), "{told:?}");
        let news = ["z", "c"].map(|id| Notice::Changed { id: id.into(), revision: 1 });
        assert_eq!(store.changes(place).await.unwrap().0, news);
    });
}

#[test]
fn appends_on_which_the_connection_breaks_fail_and_the_next_one_opens_it_again() {
    on_postgres(async |store, schema| {
        for id in ["a", "b"] {
            store.create(id, Session::new("c"), None).await.unwrap();
        }
        let mut other = client(schema.config()).await;
        let transaction = other.transaction().await.unwrap();
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&JOURNAL]).await.unwrap();
        let breaking = async {
            schema.until_waiting().await;
            assert_eq!(schema.end(WAITING).await, 1);
        };
        let steps = [("a", 0, "x"), ("b", 0, "x")];
        let (told, ()) = join(append(&store, &steps), breaking).await;
        assert!(
            matches!(&told[..], [Err(StoreError::Unreachable(_)), Err(StoreError::Unreachable(_))]),
            "{told:?}"
        );
        transaction.rollback().await.unwrap();
        let told = append(&store, &steps).await;
        assert!(matches!(&told[..], [Ok(1), Ok(1)]), "{told:?}");
    });
}

#[test]
fn a_store_that_is_dropped_leaves_no_connection() {
    on_postgres(async |store, schema| {
        store.create("c", Session::new("c"), None).await.unwrap();
        store.append("c", 0, step("a")).await.unwrap();
        assert_eq!(schema.connections().await, 2);
        drop(store.clone());
        store.append("c", 1, step("b")).await.unwrap();
        drop(store);
        schema.until_unconnected().await;
    });
}
