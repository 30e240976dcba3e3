//! The task that carries out appends: those that come together share a transaction, and so one wait for the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config};

use crate::store::notices::Notices;
use crate::store::postgres::{dial, note};
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

    /// Carries out appends in one transaction, and returns those that need one of their own.
    async fn together(&mut self, batch: Vec<Append>) -> Vec<Append> {
        match self.commit(&batch, Locked::Skip).await {
            Ok(verdicts) => {
                let judged = batch.into_iter().zip(verdicts);
                judged.filter_map(|(append, verdict)| self.settle(append, verdict)).collect()
            }
            // What one of them brought may be at fault.
            Err(StoreError::Database(_)) if batch.len() > 1 => batch,
            Err(error) => {
                for append in batch {
                    self.answer(append, Err(repeated(&error)));
                }
                Vec::new()
            }
        }
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

async fn transact(client: &Client, batch: &[Append], locked: Locked) -> Result<Vec<Verdict>, StoreError> {
    match change(client, batch, locked).await {
        Ok((verdicts, changes)) if !changes.is_empty() => {
            publish(client, &changes).await?;
            Ok(verdicts)
        }
        undone => {
            client.batch_execute("ROLLBACK").await?;
            undone.map(|(verdicts, _)| verdicts)
        }
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

/// What conversations come to: their revisions, and when they were changed.
type Changes<'b> = BTreeMap<&'b str, (i64, Option<i64>)>;

/// Begins a transaction and makes in it what changes there are. Two round trips, however many appends.
async fn change<'b>(
    client: &Client,
    batch: &'b [Append],
    locked: Locked,
) -> Result<(Vec<Verdict>, Changes<'b>), StoreError> {
    let mut found = begin(client, batch, locked).await?;
    let verdicts: Vec<_> = batch.iter().map(|append| judge(append, &mut found, locked)).collect();
    let mut steps = Vec::new();
    let mut changes = Changes::new();
    for (append, verdict) in batch.iter().zip(&verdicts) {
        let Some(Ok(revision)) = verdict else { continue };
        let at = append.steps.iter().rev().find_map(|step| step.at_millis);
        let change = changes.entry(&append.id).or_default();
        *change = (number(*revision), at.or(change.1));
        steps.extend(append.steps.iter().map(|step| (&*append.id, step)));
    }
    if !changes.is_empty() {
        // Sent in this order, and the second without waiting for the first.
        let (inserted, updated) = tokio::join!(biased; insert(client, &steps), update(client, &changes));
        inserted?;
        updated?;
    }
    Ok((verdicts, changes))
}

/// Begins a transaction that has these conversations for itself, and returns their revisions; none for those that
/// another transaction has, or has deleted.
async fn begin(
    client: &Client,
    batch: &[Append],
    locked: Locked,
) -> Result<BTreeMap<String, Option<u64>>, StoreError> {
    let skip = if locked == Locked::Skip { "SKIP LOCKED" } else { "" };
    // Who refers to a conversation, such as a mark, is not in the way.
    let sql = format!(
        "WITH taken AS MATERIALIZED (
             SELECT id, revision FROM ctx_conversations WHERE id = ANY ($1) FOR NO KEY UPDATE {skip})
         SELECT id, taken.revision FROM ctx_conversations LEFT JOIN taken USING (id) WHERE id = ANY ($1)"
    );
    let ids: Vec<&str> = batch.iter().map(|append| &*append.id).collect();
    let given: &[(&(dyn ToSql + Sync), Type)] = &[(&ids, Type::TEXT_ARRAY)];
    let (begun, rows) = tokio::join!(
        biased;
        // What was taken has to be as the latest commit left it.
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
        client.query_typed(&sql, given),
    );
    begun?;
    rows?.iter().map(|row| Ok((row.try_get(0)?, row.try_get::<_, Option<i64>>(1)?.map(count)))).collect()
}

/// Checks an append against what its conversation has come to, also by those before it.
fn judge(append: &Append, found: &mut BTreeMap<String, Option<u64>>, locked: Locked) -> Verdict {
    let id = || append.id.clone();
    let revision = match found.get_mut(&append.id) {
        Some(Some(revision)) => revision,
        Some(None) if locked == Locked::Skip => return None,
        // Whoever was waited for has deleted it.
        Some(None) | None => return Some(Err(StoreError::NotFound { id: id() })),
    };
    if *revision != append.expected {
        return Some(Err(StoreError::Stale { id: id(), expected: append.expected, found: *revision }));
    }
    *revision += append.steps.len() as u64;
    Some(Ok(*revision))
}

async fn insert(client: &Client, steps: &[(&str, &NewStep)]) -> Result<u64, tokio_postgres::Error> {
    let ids: Vec<&str> = steps.iter().map(|(id, _)| *id).collect();
    let revisions: Vec<i64> = steps.iter().map(|(_, step)| number(step.revision)).collect();
    let times: Vec<Option<i64>> = steps.iter().map(|(_, step)| step.at_millis).collect();
    let kinds: Vec<&str> = steps.iter().map(|(_, step)| step.kind).collect();
    let labels: Vec<Option<&str>> = steps.iter().map(|(_, step)| step.label.as_deref()).collect();
    let ops: Vec<Option<&str>> = steps.iter().map(|(_, step)| step.op.as_deref()).collect();
    let sql = "INSERT INTO ctx_steps (conversation, revision, at, kind, label, op)
               SELECT * FROM unnest($1, $2, $3, $4, $5, $6)";
    let given: &[(&(dyn ToSql + Sync), Type)] = &[
        (&ids, Type::TEXT_ARRAY),
        (&revisions, Type::INT8_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&kinds, Type::TEXT_ARRAY),
        (&labels, Type::TEXT_ARRAY),
        (&ops, Type::TEXT_ARRAY),
    ];
    client.execute_typed(sql, given).await
}

async fn update(client: &Client, changes: &Changes<'_>) -> Result<u64, tokio_postgres::Error> {
    let ids: Vec<&str> = changes.keys().copied().collect();
    let (revisions, times): (Vec<i64>, Vec<Option<i64>>) = changes.values().copied().unzip();
    let sql = "UPDATE ctx_conversations
               SET revision = given.revision, changed = coalesce(given.at, changed)
               FROM unnest($1, $2, $3) AS given (id, revision, at) WHERE ctx_conversations.id = given.id";
    let given: &[(&(dyn ToSql + Sync), Type)] =
        &[(&ids, Type::TEXT_ARRAY), (&revisions, Type::INT8_ARRAY), (&times, Type::INT8_ARRAY)];
    client.execute_typed(sql, given).await
}

/// Notes the changes and commits them, in one round trip: others wait for the journal no longer than for the disk.
async fn publish(client: &Client, changes: &Changes<'_>) -> Result<(), StoreError> {
    let ids: Vec<&str> = changes.keys().copied().collect();
    let revisions: Vec<_> = changes.values().map(|(revision, _)| Some(*revision)).collect();
    let noted = note(client, &ids, &revisions);
    // Where noting fails, the server takes this for a rollback.
    let (noted, committed) = tokio::join!(biased; noted, client.batch_execute("COMMIT"));
    noted?;
    Ok(committed?)
}
