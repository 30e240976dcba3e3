//! Memory that all requests share. Each client key may have a part of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ctx_types::phrase;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::api_error::ApiError;
use crate::lock;

/// Recommended time before a retry.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Memory that all requests share, in bytes.
#[derive(Debug)]
pub(crate) struct SharedMemory(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: u64,
    /// Memory that each key may always have while it is free. A key gets more if this much stays free for others.
    share: u64,
    /// Time limit for waiting for free memory. Afterwards the client has to retry.
    wait_limit: Duration,
    used: Mutex<MemoryUsage>,
    released: Notify,
}

#[derive(Debug, Default)]
struct MemoryUsage {
    all: u64,
    by_key: BTreeMap<String, u64>,
}

/// Reserved memory, which is released when this is dropped.
#[derive(Debug)]
pub(crate) struct ReservedMemory {
    shared: Arc<Shared>,
    key: String,
    bytes: u64,
}

impl SharedMemory {
    /// Creates `max` bytes for all requests, of which each key may always have `share`. Requests wait up to `patience`.
    pub(crate) fn new(max: u64, share: u64, wait_limit: Duration) -> Self {
        let (used, released) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { max, share, wait_limit, used, released }))
    }

    /// Reserves memory if it is free now.
    ///
    /// # Errors
    ///
    /// The memory is not free.
    pub(crate) fn try_reserve(&self, key: &str, bytes: u64) -> Result<ReservedMemory, ApiError> {
        let shared = &self.0;
        let bytes = bytes.min(shared.max - shared.share);
        if !shared.take(key, bytes) {
            return Err(busy());
        }
        Ok(ReservedMemory { shared: shared.clone(), key: key.to_owned(), bytes })
    }

    /// Reserves memory for a request with this key. A request gets at most what one key may have.
    ///
    /// A small request does not wait behind a large one. A large one may therefore wait for its whole time limit.
    ///
    /// # Errors
    ///
    /// The memory is not free in time.
    pub(crate) async fn reserve(&self, key: &str, bytes: u64) -> Result<ReservedMemory, ApiError> {
        let shared = &self.0;
        let bytes = bytes.min(shared.max - shared.share);
        let reserving = async {
            loop {
                // Memory that is released between the attempt and the wait ends the wait.
                let released = shared.released.notified();
                if shared.take(key, bytes) {
                    return;
                }
                released.await;
            }
        };
        match timeout(shared.wait_limit, reserving).await {
            Ok(()) => Ok(ReservedMemory { shared: shared.clone(), key: key.to_owned(), bytes }),
            Err(_) => Err(busy()),
        }
    }
}

fn busy() -> ApiError {
    ApiError::busy(phrase!("other requests use the memory of the gateway; try again later"), RETRY_AFTER)
}

impl Shared {
    /// Takes memory if it is free.
    fn take(&self, key: &str, bytes: u64) -> bool {
        let mut used = lock(&self.used);
        let all = used.all + bytes;
        let key_bytes = used.by_key.get(key).copied().unwrap_or_default() + bytes;
        let is_available = all <= self.max && (key_bytes <= self.share || all <= self.max - self.share);
        let is_free = is_available || bytes == 0;
        if is_free {
            used.all = all;
            used.by_key.insert(key.to_owned(), key_bytes);
        }
        is_free
    }
}

impl Drop for ReservedMemory {
    fn drop(&mut self) {
        let mut used = lock(&self.shared.used);
        used.all -= self.bytes;
        if let Some(key_bytes) = used.by_key.get_mut(&self.key) {
            *key_bytes -= self.bytes;
            if *key_bytes == 0 {
                used.by_key.remove(&self.key);
            }
        }
        drop(used);
        self.shared.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const MIB: u64 = 1 << 20;

    #[tokio::test]
    async fn leaves_a_share_for_each_key() {
        let memory = SharedMemory::new(10 * MIB, 4 * MIB, Duration::ZERO);
        // A request of more than a key may have gets what a key may have.
        let first = memory.reserve("a", 100 * MIB).await.unwrap();
        assert_eq!(memory.reserve("a", 1).await.unwrap_err().status, 503);
        assert!(memory.try_reserve("a", 0).is_ok());
        let second = memory.reserve("b", 3 * MIB).await.unwrap();
        assert_eq!(memory.reserve("b", 2 * MIB).await.unwrap_err().status, 503);
        drop(first);
        let third = memory.reserve("b", 3 * MIB).await.unwrap();
        assert_eq!(memory.reserve("b", 1).await.unwrap_err().status, 503);
        drop((second, third));
        assert!(memory.0.used.lock().unwrap().by_key.is_empty());
    }

    #[tokio::test]
    async fn serves_small_requests_before_large_ones() {
        let memory = SharedMemory::new(10 * MIB, 4 * MIB, Duration::from_secs(3_600));
        let first = memory.reserve("a", 4 * MIB).await.unwrap();
        let mut large = Box::pin(memory.reserve("b", 6 * MIB));
        assert!((&mut large).now_or_never().is_none());
        assert!(memory.reserve("c", MIB).now_or_never().is_some());
        drop(first);
        assert!(large.now_or_never().unwrap().is_ok());
    }
}
