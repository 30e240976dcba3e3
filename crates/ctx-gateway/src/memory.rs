//! Memory that all requests share. Each API key may have a part of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ctx_types::phrase;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::refusal::Refusal;

/// Time limit for waiting for free memory. Afterwards the client has to retry.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Recommended time before a retry.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Memory that all requests share, in KiB.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    all: Arc<Semaphore>,
    /// Maximum memory of one key.
    share: u32,
    patience: Duration,
    by_key: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// Reserved memory, which is released when this is dropped.
#[derive(Debug)]
pub(crate) struct ReservedMemory {
    _of_key: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl SharedMemory {
    /// Creates memory for all requests with a maximum for each key, in bytes. Requests wait up to `patience`.
    pub(crate) fn new(all: u64, share: u64, patience: Duration) -> Self {
        let all = Arc::new(Semaphore::new(kibibytes(all) as usize));
        Self { all, share: kibibytes(share), patience, by_key: Mutex::default() }
    }

    /// Reserves memory for a request with this key, at most the key's share.
    ///
    /// # Errors
    ///
    /// The memory is not free in time.
    pub(crate) async fn reserve(&self, key: &str, bytes: u64) -> Result<ReservedMemory, Refusal> {
        let size = kibibytes(bytes).clamp(1, self.share);
        let reserving = async {
            // Wait for the other requests of the key first, because this does not delay other keys.
            let of_key = self.of_key(key).acquire_many_owned(size).await?;
            let of_all = self.all.clone().acquire_many_owned(size).await?;
            Ok::<_, tokio::sync::AcquireError>(ReservedMemory { _of_key: of_key, _of_all: of_all })
        };
        match timeout(self.patience, reserving).await {
            Ok(reserved) => reserved.map_err(|_| Refusal::internal()),
            Err(_) => Err(Refusal::busy(
                phrase!("other large requests use the memory of the gateway; try again later"),
                RETRY_AFTER,
            )),
        }
    }

    fn of_key(&self, key: &str) -> Arc<Semaphore> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        // The number of keys is limited.
        let of_key = || Arc::new(Semaphore::new(self.share as usize));
        by_key.entry(key.to_owned()).or_insert_with(of_key).clone()
    }
}

fn kibibytes(bytes: u64) -> u32 {
    // A semaphore has at most `usize::MAX >> 3` permits.
    u32::try_from(bytes >> 10).unwrap_or(u32::MAX).min(u32::MAX >> 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[tokio::test]
    async fn limits_each_key_and_all_together() {
        let memory = SharedMemory::new(10 * MIB, 4 * MIB, Duration::ZERO);
        let first = memory.reserve("a", 4 * MIB).await.unwrap();
        assert_eq!(memory.reserve("a", 1).await.unwrap_err().status, 503);
        // A request of more than the share gets the share.
        let second = memory.reserve("b", 100 * MIB).await.unwrap();
        assert_eq!(memory.reserve("c", 3 * MIB).await.unwrap_err().status, 503);
        let third = memory.reserve("c", 2 * MIB).await.unwrap();
        drop(first);
        assert!(memory.reserve("a", 4 * MIB).await.is_ok());
        drop((second, third));
        assert_eq!(memory.all.available_permits(), 10 << 10);
    }
}
