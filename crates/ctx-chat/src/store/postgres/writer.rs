//! The task that carries out appends: those that come together share a transaction, and so one wait for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config};

use crate::store::notices::Notices;
use crate::store::postgres::{dial, schema};
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
        tokio::spawn(Task { config, client: None, notices }.serve(waiting));
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
    client: Option<Client>,
    notices: Notices,
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
            Err(StoreError::Database(_)) if batch.len() > 1 => left.splice(..0, batch).for_each(drop),
            Err(error) => {
                for append in batch {
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
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => dial(&self.config).await?,
        };
        let done = transact(&client, batch, locked).await;
        if !matches!(done, Err(StoreError::Unreachable(_))) {
            self.client = Some(client);
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

/// Carries out appends in one transaction and one round trip, however many; each is of another conversation. What fits
/// is durable when this returns.
async fn transact(client: &Client, batch: &[Append], locked: Locked) -> Result<Vec<Verdict>, StoreError> {
    let ids: Vec<&str> = batch.iter().map(|append| &*append.id).collect();
    let taken = async {
        // Whoever waits for a conversation does so before he has the journal, for which its holder may wait.
        match locked {
            Locked::Skip => Ok(0),
            Locked::Wait => client.execute_typed(TAKE, &[(&ids, Type::TEXT_ARRAY)]).await,
        }
    };
    // Sent in this order, and none waits for the one before; where one fails, the server takes the last for a rollback.
    let (begun, taken, journal, found, committed) = tokio::join!(
        biased;
        // What is taken has to be as the latest commit left it.
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
        taken,
        schema::lock(client),
        append(client, batch, &ids),
        client.batch_execute("COMMIT"),
    );
    begun?;
    taken?;
    journal?;
    let found = found?;
    committed?;
    Ok(batch.iter().map(|append| judge(append, &found, locked)).collect())
}

/// Takes conversations for a transaction, and waits for whoever has them.
const TAKE: &str = "SELECT FROM ctx_conversations WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE";

/// Adds the steps of conversations that are at the revisions which are expected and that nobody else has, and notes the
/// changes in the journal; then tells the revisions that conversations had, but not of those that others have. Who
/// refers to a conversation, such as a mark, is not in the way.
const APPEND: &str = "
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest($1, $2, $3, $4) AS given (id, expected, revision, at)),
    taken AS MATERIALIZED (
        SELECT id, revision FROM ctx_conversations WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED),
    fit AS MATERIALIZED (
        SELECT given.* FROM given JOIN taken ON taken.id = given.id AND taken.revision = given.expected),
    stepped AS (
        INSERT INTO ctx_steps (conversation, revision, at, kind, label, op)
        SELECT steps.* FROM unnest($5, $6, $7, $8, $9, $10) AS steps (conversation, revision, at, kind, label, op)
        JOIN fit ON fit.id = steps.conversation),
    changed AS (
        UPDATE ctx_conversations SET revision = fit.revision, changed = coalesce(fit.at, changed)
        FROM fit WHERE ctx_conversations.id = fit.id),
    noted AS (
        INSERT INTO ctx_journal (conversation, revision) SELECT id, revision FROM fit
        ON CONFLICT (conversation) DO UPDATE SET place = DEFAULT, revision = excluded.revision)
    SELECT id, taken.revision FROM ctx_conversations LEFT JOIN taken USING (id) WHERE id = ANY ($1)";

/// The revisions of conversations; none of those that others have.
type Found = BTreeMap<String, Option<u64>>;

async fn append(client: &Client, batch: &[Append], ids: &[&str]) -> Result<Found, StoreError> {
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
    let given: &[(&(dyn ToSql + Sync), Type)] = &[
        (&ids, Type::TEXT_ARRAY),
        (&expected, Type::INT8_ARRAY),
        (&revisions, Type::INT8_ARRAY),
        (&changed, Type::INT8_ARRAY),
        (&conversations, Type::TEXT_ARRAY),
        (&numbers, Type::INT8_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&kinds, Type::TEXT_ARRAY),
        (&labels, Type::TEXT_ARRAY),
        (&ops, Type::TEXT_ARRAY),
    ];
    let rows = client.query_typed(APPEND, given).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get::<_, Option<i64>>(1)?.map(count)))).collect()
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
