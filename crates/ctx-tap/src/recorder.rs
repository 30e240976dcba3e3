//! Writes a log of requests in a separate thread.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use jiff::Timestamp;

use crate::exchange::{BodyCopy, Exchange};
use crate::log_line::{log_lines, lost_line};

/// Maximum number of requests that wait for the disk.
const MAX_QUEUE: usize = 1_024;

/// Maximum size of all copied bodies in memory, in bytes.
const MAX_MEMORY: usize = 512 << 20;

/// Writes requests to a file. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    memory: Arc<MemoryBudget>,
    lost: AtomicU64,
    open: Mutex<Option<OpenLog>>,
}

#[derive(Debug)]
struct OpenLog {
    queue: SyncSender<Exchange>,
    writer: JoinHandle<LogWriter>,
}

/// Result of a log.
#[derive(Debug)]
pub struct LogSummary {
    /// The file, which is deleted if it is empty.
    pub path: PathBuf,
    /// Number of recorded requests.
    pub requests: u64,
    /// Number of requests that are not in the log because the disk was too slow or full.
    pub lost: u64,
    /// The first error of the disk.
    pub error: Option<io::Error>,
}

/// Memory of copied bodies, in bytes.
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget(AtomicUsize);

impl MemoryBudget {
    /// Returns whether there is enough memory.
    pub(crate) fn reserve(&self, bytes: usize) -> bool {
        let add = |used: usize| used.checked_add(bytes).filter(|used| *used <= MAX_MEMORY);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    pub(crate) fn release(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Recorder {
    /// Creates a file in a folder: `<time>-<process>.jsonl`, which only the user can read. Creates a missing folder.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be created.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        builder.recursive(true).create(folder)?;
        let name = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let path = folder.join(format!("{name}-{}.jsonl", std::process::id()));
        let file = options.append(true).create_new(true).open(&path)?;
        let (queue, exchanges) = sync_channel(MAX_QUEUE);
        let writer = LogWriter { file, requests: 0, lost: 0, error: None };
        let writer = thread::Builder::new().name("request log".to_owned()).spawn(|| writer.run(exchanges))?;
        let open = Mutex::new(Some(OpenLog { queue, writer }));
        Ok(Self(Arc::new(Shared { path, memory: Arc::default(), lost: AtomicU64::new(0), open })))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Copies a body, if memory permits.
    pub fn copy_body(&self, bytes: &[u8]) -> BodyCopy {
        let mut copy = self.empty_copy("");
        copy.add(bytes);
        copy
    }

    pub(crate) fn empty_copy(&self, encoding: &str) -> BodyCopy {
        BodyCopy::new(encoding.to_owned(), self.0.memory.clone())
    }

    /// Queues a request for the log. Never waits: if the disk is too slow, the request is counted as lost.
    pub fn record(&self, exchange: Exchange) {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_none_or(|open| open.queue.try_send(exchange).is_err()) {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes the queued requests and closes the file. Later requests are lost.
    pub fn finish(&self) -> LogSummary {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = open.and_then(|OpenLog { queue, writer }| {
            drop(queue);
            writer.join().ok()
        });
        let path = self.0.path.clone();
        let mut lost = self.0.lost.load(Ordering::Relaxed);
        let Some(mut writer) = writer else { return LogSummary { path, requests: 0, lost, error: None } };
        lost += writer.lost;
        if lost > 0 {
            writer.write(&lost_line(lost));
        } else if writer.requests == 0 {
            // An empty file is harmless.
            fs::remove_file(&path).unwrap_or_default();
        }
        LogSummary { path, requests: writer.requests, lost, error: writer.error }
    }
}

#[derive(Debug)]
struct LogWriter {
    file: File,
    requests: u64,
    lost: u64,
    error: Option<io::Error>,
}

impl LogWriter {
    fn run(mut self, exchanges: Receiver<Exchange>) -> Self {
        for line in exchanges.into_iter().flat_map(log_lines) {
            if self.write(&line) {
                self.requests += 1;
            } else {
                self.lost += 1;
            }
        }
        self
    }

    /// Appends a line. Removes a line that was only written in part.
    fn write(&mut self, line: &[u8]) -> bool {
        let length = self.file.metadata().map(|metadata| metadata.len());
        let written = length.and_then(|length| {
            self.file.write_all(line).inspect_err(|_| self.file.set_len(length).unwrap_or_default())
        });
        match written {
            Ok(()) => true,
            Err(error) => {
                self.error.get_or_insert(error);
                false
            }
        }
    }
}
