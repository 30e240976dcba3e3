//! Stores conversations in a `PostgreSQL` database.

mod fault;
mod schema;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ctx_pipeline::Cancel;
use ctx_types::session::Session;
use tokio::sync::{Mutex, MutexGuard, broadcast};
use tokio::time::Instant;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, IsolationLevel, NoTls, Row, Statement, Transaction};

use crate::store::notices::Notices;
use crate::store::postgres::writer::Writer;
use crate::store::record::{Rows, StepRow, checkpoint_text, count, entries, number};
use crate::store::{
    Checkpoint, ConversationEntry, ConversationStore, LearnedLimit, LogEntry, Notice, StoreError, StoreFault,
    StoreLease, Stored, WAITS,
};

/// Settings of every connection: durable commits, reads of the latest commit, and timeouts for locks and idle
/// transactions.
const SESSION: &str = "SET synchronous_commit = on; SET lock_timeout = '5s';
                       SET default_transaction_isolation = 'read committed';
                       SET idle_in_transaction_session_timeout = '30s'";

/// Settings of a connection whose queries are planned once. The plans must stay good when the tables grow.
const PLANNED_ONCE: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";

/// Default time limit for connecting (`connect_timeout`).
const PATIENCE: Duration = Duration::from_secs(10);

/// Default time limit for acknowledgments of the server (`tcp_user_timeout`).
const SILENCE: Duration = Duration::from_secs(30);

/// Stores conversations in a `PostgreSQL` database (12 or newer). Many processes and machines may use it at once.
///
/// Commits wait for the server's disk; concurrent appends share one wait. A process has up to 4 connections: one for
/// appends, one for leases, one for queries before a turn, and one for everything else. A broken connection fails its
/// current calls and is opened again by the next call.
///
/// There is no TLS: use a socket, loopback, or a tunnel. Deleted data is removed from the tables, but may remain in
/// the server's logs and backups.
///
/// Requires the feature `postgres`.
#[derive(Clone)]
pub struct PostgresStore {
    config: Arc<Config>,
    client: Arc<Mutex<Client>>,
    /// Connection whose session has the leases.
    holding: Shared,
    /// Connection for queries before a turn.
    asking: Shared,
    writer: Writer,
    notices: Notices,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects to a database, such as `host=/run/postgresql user=ctx dbname=ctx` or `postgres://ctx@localhost/ctx`,
    /// and migrates its tables. The tables are in the first schema of the search path.
    ///
    /// Requires a tokio runtime with timers, like all later calls. The default time limit is 10 s; `connect_timeout`
    /// overrides it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Unreachable`], [`StoreError::Newer`], or [`StoreError::Unwritable`].
    pub async fn connect(config: &str) -> Result<Self, StoreError> {
        let mut config: Config = config.parse()?;
        // Detect a server that disappears without closing the connection.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        }
        let (mut client, _) = dial(&config).await?;
        schema::migrate(&mut client).await?;
        let (config, client, notices) = (Arc::new(config), Arc::new(Mutex::new(client)), Notices::default());
        let writer = Writer::start(config.clone(), notices.clone());
        Ok(Self { config, client, holding: Shared::default(), asking: Shared::default(), writer, notices })
    }

    /// Returns the connection and opens it again if it broke.
    async fn client(&self) -> Result<MutexGuard<'_, Client>, StoreError> {
        let mut client = self.client.lock().await;
        if client.is_closed() {
            (*client, _) = dial(&self.config).await?;
        }
        Ok(client)
    }
}

/// A connection for concurrent queries without transactions. It is opened on first use.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Option<Arc<Turns>>>>);

impl Shared {
    /// Returns the connection and opens it again if it broke. A broken connection loses its leases.
    async fn turns(&self, config: &Config) -> Result<Arc<Turns>, StoreError> {
        let mut shared = self.0.lock().await;
        match shared.as_ref().filter(|turns| !turns.client.is_closed()) {
            Some(turns) => Ok(turns.clone()),
            None => Ok(shared.insert(Arc::new(Turns::open(config).await?)).clone()),
        }
    }
}

/// A connection for the queries of turns, which are planned once.
struct Turns {
    client: Client,
    /// Canceled when the connection ends. The server has then released the locks.
    closed: Cancel,
    hold: Statement,
    let_go: Statement,
    steps: Statement,
}

impl Turns {
    async fn open(config: &Config) -> Result<Self, StoreError> {
        let (client, closed) = dial(config).await?;
        client.batch_execute(PLANNED_ONCE).await?;
        let hold =
            client.prepare_typed(&format!("SELECT pg_try_advisory_lock({HOLD_KEY})"), &[Type::TEXT]).await?;
        let let_go =
            client.prepare_typed(&format!("SELECT pg_advisory_unlock({HOLD_KEY})"), &[Type::TEXT]).await?;
        let steps = client.prepare(STEPS_AFTER).await?;
        Ok(Self { client, closed, hold, let_go, steps })
    }

    async fn steps_after(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        let rows = self.client.query(&self.steps, &[&id, &number(revision)]).await?;
        entries(id, rows.iter().map(step).collect::<Result<_, _>>()?, revision)
    }
}

/// Number of a conversation's lock. It depends on the schema.
const HOLD_KEY: &str = "hashtextextended(current_schema() || '/' || $1, 0)";

/// Releases the lock of a conversation if the session has it. Outside a runtime, ends the session.
fn let_go(turns: Arc<Turns>, id: String) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if let Err(error) = turns.client.query_one(&turns.let_go, &[&id]).await {
            tracing::warn!(%error, "cannot release a conversation; closing its connection releases it");
        }
    });
}

/// Returns a connection, and a handle that is canceled when it ends.
async fn dial(config: &Config) -> Result<(Client, Cancel), StoreError> {
    let patience = config.get_connect_timeout().copied().unwrap_or(PATIENCE);
    // Also limits the wait for a server that accepts the connection but does not respond.
    let dialed = tokio::time::timeout(patience, config.connect(NoTls)).await;
    let (client, connection) = dialed.map_err(|over| StoreError::Unreachable(StoreFault::new(over)))??;
    let closed = Cancel::default();
    let closing = closed.clone();
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "lost the connection to the store");
        }
        closing.cancel();
    });
    client.batch_execute(SESSION).await?;
    Ok((client, closed))
}

#[async_trait]
impl ConversationStore for PostgresStore {
    async fn create(&self, id: &str, checkpoint: Session, at_millis: Option<i64>) -> Result<(), StoreError> {
        let (name, text) = (checkpoint.header.name.as_deref(), checkpoint_text(id, &checkpoint)?);
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let sql = "INSERT INTO ctx_conversations (id, name, created, changed, revision, checkpoint_revision, checkpoint)
                   VALUES ($1, $2, $3, $3, 0, 0, $4) ON CONFLICT DO NOTHING";
        if transaction.execute(sql, &[&id, &name, &at_millis, &text]).await? == 0 {
            return Err(StoreError::Exists { id: id.to_owned() });
        }
        note(transaction.client(), &[id], &[Some(0)]).await?;
        transaction.commit().await?;
        self.notices.changed(id, 0);
        Ok(())
    }

    async fn load(&self, id: &str) -> Result<Stored, StoreError> {
        let rows = {
            let mut client = self.client().await?;
            // Both queries must see the same state of the tables.
            let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
            let transaction = reading.read_only(true).start().await?;
            read(&transaction, id).await?
        };
        rows.into_stored(id)
    }

    async fn revision(&self, id: &str) -> Result<u64, StoreError> {
        let sql = "SELECT revision FROM ctx_conversations WHERE id = $1";
        let asking = self.asking.turns(&self.config).await?;
        let found = asking.client.query_typed_opt(sql, &[(&id, Type::TEXT)]).await?;
        let found = found.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
        Ok(count(found.try_get(0)?))
    }

    async fn since(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        self.asking.turns(&self.config).await?.steps_after(id, revision).await
    }

    /// Uses an advisory lock of the server. A process that ends loses it with its connection.
    async fn hold(
        &self,
        id: &str,
        revision: Option<u64>,
        patience: Duration,
    ) -> Result<Option<(StoreLease, Vec<LogEntry>)>, StoreError> {
        let over = Instant::now() + patience;
        let [mut pause, longest] = WAITS;
        // After a wait, read the steps when the lock is acquired.
        let mut is_first = true;
        loop {
            let turns = self.holding.turns(&self.config).await?;
            let (releasing, key) = (turns.clone(), id.to_owned());
            // Create the guard first. It also releases the lock if the caller is canceled during the acquisition.
            let hold = StoreLease::until(move || let_go(releasing, key)).with_lost(turns.closed.clone());
            let steps = async |revision: Option<u64>| match revision {
                Some(revision) => turns.steps_after(id, revision).await.unwrap_or_default(),
                None => Vec::new(),
            };
            let given: &[&(dyn ToSql + Sync)] = &[&id];
            // Sent in this order, so the steps include those of the previous owner.
            let (held, early) = tokio::join!(
                biased;
                turns.client.query_one(&turns.hold, given),
                steps(revision.filter(|_| is_first)),
            );
            if held?.try_get(0)? {
                let steps = if is_first { early } else { steps(revision).await };
                return Ok(Some((hold, steps)));
            }
            hold.defuse();
            if Instant::now() >= over {
                return Ok(None);
            }
            tokio::time::sleep(pause).await;
            (pause, is_first) = (longest.min(2 * pause), false);
        }
    }

    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError> {
        self.writer.append(id, expected, steps).await
    }

    async fn checkpoint(&self, id: &str, checkpoint: Checkpoint) -> Result<(), StoreError> {
        let sql = "UPDATE ctx_conversations SET checkpoint = $1, checkpoint_revision = $2
                   WHERE id = $3 AND checkpoint_revision < $2 AND revision >= $2";
        let (text, revision) = (checkpoint_text(id, &checkpoint.session)?, number(checkpoint.revision));
        self.client().await?.execute(sql, &[&text, &revision, &id]).await?;
        Ok(())
    }

    async fn list(&self) -> Result<Vec<ConversationEntry>, StoreError> {
        let sql = "SELECT id, name, revision, created, changed FROM ctx_conversations
                   ORDER BY changed DESC NULLS LAST, id COLLATE \"C\"";
        let rows = self.client().await?.query(sql, &[]).await?;
        rows.iter().map(entry).collect()
    }

    async fn count(&self, prefix: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM ctx_conversations WHERE starts_with(id, $1)";
        Ok(count(self.client().await?.query_one(sql, &[&prefix]).await?.try_get(0)?))
    }

    async fn delete(&self, id: &str) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        if transaction.execute("DELETE FROM ctx_conversations WHERE id = $1", &[&id]).await? == 0 {
            return Err(StoreError::NotFound { id: id.to_owned() });
        }
        transaction.execute("DELETE FROM ctx_journal WHERE conversation = $1", &[&id]).await?;
        note(transaction.client(), &[""], &[None]).await?;
        transaction.commit().await?;
        self.notices.deleted(id);
        Ok(())
    }

    async fn changes(&self, since: u64) -> Result<(Vec<Notice>, u64), StoreError> {
        let sql = "SELECT place, conversation, revision FROM ctx_journal WHERE place > $1 ORDER BY place";
        let rows = self.client().await?.query(sql, &[&number(since)]).await?;
        let mut place = since;
        let mut notices = Vec::with_capacity(rows.len());
        for row in rows {
            place = count(row.try_get(0)?);
            let revision: Option<i64> = row.try_get(2)?;
            notices.push(match revision {
                Some(revision) => Notice::Changed { id: row.try_get(1)?, revision: count(revision) },
                None => Notice::Deleted { id: None },
            });
        }
        Ok((notices, place))
    }

    fn watch(&self) -> broadcast::Receiver<Notice> {
        self.notices.listen()
    }

    async fn limits(&self) -> Result<Vec<LearnedLimit>, StoreError> {
        let sql = "SELECT model, tokens, at FROM ctx_limits ORDER BY model COLLATE \"C\"";
        let rows = self.client().await?.query(sql, &[]).await?;
        let limit = |row: &Row| {
            let (model, at_millis) = (row.try_get(0)?, row.try_get(2)?);
            Ok(LearnedLimit { model, tokens: count(row.try_get(1)?), at_millis })
        };
        rows.iter().map(limit).collect()
    }

    async fn learn(&self, limit: LearnedLimit) -> Result<(), StoreError> {
        let sql = "INSERT INTO ctx_limits (model, tokens, at) VALUES ($1, $2, $3)
                   ON CONFLICT (model) DO UPDATE SET tokens = excluded.tokens, at = excluded.at";
        let tokens = number(limit.tokens);
        self.client().await?.execute(sql, &[&limit.model, &tokens, &limit.at_millis]).await?;
        Ok(())
    }
}

fn entry(row: &Row) -> Result<ConversationEntry, StoreError> {
    Ok(ConversationEntry {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        revision: count(row.try_get(2)?),
        created_millis: row.try_get(3)?,
        changed_millis: row.try_get(4)?,
    })
}

async fn read(transaction: &Transaction<'_>, id: &str) -> Result<Rows, StoreError> {
    let sql = "SELECT checkpoint_revision, checkpoint, revision, name FROM ctx_conversations WHERE id = $1";
    let found = transaction.query_opt(sql, &[&id]).await?;
    let found = found.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
    let from: i64 = found.try_get(0)?;
    let rows = transaction.query(STEPS_AFTER, &[&id, &from]).await?;
    let steps = rows.iter().map(step).collect::<Result<_, _>>()?;
    let (checkpoint, revision) = (found.try_get(1)?, count(found.try_get(2)?));
    Ok(Rows { name: found.try_get(3)?, checkpoint_revision: count(from), checkpoint, revision, steps })
}

/// Query of the steps after a revision.
const STEPS_AFTER: &str = "SELECT revision, at, kind, label, op FROM ctx_steps
                           WHERE conversation = $1 AND revision > $2 ORDER BY revision";

fn step(row: &Row) -> Result<StepRow, StoreError> {
    Ok(StepRow {
        revision: count(row.try_get(0)?),
        at_millis: row.try_get(1)?,
        kind: row.try_get(2)?,
        label: row.try_get(3)?,
        op: row.try_get(4)?,
    })
}

/// Records changed conversations in the journal, or deletions if there are no revisions. Requires an open
/// transaction.
///
/// Locks the journal until the commit. So positions become visible in order, and readers of changes miss none.
async fn note(client: &Client, ids: &[&str], revisions: &[Option<i64>]) -> Result<(), StoreError> {
    let sql = "INSERT INTO ctx_journal (conversation, revision) SELECT * FROM unnest($1, $2)
               ON CONFLICT (conversation) DO UPDATE SET place = DEFAULT, revision = excluded.revision";
    let given: &[(&(dyn ToSql + Sync), Type)] = &[(&ids, Type::TEXT_ARRAY), (&revisions, Type::INT8_ARRAY)];
    // Sends both in this order without waiting for the first result.
    let (locked, noted) = tokio::join!(biased; schema::lock(client), client.execute_typed(sql, given));
    locked?;
    noted?;
    Ok(())
}
