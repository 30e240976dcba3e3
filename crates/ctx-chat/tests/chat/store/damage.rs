//! Files that are no stores, are damaged, newer, locked, or cannot be written.

use std::fs;
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore, Notice, SqliteStore, StoreError};
use ctx_types::Role;
use ctx_types::session::Node;

use crate::store::block_on;

/// Makes a store with one conversation in a file, hurts the file with SQL, and returns what loading says.
#[track_caller]
fn check(sql: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        for words in ["a", "b"] {
            chat.append(&store, Node::new(Role::User, words), None).await.unwrap();
        }
    });
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let said = match SqliteStore::open(&path) {
        Ok(store) => block_on(Conversation::load(&store, "c")).map(|_| String::new()),
        Err(error) => Err(error),
    };
    assert_eq!(said.unwrap_or_else(|error| error.to_string()), expected);
}

#[test]
fn a_newer_store_is_not_touched() {
    check(
        "PRAGMA user_version = 9",
        "the store has version 9; this program supports up to 6; update the program",
    );
}

#[test]
fn a_checkpoint_that_is_no_conversation_is_told() {
    let damaged = "the conversation `c` is damaged at revision 0: it is not a conversation";
    for session in ["[]", "{}", "null", "[5]"] {
        check(&format!("UPDATE checkpoints SET session = '{session}'"), damaged);
    }
}

#[test]
fn a_version_that_does_not_fit_the_tables_is_no_version_of_ours() {
    for version in ["0", "-5"] {
        check(&format!("PRAGMA user_version = {version}"), "the file is a database of another program");
    }
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    for version in [0, 1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        let sql = format!("CREATE TABLE journal (revision); PRAGMA user_version = {version}");
        other.execute_batch(&sql).unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        assert!(matches!(SqliteStore::open(&path), Err(StoreError::Foreign)), "{version}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// Lets a file bring along something that runs when a message is stored, and goes on with its conversation.
#[track_caller]
fn check_harmless(trigger: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        Conversation::create(&store, "c", None).await.unwrap();
    });
    rusqlite::Connection::open(&path).unwrap().execute_batch(trigger).unwrap();
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = Conversation::load(&store, "c").await.unwrap();
        chat.append(&store, Node::new(Role::User, "a"), None).await.unwrap();
        assert_eq!(crate::store::words(&Conversation::load(&store, "c").await.unwrap()), ["a"], "{trigger}");
        store.delete("c").await.unwrap();
    });
    let left = rusqlite::Connection::open(&path).unwrap();
    let steps: i64 = left.query_row("SELECT count(*) FROM steps", [], |row| row.get(0)).unwrap();
    assert_eq!(steps, 0, "steps go with their conversation");
}

#[test]
fn triggers_that_a_file_brings_along_do_nothing() {
    check_harmless("CREATE TRIGGER t AFTER INSERT ON steps BEGIN DELETE FROM steps; END");
    check_harmless("CREATE TRIGGER t BEFORE INSERT ON steps BEGIN SELECT RAISE(IGNORE); END");
    check_harmless(
        "CREATE TRIGGER t AFTER UPDATE ON conversations BEGIN UPDATE conversations SET revision = 0; END",
    );
    check_harmless(
        "CREATE TRIGGER t AFTER UPDATE ON conversations BEGIN
            INSERT INTO journal (conversation) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i FROM n;
        END",
    );
}

#[test]
fn a_step_that_is_missing_is_named() {
    check(
        "DELETE FROM steps WHERE revision = 1",
        "the conversation `c` is damaged at revision 1: the step is missing",
    );
    check(
        "DELETE FROM steps WHERE revision = 2",
        "the conversation `c` is damaged at revision 2: the step is missing",
    );
}

#[test]
fn a_step_that_cannot_be_read_is_named() {
    check(
        "UPDATE steps SET op = '{' WHERE revision = 2",
        "the conversation `c` is damaged at revision 2: EOF while parsing an object at line 1 column 1",
    );
}

#[test]
fn a_step_that_does_not_fit_is_named() {
    check(
        "UPDATE steps SET op = '{\"op\":\"remove\",\"id\":\"x\"}' WHERE revision = 2",
        "the conversation `c` is damaged at revision 2: no node `x`",
    );
}

#[test]
fn a_file_that_is_no_store_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    let text = "Dear friend, this is no database.\n".repeat(40);
    fs::write(&path, &text).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Corrupt(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere/chats.db");
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Unwritable(_))));
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        chat.append(&store, Node::new(Role::User, "a"), None).await.unwrap();
        store.limit_pages(64).await.unwrap();
        let large = "x".repeat(1 << 20);
        let error = chat.append(&store, Node::new(Role::User, large), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Unwritable(_)), "{error}");
        chat.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        let loaded = Conversation::load(&store, "c").await.unwrap();
        assert_eq!(loaded.session(), chat.session());
        assert_eq!(crate::store::words(&loaded), ["a", "b"]);
    });
}

#[test]
fn deletion_leaves_no_word_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        chat.append(&store, Node::new(Role::User, "the secret of the harbour"), None).await.unwrap();
        store.delete("c").await.unwrap();
    });
    for entry in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let secret = b"secret of the harbour";
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
}

#[test]
fn a_file_that_was_overwritten_in_the_middle_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        for _ in 0..100 {
            chat.append(&store, Node::new(Role::User, "x".repeat(500)), None).await.unwrap();
        }
    });
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 3 * 4096].fill(0xA5);
    fs::write(&path, &bytes).unwrap();
    let loaded = SqliteStore::open(&path).map(|store| block_on(Conversation::load(&store, "c")));
    let error = loaded.map_or_else(Some, Result::err).unwrap();
    assert!(matches!(error, StoreError::Corrupt(_) | StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_store_that_another_process_holds_is_busy_and_then_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open_with_patience(&path, Duration::from_millis(10)).unwrap();
        let mut chat = Conversation::create(&store, "c", None).await.unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = chat.append(&store, Node::new(Role::User, "a"), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Busy(_)), "{error}");
        assert!(
            crate::store::words(&Conversation::load(&store, "c").await.unwrap()).is_empty(),
            "reading goes on"
        );
        let again = SqliteStore::open_with_patience(&path, Duration::ZERO).unwrap();
        assert!(
            crate::store::words(&Conversation::load(&again, "c").await.unwrap()).is_empty(),
            "opening too"
        );
        other.execute_batch("ROLLBACK").unwrap();
        chat.append(&store, Node::new(Role::User, "b"), None).await.unwrap();
        assert_eq!(crate::store::words(&Conversation::load(&store, "c").await.unwrap()), ["b"]);
    });
}

#[test]
fn an_older_store_gets_todays_tables_and_forgets_what_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        Conversation::create(&store, "c", None).await.unwrap();
    });
    let old = "DROP TABLE leases; DROP TABLE limits; PRAGMA user_version = 1;
        ALTER TABLE conversations ADD COLUMN checkpoint_revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversations ADD COLUMN checkpoint TEXT NOT NULL DEFAULT '';
        UPDATE conversations SET checkpoint = (SELECT session FROM checkpoints);
        DROP TABLE checkpoints;
        INSERT INTO journal (conversation, revision) VALUES ('gone', NULL);";
    rusqlite::Connection::open(&path).unwrap().execute_batch(old).unwrap();
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(store.limits().await.unwrap(), []);
        let told = store.changes(0).await.unwrap().0;
        assert_eq!(told, [Notice::Changed { id: "c".into(), revision: 0 }]);
        Conversation::load(&store, "c").await.unwrap();
    });
}

#[test]
fn what_was_deleted_is_not_named_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        for id in ["the-harbour", "the-lamp"] {
            Conversation::create(&store, id, None).await.unwrap();
            store.delete(id).await.unwrap();
        }
        assert_eq!(store.changes(0).await.unwrap().0, [Notice::Deleted { id: None }]);
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the log beside the file is gone");
    let bytes = fs::read(&path).unwrap();
    for id in ["the-harbour", "the-lamp"] {
        assert!(!bytes.windows(id.len()).any(|window| window == id.as_bytes()), "{id}");
    }
}
