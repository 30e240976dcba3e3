//! Conversations in one `SQLite` file.

use std::path::Path;

use async_trait::async_trait;
use ctx_types::SessionOp;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use tokio::sync::broadcast;

use crate::store::worker::Worker;
use crate::store::{
    Checkpoint, ConversationEntry, ConversationStore, LogEntry, Notice, Step, StoreError, Stored, schema,
};

/// How many notices a slow listener may be behind before he misses some and has to ask for changes.
const NOTICES: usize = 1_024;

/// Keeps conversations in one `SQLite` file, which several processes may use at once.
///
/// Writes wait for the disk (WAL, `synchronous = FULL`); those that come together share one wait. What is deleted
/// is overwritten in the file.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    worker: Worker,
    notices: broadcast::Sender<Notice>,
}

impl SqliteStore {
    /// Opens a file, which is made if there is none, and brings its tables up to date.
    ///
    /// Errors: [`StoreError::Newer`], [`StoreError::Corrupt`], [`StoreError::Unwritable`], [`StoreError::Busy`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::start(Connection::open(path)?)
    }

    /// Makes a store that is gone with this value, for tests.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(Connection::open_in_memory()?)
    }

    /// Limits the size of the file to a number of pages of 4 KiB; what does not fit is refused as by a full disk.
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        self.worker
            .alone(move |connection| {
                connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
                Ok(())
            })
            .await
    }

    fn start(mut connection: Connection) -> Result<Self, StoreError> {
        schema::prepare(&mut connection)?;
        let (notices, _) = broadcast::channel(NOTICES);
        Ok(Self { worker: Worker::start(connection)?, notices })
    }

    fn tell(&self, id: &str, revision: Option<u64>) {
        // An error means that nobody listens.
        drop(self.notices.send(Notice { id: id.to_owned(), revision }));
    }
}

#[async_trait]
impl ConversationStore for SqliteStore {
    async fn create(&self, id: &str, checkpoint: Value, at_millis: Option<i64>) -> Result<(), StoreError> {
        let (key, name) = (id.to_owned(), name_of(&checkpoint));
        self.worker
            .write(move |transaction| {
                let text = checkpoint.to_string();
                let sql =
                    "INSERT INTO conversations VALUES (?1, ?2, ?3, ?3, 0, 0, ?4) ON CONFLICT DO NOTHING";
                if transaction.execute(sql, params![key, name, at_millis, text])? == 0 {
                    return Err(StoreError::Exists { id: key });
                }
                note(transaction, &key, Some(0))
            })
            .await?;
        self.tell(id, Some(0));
        Ok(())
    }

    async fn load(&self, id: &str) -> Result<Stored, StoreError> {
        let key = id.to_owned();
        let rows = self.worker.alone(move |connection| read(connection, &key)).await?;
        rows.into_stored(id)
    }

    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError> {
        let key = id.to_owned();
        let revision =
            self.worker.write(move |transaction| append(transaction, &key, expected, &steps)).await?;
        self.tell(id, Some(revision));
        Ok(revision)
    }

    async fn checkpoint(&self, id: &str, checkpoint: Checkpoint) -> Result<(), StoreError> {
        let key = id.to_owned();
        self.worker
            .write(move |transaction| {
                let sql = "UPDATE conversations SET checkpoint = ?1, checkpoint_revision = ?2
                           WHERE id = ?3 AND checkpoint_revision < ?2 AND revision >= ?2";
                let text = checkpoint.session.to_string();
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

    async fn delete(&self, id: &str) -> Result<(), StoreError> {
        let key = id.to_owned();
        self.worker
            .write(move |transaction| {
                if transaction.execute("DELETE FROM conversations WHERE id = ?1", [&key])? == 0 {
                    return Err(StoreError::NotFound { id: key });
                }
                note(transaction, &key, None)
            })
            .await?;
        self.tell(id, None);
        // The log beside the file still has the old pages; a reader in another process may delay this.
        self.worker
            .alone(|connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
                Ok(())
            })
            .await
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
                    notices.push(Notice { id: row.get(1)?, revision: revision.map(count) });
                }
                Ok((notices, place))
            })
            .await
    }

    fn watch(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }
}

/// What the file has of a conversation, as text; parsed where nobody waits for the connection.
struct Rows {
    checkpoint_revision: u64,
    checkpoint: String,
    revision: u64,
    steps: Vec<StepRow>,
}

struct StepRow {
    revision: u64,
    at_millis: Option<i64>,
    kind: String,
    label: Option<String>,
    op: Option<String>,
}

fn read(connection: &Connection, id: &str) -> Result<Rows, StoreError> {
    // Both queries have to see one state of the file.
    let transaction = connection.unchecked_transaction()?;
    let sql = "SELECT checkpoint_revision, checkpoint, revision FROM conversations WHERE id = ?1";
    let found = transaction
        .prepare_cached(sql)?
        .query_row([id], |row| Ok((count(row.get(0)?), row.get(1)?, count(row.get(2)?))))
        .optional()?;
    let (checkpoint_revision, checkpoint, revision) =
        found.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
    let sql = "SELECT revision, at, kind, label, op FROM steps
               WHERE conversation = ?1 AND revision > ?2 ORDER BY revision";
    let mut statement = transaction.prepare_cached(sql)?;
    let steps = statement.query_map(params![id, number(checkpoint_revision)], |row| {
        Ok(StepRow {
            revision: count(row.get(0)?),
            at_millis: row.get(1)?,
            kind: row.get(2)?,
            label: row.get(3)?,
            op: row.get(4)?,
        })
    })?;
    Ok(Rows { checkpoint_revision, checkpoint, revision, steps: steps.collect::<Result<_, _>>()? })
}

impl Rows {
    fn into_stored(self, id: &str) -> Result<Stored, StoreError> {
        let damaged = |step: u64, fault: String| StoreError::Damaged { id: id.to_owned(), step, fault };
        let session =
            serde_json::from_str(&self.checkpoint).map_err(|error| damaged(0, error.to_string()))?;
        let mut steps = Vec::with_capacity(self.steps.len());
        for (row, expected) in self.steps.into_iter().zip(self.checkpoint_revision + 1..) {
            if row.revision != expected {
                return Err(damaged(expected, "the step is missing".to_owned()));
            }
            let step = row.step().map_err(|fault| damaged(expected, fault))?;
            steps.push(LogEntry { at_millis: row.at_millis, step });
        }
        if self.checkpoint_revision + steps.len() as u64 != self.revision {
            return Err(damaged(self.revision, "the step is missing".to_owned()));
        }
        let checkpoint = Checkpoint { revision: self.checkpoint_revision, session };
        Ok(Stored { checkpoint, steps, revision: self.revision })
    }
}

impl StepRow {
    fn step(&self) -> Result<Step, String> {
        match self.kind.as_str() {
            "undo" => Ok(Step::Undo),
            "redo" => Ok(Step::Redo),
            _ => {
                let op = self.op.as_deref().unwrap_or_default();
                let op: SessionOp = serde_json::from_str(op).map_err(|error| error.to_string())?;
                Ok(Step::Do { label: self.label.clone().unwrap_or_default(), op: Box::new(op) })
            }
        }
    }
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
        let (kind, label, op) = match &entry.step {
            Step::Do { label, op } => ("do", Some(label), Some(written(id, revision, op)?)),
            Step::Undo => ("undo", None, None),
            Step::Redo => ("redo", None, None),
        };
        insert.execute(params![id, number(revision), entry.at_millis, kind, label, op])?;
    }
    let at = steps.iter().rev().find_map(|entry| entry.at_millis);
    let sql = "UPDATE conversations SET revision = ?1, changed = coalesce(?2, changed) WHERE id = ?3";
    transaction.prepare_cached(sql)?.execute(params![number(revision), at, id])?;
    note(transaction, id, Some(revision))?;
    Ok(revision)
}

fn written(id: &str, step: u64, op: &SessionOp) -> Result<String, StoreError> {
    let fault =
        |error: serde_json::Error| StoreError::Damaged { id: id.to_owned(), step, fault: error.to_string() };
    serde_json::to_string(op).map_err(fault)
}

/// Notes in the journal that a conversation changed; each stands there once, at its latest change.
fn note(transaction: &Connection, id: &str, revision: Option<u64>) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO journal (conversation, revision) VALUES (?1, ?2)";
    transaction.prepare_cached(sql)?.execute(params![id, revision.map(number)])?;
    Ok(())
}

fn name_of(session: &Value) -> Option<String> {
    session.get("name").and_then(Value::as_str).map(str::to_owned)
}

/// `SQLite` has signed numbers alone; a count of steps is far below their end.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
