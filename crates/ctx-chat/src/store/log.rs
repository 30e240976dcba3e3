//! Moves what was written from the log beside a file (its WAL) into the file.
//!
//! `SQLite` has the write do it that makes the log longer than a thousand pages, and all behind it wait: a disk takes
//! some hundred milliseconds for scattered pages. A thread with a connection of its own keeps nobody waiting.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};

use crate::store::schema;

/// How many pages of 4 KiB are moved at a time.
const STEP: u32 = 1_000;

/// The length of the log, in pages, from which on the write moves what is left: only a log of which all was moved begins
/// anew, and while others write, there is always something left.
const LONGEST: u32 = 8_192;

/// Has a thread move what is written through a connection; nothing where there is no file.
pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<()> {
    let Some(path) = connection.path().filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Ok(());
    };
    let mut mover = LogMover { path, next: STEP, running: None };
    connection.wal_hook(Some(move |log: &mut Wal, pages: i32| {
        mover.written(log, pages.unsigned_abs());
        Ok(())
    }))
}

/// The way to the thread, which is started when there is something to do.
#[derive(Debug)]
struct LogMover {
    path: PathBuf,
    /// At which length of the log the thread is woken next.
    next: u32,
    running: Option<Running>,
}

/// The thread; waits for its end where it is dropped.
#[derive(Debug)]
struct Running {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogMover {
    /// Hears how many pages the log has after a write.
    fn written(&mut self, log: &mut Wal, pages: u32) {
        if pages + STEP < self.next {
            // The log has begun anew.
            self.next = STEP;
        }
        if pages < self.next {
            return;
        }
        if self.running.is_none() {
            self.running = Running::start(&self.path);
        }
        match self.running.as_ref().and_then(|running| running.wake.as_ref()) {
            Some(wake) if pages < LONGEST => {
                self.next = pages + STEP;
                // If it is at it already, it looks once more.
                wake.try_send(()).unwrap_or_default();
            }
            // What fails here is not lost: it stays in the log, and the next write tries again.
            _ => log.checkpoint().unwrap_or_default(),
        }
    }
}

impl Running {
    /// Starts the thread; nothing where there is no second connection to the file: writes do it then.
    fn start(path: &PathBuf) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).ok()?;
        schema::disarm(&connection).ok()?;
        connection.pragma_update(None, "synchronous", "FULL").ok()?;
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new().name("ctx-store-log".to_owned());
        let thread = thread.spawn(move || serve(&connection, &woken)).ok()?;
        Some(Self { wake: Some(wake), thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
    }
}

fn serve(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // What fails here is not lost: it stays in the log, and is tried again when that is longer.
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Writes rows of a page each, and returns how long the file is at the end.
    fn write(path: &Path, rows: u32) -> u64 {
        let mut connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch("CREATE TABLE kept (bytes BLOB)").unwrap();
        watch(&mut connection).unwrap();
        for _ in 0..rows {
            connection.execute("INSERT INTO kept VALUES (zeroblob(4000))", []).unwrap();
        }
        // The thread ends when it has done what it was woken for; the file is still open.
        connection.wal_hook(None::<fn(&mut Wal, i32) -> rusqlite::Result<()>>).unwrap();
        let length = std::fs::metadata(path).unwrap().len();
        drop(connection);
        assert!(!path.with_extension("db-wal").exists());
        length
    }

    #[test]
    fn a_long_log_is_moved_into_the_file_and_a_short_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&folder.path().join("short.db"), 10) < 100_000);
        assert!(write(&folder.path().join("long.db"), STEP) > 1_000_000);
    }

    #[test]
    fn a_store_without_a_file_has_no_such_thread() {
        let mut connection = Connection::open_in_memory().unwrap();
        watch(&mut connection).unwrap();
        connection.execute_batch("CREATE TABLE kept (bytes BLOB)").unwrap();
    }
}
