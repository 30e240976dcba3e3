//! Conversations in memory: one turn of each at a time, and the least used are forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ctx_chat::{Conversation, ConversationStore, Hold, StoreError};
use ctx_engine::ConversationMemory;
use ctx_types::phrase;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

/// How many messages conversations in memory may have together unless somebody says otherwise.
pub(crate) const MAX_MESSAGES: usize = 1_000_000;

/// How many conversations stay in memory.
const MAX_ROOMS: usize = 10_000;

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
}

#[derive(Debug)]
struct Entry {
    room: Arc<Room>,
    visited: u64,
    messages: usize,
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
    pub(crate) memory: ConversationMemory,
    /// How many messages it had at a revision, so that they are counted once.
    counted: (usize, u64),
}

impl Kept {
    /// O(messages).
    pub(crate) fn new(conversation: Conversation) -> Self {
        let counted = (conversation.session().nodes().count(), conversation.revision());
        Self { conversation, memory: ConversationMemory::default(), counted }
    }

    /// Returns how many messages it has at the most: each step adds one, or none.
    fn messages(&self) -> usize {
        let (count, revision) = self.counted;
        let steps = self.conversation.revision().saturating_sub(revision);
        count.saturating_add(usize::try_from(steps).unwrap_or(usize::MAX))
    }
}

/// The right to a conversation's next turn.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) id: String,
    room: Arc<Room>,
    table: Arc<Mutex<Table>>,
    // Other processes may begin before others of this one.
    _hold: Hold,
    _turn: OwnedSemaphorePermit,
}

impl Rooms {
    /// Begins with none; `most_messages` is how many messages they may have together.
    pub(crate) fn new(most_messages: usize) -> Self {
        Self { table: Arc::default(), most_messages }
    }

    /// Waits for the turn of a conversation, in this process and then among all.
    pub(crate) async fn enter(&self, store: &dyn ConversationStore, id: &str) -> Result<Visit, Refusal> {
        let busy = || Refusal::conflict(phrase!("another turn of this conversation is under way"));
        let (room, since) = (self.room(id), Instant::now());
        let turn = timeout(PATIENCE, room.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let hold = store.hold(id, PATIENCE.saturating_sub(since.elapsed())).await?.ok_or_else(busy)?;
        Ok(self.visit(id, room, (hold, turn)))
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
        Ok(hold.map(|hold| self.visit(id, room, (hold, turn))))
    }

    fn visit(&self, id: &str, room: Arc<Room>, (hold, turn): (Hold, OwnedSemaphorePermit)) -> Visit {
        Visit { id: id.to_owned(), room, table: self.table.clone(), _hold: hold, _turn: turn }
    }

    fn room(&self, id: &str) -> Arc<Room> {
        let mut table = lock(&self.table);
        let room = table.enter(id);
        table.forget_least_used(self.most_messages);
        room
    }
}

impl Table {
    /// Returns the room of a conversation, as the one visited last. O(log n).
    fn enter(&mut self, id: &str) -> Arc<Room> {
        let visited = self.next;
        self.next += 1;
        let entry = self.rooms.entry(id.to_owned()).or_insert_with(|| Entry {
            room: Arc::new(Room { turn: Arc::new(Semaphore::new(1)), kept: Mutex::default() }),
            visited,
            messages: 0,
        });
        self.by_visit.remove(&entry.visited);
        entry.visited = visited;
        self.by_visit.insert(visited, id.to_owned());
        entry.room.clone()
    }

    /// Forgets conversations until the others are few enough; the store has them all.
    fn forget_least_used(&mut self, most_messages: usize) {
        while self.rooms.len() > 1 && (self.rooms.len() > MAX_ROOMS || self.messages > most_messages) {
            // Whoever holds one more handle is at its turn, or waits for it.
            let is_idle =
                |id: &String| self.rooms.get(id).is_some_and(|entry| Arc::strong_count(&entry.room) == 1);
            let oldest = self.by_visit.iter().find(|(_, id)| is_idle(id));
            let Some((visited, id)) = oldest.map(|(visited, id)| (*visited, id.clone())) else { return };
            self.by_visit.remove(&visited);
            self.messages -= self.rooms.remove(&id).map_or(0, |entry| entry.messages);
        }
    }

    /// Notes how many messages a conversation has.
    fn count(&mut self, id: &str, messages: usize) {
        let Some(entry) = self.rooms.get_mut(id) else { return };
        self.messages = self.messages - entry.messages + messages;
        entry.messages = messages;
    }
}

impl Visit {
    /// Returns the conversation as the store has it; none if there is none.
    pub(crate) async fn load(&self, store: &dyn ConversationStore) -> Result<Option<Kept>, StoreError> {
        let known = lock(&self.room.kept).take();
        if let Some(mut kept) = known {
            let revision = match store.revision(&self.id).await {
                Ok(revision) => revision,
                Err(StoreError::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            if revision == kept.conversation.revision() {
                return Ok(Some(kept));
            }
            // Another process has had a turn: mostly some messages more, which cost less than all.
            match kept.conversation.catch_up(store).await {
                Ok(true) if revision <= kept.conversation.revision() => return Ok(Some(kept)),
                Ok(false) => return Ok(Some(Kept::new(kept.conversation))),
                _ => {}
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
        lock(&self.table).count(&self.id, kept.messages());
        *lock(&self.room.kept) = Some(kept);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits conversations, each of so many messages, in turn; returns which are kept of which at most so many are.
    #[track_caller]
    fn check(visits: &[(&str, usize)], most_messages: usize, expected: &[&str]) {
        let mut table = Table::default();
        for (id, messages) in visits {
            table.enter(id);
            table.count(id, *messages);
            table.forget_least_used(most_messages);
            let sum: usize = table.rooms.values().map(|entry| entry.messages).sum();
            assert_eq!((table.messages, table.by_visit.len()), (sum, table.rooms.len()));
        }
        assert_eq!(table.rooms.keys().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_least_used_are_forgotten_and_the_sum_stays_right() {
        check(&[("a", 4), ("b", 4), ("a", 5), ("c", 4)], 10, &["a", "c"]);
        check(&[("a", 4), ("b", 4), ("b", 1), ("c", 4)], 10, &["a", "b", "c"]);
        check(&[("a", 40), ("b", 3)], 10, &["b"]);
    }

    #[test]
    fn the_conversation_of_a_turn_is_not_forgotten() {
        let mut table = Table::default();
        let busy = table.enter("a");
        for id in ["a", "b", "c"] {
            table.enter(id);
            table.count(id, 10);
            table.forget_least_used(20);
        }
        assert_eq!(table.rooms.keys().collect::<Vec<_>>(), ["a", "c"]);
        drop(busy);
        table.forget_least_used(10);
        assert_eq!(table.rooms.keys().collect::<Vec<_>>(), ["c"]);
    }
}
