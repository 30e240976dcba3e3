//! Conversations in memory: one turn of each at a time, and the least used are forgotten.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore, Hold, StoreError};
use ctx_engine::ConversationMemory;
use ctx_types::phrase;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

/// How many messages conversations in memory may have together.
const MAX_MESSAGES: usize = 1_000_000;

/// How many conversations stay in memory.
const MAX_ROOMS: usize = 10_000;

/// How long a turn waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The conversations by id.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    rooms: Mutex<BTreeMap<String, Arc<Room>>>,
    /// Counts visits, so that the oldest is known.
    clock: AtomicU64,
}

/// A conversation, or the place for one.
#[derive(Debug)]
struct Room {
    turn: Arc<Semaphore>,
    kept: Mutex<Option<Kept>>,
    messages: AtomicUsize,
    visited: AtomicU64,
}

/// A conversation, and what its turns keep for each other.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) conversation: Conversation,
    pub(crate) memory: ConversationMemory,
}

impl Kept {
    pub(crate) fn new(conversation: Conversation) -> Self {
        Self { conversation, memory: ConversationMemory::default() }
    }
}

/// The right to a conversation's next turn.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) id: String,
    room: Arc<Room>,
    // Other processes may begin before others of this one.
    _hold: Hold,
    _turn: OwnedSemaphorePermit,
}

impl Rooms {
    /// Waits for the turn of a conversation, in this process and then among all.
    pub(crate) async fn enter(&self, store: &dyn ConversationStore, id: &str) -> Result<Visit, Refusal> {
        let busy = || Refusal::conflict(phrase!("another turn of this conversation is under way"));
        let (room, since) = (self.room(id), Instant::now());
        let turn = timeout(PATIENCE, room.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let hold = store.hold(id, PATIENCE.saturating_sub(since.elapsed())).await?.ok_or_else(busy)?;
        Ok(Visit { id: id.to_owned(), room, _hold: hold, _turn: turn })
    }

    /// Takes the turn of a conversation if nobody has it.
    pub(crate) async fn try_enter(
        &self,
        store: &dyn ConversationStore,
        id: &str,
    ) -> Result<Option<Visit>, Refusal> {
        let room = self.room(id);
        let Ok(turn) = room.turn.clone().try_acquire_owned() else { return Ok(None) };
        let hold = store.hold(id, Duration::ZERO).await?;
        Ok(hold.map(|hold| Visit { id: id.to_owned(), room, _hold: hold, _turn: turn }))
    }

    fn room(&self, id: &str) -> Arc<Room> {
        let mut rooms = lock(&self.rooms);
        let room = rooms.entry(id.to_owned()).or_insert_with(|| {
            Arc::new(Room {
                turn: Arc::new(Semaphore::new(1)),
                kept: Mutex::default(),
                messages: AtomicUsize::new(0),
                visited: AtomicU64::new(0),
            })
        });
        room.visited.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let room = room.clone();
        forget_least_used(&mut rooms);
        room
    }
}

/// Forgets conversations until the others are few enough; the store has them all.
fn forget_least_used(rooms: &mut BTreeMap<String, Arc<Room>>) {
    let total = |rooms: &BTreeMap<String, Arc<Room>>| -> usize {
        rooms.values().map(|room| room.messages.load(Ordering::Relaxed)).sum()
    };
    while rooms.len() > 1 && (rooms.len() > MAX_ROOMS || total(rooms) > MAX_MESSAGES) {
        // Whoever holds one more handle is at its turn, or waits for it.
        let idle = rooms.iter().filter(|(_, room)| Arc::strong_count(room) == 1);
        let oldest = idle.min_by_key(|(_, room)| room.visited.load(Ordering::Relaxed));
        let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
        rooms.remove(&id);
    }
}

impl Visit {
    /// Returns the conversation as the store has it; none if there is none.
    pub(crate) async fn load(&self, store: &dyn ConversationStore) -> Result<Option<Kept>, StoreError> {
        let known = lock(&self.room.kept).take();
        if let Some(kept) = known {
            match store.revision(&self.id).await {
                Ok(revision) if revision == kept.conversation.revision() => return Ok(Some(kept)),
                Ok(_) => {}
                Err(StoreError::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        match Conversation::load(store, &self.id).await {
            Ok(conversation) => Ok(Some(Kept::new(conversation))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps the conversation for its next turn.
    pub(crate) fn leave(self, kept: Kept) {
        self.room.messages.store(kept.conversation.session().nodes().count(), Ordering::Relaxed);
        *lock(&self.room.kept) = Some(kept);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
