//! A request and its response, copied for the log.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ctx_wire::Dialect;

use crate::head::Header;
use crate::recorder::MemoryBudget;

/// Maximum size of a copied body, in bytes.
const MAX_COPY: u64 = 64 << 20;

/// A request and its response.
#[derive(Debug)]
pub struct Exchange {
    /// Time of the request.
    pub at: SystemTime,
    /// API of the request.
    pub api: Dialect,
    /// Host of the provider.
    pub host: String,
    /// Path and query. Credentials are removed in the log.
    pub path: String,
    /// Headers of the request. Credentials are removed in the log.
    pub headers: Vec<Header>,
    /// Name of the conversation, which is hashed in the log. By default, headers and fields of the request name it.
    pub thread: Option<String>,
    /// Body of the request.
    pub request: BodyCopy,
    /// HTTP status of the response, if there was one.
    pub status: Option<u16>,
    /// Time until the first byte of the response's body.
    pub first: Option<Duration>,
    /// Time until the end of the response.
    pub took: Duration,
    /// Body of the response.
    pub response: ResponseCopy,
    /// Reason of a failure.
    pub error: Option<String>,
}

/// Body of a response.
#[derive(Debug)]
pub enum ResponseCopy {
    /// Body with its `content-encoding`.
    Body(BodyCopy),
    /// JSON of each event of a stream.
    Events(Vec<Arc<str>>),
    /// JSON of a complete response.
    Json(Arc<str>),
    /// A WebSocket connection. The request is the bytes of the client.
    WebSocket(WebSocketCopy),
}

/// Copy of a WebSocket connection.
#[derive(Debug)]
pub struct WebSocketCopy {
    /// Bytes of the server.
    pub(crate) received: BodyCopy,
    /// Value of `sec-websocket-extensions`.
    pub(crate) extensions: String,
    pub(crate) sent_times: Vec<ReadTime>,
    pub(crate) received_times: Vec<ReadTime>,
}

/// Time at which a number of bytes was complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTime {
    pub(crate) bytes: u64,
    pub(crate) at: SystemTime,
}

/// Copy of a body. Bodies over 64 MiB are not copied, and all copies share a limit.
#[derive(Debug)]
pub struct BodyCopy {
    pub(crate) bytes: Vec<u8>,
    /// Value of `content-encoding`.
    pub(crate) encoding: String,
    pub(crate) is_event_stream: bool,
    /// Size of the body, which may be larger than the copy.
    pub(crate) size: u64,
    memory: Arc<MemoryBudget>,
}

impl BodyCopy {
    pub(crate) fn new(encoding: String, memory: Arc<MemoryBudget>) -> Self {
        Self { bytes: Vec::new(), encoding, is_event_stream: false, size: 0, memory }
    }

    /// Returns an empty copy with the same limit.
    pub(crate) fn empty(&self) -> Self {
        Self::new(String::new(), self.memory.clone())
    }

    /// Adds bytes of a connection.
    pub(crate) fn add_at(&mut self, bytes: &[u8], times: &mut Vec<ReadTime>) {
        self.add(bytes);
        if self.is_complete() {
            times.push(ReadTime { bytes: self.size, at: SystemTime::now() });
        }
    }

    /// Adds bytes. If a limit is reached, drops the copy.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let was_complete = self.is_complete();
        self.size += bytes.len() as u64;
        if was_complete && self.size <= MAX_COPY && self.memory.reserve(bytes.len()) {
            self.bytes.extend_from_slice(bytes);
        } else if was_complete {
            self.memory.release(std::mem::take(&mut self.bytes).len());
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }

    /// Takes the bytes.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.memory.release(self.bytes.len());
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for BodyCopy {
    fn drop(&mut self) {
        self.memory.release(self.bytes.len());
    }
}
