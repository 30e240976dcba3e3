//! Stores conversations in one `SQLite` file.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ctx_pipeline::Cancel;
use ctx_types::session::Session;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::broadcast;

use crate::store::file::{self, StoreFile};
use crate::store::lease::{self, Clock, Leases};
use crate::store::notices::Notices;
use crate::store::record::{Rows, StepRow, checkpoint_text, columns, count, entries, number};
use crate::store::worker::{Patience, Worker};
use crate::store::{
    Checkpoint, ConversationEntry, ConversationStore, LearnedLimit, LogEntry, Notice, StoreError, StoreFault,
    StoreLease, Stored, WAITS, log, schema,
};

/// Time limit for waiting for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pause before the next attempt to empty the log.
const PAUSE: Duration = Duration::from_millis(5);

/// Maximum time limit. `SQLite` stores milliseconds in 32 bits.
const LONGEST_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Stores conversations in one `SQLite` file. Several processes may use the file at once.
///
/// Writes wait for the disk (WAL, `synchronous = FULL`); concurrent writes share one wait. Deleted data is
/// overwritten in the file. Triggers and views in the file have no effect. The lease of a killed process expires
/// after 10 s. Writes fail if the file is deleted or replaced while it is open ([`StoreError::Replaced`]).
#[derive(Clone, Debug)]
pub struct SqliteStore {
    worker: Worker,
    patience: Patience,
    notices: Notices,
    leases: Arc<Leases>,
}

impl SqliteStore {
    /// Opens a file and migrates its tables. Creates a missing file with mode 0600.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Newer`], [`StoreError::Foreign`], [`StoreError::Corrupt`], [`StoreError::Unwritable`],
    /// or [`StoreError::Busy`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with_patience(path, PATIENCE)
    }

    /// Opens a file with a time limit for waiting for other processes that write. The default is 5 s, and the maximum
    /// is 1 day.
    pub fn open_with_patience(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        file::create(path);
        file::check_beside(path)?;
        Self::start(Connection::open(path)?, patience, Some(path), lease::system_clock())
    }

    /// Creates a store in memory for tests.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(Connection::open_in_memory()?, PATIENCE, None, lease::system_clock())
    }

    /// Sets a callback for writes that wait 1 s for another process. The first callback stays.
    pub fn when_waiting(&self, tell: impl Fn() + Send + Sync + 'static) {
        self.patience.tell(tell);
    }

    /// Limits the size of the file, in pages of 4 KiB. Larger writes fail as on a full disk.
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        self.worker
            .alone(move |connection| {
                connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
                Ok(())
            })
            .await
    }

    /// Sets the title of a conversation, or removes it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotFound`] if there is no such conversation.
    pub async fn rename(&self, id: &str, name: Option<String>) -> Result<(), StoreError> {
        let (key, told, notices) = (id.to_owned(), id.to_owned(), self.notices.clone());
        let rename = move |transaction: &Connection| {
            let sql = "UPDATE conversations SET name = ?1 WHERE id = ?2 RETURNING revision";
            let found = transaction
                .prepare_cached(sql)?
                .query_row(params![name, key], |row| row.get(0))
                .optional()?;
            let revision = found.map(count).ok_or_else(|| StoreError::NotFound { id: key.clone() })?;
            note(transaction, &key, revision).map(|()| revision)
        };
        self.worker.write_then(rename, move |revision| notices.changed(&told, *revision)).await.map(drop)
    }

    fn start(
        mut connection: Connection,
        patience: Duration,
        path: Option<&Path>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let patience = patience.min(LONGEST_PATIENCE);
        connection.busy_timeout(patience)?;
        schema::prepare(&mut connection)?;
        log::watch(&mut connection)?;
        let patience = Patience::from(patience);
        let file = path.map(StoreFile::new).transpose();
        let file = file.map_err(|error| StoreError::Unwritable(StoreFault::new(error)))?;
        let leases = Arc::new(Leases::new(&connection, clock)?);
        let worker = Worker::start(connection, patience.clone(), file, leases.clone())?;
        Ok(Self { worker, patience, notices: Notices::default(), leases })
    }

    /// Acquires the lease of a conversation if it is free, and reads the steps after a revision.
    async fn take_lease(
        &self,
        id: &str,
        revision: Option<u64>,
    ) -> Result<Option<(StoreLease, Vec<LogEntry>)>, StoreError> {
        let lost = Cancel::default();
        let owner = self.leases.begin(id, lost.clone());
        let (worker, leases) = (self.worker.clone(), self.leases.clone());
        let (conversation, released) = (id.to_owned(), owner.clone());
        // Create the guard first. It also releases the lease if the caller is canceled during the acquisition.
        let hold = StoreLease::until(move || {
            leases.end(&released);
            worker.release_lease(move |connection| lease::release(connection, &conversation, &released));
        });
        let (hold, key, leases) = (hold.with_lost(lost), id.to_owned(), self.leases.clone());
        let taken = self.worker.take_lease(move |connection| {
            if !leases.take(connection, &key, &owner)? {
                return Ok(None);
            }
            revision.map_or(Ok(Vec::new()), |revision| steps_after(connection, &key, revision)).map(Some)
        });
        let Some(rows) = taken.await? else { return Ok(None) };
        // Loading the conversation reports unreadable steps.
        let steps = revision.and_then(|revision| entries(id, rows, revision).ok()).unwrap_or_default();
        Ok(Some((hold, steps)))
    }
}

#[async_trait]
impl ConversationStore for SqliteStore {
    async fn create(&self, id: &str, checkpoint: Session, at_millis: Option<i64>) -> Result<(), StoreError> {
        // Serialize here, because the thread serves other callers too.
        let (name, text) = (checkpoint.header.name.clone(), checkpoint_text(id, &checkpoint)?);
        let (key, notices) = (id.to_owned(), self.notices.clone());
        let told = key.clone();
        let create = move |transaction: &Connection| {
            let sql = "INSERT INTO conversations VALUES (?1, ?2, ?3, ?3, 0) ON CONFLICT DO NOTHING";
            if transaction.execute(sql, params![key, name, at_millis])? == 0 {
                return Err(StoreError::Exists { id: key });
            }
            let sql = "INSERT INTO checkpoints VALUES (?1, 0, ?2)";
            transaction.execute(sql, params![key, text])?;
            note(transaction, &key, 0)
        };
        self.worker.write_then(create, move |()| notices.changed(&told, 0)).await
    }

    async fn load(&self, id: &str) -> Result<Stored, StoreError> {
        let key = id.to_owned();
        let rows = self.worker.alone(move |connection| read(connection, &key)).await?;
        rows.into_stored(id)
    }

    async fn revision(&self, id: &str) -> Result<u64, StoreError> {
        let key = id.to_owned();
        self.worker
            .alone(move |connection| {
                let sql = "SELECT revision FROM conversations WHERE id = ?1";
                let found = connection.prepare_cached(sql)?.query_row([&key], |row| row.get(0)).optional()?;
                found.map(count).ok_or(StoreError::NotFound { id: key })
            })
            .await
    }

    async fn since(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        let key = id.to_owned();
        let rows = self.worker.alone(move |connection| steps_after(connection, &key, revision)).await?;
        entries(id, rows, revision)
    }

    /// Stores the lease as a row with an owner and an expiry, and renews it until the conversation is released.
    async fn hold(
        &self,
        id: &str,
        revision: Option<u64>,
        patience: Duration,
    ) -> Result<Option<(StoreLease, Vec<LogEntry>)>, StoreError> {
        let begun = Instant::now();
        let [mut pause, longest] = WAITS;
        loop {
            match self.take_lease(id, revision).await {
                Ok(None) => {}
                // Another process writes for a long time. Wait for it as for a turn.
                Err(StoreError::Busy(_)) if begun.elapsed() < patience => tokio::time::sleep(longest).await,
                held => return held,
            }
            // Only read while waiting: reading does not block writers.
            loop {
                let (key, leases) = (id.to_owned(), self.leases.clone());
                let is_free = self.worker.alone(move |connection| leases.is_free(connection, &key)).await?;
                if begun.elapsed() >= patience {
                    return Ok(None);
                }
                if is_free {
                    break;
                }
                tokio::time::sleep(pause).await;
                pause = longest.min(2 * pause);
            }
        }
    }

    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError> {
        let (key, told, notices) = (id.to_owned(), id.to_owned(), self.notices.clone());
        let leases = self.leases.clone();
        let append = move |transaction: &Connection| {
            leases.check(transaction, &key)?;
            append(transaction, &key, expected, &steps)
        };
        self.worker.write_then(append, move |revision| notices.changed(&told, *revision)).await
    }

    async fn checkpoint(&self, id: &str, checkpoint: Checkpoint) -> Result<(), StoreError> {
        let (key, text) = (id.to_owned(), checkpoint_text(id, &checkpoint.session)?);
        self.worker
            .write(move |transaction| {
                let sql = "UPDATE checkpoints SET session = ?1, revision = ?2
                           WHERE conversation = ?3 AND revision < ?2
                           AND ?2 <= (SELECT revision FROM conversations WHERE id = ?3)";
                transaction.execute(sql, params![text, number(checkpoint.revision), key])?;
                Ok(())
            })
            .await
    }

    async fn list(&self) -> Result<Vec<ConversationEntry>, StoreError> {
        self.worker
            .alone(|connection| {
                let sql = "SELECT id, name, revision, created, changed FROM conversations
                           ORDER BY changed DESC, id";
                let mut statement = connection.prepare_cached(sql)?;
                let entries = statement.query_map([], |row| {
                    Ok(ConversationEntry {
                        id: row.get(0)?,
                        name: row.get(1)?,
                        revision: count(row.get(2)?),
                        created_millis: row.get(3)?,
                        changed_millis: row.get(4)?,
                    })
                })?;
                Ok(entries.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn count(&self, prefix: &str) -> Result<u64, StoreError> {
        // Ids are ordered by their bytes, so ids with a common prefix are adjacent.
        let (from, to) = (prefix.to_owned(), format!("{prefix}{}", char::MAX));
        self.worker
            .alone(move |connection| {
                let sql = "SELECT count(*) FROM conversations WHERE id >= ?1 AND id < ?2";
                Ok(count(connection.prepare_cached(sql)?.query_row([&from, &to], |row| row.get(0))?))
            })
            .await
    }

    async fn delete(&self, id: &str) -> Result<(), StoreError> {
        let (key, told, notices) = (id.to_owned(), id.to_owned(), self.notices.clone());
        let leases = self.leases.clone();
        let delete = move |transaction: &Connection| {
            if transaction.execute("DELETE FROM conversations WHERE id = ?1", [&key])? == 0 {
                return Err(StoreError::NotFound { id: key });
            }
            leases.remove_expired(transaction, &key)?;
            note_deletion(transaction, &key)
        };
        self.worker.write_then(delete, move |()| notices.deleted(&told)).await?;
        // The log still contains the old pages. A reader in another process may delay its removal.
        let limit = self.patience.limit();
        self.worker.alone(move |connection| empty_log(connection, limit)).await
    }

    async fn changes(&self, since: u64) -> Result<(Vec<Notice>, u64), StoreError> {
        self.worker
            .alone(move |connection| {
                let sql = "SELECT place, conversation, revision FROM journal WHERE place > ?1 ORDER BY place";
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query([number(since)])?;
                let (mut notices, mut place) = (Vec::new(), since);
                while let Some(row) = rows.next()? {
                    place = count(row.get(0)?);
                    let revision: Option<i64> = row.get(2)?;
                    notices.push(match revision {
                        Some(revision) => Notice::Changed { id: row.get(1)?, revision: count(revision) },
                        None => Notice::Deleted { id: None },
                    });
                }
                Ok((notices, place))
            })
            .await
    }

    fn watch(&self) -> broadcast::Receiver<Notice> {
        self.notices.listen()
    }

    async fn limits(&self) -> Result<Vec<LearnedLimit>, StoreError> {
        self.worker
            .alone(|connection| {
                let sql = "SELECT model, tokens, at FROM limits ORDER BY model";
                let mut statement = connection.prepare_cached(sql)?;
                let limits = statement.query_map([], |row| {
                    Ok(LearnedLimit {
                        model: row.get(0)?,
                        tokens: count(row.get(1)?),
                        at_millis: row.get(2)?,
                    })
                })?;
                Ok(limits.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn learn(&self, limit: LearnedLimit) -> Result<(), StoreError> {
        self.worker
            .write(move |transaction| {
                let sql = "INSERT OR REPLACE INTO limits (model, tokens, at) VALUES (?1, ?2, ?3)";
                transaction.execute(sql, params![limit.model, number(limit.tokens), limit.at_millis])?;
                Ok(())
            })
            .await
    }
}

/// Moves the log into the file and truncates it. Waits for other processes that do the same, because the database
/// does not.
fn empty_log(connection: &Connection, limit: Duration) -> Result<(), StoreError> {
    let begun = Instant::now();
    loop {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let (is_busy, pages): (bool, i64) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        // Without page counts, `SQLite` did not try.
        if !is_busy || pages >= 0 || begun.elapsed() >= limit {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
}

fn read(connection: &Connection, id: &str) -> Result<Rows, StoreError> {
    // Both queries must see the same state of the file.
    let transaction = connection.unchecked_transaction()?;
    let sql = "SELECT checkpoints.revision, session, conversations.revision, name
               FROM conversations JOIN checkpoints ON conversation = id WHERE id = ?1";
    let found = transaction
        .prepare_cached(sql)?
        .query_row([id], |row| Ok((count(row.get(0)?), row.get(1)?, count(row.get(2)?), row.get(3)?)))
        .optional()?;
    let (checkpoint_revision, checkpoint, revision, name) =
        found.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
    let steps = steps_after(&transaction, id, checkpoint_revision)?;
    Ok(Rows { name, checkpoint_revision, checkpoint, revision, steps })
}

fn steps_after(connection: &Connection, id: &str, revision: u64) -> Result<Vec<StepRow>, StoreError> {
    let sql = "SELECT revision, at, kind, label, op FROM steps
               WHERE conversation = ?1 AND revision > ?2 ORDER BY revision";
    let mut statement = connection.prepare_cached(sql)?;
    let steps = statement.query_map(params![id, number(revision)], |row| {
        Ok(StepRow {
            revision: count(row.get(0)?),
            at_millis: row.get(1)?,
            kind: row.get(2)?,
            label: row.get(3)?,
            op: row.get(4)?,
        })
    })?;
    Ok(steps.collect::<Result<_, _>>()?)
}

fn append(transaction: &Connection, id: &str, expected: u64, steps: &[LogEntry]) -> Result<u64, StoreError> {
    let sql = "SELECT revision FROM conversations WHERE id = ?1";
    let found = transaction.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    let found = found.map(count).ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
    if found != expected {
        return Err(StoreError::Stale { id: id.to_owned(), expected, found });
    }
    let sql = "INSERT INTO steps VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = transaction.prepare_cached(sql)?;
    let mut revision = found;
    for entry in steps {
        revision += 1;
        let (kind, label, op) = columns(id, revision, &entry.step)?;
        insert.execute(params![id, number(revision), entry.at_millis, kind, label, op])?;
    }
    let at = steps.iter().rev().find_map(|entry| entry.at_millis);
    let sql = "UPDATE conversations SET revision = ?1, changed = coalesce(?2, changed) WHERE id = ?3";
    transaction.prepare_cached(sql)?.execute(params![number(revision), at, id])?;
    note(transaction, id, revision)?;
    Ok(revision)
}

/// Records a change of a conversation in the journal. The journal keeps only the latest change of each conversation.
fn note(transaction: &Connection, id: &str, revision: u64) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO journal (conversation, revision) VALUES (?1, ?2)";
    transaction.prepare_cached(sql)?.execute(params![id, number(revision)])?;
    Ok(())
}

/// Records the deletion of a conversation without any of its content.
fn note_deletion(transaction: &Connection, id: &str) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM journal WHERE conversation = ?1", [id])?;
    transaction.execute("INSERT OR REPLACE INTO journal (conversation, revision) VALUES ('', NULL)", [])?;
    Ok(())
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let code = error.sqlite_error_code();
        let fault = StoreFault::new(error);
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(fault),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(fault),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => Self::Unwritable(fault),
            _ => Self::Database(fault),
        }
    }
}
