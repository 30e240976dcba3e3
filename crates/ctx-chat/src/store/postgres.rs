//! Conversations in a `PostgreSQL` database.

mod fault;
mod schema;
mod writer;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ctx_types::{NodeId, Session};
use tokio::sync::{Mutex, MutexGuard, broadcast};
use tokio::time::Instant;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, IsolationLevel, NoTls, Row, Statement, Transaction};

use crate::store::notices::Notices;
use crate::store::postgres::writer::Writer;
use crate::store::record::{Rows, StepRow, checkpoint_text, count, entries, number};
use crate::store::{
    Checkpoint, ConversationEntry, ConversationStore, Hold, LearnedLimit, LogEntry, Mark, Marked, Notice,
    StoreError, StoreFault, Stored, WAITS,
};

/// What every connection is set to: commits wait for the disk, what is waited for is as the latest commit left it, nobody
/// waits for a lock for ever, and who is gone in the middle of a transaction holds nothing for ever.
const SESSION: &str = "SET synchronous_commit = on; SET lock_timeout = '5s';
                       SET default_transaction_isolation = 'read committed';
                       SET idle_in_transaction_session_timeout = '30s'";

/// What a connection is set to on which what is asked is planned once: that has to do also when the tables have grown.
const PLANNED_ONCE: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";

/// How long a connection is waited for unless the configuration says otherwise (`connect_timeout`).
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may acknowledge nothing unless the configuration says otherwise (`tcp_user_timeout`).
const SILENCE: Duration = Duration::from_secs(30);

/// Keeps conversations in a `PostgreSQL` database (12 or newer), which many processes and machines may use at once.
///
/// Commits wait for the server's disk; appends that come together share one wait. A process has up to four
/// connections: one for appends, one for the conversations that it holds, one for what a turn asks before it, and one
/// for all else. One that broke is opened again with the next call, and the calls on which it broke fail. There is no
/// TLS: reach the server over a socket, over loopback, or through a tunnel. What is deleted is gone from the tables; the
/// server's own logs and backups are its keeper's affair.
///
/// Needs the feature `postgres`.
#[derive(Clone)]
pub struct PostgresStore {
    config: Arc<Config>,
    client: Arc<Mutex<Client>>,
    /// The connection whose session holds conversations.
    holding: Shared,
    /// The connection for what is asked before a turn.
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
    /// Opens a database, such as `host=/run/postgresql user=ctx dbname=ctx` or `postgres://ctx@localhost/ctx`, and
    /// brings its tables up to date. They stand in the first schema of the search path.
    ///
    /// Within a runtime of tokio that has timers, as all that is asked later: a server that does not answer is waited
    /// for 10 s, or as long as `connect_timeout` says.
    ///
    /// Errors: [`StoreError::Unreachable`], [`StoreError::Newer`], [`StoreError::Unwritable`].
    pub async fn connect(config: &str) -> Result<Self, StoreError> {
        let mut config: Config = config.parse()?;
        // A server that is gone without a word is noticed.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        }
        let mut client = dial(&config).await?;
        schema::migrate(&mut client).await?;
        let (config, client, notices) = (Arc::new(config), Arc::new(Mutex::new(client)), Notices::default());
        let writer = Writer::start(config.clone(), notices.clone());
        Ok(Self { config, client, holding: Shared::default(), asking: Shared::default(), writer, notices })
    }

    /// Takes the connection, and opens it again if it broke.
    async fn client(&self) -> Result<MutexGuard<'_, Client>, StoreError> {
        let mut client = self.client.lock().await;
        if client.is_closed() {
            *client = dial(&self.config).await?;
        }
        Ok(client)
    }
}

/// A connection on which many ask at a time, none in a transaction; opened when it is first needed.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Option<Arc<Turns>>>>);

impl Shared {
    /// Returns the connection, opened again if it broke: what that one held is held no longer.
    async fn turns(&self, config: &Config) -> Result<Arc<Turns>, StoreError> {
        let mut shared = self.0.lock().await;
        match shared.as_ref().filter(|turns| !turns.client.is_closed()) {
            Some(turns) => Ok(turns.clone()),
            None => Ok(shared.insert(Arc::new(Turns::open(config).await?)).clone()),
        }
    }
}

/// A connection for what turns ask; what each of them asks is planned once.
struct Turns {
    client: Client,
    hold: Statement,
    let_go: Statement,
    steps: Statement,
}

impl Turns {
    async fn open(config: &Config) -> Result<Self, StoreError> {
        let client = dial(config).await?;
        client.batch_execute(PLANNED_ONCE).await?;
        let hold =
            client.prepare_typed(&format!("SELECT pg_try_advisory_lock({HOLD_KEY})"), &[Type::TEXT]).await?;
        let let_go =
            client.prepare_typed(&format!("SELECT pg_advisory_unlock({HOLD_KEY})"), &[Type::TEXT]).await?;
        let steps = client.prepare(STEPS_AFTER).await?;
        Ok(Self { client, hold, let_go, steps })
    }

    async fn steps_after(&self, id: &str, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
        let rows = self.client.query(&self.steps, &[&id, &number(revision)]).await?;
        entries(id, rows.iter().map(step).collect::<Result<_, _>>()?, revision)
    }
}

/// The number by which a conversation is held; those of other schemas have others.
const HOLD_KEY: &str = "hashtextextended(current_schema() || '/' || $1, 0)";

/// Lets a conversation go, if the session holds it; whoever is in no runtime any more ends the session too.
fn let_go(turns: Arc<Turns>, id: String) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if let Err(error) = turns.client.query_one(&turns.let_go, &[&id]).await {
            tracing::warn!(%error, "a conversation is let go with its connection alone");
        }
    });
}

async fn dial(config: &Config) -> Result<Client, StoreError> {
    let patience = config.get_connect_timeout().copied().unwrap_or(PATIENCE);
    // A server that takes the connection and then says nothing is waited for no longer than one that takes none.
    let dialed = tokio::time::timeout(patience, config.connect(NoTls)).await;
    let (client, connection) = dialed.map_err(|over| StoreError::Unreachable(StoreFault::new(over)))??;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "the connection to the store broke");
        }
    });
    client.batch_execute(SESSION).await?;
    Ok(client)
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
            // Both queries have to see one state of the tables.
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

    /// By an advisory lock of the server, which a process that ends loses with its connection.
    async fn hold(
        &self,
        id: &str,
        revision: Option<u64>,
        patience: Duration,
    ) -> Result<Option<(Hold, Vec<LogEntry>)>, StoreError> {
        let over = Instant::now() + patience;
        let [mut pause, longest] = WAITS;
        // Whoever has to wait asks for the steps once the conversation is held.
        let mut is_first = true;
        loop {
            let turns = self.holding.turns(&self.config).await?;
            let (releasing, key) = (turns.clone(), id.to_owned());
            // Made before the lock is taken: whoever gives up while it is taken lets it go.
            let hold = Hold::until(move || let_go(releasing, key));
            let steps = async |revision: Option<u64>| match revision {
                Some(revision) => turns.steps_after(id, revision).await.unwrap_or_default(),
                None => Vec::new(),
            };
            let given: &[&(dyn ToSql + Sync)] = &[&id];
            // Sent in this order, so that the steps are those that whoever had it before has left.
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

    async fn mark(&self, id: &str, marks: Vec<(Mark, NodeId)>) -> Result<(), StoreError> {
        let marks: BTreeMap<Mark, NodeId> = marks.into_iter().collect();
        let (marks, nodes): (Vec<&[u8]>, Vec<&str>) =
            marks.iter().map(|(mark, node)| (mark.as_slice(), &**node)).unzip();
        let sql = "INSERT INTO ctx_marks (mark, conversation, node)
                   SELECT mark, id, node FROM ctx_conversations, unnest($2::bytea[], $3::text[]) AS given (mark, node)
                   WHERE id = $1 ORDER BY mark
                   ON CONFLICT (mark) DO UPDATE SET conversation = excluded.conversation, node = excluded.node";
        self.client().await?.execute(sql, &[&id, &marks, &nodes]).await?;
        Ok(())
    }

    async fn marked(&self, marks: &[Mark]) -> Result<Option<Marked>, StoreError> {
        let given: Vec<&[u8]> = marks.iter().map(Mark::as_slice).collect();
        let sql = "SELECT given.place, conversation, node FROM ctx_marks
                   JOIN unnest($1::bytea[]) WITH ORDINALITY AS given (mark, place) ON ctx_marks.mark = given.mark
                   ORDER BY given.place LIMIT 1";
        let given: &[(&(dyn ToSql + Sync), Type)] = &[(&given, Type::BYTEA_ARRAY)];
        let found = self.asking.turns(&self.config).await?.client.query_typed_opt(sql, given).await?;
        let Some(row) = found else { return Ok(None) };
        let place = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0);
        let mark = place.checked_sub(1).and_then(|place| marks.get(place)).copied();
        let (conversation, node) = (row.try_get(1)?, row.try_get::<_, String>(2)?.into());
        Ok(mark.map(|mark| Marked { mark, conversation, node }))
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
    let sql = "SELECT checkpoint_revision, checkpoint, revision FROM ctx_conversations WHERE id = $1";
    let found = transaction.query_opt(sql, &[&id]).await?;
    let found = found.ok_or_else(|| StoreError::NotFound { id: id.to_owned() })?;
    let from: i64 = found.try_get(0)?;
    let rows = transaction.query(STEPS_AFTER, &[&id, &from]).await?;
    let steps = rows.iter().map(step).collect::<Result<_, _>>()?;
    let (checkpoint, revision) = (found.try_get(1)?, count(found.try_get(2)?));
    Ok(Rows { checkpoint_revision: count(from), checkpoint, revision, steps })
}

/// The steps of a conversation after a revision.
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

/// Notes in the journal that conversations changed, or without a revision that some were deleted. A transaction has to
/// be open.
///
/// Whoever notes has the journal for himself until he has committed: so places come in the order in which they can
/// be seen, and nobody who asks for changes misses one.
async fn note(client: &Client, ids: &[&str], revisions: &[Option<i64>]) -> Result<(), StoreError> {
    let sql = "INSERT INTO ctx_journal (conversation, revision) SELECT * FROM unnest($1, $2)
               ON CONFLICT (conversation) DO UPDATE SET place = DEFAULT, revision = excluded.revision";
    let given: &[(&(dyn ToSql + Sync), Type)] = &[(&ids, Type::TEXT_ARRAY), (&revisions, Type::INT8_ARRAY)];
    // Sent in this order, and the second without waiting for the first.
    let (locked, noted) = tokio::join!(biased; schema::lock(client), client.execute_typed(sql, given));
    locked?;
    noted?;
    Ok(())
}
