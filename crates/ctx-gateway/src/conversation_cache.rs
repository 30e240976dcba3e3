//! Caches conversations, evicts the least recently used, and runs one turn of each at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore, LogEntry, StoreError, StoreLease};
use ctx_engine::TurnCache;
use ctx_types::phrase;
use ctx_types::session::Node;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::api_error::ApiError;
use crate::lock;
use crate::shared_prefix::SentRequest;

/// Default limit of the messages of all cached conversations.
pub(crate) const MAX_MESSAGES: usize = 1_000_000;

/// Maximum number of cached conversations.
const MAX_CONVERSATIONS: usize = 10_000;

/// Maximum size of all cached conversations, in bytes of their JSON.
const MAX_BYTES: u64 = 256 << 20;

/// Limit of concurrent loads. Each has a thread, and all share one connection to the store.
static LOADS: Semaphore = Semaphore::const_new(4);

/// Limit of concurrent loads that no turn needs.
static READS: Semaphore = Semaphore::const_new(2);

/// Time limit for acquiring a lease.
const LEASE_TIMEOUT: Duration = Duration::from_secs(120);

/// Cached conversations by id.
#[derive(Debug)]
pub(crate) struct ConversationCache {
    table: Arc<Mutex<CacheTable>>,
    max_messages: usize,
}

/// The slots and their totals. Each request updates the totals in O(log n).
#[derive(Debug, Default)]
struct CacheTable {
    slots: BTreeMap<String, CacheEntry>,
    /// Ids by last use.
    by_use: BTreeMap<u64, String>,
    /// Number of the next use.
    next: u64,
    /// Messages of all conversations.
    messages: usize,
    /// Size of all conversations, in bytes.
    bytes: u64,
}

#[derive(Debug)]
struct CacheEntry {
    slot: Arc<CacheSlot>,
    /// Requests that have or wait for the lease.
    pins: usize,
    last_use: u64,
    messages: usize,
    bytes: u64,
}

/// A slot for a conversation. It is empty during a turn.
#[derive(Debug)]
struct CacheSlot {
    turn: Arc<Semaphore>,
    cached: Mutex<Option<CachedConversation>>,
}

/// A conversation, and the cache of its turns.
#[derive(Debug)]
pub(crate) struct CachedConversation {
    pub(crate) conversation: Conversation,
    pub(crate) memory: TurnCache,
    /// The latest request to the provider.
    pub(crate) sent: Option<Arc<SentRequest>>,
    size: ConversationSize,
}

/// Number and size of the messages at a revision. Each message is measured once.
#[derive(Clone, Copy, Debug)]
struct ConversationSize {
    revision: u64,
    messages: usize,
    bytes: u64,
}

impl CacheSlot {
    /// Returns the revision of the cached conversation. A lease adds the later steps.
    fn known_revision(&self) -> Option<u64> {
        lock(&self.cached).as_ref()?.conversation.known_revision()
    }
}

impl CachedConversation {
    /// O(size).
    pub(crate) fn new(conversation: Conversation) -> Self {
        let size = ConversationSize { revision: u64::MAX, messages: 0, bytes: 0 };
        let mut cached = Self { conversation, memory: TurnCache::default(), sent: None, size };
        cached.measure();
        cached
    }

    /// Measures the new messages.
    fn measure(&mut self) {
        let ConversationSize { revision, messages, bytes } = &mut self.size;
        if *revision == self.conversation.revision() {
            return;
        }
        *revision = self.conversation.revision();
        for (_, node) in self.conversation.session().nodes().skip(*messages) {
            *messages += 1;
            *bytes += size_of_json(node);
        }
    }

    /// Returns the size in bytes when the conversation was loaded or put back.
    pub(crate) fn bytes(&self) -> u64 {
        self.size.bytes
    }
}

/// Returns the size of a message as JSON, in bytes.
fn size_of_json(node: &Node) -> u64 {
    struct Counter(u64);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // After an error, the count is a lower bound.
    drop(serde_json::to_writer(&mut counter, node));
    counter.0
}

/// Prevents the eviction of a slot. The last pin removes an empty slot.
#[derive(Debug)]
struct SlotPin {
    id: String,
    slot: Arc<CacheSlot>,
    table: Arc<Mutex<CacheTable>>,
}

impl Drop for SlotPin {
    fn drop(&mut self) {
        lock(&self.table).unpin(&self.id);
    }
}

/// The exclusive right to a conversation's next turn. A conversation that is not put back leaves the cache.
#[derive(Debug)]
pub(crate) struct ConversationLease {
    // Dropped first, so other processes can start before waiting requests of this process.
    store_lease: StoreLease,
    _turn: OwnedSemaphorePermit,
    pin: SlotPin,
    /// Steps after the revision of the cached conversation.
    steps: Vec<LogEntry>,
}

impl ConversationCache {
    /// Creates an empty cache. `max_messages` limits the messages of all conversations.
    pub(crate) fn new(max_messages: usize) -> Self {
        Self { table: Arc::default(), max_messages }
    }

    /// Waits for the lease of a conversation, first in this process, then among all processes.
    pub(crate) async fn lease(
        &self,
        store: &dyn ConversationStore,
        id: &str,
    ) -> Result<ConversationLease, ApiError> {
        let busy = || ApiError::conflict(phrase!("another turn of this conversation is running"));
        let (pin, since) = (self.pin(id), Instant::now());
        let turn = timeout(LEASE_TIMEOUT, pin.slot.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let timeout_left = LEASE_TIMEOUT.saturating_sub(since.elapsed());
        let (store_lease, steps) =
            store.hold(id, pin.slot.known_revision(), timeout_left).await?.ok_or_else(busy)?;
        Ok(ConversationLease { store_lease, _turn: turn, pin, steps })
    }

    fn pin(&self, id: &str) -> SlotPin {
        let mut table = lock(&self.table);
        let slot = table.pin(id);
        table.evict_least_used(self.max_messages);
        SlotPin { id: id.to_owned(), slot, table: self.table.clone() }
    }
}

impl CacheTable {
    /// Pins the slot of a conversation, and marks it as most recently used. O(log n).
    fn pin(&mut self, id: &str) -> Arc<CacheSlot> {
        let last_use = self.next;
        self.next += 1;
        let entry = self.slots.entry(id.to_owned()).or_insert_with(|| CacheEntry {
            slot: Arc::new(CacheSlot { turn: Arc::new(Semaphore::new(1)), cached: Mutex::default() }),
            pins: 0,
            last_use,
            messages: 0,
            bytes: 0,
        });
        self.by_use.remove(&entry.last_use);
        (entry.last_use, entry.pins) = (last_use, entry.pins + 1);
        self.by_use.insert(last_use, id.to_owned());
        entry.slot.clone()
    }

    /// Evicts conversations above the limits. The store has all of them.
    fn evict_least_used(&mut self, max_messages: usize) {
        let is_full = |table: &Self| {
            table.slots.len() > MAX_CONVERSATIONS || table.messages > max_messages || table.bytes > MAX_BYTES
        };
        while self.slots.len() > 1 && is_full(self) {
            let is_idle = |id: &&String| self.slots.get(*id).is_some_and(|entry| entry.pins == 0);
            let Some(id) = self.by_use.values().find(is_idle).cloned() else { return };
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(entry) = self.slots.remove(id) else { return };
        self.by_use.remove(&entry.last_use);
        self.messages -= entry.messages;
        self.bytes -= entry.bytes;
    }

    /// Removes a pin. The last pin removes an empty slot.
    fn unpin(&mut self, id: &str) {
        let Some(entry) = self.slots.get_mut(id) else { return };
        entry.pins = entry.pins.saturating_sub(1);
        if entry.pins == 0 && lock(&entry.slot.cached).is_none() {
            self.remove(id);
        }
    }

    /// Sets the messages and the size of a conversation.
    fn set_size(&mut self, id: &str, size: ConversationSize) {
        let Some(entry) = self.slots.get_mut(id) else { return };
        self.messages = self.messages - entry.messages + size.messages;
        self.bytes = self.bytes - entry.bytes + size.bytes;
        (entry.messages, entry.bytes) = (size.messages, size.bytes);
    }
}

impl ConversationLease {
    /// Returns the id of the conversation.
    pub(crate) fn id(&self) -> &str {
        &self.pin.id
    }

    /// Returns the lease among all processes.
    pub(crate) fn store_lease(&self) -> &StoreLease {
        &self.store_lease
    }

    /// Loads the conversation. Returns `None` if it is not stored.
    pub(crate) async fn load(
        &mut self,
        store: &Arc<dyn ConversationStore>,
    ) -> Result<Option<CachedConversation>, StoreError> {
        let cached = lock(&self.pin.slot.cached).take();
        if let Some(mut cached) = cached {
            // After a turn of another process, adding its few messages costs less than loading all.
            if matches!(cached.conversation.add_steps(std::mem::take(&mut self.steps)), Ok(true)) {
                return Ok(Some(cached));
            }
        }
        match load(store, self.id(), None).await {
            Ok(conversation) => Ok(Some(CachedConversation::new(conversation))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps the conversation for its next turn.
    pub(crate) fn put_back(self, mut cached: CachedConversation) {
        cached.measure();
        lock(&self.pin.table).set_size(self.id(), cached.size);
        *lock(&self.pin.slot.cached) = Some(cached);
    }
}

/// Loads a conversation to read it.
pub(crate) async fn read(store: &Arc<dyn ConversationStore>, id: &str) -> Result<Conversation, StoreError> {
    let permit = READS.acquire().await.map_err(|_| StoreError::Closed)?;
    load(store, id, Some(permit)).await
}

/// Loads a conversation on a blocking thread, because 10,000 messages take 50 ms. Keeps the permit until the end, even
/// if the client disconnects.
async fn load(
    store: &Arc<dyn ConversationStore>,
    id: &str,
    permit: Option<SemaphorePermit<'static>>,
) -> Result<Conversation, StoreError> {
    let (store, id, runtime) = (store.clone(), id.to_owned(), Handle::current());
    let turn = LOADS.acquire().await.map_err(|_| StoreError::Closed)?;
    let loading = spawn_blocking(move || {
        let loaded = runtime.block_on(Conversation::load(&*store, &id));
        drop((turn, permit));
        loaded
    });
    loading.await.unwrap_or(Err(StoreError::Closed))
}

#[cfg(test)]
mod tests {
    use ctx_chat::SqliteStore;
    use ctx_types::Role;
    use ctx_types::session::{Node, Session};

    use super::*;

    /// A conversation of so many messages.
    async fn conversation(store: &SqliteStore, id: &str, messages: usize) -> CachedConversation {
        let mut cached =
            CachedConversation::new(Conversation::import(store, id, Session::new(id), None).await.unwrap());
        cached.size.messages = messages;
        cached
    }

    /// Checks the totals, and returns the names of the slots.
    #[track_caller]
    fn names(cache: &ConversationCache) -> Vec<String> {
        let table = lock(&cache.table);
        let sum: usize = table.slots.values().map(|entry| entry.messages).sum();
        assert_eq!((table.messages, table.by_use.len()), (sum, table.slots.len()));
        table.slots.keys().cloned().collect()
    }

    #[tokio::test]
    async fn evicts_conversations_above_size_limit() {
        let (cache, store) = (ConversationCache::new(MAX_MESSAGES), SqliteStore::in_memory().unwrap());
        for id in ["a", "b", "c"] {
            let lease = cache.lease(&store, id).await.unwrap();
            let mut cached = conversation(&store, id, 1).await;
            cached.size.bytes = MAX_BYTES / 2 + 1;
            lease.put_back(cached);
        }
        drop(cache.lease(&store, "d").await.unwrap());
        assert_eq!(names(&cache), ["c"]);
    }

    #[tokio::test]
    async fn measures_each_message_once() {
        let store = SqliteStore::in_memory().unwrap();
        let mut cached = CachedConversation::new(
            Conversation::import(&store, "a", Session::new("a"), None).await.unwrap(),
        );
        let before = cached.bytes();
        cached.conversation.append(&store, Node::new(Role::User, "x".repeat(1_000)), None).await.unwrap();
        for _ in 0..2 {
            cached.measure();
            assert!((1_000..1_200).contains(&(cached.bytes() - before)), "{}", cached.bytes());
        }
    }

    /// Leases conversations one after the other, and compares the cached ones at the end. Puts back a conversation with
    /// this number of messages, or nothing without a number.
    #[track_caller]
    fn check(leases: &[(&str, Option<usize>)], max_messages: usize, expected: &[&str]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let cache = ConversationCache::new(max_messages);
        runtime.block_on(async {
            let store = SqliteStore::in_memory().unwrap();
            for (number, (id, messages)) in leases.iter().enumerate() {
                let lease = cache.lease(&store, id).await.unwrap();
                if let Some(messages) = messages {
                    lease.put_back(conversation(&store, &format!("{id}{number}"), *messages).await);
                }
            }
            // The limit takes effect on the next lease.
            drop(cache.lease(&store, "").await);
        });
        assert_eq!(names(&cache), expected);
    }

    #[test]
    fn evicts_least_used_conversations() {
        check(&[("a", Some(4)), ("b", Some(4)), ("a", Some(5)), ("c", Some(4))], 10, &["a", "c"]);
        check(&[("a", Some(4)), ("b", Some(4)), ("b", Some(1)), ("c", Some(4))], 10, &["a", "b", "c"]);
        check(&[("a", Some(40)), ("b", Some(3))], 10, &["b"]);
    }

    #[test]
    fn removes_empty_slots() {
        check(&[("a", None)], 10, &[]);
        check(&[("a", Some(4)), ("b", None)], 10, &["a"]);
        check(&[("a", Some(4)), ("a", None)], 10, &["a"]);
    }

    #[tokio::test]
    async fn forgets_loaded_conversations_without_return() {
        let (cache, store) = (ConversationCache::new(20), SqliteStore::in_memory().unwrap());
        cache.lease(&store, "a").await.unwrap().put_back(conversation(&store, "a", 10).await);
        let mut lease = cache.lease(&store, "a").await.unwrap();
        let shared: Arc<dyn ConversationStore> = Arc::new(store.clone());
        assert!(lease.load(&shared).await.unwrap().is_some());
        assert_eq!(names(&cache), ["a"]);
        drop(lease);
        assert!(names(&cache).is_empty());
    }

    #[tokio::test]
    async fn reloads_after_undo_in_another_process() {
        let (cache, store) = (ConversationCache::new(20), SqliteStore::in_memory().unwrap());
        let mut here = conversation(&store, "a", 1).await;
        here.conversation.append(&store, Node::new(Role::User, "Hello"), None).await.unwrap();
        cache.lease(&store, "a").await.unwrap().put_back(here);
        let mut there = Conversation::load(&store, "a").await.unwrap();
        there.undo(&store, None).await.unwrap();
        let shared: Arc<dyn ConversationStore> = Arc::new(store.clone());
        let cached = cache.lease(&store, "a").await.unwrap().load(&shared).await.unwrap().unwrap();
        assert_eq!(cached.conversation.session(), there.session());
        assert_eq!(cached.conversation.revision(), 2);
    }

    #[tokio::test]
    async fn keeps_conversations_of_running_turns() {
        let (cache, store) = (ConversationCache::new(20), SqliteStore::in_memory().unwrap());
        cache.lease(&store, "a").await.unwrap().put_back(conversation(&store, "a", 10).await);
        let busy = cache.lease(&store, "a").await.unwrap();
        for id in ["b", "c"] {
            cache.lease(&store, id).await.unwrap().put_back(conversation(&store, id, 10).await);
        }
        drop(cache.lease(&store, "").await);
        assert_eq!(names(&cache), ["a", "c"]);
        drop(busy);
        cache.lease(&store, "d").await.unwrap().put_back(conversation(&store, "d", 20).await);
        drop(cache.lease(&store, "").await);
        assert_eq!(names(&cache), ["d"]);
    }
}
