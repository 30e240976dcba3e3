//! Stores in the database that `CTX_TEST_POSTGRES` names, each in a schema of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore as _, PostgresStore, StoreError};
use ctx_types::Role;
use ctx_types::session::Node;
use tokio_postgres::{Client, NoTls};

use crate::store::{block_on, words};

/// The database of the tests; without one, says so.
#[expect(clippy::print_stderr, reason = "who reads the tests' output has to know what was not tested")]
fn database() -> Option<String> {
    let named = std::env::var("CTX_TEST_POSTGRES").ok().filter(|named| !named.is_empty());
    if named.is_none() {
        eprintln!("NOT TESTED on PostgreSQL: `CTX_TEST_POSTGRES` names no database");
    }
    named
}

pub(crate) async fn client(database: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Holds of a connection that waits for a lock.
pub(crate) const WAITING: &str = "wait_event_type = 'Lock'";

/// A schema of a test.
pub(crate) struct Schema {
    name: String,
    config: String,
}

impl Schema {
    /// Makes a schema, if there is a database.
    pub(crate) async fn new() -> Option<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let database = database()?;
        let name = format!("ctx_test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        client(&database).await.batch_execute(&format!("CREATE SCHEMA {name}")).await.unwrap();
        let config = format!("{database} application_name={name} options='-c search_path={name}'");
        Some(Self { name, config })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn config(&self) -> &str {
        &self.config
    }

    pub(crate) async fn open(&self) -> PostgresStore {
        PostgresStore::connect(&self.config).await.unwrap()
    }

    /// Does something with the tables behind the store's back.
    async fn run(&self, sql: &str) {
        let client = client(&self.config).await;
        client.batch_execute(sql).await.unwrap();
    }

    /// Asks the server something about the connections of this test.
    async fn ask(&self, what: &str, condition: &str) -> i64 {
        let client = client(&database().unwrap()).await;
        let sql = format!("SELECT {what} FROM pg_stat_activity WHERE application_name = $1 AND {condition}");
        client.query_one(&sql, &[&self.name]).await.unwrap().get(0)
    }

    /// Has the server end some of them, and returns how many.
    pub(crate) async fn end(&self, condition: &str) -> i64 {
        self.ask("count(pg_terminate_backend(pid))", condition).await
    }

    /// Counts the connections of this test.
    pub(crate) async fn connections(&self) -> i64 {
        self.ask("count(*)", "true").await
    }

    /// Waits until none is there any more.
    pub(crate) async fn until_unconnected(&self) {
        let mut looks = 0..2_000;
        while self.connections().await > 0 {
            assert!(looks.next().is_some(), "a store is still connected");
        }
    }

    /// Waits until one of them waits for a lock.
    pub(crate) async fn until_waiting(&self) {
        let mut looks = 0..2_000;
        while self.ask("count(*)", WAITING).await == 0 {
            assert!(looks.next().is_some(), "nobody waits for a lock");
        }
    }
}

pub(crate) async fn drop_schema(name: &str) {
    let Some(database) = database() else { return };
    client(&database).await.batch_execute(&format!("DROP SCHEMA {name} CASCADE")).await.unwrap();
}

/// Makes a store with the conversation `c`, hurts it with SQL, and returns what opening and loading say.
#[track_caller]
fn check(sql: &str, expected: &str) {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let store = schema.open().await;
        crate::store::chat(&store, &["a", "b"]).await.unwrap();
        schema.run(sql).await;
        let said = match PostgresStore::connect(&schema.config).await {
            Ok(store) => Conversation::load(&store, "c").await.map(|_| String::new()),
            Err(error) => Err(error),
        };
        drop_schema(schema.name()).await;
        assert_eq!(said.unwrap_or_else(|error| error.to_string()), expected);
    });
}

#[test]
fn a_conversation_that_is_held_is_waited_for_with_what_is_said_until_then() {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let (here, there) = (schema.open().await, schema.open().await);
        let mut one = crate::store::chat(&here, &["a"]).await.unwrap();
        let mut other = Conversation::load(&there, "c").await.unwrap();
        let (held, _) = here.hold("c", None, Duration::ZERO).await.unwrap().unwrap();
        assert!(there.hold("c", other.known_revision(), Duration::ZERO).await.unwrap().is_none());
        let said = async {
            one.append(&here, Node::new(Role::User, "b"), None).await.unwrap();
            drop(held);
        };
        let (taken, ()) =
            tokio::join!(there.hold("c", other.known_revision(), Duration::from_secs(60)), said);
        assert!(other.add_steps(taken.unwrap().unwrap().1).unwrap());
        assert_eq!(words(&other), ["a", "b"]);
        drop_schema(schema.name()).await;
    });
}

#[test]
fn loses_lease_when_connection_ends() {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let store = schema.open().await;
        crate::store::chat(&store, &["a"]).await.unwrap();
        let (lease, _) = store.hold("c", None, Duration::ZERO).await.unwrap().unwrap();
        assert!(!lease.lost().is_cancelled());
        assert!(schema.end("true").await > 0);
        tokio::time::timeout(Duration::from_secs(60), lease.lost().cancelled()).await.unwrap();
        drop_schema(schema.name()).await;
    });
}

#[test]
fn a_newer_store_is_not_touched() {
    check(
        "UPDATE ctx_store SET version = 9",
        "the store has version 9; this program supports up to 2; update the program",
    );
}

#[test]
fn a_damaged_conversation_is_told() {
    check(
        "DELETE FROM ctx_steps WHERE revision = 1",
        "the conversation `c` is damaged at revision 1: the step is missing",
    );
    check(
        "UPDATE ctx_steps SET op = '{' WHERE revision = 2",
        "the conversation `c` is damaged at revision 2: EOF while parsing an object at line 1 column 1",
    );
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let error = block_on(PostgresStore::connect("host=127.0.0.1 port=1 user=x")).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
    assert!(error.to_string().starts_with("cannot reach the store: "), "{error}");
    let error = block_on(PostgresStore::connect("port=no")).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = format!("host=127.0.0.1 port={port} user=u dbname=d connect_timeout=1");
    let error = block_on(PostgresStore::connect(&config)).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
}

#[test]
fn who_may_not_write_is_told() {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let store = schema.open().await;
        let mut chat = crate::store::chat(&store, &["a"]).await.unwrap();
        let read_only = format!(
            "{} options='-c search_path={} -c default_transaction_read_only=on'",
            database().unwrap(),
            schema.name()
        );
        let error = PostgresStore::connect(&read_only).await.unwrap_err();
        assert!(matches!(error, StoreError::Unwritable(_)), "{error}");
        chat.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        drop_schema(schema.name()).await;
    });
}

#[test]
fn a_lock_that_another_holds_is_waited_for_and_then_told() {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let config = format!("{} options='-c search_path={}'", database().unwrap(), schema.name());
        let store = schema.open().await;
        let mut chat = crate::store::chat(&store, &["a"]).await.unwrap();
        let mut other = client(&config).await;
        let transaction = other.transaction().await.unwrap();
        transaction.batch_execute("SELECT * FROM ctx_conversations FOR UPDATE").await.unwrap();
        let error = chat.append(&store, Node::new(Role::User, "x"), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Busy(_)), "{error}");
        transaction.rollback().await.unwrap();
        chat.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        assert_eq!(words(&chat), ["a", "b"]);
        drop_schema(schema.name()).await;
    });
}

#[test]
fn a_connection_that_broke_is_opened_again() {
    block_on(async {
        let Some(schema) = Schema::new().await else { return };
        let store = schema.open().await;
        let mut chat = crate::store::chat(&store, &["a"]).await.unwrap();
        assert_eq!(schema.end("true").await, 2);
        schema.until_unconnected().await;
        // The calls on which they break may fail; what follows does not, and nothing is there twice.
        drop(store.revision("c").await);
        if chat.append(&store, Node::new(Role::User, "b"), None).await.is_err() {
            chat = Conversation::load(&store, "c").await.unwrap();
            chat.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        }
        assert_eq!(words(&chat), ["a", "b"]);
        assert_eq!(store.load("c").await.unwrap().revision, 2);
        drop_schema(schema.name()).await;
    });
}
