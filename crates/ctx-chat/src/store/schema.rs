//! The tables of the store, and how older files get them.

use rusqlite::Connection;

use crate::store::StoreError;

/// The steps from an empty file to the newest form; a file's `user_version` is the number of those it has.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE conversations (
        id TEXT PRIMARY KEY,
        name TEXT,
        created INTEGER,
        changed INTEGER,
        revision INTEGER NOT NULL,
        checkpoint_revision INTEGER NOT NULL,
        checkpoint TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE steps (
        conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        revision INTEGER NOT NULL,
        at INTEGER,
        kind TEXT NOT NULL CHECK (kind IN ('do', 'undo', 'redo')),
        label TEXT,
        op TEXT,
        PRIMARY KEY (conversation, revision)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE journal (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation TEXT NOT NULL UNIQUE,
        revision INTEGER
    ) STRICT;
",
    "
    -- What was deleted is not named any more: one row says that there were deletions.
    DELETE FROM journal WHERE revision IS NULL;
    CREATE TABLE limits (
        model TEXT PRIMARY KEY,
        tokens INTEGER NOT NULL,
        at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    -- A row is written as a whole: each step would write its conversation's checkpoint again.
    CREATE TABLE checkpoints (
        conversation TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
        revision INTEGER NOT NULL,
        session TEXT NOT NULL
    ) STRICT;
    INSERT INTO checkpoints SELECT id, checkpoint_revision, checkpoint FROM conversations;
    ALTER TABLE conversations DROP COLUMN checkpoint;
    ALTER TABLE conversations DROP COLUMN checkpoint_revision;
",
];

/// Prepares a connection: durable writes, several processes, nothing left behind; and brings the tables up to date.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is deleted is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    migrate(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    for migration in &MIGRATIONS[done..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}
