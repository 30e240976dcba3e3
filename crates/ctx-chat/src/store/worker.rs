//! The thread that owns the connection.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::store::StoreError;

/// How many writes share one transaction, and so one wait for the disk.
const MAX_BATCH: usize = 256;

/// Work for the thread.
pub(super) enum Job {
    /// Work that has the connection for itself, with no transaction open.
    Alone(Box<dyn FnOnce(&Connection) + Send>),
    /// Writes; shares a transaction with others.
    Write(Box<dyn Write>),
}

/// A write whose answer is given only when it is durable.
pub(super) trait Write: Send {
    /// Does the work; what it changed is undone if it fails.
    fn run(&mut self, transaction: &Connection);
    /// Tells whether the work itself failed.
    fn is_failed(&self) -> bool;
    /// Gives the answer; `commit` is why nothing is durable, if so.
    fn answer(self: Box<Self>, commit: Option<StoreError>);
}

/// A write with its work and the place for its answer.
struct Task<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Write for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, transaction: &Connection) {
        if let Some(work) = self.work.take() {
            self.result = Some(work(transaction));
        }
    }

    fn is_failed(&self) -> bool {
        !matches!(self.result, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, commit: Option<StoreError>) {
        let result = match (commit, self.result) {
            // Work that failed by itself, or did not begin because the transaction could not.
            (Some(_), Some(Err(error))) | (Some(error), _) => Err(error),
            (None, result) => result.unwrap_or(Err(StoreError::Closed)),
        };
        // Nobody waits any more: the caller gave up, and loads again.
        drop(self.reply.send(result));
    }
}

/// Sends work to the thread. When the last clone is dropped, the thread ends, and that waits until the file is
/// closed: then nothing of it is beside it any more.
#[derive(Clone, Debug)]
pub(super) struct Worker(Arc<Running>);

/// The thread, and the way to it.
#[derive(Debug)]
struct Running {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without this the thread waits for more.
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has closed the file too.
            thread.join().unwrap_or_default();
        }
    }
}

impl Worker {
    /// Starts the thread on a connection.
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (sender, jobs) = channel();
        let thread = thread::Builder::new().name("ctx-store".to_owned());
        let thread = thread.spawn(move || serve(connection, &jobs)).map_err(|_| StoreError::Closed)?;
        Ok(Self(Arc::new(Running { jobs: Some(sender), thread: Some(thread) })))
    }

    /// Works with the connection alone, which has no transaction open.
    pub(super) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Alone(Box::new(move |connection| drop(reply.send(work(connection))))))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Writes within a transaction that is committed before this returns.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Write(Box::new(Task { work: Some(work), result: None, reply })))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let jobs = self.0.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(job).map_err(|_| StoreError::Closed)
    }
}

fn serve(mut connection: Connection, jobs: &Receiver<Job>) {
    let mut next = jobs.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Alone(work) => work(&connection),
            Job::Write(first) => {
                let mut batch = vec![first];
                while batch.len() < MAX_BATCH {
                    match jobs.try_recv() {
                        Ok(Job::Write(write)) => batch.push(write),
                        Ok(other) => {
                            next = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                commit(&mut connection, batch);
            }
        }
        if next.is_none() {
            next = jobs.recv().ok();
        }
    }
}

/// Runs writes in one transaction, each in a savepoint of its own, and answers when all is durable.
fn commit(connection: &mut Connection, mut batch: Vec<Box<dyn Write>>) {
    let done = run(connection, &mut batch);
    let mut error = done.err();
    for write in batch {
        // Everybody hears why; the first gets the error itself, the others one of the same kind.
        let told = error.take();
        error = told.as_ref().map(repeated);
        write.answer(told);
    }
}

fn run(connection: &mut Connection, batch: &mut [Box<dyn Write>]) -> Result<(), StoreError> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for write in batch {
        let savepoint = transaction.savepoint()?;
        write.run(&savepoint);
        if !write.is_failed() {
            savepoint.commit()?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// The same error once more.
fn repeated(error: &StoreError) -> StoreError {
    match error {
        StoreError::Busy(fault) => StoreError::Busy(fault.clone()),
        StoreError::Unwritable(fault) => StoreError::Unwritable(fault.clone()),
        StoreError::Corrupt(fault) => StoreError::Corrupt(fault.clone()),
        StoreError::Database(fault) => StoreError::Database(fault.clone()),
        _ => StoreError::Closed,
    }
}
