//! Tables of the store, and the migration of older files.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::store::StoreError;

/// Migrations from an empty file to the current schema. `user_version` of a file is the number of applied migrations.
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
    "
    CREATE TABLE marks (
        mark BLOB PRIMARY KEY,
        conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        node TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- Deleting a conversation looks for its marks.
    CREATE INDEX marks_by_conversation ON marks (conversation);
",
    "
    -- Which process has the next turn of a conversation, which need not be there yet.
    CREATE TABLE leases (
        conversation TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        expires INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "DROP TABLE marks;",
];

/// Prepares a connection for durable writes and several processes, and migrates the tables.
///
/// Does not write into a foreign file or an up-to-date store. So an up-to-date store can be opened while another
/// process writes.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    disarm(connection)?;
    let found = version(connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Overwrite deleted data.
    connection.pragma_update(None, "secure_delete", true)?;
    if found < MIGRATIONS.len() { migrate(connection) } else { Ok(()) }
}

/// Disables triggers, views, and other code in an untrusted file. A store contains none.
pub(super) fn disarm(connection: &Connection) -> Result<(), StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(())
}

/// Returns the number of migrations that a file has.
fn version(connection: &Connection) -> Result<usize, StoreError> {
    // Both queries must see the same state of the file.
    let transaction = connection.unchecked_transaction()?;
    let found = stated_version(&transaction)?;
    let sql = "SELECT count(*), count(*) FILTER (WHERE type = 'table' AND name = 'conversations')
               FROM sqlite_schema";
    let (all, own): (i64, i64) = transaction.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let known = newest();
    match found {
        0 if all == 0 => Ok(0),
        1.. if own == 0 => Err(StoreError::Foreign),
        1.. if found > known => Err(StoreError::Newer { found, known }),
        1.. => Ok(usize::try_from(found).unwrap_or(0)),
        _ => Err(StoreError::Foreign),
    }
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have migrated the file in the meantime.
    let done = usize::try_from(stated_version(&transaction)?).unwrap_or(MIGRATIONS.len());
    for migration in MIGRATIONS.get(done..).unwrap_or_default() {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", newest())?;
    transaction.commit()?;
    Ok(())
}

fn stated_version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Version of a file with all migrations.
fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}
