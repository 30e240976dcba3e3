//! Conversations in memory: one turn of each at a time, and the least used are forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore, Hold, LogEntry, StoreError};
use ctx_engine::TurnCache;
use ctx_types::phrase;
use ctx_types::session::Node;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

/// How many messages conversations in memory may have together unless somebody says otherwise.
pub(crate) const MAX_MESSAGES: usize = 1_000_000;

/// How many conversations stay in memory.
const MAX_ROOMS: usize = 10_000;

/// Maximum size of the conversations that stay in memory, in bytes of their JSON.
const MAX_BYTES: u64 = 256 << 20;

/// How many load at a time: each has a thread, and all share one connection to the store.
static LOADS: Semaphore = Semaphore::const_new(4);

/// How long a turn waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The conversations by id.
#[derive(Debug)]
pub(crate) struct Rooms {
    table: Arc<Mutex<Table>>,
    most_messages: usize,
}

/// The rooms, with running figures: a request costs the same however many there are.
#[derive(Debug, Default)]
struct Table {
    rooms: BTreeMap<String, Entry>,
    /// The ids by their latest visit.
    by_visit: BTreeMap<u64, String>,
    /// The number of the next visit.
    next: u64,
    /// How many messages all of them have.
    messages: usize,
    /// Size of all of them, in bytes.
    bytes: u64,
}

#[derive(Debug)]
struct Entry {
    room: Arc<Room>,
    /// How many are at its turn, or wait for it.
    guests: usize,
    visited: u64,
    messages: usize,
    bytes: u64,
}

/// A conversation, or the place for one.
#[derive(Debug)]
struct Room {
    turn: Arc<Semaphore>,
    kept: Mutex<Option<Kept>>,
}

/// A conversation, and what its turns keep for each other.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) conversation: Conversation,
    pub(crate) memory: TurnCache,
    counted: Counted,
}

/// Messages of a conversation and their size at a revision, so that each is measured once.
#[derive(Clone, Copy, Debug)]
struct Counted {
    revision: u64,
    messages: usize,
    bytes: u64,
}

impl Room {
    /// Returns after which revision the conversation in memory needs the steps.
    fn known(&self) -> Option<u64> {
        lock(&self.kept).as_ref()?.conversation.known()
    }
}

impl Kept {
    /// O(size).
    pub(crate) fn new(conversation: Conversation) -> Self {
        let counted = Counted { revision: u64::MAX, messages: 0, bytes: 0 };
        let mut kept = Self { conversation, memory: TurnCache::default(), counted };
        kept.count();
        kept
    }

    /// Measures the messages that were added.
    fn count(&mut self) {
        let Counted { revision, messages, bytes } = &mut self.counted;
        if *revision == self.conversation.revision() {
            return;
        }
        *revision = self.conversation.revision();
        for (_, node) in self.conversation.session().nodes().skip(*messages) {
            *messages += 1;
            *bytes += size_of_json(node);
        }
    }

    /// Returns the size in bytes when it was loaded or left.
    pub(crate) fn bytes(&self) -> u64 {
        self.counted.bytes
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
    // What was counted before an error is a lower bound.
    drop(serde_json::to_writer(&mut counter, node));
    counter.0
}

/// A place in a room, which stays in memory until nobody has one; without a conversation it is then forgotten.
#[derive(Debug)]
struct Guest {
    id: String,
    room: Arc<Room>,
    table: Arc<Mutex<Table>>,
}

impl Drop for Guest {
    fn drop(&mut self) {
        lock(&self.table).leave(&self.id);
    }
}

/// The right to a conversation's next turn. What was loaded and not left is forgotten.
#[derive(Debug)]
pub(crate) struct Visit {
    // Other processes may begin before others of this one.
    hold: Hold,
    _turn: OwnedSemaphorePermit,
    guest: Guest,
    /// What the conversation in memory may not know yet.
    steps: Vec<LogEntry>,
}

impl Rooms {
    /// Begins with none; `most_messages` is how many messages they may have together.
    pub(crate) fn new(most_messages: usize) -> Self {
        Self { table: Arc::default(), most_messages }
    }

    /// Waits for the turn of a conversation, in this process and then among all.
    pub(crate) async fn enter(&self, store: &dyn ConversationStore, id: &str) -> Result<Visit, Refusal> {
        let busy = || Refusal::conflict(phrase!("another turn of this conversation is running"));
        let (guest, since) = (self.guest(id), Instant::now());
        let turn = timeout(PATIENCE, guest.room.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let patience = PATIENCE.saturating_sub(since.elapsed());
        let (hold, steps) = store.hold(id, guest.room.known(), patience).await?.ok_or_else(busy)?;
        Ok(Visit { hold, _turn: turn, guest, steps })
    }

    fn guest(&self, id: &str) -> Guest {
        let mut table = lock(&self.table);
        let room = table.enter(id);
        table.forget_least_used(self.most_messages);
        Guest { id: id.to_owned(), room, table: self.table.clone() }
    }
}

impl Table {
    /// Returns the room of a conversation, as the one visited last. O(log n).
    fn enter(&mut self, id: &str) -> Arc<Room> {
        let visited = self.next;
        self.next += 1;
        let entry = self.rooms.entry(id.to_owned()).or_insert_with(|| Entry {
            room: Arc::new(Room { turn: Arc::new(Semaphore::new(1)), kept: Mutex::default() }),
            guests: 0,
            visited,
            messages: 0,
            bytes: 0,
        });
        self.by_visit.remove(&entry.visited);
        (entry.visited, entry.guests) = (visited, entry.guests + 1);
        self.by_visit.insert(visited, id.to_owned());
        entry.room.clone()
    }

    /// Forgets conversations until the others are few enough; the store has them all.
    fn forget_least_used(&mut self, most_messages: usize) {
        let is_full = |table: &Self| {
            table.rooms.len() > MAX_ROOMS || table.messages > most_messages || table.bytes > MAX_BYTES
        };
        while self.rooms.len() > 1 && is_full(self) {
            let is_idle = |id: &&String| self.rooms.get(*id).is_some_and(|entry| entry.guests == 0);
            let Some(id) = self.by_visit.values().find(is_idle).cloned() else { return };
            self.forget(&id);
        }
    }

    fn forget(&mut self, id: &str) {
        let Some(entry) = self.rooms.remove(id) else { return };
        self.by_visit.remove(&entry.visited);
        self.messages -= entry.messages;
        self.bytes -= entry.bytes;
    }

    /// Takes a guest out of a room; where the last one leaves nothing, the room is forgotten.
    fn leave(&mut self, id: &str) {
        let Some(entry) = self.rooms.get_mut(id) else { return };
        entry.guests = entry.guests.saturating_sub(1);
        if entry.guests == 0 && lock(&entry.room.kept).is_none() {
            self.forget(id);
        }
    }

    /// Sets the messages and the size of a conversation.
    fn set_count(&mut self, id: &str, counted: Counted) {
        let Some(entry) = self.rooms.get_mut(id) else { return };
        self.messages = self.messages - entry.messages + counted.messages;
        self.bytes = self.bytes - entry.bytes + counted.bytes;
        (entry.messages, entry.bytes) = (counted.messages, counted.bytes);
    }
}

impl Visit {
    /// Returns the id of the conversation.
    pub(crate) fn id(&self) -> &str {
        &self.guest.id
    }

    /// Returns the lease among all processes.
    pub(crate) fn hold(&self) -> &Hold {
        &self.hold
    }

    /// Returns the conversation as the store has it; none if there is none.
    pub(crate) async fn load(
        &mut self,
        store: &Arc<dyn ConversationStore>,
    ) -> Result<Option<Kept>, StoreError> {
        let known = lock(&self.guest.room.kept).take();
        if let Some(mut kept) = known {
            // Another process may have had a turn: mostly some messages more, which cost less than all.
            if matches!(kept.conversation.take_in(std::mem::take(&mut self.steps)), Ok(true)) {
                return Ok(Some(kept));
            }
        }
        match load(store, self.id()).await {
            Ok(conversation) => Ok(Some(Kept::new(conversation))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps the conversation for its next turn.
    pub(crate) fn leave(self, mut kept: Kept) {
        kept.count();
        lock(&self.guest.table).set_count(self.id(), kept.counted);
        *lock(&self.guest.room.kept) = Some(kept);
    }
}

/// Loads a conversation on a thread where no answer waits behind it: 10,000 messages take a twentieth of a second.
pub(crate) async fn load(store: &Arc<dyn ConversationStore>, id: &str) -> Result<Conversation, StoreError> {
    let (store, id, runtime) = (store.clone(), id.to_owned(), Handle::current());
    let turn = LOADS.acquire().await.map_err(|_| StoreError::Closed)?;
    let loading = spawn_blocking(move || {
        let loaded = runtime.block_on(Conversation::load(&*store, &id));
        drop(turn);
        loaded
    });
    loading.await.unwrap_or(Err(StoreError::Closed))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ctx_chat::SqliteStore;
    use ctx_types::Role;
    use ctx_types::session::{Node, Session};

    use super::*;

    /// A conversation of so many messages.
    async fn conversation(store: &SqliteStore, id: &str, messages: usize) -> Kept {
        let mut kept = Kept::new(Conversation::import(store, id, Session::new(id), None).await.unwrap());
        kept.counted.messages = messages;
        kept
    }

    /// Returns the names of the rooms, after a look at whether the sums are right.
    #[track_caller]
    fn names(rooms: &Rooms) -> Vec<String> {
        let table = lock(&rooms.table);
        let sum: usize = table.rooms.values().map(|entry| entry.messages).sum();
        assert_eq!((table.messages, table.by_visit.len()), (sum, table.rooms.len()));
        table.rooms.keys().cloned().collect()
    }

    #[tokio::test]
    async fn forgets_conversations_above_the_size_limit() {
        let (rooms, store) = (Rooms::new(MAX_MESSAGES), SqliteStore::in_memory().unwrap());
        for id in ["a", "b", "c"] {
            let visit = rooms.enter(&store, id).await.unwrap();
            let mut kept = conversation(&store, id, 1).await;
            kept.counted.bytes = MAX_BYTES / 2 + 1;
            visit.leave(kept);
        }
        drop(rooms.enter(&store, "d").await.unwrap());
        assert_eq!(names(&rooms), ["c"]);
    }

    #[tokio::test]
    async fn measures_each_message_once() {
        let store = SqliteStore::in_memory().unwrap();
        let mut kept = Kept::new(Conversation::import(&store, "a", Session::new("a"), None).await.unwrap());
        let before = kept.bytes();
        kept.conversation.append(&store, Node::new(Role::User, "x".repeat(1_000)), None).await.unwrap();
        for _ in 0..2 {
            kept.count();
            assert!((1_000..1_200).contains(&(kept.bytes() - before)), "{}", kept.bytes());
        }
    }

    /// Visits conversations, each of so many messages, in turn; at the end those are kept of which at most so many are.
    /// Where there is no number, nothing is left.
    #[track_caller]
    fn check(visits: &[(&str, Option<usize>)], most_messages: usize, expected: &[&str]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let rooms = Rooms::new(most_messages);
        runtime.block_on(async {
            let store = SqliteStore::in_memory().unwrap();
            for (number, (id, messages)) in visits.iter().enumerate() {
                let visit = rooms.enter(&store, id).await.unwrap();
                if let Some(messages) = messages {
                    visit.leave(conversation(&store, &format!("{id}{number}"), *messages).await);
                }
            }
            // The limit holds from the next visit on.
            drop(rooms.enter(&store, "").await);
        });
        assert_eq!(names(&rooms), expected);
    }

    #[test]
    fn the_least_used_are_forgotten_and_the_sum_stays_right() {
        check(&[("a", Some(4)), ("b", Some(4)), ("a", Some(5)), ("c", Some(4))], 10, &["a", "c"]);
        check(&[("a", Some(4)), ("b", Some(4)), ("b", Some(1)), ("c", Some(4))], 10, &["a", "b", "c"]);
        check(&[("a", Some(40)), ("b", Some(3))], 10, &["b"]);
    }

    #[test]
    fn a_visit_that_leaves_nothing_leaves_no_room() {
        check(&[("a", None)], 10, &[]);
        check(&[("a", Some(4)), ("b", None)], 10, &["a"]);
        check(&[("a", Some(4)), ("a", None)], 10, &["a"]);
    }

    #[tokio::test]
    async fn what_was_loaded_and_not_left_is_counted_no_more() {
        let (rooms, store) = (Rooms::new(20), SqliteStore::in_memory().unwrap());
        rooms.enter(&store, "a").await.unwrap().leave(conversation(&store, "a", 10).await);
        let mut visit = rooms.enter(&store, "a").await.unwrap();
        let shared: Arc<dyn ConversationStore> = Arc::new(store.clone());
        assert!(visit.load(&shared).await.unwrap().is_some());
        assert_eq!(names(&rooms), ["a"]);
        drop(visit);
        assert!(names(&rooms).is_empty());
    }

    #[tokio::test]
    async fn what_another_process_takes_back_is_loaded_again() {
        let (rooms, store) = (Rooms::new(20), SqliteStore::in_memory().unwrap());
        let mut here = conversation(&store, "a", 1).await;
        here.conversation.append(&store, Node::new(Role::User, "Hello"), None).await.unwrap();
        rooms.enter(&store, "a").await.unwrap().leave(here);
        let mut there = Conversation::load(&store, "a").await.unwrap();
        there.undo(&store, None).await.unwrap();
        let shared: Arc<dyn ConversationStore> = Arc::new(store.clone());
        let kept = rooms.enter(&store, "a").await.unwrap().load(&shared).await.unwrap().unwrap();
        assert_eq!(kept.conversation.session(), there.session());
        assert_eq!(kept.conversation.revision(), 2);
    }

    #[tokio::test]
    async fn the_conversation_of_a_turn_is_not_forgotten() {
        let (rooms, store) = (Rooms::new(20), SqliteStore::in_memory().unwrap());
        rooms.enter(&store, "a").await.unwrap().leave(conversation(&store, "a", 10).await);
        let busy = rooms.enter(&store, "a").await.unwrap();
        for id in ["b", "c"] {
            rooms.enter(&store, id).await.unwrap().leave(conversation(&store, id, 10).await);
        }
        drop(rooms.enter(&store, "").await);
        assert_eq!(names(&rooms), ["a", "c"]);
        drop(busy);
        rooms.enter(&store, "d").await.unwrap().leave(conversation(&store, "d", 20).await);
        drop(rooms.enter(&store, "").await);
        assert_eq!(names(&rooms), ["d"]);
    }
}
