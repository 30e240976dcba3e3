//! The tables of the store, and how older databases get them.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::store::StoreError;

/// The number of the lock that writers of the journal take, within the database.
pub(super) const LOCK: i64 = 0x0063_7478_6c6f_6773;

/// The steps from an empty database to the newest form; `ctx_store` holds the number of those that it has.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE ctx_conversations (
        id text PRIMARY KEY,
        name text,
        created bigint,
        changed bigint,
        revision bigint NOT NULL,
        checkpoint_revision bigint NOT NULL,
        checkpoint text NOT NULL
    );
    CREATE TABLE ctx_steps (
        conversation text NOT NULL REFERENCES ctx_conversations (id) ON DELETE CASCADE,
        revision bigint NOT NULL,
        at bigint,
        kind text NOT NULL CHECK (kind IN ('do', 'undo', 'redo')),
        label text,
        op text,
        PRIMARY KEY (conversation, revision)
    );
    CREATE TABLE ctx_journal (
        place bigserial PRIMARY KEY,
        conversation text NOT NULL UNIQUE,
        revision bigint
    );
    CREATE TABLE ctx_limits (
        model text PRIMARY KEY,
        tokens bigint NOT NULL,
        at bigint NOT NULL
    );
",
    "
    CREATE TABLE ctx_marks (
        mark bytea PRIMARY KEY,
        conversation text NOT NULL REFERENCES ctx_conversations (id) ON DELETE CASCADE,
        node text NOT NULL
    );
    -- Deleting a conversation looks for its marks.
    CREATE INDEX ctx_marks_by_conversation ON ctx_marks (conversation);
",
    "DROP TABLE ctx_marks;",
];

/// Brings the tables up to date; of several processes that do so at once one does it.
pub(super) async fn migrate(client: &mut Client) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let transaction = client.transaction().await?;
    lock(transaction.client()).await?;
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS ctx_store (version bigint NOT NULL)").await?;
    let row = transaction.query_opt("SELECT version FROM ctx_store", &[]).await?;
    let found: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    for migration in MIGRATIONS.get(done..).unwrap_or_default() {
        transaction.batch_execute(migration).await?;
    }
    transaction.execute("DELETE FROM ctx_store", &[]).await?;
    transaction.execute("INSERT INTO ctx_store VALUES ($1)", &[&known]).await?;
    transaction.commit().await?;
    Ok(())
}

/// Waits until nobody else holds the lock; it is free again when the open transaction ends.
pub(super) async fn lock(client: &Client) -> Result<(), StoreError> {
    client.execute_typed("SELECT pg_advisory_xact_lock($1)", &[(&LOCK, Type::INT8)]).await?;
    Ok(())
}
