//! Files that older versions of the store wrote.

use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore as _, SqliteStore};
use ctx_types::Role;
use ctx_types::session::{Node, Session, SessionOp};
use serde_json::json;

use crate::store::{block_on, words};

/// The tables of the first version.
const FIRST: &str = "
    CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, created INTEGER, changed INTEGER,
        revision INTEGER NOT NULL, checkpoint_revision INTEGER NOT NULL, checkpoint TEXT NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE steps (conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        revision INTEGER NOT NULL, at INTEGER, kind TEXT NOT NULL, label TEXT, op TEXT,
        PRIMARY KEY (conversation, revision)) STRICT, WITHOUT ROWID;
    CREATE TABLE journal (place INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL UNIQUE,
        revision INTEGER) STRICT;
    PRAGMA user_version = 1;";

#[test]
fn a_conversation_of_the_first_version_is_there_and_goes_on() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (session, _) = Session::linear("c", [Node::new(Role::User, "a")]);
    let parent = session.active_leaf_id().clone();
    let node = Box::new(Node::new(Role::Assistant, "b").with_id("later"));
    let old = rusqlite::Connection::open(file.path()).unwrap();
    old.execute_batch(FIRST).unwrap();
    let checkpoint = json!(session).to_string();
    old.execute("INSERT INTO conversations VALUES ('c', NULL, 1, 2, 1, 0, ?1)", [checkpoint]).unwrap();
    let op = serde_json::to_string(&SessionOp::Append { parent, node }).unwrap();
    old.execute("INSERT INTO steps VALUES ('c', 1, 2, 'do', 'add assistant', ?1)", [op]).unwrap();
    drop(old);
    block_on(async {
        for expected in [&["a", "b", "c"][..], &["a", "b", "c", "c"]] {
            let store = SqliteStore::open(file.path()).unwrap();
            let mut chat = Conversation::load(&store, "c").await.unwrap();
            chat.append(&store, Node::new(Role::User, "c"), None).await.unwrap();
            assert_eq!(words(&Conversation::load(&store, "c").await.unwrap()), expected);
        }
    });
}

#[test]
fn migrates_store_without_leases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        drop(crate::store::chat(&store, &["a"]).await.unwrap());
        drop(store);
        // Downgrade the file to an earlier version.
        let old = rusqlite::Connection::open(&path).unwrap();
        let sql = "DROP TABLE leases; CREATE TABLE marks (mark BLOB); PRAGMA user_version = 4";
        old.execute_batch(sql).unwrap();
        drop(old);
        let (here, there) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
        let mut found = None;
        let _held = Conversation::hold(&here, "c", &mut found, Duration::ZERO).await.unwrap();
        assert_eq!(words(&found.unwrap()), ["a"]);
        assert!(there.hold("c", None, Duration::ZERO).await.unwrap().is_none());
    });
}
