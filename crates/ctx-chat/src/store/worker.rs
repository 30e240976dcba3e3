//! The thread that owns the database connection.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::store::StoreError;
use crate::store::file::StoreFile;
use crate::store::lease::{Leases, RENEWAL};

/// Maximum number of writes in one transaction, which waits for the disk once.
const MAX_BATCH: usize = 256;

/// Interval for checking whether a caller still needs a write that waits for another process.
const SLICE: Duration = Duration::from_millis(50);

/// Time before a wait for another process is reported.
const SILENCE: Duration = Duration::from_secs(1);

/// Time limit for waiting for another process, and the callback that reports a wait.
#[derive(Clone, Default)]
pub(super) struct Patience {
    limit: Duration,
    heard: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
    /// Whether the wait of the latest write was reported. Retries do not report it again.
    is_told: Arc<AtomicBool>,
}

impl From<Duration> for Patience {
    fn from(limit: Duration) -> Self {
        Self { limit, ..Self::default() }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Patience {
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Sets the callback for long waits. The first callback stays.
    pub(super) fn tell(&self, hear: impl Fn() + Send + Sync + 'static) {
        drop(self.heard.set(Box::new(hear)));
    }

    /// Reports that a write waits, unless the wait of the previous write was reported.
    fn told(&self) {
        if let Some(hear) = self.heard.get()
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            hear();
        }
    }
}

/// A job for the thread.
pub(super) enum Job {
    /// A job without an open transaction.
    Alone(Box<dyn FnOnce(&Connection) + Send>),
    /// A write, which shares a transaction with other writes.
    Write(Box<dyn Write>),
}

/// A write. Its caller gets the result after the transaction is durable.
pub(super) trait Write: Send {
    /// Runs the write. Its changes are rolled back if it fails.
    fn run(&mut self, transaction: &Connection);
    /// Returns the error of the write itself.
    fn failure(&self) -> Option<&StoreError>;
    /// Returns whether the caller still waits for the result.
    fn is_wanted(&self) -> bool;
    /// Returns whether the write must survive a power failure.
    fn is_durable(&self) -> bool;
    /// Sends the result to the caller. `commit` is the error of the transaction.
    fn answer(self: Box<Self>, commit: Option<StoreError>);
}

/// A write with its callback after the commit and the channel for its result.
struct Task<T, F, G> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    then: G,
    reply: oneshot::Sender<Result<T, StoreError>>,
    is_durable: bool,
}

/// A write of leases. It does not have to be durable, because no process survives a power failure.
struct LeaseTask<T, F, G> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    then: G,
}

impl<T, F, G> Write for LeaseTask<T, F, G>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    G: FnOnce(T) + Send,
{
    fn run(&mut self, transaction: &Connection) {
        self.result = self.work.take().map(|work| work(transaction));
    }

    fn failure(&self) -> Option<&StoreError> {
        self.result.as_ref()?.as_ref().err()
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn answer(self: Box<Self>, commit: Option<StoreError>) {
        match (commit, self.result) {
            (None, Some(Ok(done))) => (self.then)(done),
            (Some(error), _) | (None, Some(Err(error))) => {
                tracing::warn!(%error, "cannot renew or release a lease; it will expire");
            }
            (None, None) => {}
        }
    }
}

impl<T, F, G> Write for Task<T, F, G>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    G: FnOnce(&T) + Send,
{
    fn run(&mut self, transaction: &Connection) {
        if let Some(work) = self.work.take() {
            self.result = Some(work(transaction));
        }
    }

    fn failure(&self) -> Option<&StoreError> {
        self.result.as_ref()?.as_ref().err()
    }

    fn is_wanted(&self) -> bool {
        !self.reply.is_closed()
    }

    fn is_durable(&self) -> bool {
        self.is_durable
    }

    fn answer(self: Box<Self>, commit: Option<StoreError>) {
        let result = match (commit, self.result) {
            // The write failed, or it did not run because the transaction could not begin.
            (Some(_), Some(Err(error))) | (Some(error), _) => Err(error),
            (None, result) => result.unwrap_or(Err(StoreError::Closed)),
        };
        if let Ok(done) = &result {
            (self.then)(done);
        }
        // The caller no longer waits. It loads the conversation again.
        drop(self.reply.send(result));
    }
}

/// Sends jobs to the thread.
///
/// Dropping the last clone ends the thread and waits until the file is closed. Then the log files are gone too.
#[derive(Clone, Debug)]
pub(super) struct Worker(Arc<Running>);

/// The thread and the channel for its jobs.
#[derive(Debug)]
struct Running {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The thread ends when the channel is closed.
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panicked thread has closed the file too.
            thread.join().unwrap_or_default();
        }
    }
}

impl Worker {
    /// Starts the thread with a connection. The thread renews the leases and checks `file` before each write.
    pub(super) fn start(
        connection: Connection,
        patience: Patience,
        file: Option<StoreFile>,
        leases: Arc<Leases>,
    ) -> Result<Self, StoreError> {
        let (sender, jobs) = channel();
        let thread = thread::Builder::new().name("ctx-store".to_owned());
        let state = StoreThread { connection, patience, file, leases };
        let thread = thread.spawn(move || state.serve(&jobs)).map_err(|_| StoreError::Closed)?;
        Ok(Self(Arc::new(Running { jobs: Some(sender), thread: Some(thread) })))
    }

    /// Runs a job with the connection, without an open transaction.
    pub(super) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Alone(Box::new(move |connection| drop(reply.send(work(connection))))))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs a write and waits until it is committed.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_then(work, |_| ()).await
    }

    /// Like [`write`](Self::write), but calls `then` after the commit, even if the caller no longer waits.
    pub(super) async fn write_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), result: None, then, reply, is_durable: true };
        self.send(Job::Write(Box::new(task)))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Like [`write`](Self::write), but does not wait for the disk.
    pub(super) async fn take_lease<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), result: None, then: |_: &T| (), reply, is_durable: false };
        self.send(Job::Write(Box::new(task)))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Queues the release of a lease.
    pub(super) fn release_lease(
        &self,
        work: impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static,
    ) {
        // If the store is closed, the lease expires.
        let task = LeaseTask { work: Some(work), result: None, then: |()| () };
        drop(self.send(Job::Write(Box::new(task))));
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        let jobs = self.0.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(job).map_err(|_| StoreError::Closed)
    }
}

/// The state of the thread.
struct StoreThread {
    connection: Connection,
    patience: Patience,
    /// The file; `None` for a database in memory.
    file: Option<StoreFile>,
    leases: Arc<Leases>,
}

impl StoreThread {
    fn serve(&self, jobs: &Receiver<Job>) {
        let (mut next, mut renewed) = (None, Instant::now());
        while let Some(job) = next.take().or_else(|| self.receive(jobs, &mut renewed)) {
            self.renew(&mut renewed);
            match job {
                Job::Alone(work) => work(&self.connection),
                Job::Write(first) => {
                    let (batch, other) = gather(first, jobs);
                    self.commit(batch);
                    next = other;
                }
            }
        }
    }

    /// Waits for a job and renews leases in the meantime.
    fn receive(&self, jobs: &Receiver<Job>, renewed: &mut Instant) -> Option<Job> {
        loop {
            if self.leases.is_empty() {
                let job = jobs.recv().ok();
                *renewed = Instant::now();
                return job;
            }
            match jobs.recv_timeout(RENEWAL.saturating_sub(renewed.elapsed())) {
                Err(RecvTimeoutError::Timeout) => self.renew(renewed),
                received => return received.ok(),
            }
        }
    }

    /// Renews leases when it is time.
    fn renew(&self, renewed: &mut Instant) {
        if renewed.elapsed() < RENEWAL || self.leases.is_empty() {
            return;
        }
        let (leases, renewed_leases) = (self.leases.clone(), self.leases.clone());
        let work = move |transaction: &Connection| leases.renew(transaction);
        let then = move |expires| renewed_leases.confirm(expires);
        self.commit(vec![Box::new(LeaseTask { work: Some(work), result: None, then })]);
        *renewed = Instant::now();
    }

    fn commit(&self, batch: Vec<Box<dyn Write>>) {
        commit(&self.connection, &self.patience, self.file.as_ref(), batch);
    }
}

/// Collects the queued writes, up to the first job of another type.
fn gather(first: Box<dyn Write>, jobs: &Receiver<Job>) -> (Vec<Box<dyn Write>>, Option<Job>) {
    let mut batch = vec![first];
    while batch.len() < MAX_BATCH {
        match jobs.try_recv() {
            Ok(Job::Write(write)) => batch.push(write),
            Ok(other) => return (batch, Some(other)),
            Err(_) => break,
        }
    }
    (batch, None)
}

/// Runs writes in one transaction with a savepoint for each. Sends the results when the transaction is durable.
fn commit(
    connection: &Connection,
    patience: &Patience,
    file: Option<&StoreFile>,
    mut batch: Vec<Box<dyn Write>>,
) {
    let mut error = synced(connection, patience, file, &mut batch).err();
    for write in batch {
        // All callers get the error: the first gets the original, the others a copy.
        let told = error.take();
        error = told.as_ref().map(repeated);
        write.answer(told);
    }
}

/// Runs writes. Waits for the disk if one of them must be durable.
fn synced(
    connection: &Connection,
    patience: &Patience,
    file: Option<&StoreFile>,
    batch: &mut [Box<dyn Write>],
) -> Result<(), StoreError> {
    if batch.iter().any(|write| write.is_durable()) {
        return run(connection, patience, file, batch);
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let done = run(connection, patience, file, batch);
    connection.pragma_update(None, "synchronous", "FULL")?;
    done
}

fn run(
    connection: &Connection,
    patience: &Patience,
    file: Option<&StoreFile>,
    batch: &mut [Box<dyn Write>],
) -> Result<(), StoreError> {
    let begun = begin(connection, patience, batch);
    // The file may be replaced while this waits for another process.
    file.map_or(Ok(()), StoreFile::check)?;
    let mut transaction = begun?;
    for write in batch {
        let savepoint = transaction.savepoint()?;
        write.run(&savepoint);
        let Some(failure) = write.failure() else {
            savepoint.commit()?;
            continue;
        };
        // If the disk is full, `SQLite` rolls back the whole transaction. Any later write would start a new one.
        if savepoint.is_autocommit() {
            return Err(repeated(failure));
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Begins a transaction. Waits for the writes of another process as long as a caller waits.
fn begin<'c>(
    connection: &'c Connection,
    patience: &Patience,
    batch: &[Box<dyn Write>],
) -> Result<Transaction<'c>, StoreError> {
    let begun = Instant::now();
    let mut busy = None;
    connection.busy_timeout(SLICE.min(patience.limit))?;
    let transaction = loop {
        let tried = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
        let is_wanted = batch.iter().any(|write| write.is_wanted());
        match (tried, busy.take()) {
            (Ok(_), Some(error)) if !is_wanted => break Err(error),
            (Err(error), _) if is_busy(&error) && is_wanted && begun.elapsed() < patience.limit => {
                if begun.elapsed() >= SILENCE {
                    patience.told();
                }
                busy = Some(error);
            }
            (tried, _) => break tried,
        }
    };
    connection.busy_timeout(patience.limit)?;
    patience.is_told.fetch_and(transaction.is_err(), Ordering::Relaxed);
    Ok(transaction?)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Returns a copy of an error.
pub(super) fn repeated(error: &StoreError) -> StoreError {
    match error {
        StoreError::Busy(fault) => StoreError::Busy(fault.clone()),
        StoreError::Unwritable(fault) => StoreError::Unwritable(fault.clone()),
        StoreError::Corrupt(fault) => StoreError::Corrupt(fault.clone()),
        StoreError::Database(fault) => StoreError::Database(fault.clone()),
        StoreError::Unreachable(fault) => StoreError::Unreachable(fault.clone()),
        StoreError::Replaced { path } => StoreError::Replaced { path: path.clone() },
        _ => StoreError::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a write of some bytes under a name, and the channel for its result.
    fn write(name: &'static str, bytes: u32) -> (Box<dyn Write>, oneshot::Receiver<Result<(), StoreError>>) {
        let (reply, answer) = oneshot::channel();
        let work = move |connection: &Connection| {
            connection.execute("INSERT INTO kept VALUES (?1, zeroblob(?2))", (name, bytes))?;
            Ok(())
        };
        (
            Box::new(Task { work: Some(work), result: None, then: |(): &()| (), reply, is_durable: true }),
            answer,
        )
    }

    #[test]
    fn what_is_told_to_be_kept_is_kept_and_nothing_else_where_the_disk_is_full() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE kept (name TEXT, bytes BLOB); PRAGMA max_page_count = 16")
            .unwrap();
        let (writes, answers): (Vec<_>, Vec<_>) = [("before", 1), ("large", 1 << 20), ("behind", 1)]
            .map(|(name, bytes)| write(name, bytes))
            .into_iter()
            .unzip();
        commit(&connection, &Duration::ZERO.into(), None, writes);
        for mut answer in answers {
            assert!(matches!(answer.try_recv().unwrap(), Err(StoreError::Unwritable(_))));
        }
        let kept: i64 = connection.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).unwrap();
        assert_eq!((kept, connection.is_autocommit()), (0, true));
        let (small, mut answer) = write("again", 1);
        commit(&connection, &Duration::ZERO.into(), None, vec![small]);
        assert!(answer.try_recv().unwrap().is_ok());
    }

    /// A write that does something when the thread asks whether the write is still wanted.
    #[cfg(unix)]
    struct Interrupted<F> {
        write: Box<dyn Write>,
        interrupt: F,
    }

    #[cfg(unix)]
    impl<F: Fn() + Send> Write for Interrupted<F> {
        fn run(&mut self, transaction: &Connection) {
            self.write.run(transaction);
        }

        fn failure(&self) -> Option<&StoreError> {
            self.write.failure()
        }

        fn is_wanted(&self) -> bool {
            (self.interrupt)();
            true
        }

        fn is_durable(&self) -> bool {
            true
        }

        fn answer(self: Box<Self>, commit: Option<StoreError>) {
            self.write.answer(commit);
        }
    }

    #[cfg(unix)]
    #[test]
    fn refuses_file_that_was_replaced_during_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("kept.db"), folder.path().join("old.db"));
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE kept (name TEXT, bytes BLOB)").unwrap();
        let file = StoreFile::new(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let other = std::sync::Mutex::new(Some(other));
        // The other process replaces the file, and closes it.
        let interrupt = move || {
            if let Some(other) = other.lock().unwrap().take() {
                std::fs::rename(&path, &moved).unwrap();
                other.execute_batch("ROLLBACK").unwrap();
            }
        };
        let (write, mut answer) = write("waiting", 1);
        let waiting = Box::new(Interrupted { write, interrupt });
        commit(&connection, &Duration::from_secs(3_600).into(), Some(&file), vec![waiting]);
        let refused = answer.try_recv().unwrap();
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{refused:?}");
        let kept: i64 = connection.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 0);
    }

    #[test]
    fn what_nobody_wants_any_more_is_not_waited_for_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE kept (name TEXT, bytes BLOB)").unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (unwanted, answer) = write("unwanted", 1);
        drop(answer);
        // The other process never ends. Without the check for waiting callers, this would block.
        commit(&connection, &Duration::from_secs(3_600).into(), None, vec![unwanted]);
        other.execute_batch("ROLLBACK").unwrap();
        let kept: i64 = connection.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 0);
    }
}
