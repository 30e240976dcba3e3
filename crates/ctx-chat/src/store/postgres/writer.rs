//! The task that carries out appends: those that come together share a transaction, and so one wait for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Statement};

use crate::store::notices::Notices;
use crate::store::postgres::{PLANNED_ONCE, dial, schema};
use crate::store::record::{columns, count, number};
use crate::store::worker::repeated;
use crate::store::{LogEntry, StoreError};

/// How many appends share one transaction.
const MAX_BATCH: usize = 256;

/// Nothing is added to a transaction whose operations have this many bytes.
const MAX_BYTES: usize = 16 << 20;

/// Sends appends to the task, which has a connection of its own. When the last clone is dropped, the task ends.
#[derive(Clone)]
pub(super) struct Writer(mpsc::Sender<Append>);

impl Writer {
    /// Starts the task; it connects when the first append comes.
    pub(super) fn start(config: Arc<Config>, notices: Notices) -> Self {
        let (sender, waiting) = mpsc::channel(MAX_BATCH);
        tokio::spawn(Task { config, connection: None, notices }.serve(waiting));
        Self(sender)
    }

    /// Adds steps as one unit, which are durable when this returns, and returns the new revision.
    pub(super) async fn append(
        &self,
        id: &str,
        expected: u64,
        steps: Vec<LogEntry>,
    ) -> Result<u64, StoreError> {
        let (reply, answer) = oneshot::channel();
        let steps =
            steps.iter().zip(1..).map(|(entry, number)| written(id, expected.saturating_add(number), entry));
        let steps = steps.collect::<Result<_, _>>()?;
        let append = Append { id: id.to_owned(), expected, steps, reply };
        self.0.send(append).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

/// An append, and the place for its answer.
struct Append {
    id: String,
    expected: u64,
    steps: Vec<NewStep>,
    reply: oneshot::Sender<Result<u64, StoreError>>,
}

/// A step as the table has it. It is written out by whoever appends: the task has enough to do.
struct NewStep {
    revision: u64,
    at_millis: Option<i64>,
    kind: &'static str,
    label: Option<String>,
    op: Option<String>,
}

fn written(id: &str, revision: u64, entry: &LogEntry) -> Result<NewStep, StoreError> {
    let (kind, label, op) = columns(id, revision, &entry.step)?;
    Ok(NewStep { revision, at_millis: entry.at_millis, kind, label: label.map(str::to_owned), op })
}

impl Append {
    /// Returns the revision that its conversation then has.
    fn revision(&self) -> u64 {
        self.expected.saturating_add(self.steps.len() as u64)
    }

    fn bytes(&self) -> usize {
        self.steps.iter().filter_map(|step| step.op.as_ref()).map(String::len).sum()
    }
}

/// What became of an append; nothing where another transaction has its conversation.
type Verdict = Option<Result<u64, StoreError>>;

/// What is done where another transaction has a conversation.
#[derive(Clone, Copy, PartialEq)]
enum Locked {
    /// It is left out: those that share a transaction wait for nobody's conversation.
    Skip,
    /// It is waited for.
    Wait,
}

struct Task {
    config: Arc<Config>,
    connection: Option<Connection>,
    notices: Notices,
}

/// A connection, on which what is asked is planned once.
struct Connection {
    client: Client,
    skipping: Statement,
    waiting: Statement,
}

impl Connection {
    async fn open(config: &Config) -> Result<Self, StoreError> {
        let (client, _) = dial(config).await?;
        client.batch_execute(PLANNED_ONCE).await?;
        let skipping = client.prepare(&append("SKIP LOCKED")).await?;
        let waiting = client.prepare(&append("")).await?;
        Ok(Self { client, skipping, waiting })
    }
}

impl Task {
    async fn serve(mut self, mut waiting: mpsc::Receiver<Append>) {
        while let Some(first) = waiting.recv().await {
            let batch = gather(first, &mut waiting);
            let left = self.together(batch).await;
            self.alone(left).await;
        }
    }

    /// Carries out appends in one transaction, and returns those that need one of their own: a second one of the same
    /// conversation also.
    async fn together(&mut self, batch: Vec<Append>) -> Vec<Append> {
        let mut seen = BTreeSet::new();
        let (batch, mut left): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|append| seen.insert(append.id.clone()));
        match self.commit(&batch, Locked::Skip).await {
            Ok(verdicts) => {
                let judged = batch.into_iter().zip(verdicts);
                let locked = judged.filter_map(|(append, verdict)| self.settle(append, verdict));
                left.splice(..0, locked);
            }
            // What one of them brought may be at fault.
            Err(StoreError::Database(_)) if batch.len() > 1 => left = batch.into_iter().chain(left).collect(),
            Err(error) => {
                // When the server is gone it is not tried for the rest.
                let rest = matches!(error, StoreError::Unreachable(_)).then(|| std::mem::take(&mut left));
                for append in batch.into_iter().chain(rest.into_iter().flatten()) {
                    self.answer(append, Err(repeated(&error)));
                }
            }
        }
        left
    }

    /// Carries out each append in a transaction of its own; when the server is gone it is not tried for the rest.
    async fn alone(&mut self, left: Vec<Append>) {
        let mut gone = None;
        for append in left {
            let done = match &gone {
                Some(error) => Err(repeated(error)),
                None => self.commit(std::slice::from_ref(&append), Locked::Wait).await,
            };
            let result = match done {
                Ok(verdicts) => verdicts.into_iter().flatten().next().unwrap_or(Err(StoreError::Closed)),
                Err(error) => Err(error),
            };
            if let Err(error @ StoreError::Unreachable(_)) = &result {
                gone = Some(repeated(error));
            }
            self.answer(append, result);
        }
    }

    /// Answers an append, or returns it where there is no answer yet.
    fn settle(&self, append: Append, verdict: Verdict) -> Option<Append> {
        let Some(result) = verdict else { return Some(append) };
        self.answer(append, result);
        None
    }

    fn answer(&self, append: Append, result: Result<u64, StoreError>) {
        if let Ok(revision) = result {
            self.notices.changed(&append.id, revision);
        }
        // Nobody waits any more: the caller gave up, and loads again.
        drop(append.reply.send(result));
    }

    /// Carries out appends in one transaction; what this returns is durable.
    async fn commit(&mut self, batch: &[Append], locked: Locked) -> Result<Vec<Verdict>, StoreError> {
        let connection = match self.connection.take().filter(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(&self.config).await?,
        };
        let done = transact(&connection, batch, locked).await;
        if done.is_ok() {
            self.connection = Some(connection);
        }
        done
    }
}

/// Takes what waits already, as much as fits into one transaction.
fn gather(first: Append, waiting: &mut mpsc::Receiver<Append>) -> Vec<Append> {
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < MAX_BATCH && bytes < MAX_BYTES {
        let Ok(append) = waiting.try_recv() else { break };
        bytes += append.bytes();
        batch.push(append);
    }
    batch
}

/// The statement that appends. It is a transaction by itself, and so takes one round trip and one wait for the disk.
///
/// It adds the steps of conversations that are at the revisions which are expected, notes the changes in the journal, and
/// tells the revisions that conversations had; it waits for those that others have, or skips them and tells none. Who
/// refers to a conversation, such as a mark, is not in the way. The journal is taken when all else is written, so that
/// others wait for it no longer than for the disk.
fn append(locked: &str) -> String {
    format!(
        "WITH given AS MATERIALIZED (
             SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[])
                 AS given (id, expected, revision, at)),
         taken AS MATERIALIZED (
             SELECT id, revision FROM ctx_conversations WHERE id = ANY ($1) FOR NO KEY UPDATE {locked}),
         fit AS MATERIALIZED (
             SELECT given.* FROM given JOIN taken ON taken.id = given.id AND taken.revision = given.expected),
         stepped AS (
             INSERT INTO ctx_steps (conversation, revision, at, kind, label, op)
             SELECT steps.*
             FROM unnest($5::text[], $6::int8[], $7::int8[], $8::text[], $9::text[], $10::text[])
                 AS steps (conversation, revision, at, kind, label, op)
             JOIN fit ON fit.id = steps.conversation RETURNING 1),
         changed AS (
             UPDATE ctx_conversations SET revision = fit.revision, changed = coalesce(fit.at, changed)
             FROM fit WHERE ctx_conversations.id = fit.id RETURNING 1),
         journal AS MATERIALIZED (
             SELECT pg_advisory_xact_lock({lock})
             FROM (SELECT count(*) FROM stepped) AS all_steps, (SELECT count(*) FROM changed) AS all_changes
             WHERE EXISTS (SELECT FROM fit)),
         noted AS (
             INSERT INTO ctx_journal (conversation, revision) SELECT id, revision FROM journal, fit
             ON CONFLICT (conversation) DO UPDATE SET place = DEFAULT, revision = excluded.revision)
         SELECT id, taken.revision FROM ctx_conversations LEFT JOIN taken USING (id) WHERE id = ANY ($1)",
        lock = schema::LOCK
    )
}

/// The revisions of conversations; none of those that others have.
type Found = BTreeMap<String, Option<u64>>;

/// Carries out appends in one transaction, however many; each is of another conversation. What fits is durable when this
/// returns.
async fn transact(
    connection: &Connection,
    batch: &[Append],
    locked: Locked,
) -> Result<Vec<Verdict>, StoreError> {
    let ids: Vec<&str> = batch.iter().map(|append| &*append.id).collect();
    let expected: Vec<i64> = batch.iter().map(|append| number(append.expected)).collect();
    let revisions: Vec<i64> = batch.iter().map(|append| number(append.revision())).collect();
    let changed = batch.iter().map(|append| append.steps.iter().rev().find_map(|step| step.at_millis));
    let changed: Vec<Option<i64>> = changed.collect();
    let steps = || batch.iter().flat_map(|append| append.steps.iter().map(move |step| (&*append.id, step)));
    let conversations: Vec<&str> = steps().map(|(id, _)| id).collect();
    let numbers: Vec<i64> = steps().map(|(_, step)| number(step.revision)).collect();
    let times: Vec<Option<i64>> = steps().map(|(_, step)| step.at_millis).collect();
    let kinds: Vec<&str> = steps().map(|(_, step)| step.kind).collect();
    let labels: Vec<Option<&str>> = steps().map(|(_, step)| step.label.as_deref()).collect();
    let ops: Vec<Option<&str>> = steps().map(|(_, step)| step.op.as_deref()).collect();
    let given: [&(dyn ToSql + Sync); 10] =
        [&ids, &expected, &revisions, &changed, &conversations, &numbers, &times, &kinds, &labels, &ops];
    let statement = match locked {
        Locked::Skip => &connection.skipping,
        Locked::Wait => &connection.waiting,
    };
    let rows = connection.client.query(statement, &given).await?;
    let found = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get::<_, Option<i64>>(1)?.map(count))));
    let found = found.collect::<Result<Found, StoreError>>()?;
    Ok(batch.iter().map(|append| judge(append, &found, locked)).collect())
}

/// Tells what became of an append, by what its conversation had come to.
fn judge(append: &Append, found: &Found, locked: Locked) -> Verdict {
    let id = || append.id.clone();
    match found.get(&append.id) {
        Some(None) if locked == Locked::Skip => None,
        // Whoever was waited for has deleted it.
        Some(None) | None => Some(Err(StoreError::NotFound { id: id() })),
        Some(Some(found)) if *found == append.expected => Some(Ok(append.revision())),
        Some(Some(found)) => {
            Some(Err(StoreError::Stale { id: id(), expected: append.expected, found: *found }))
        }
    }
}
