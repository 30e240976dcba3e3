//! A conversation in memory and its log in the store, which say the same.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ctx_types::{Fingerprint, History, HistoryError, Node, NodeId, Session, SessionOp};

use crate::step_label::StepLabel;
use crate::store::{Checkpoint, ConversationStore, Hold, LogEntry, Step, StoreError, Stored};

/// How many steps may follow a checkpoint before a new one is made: this and a quarter of the nodes.
///
/// Writing a checkpoint costs as much as the conversation is long; so it costs a constant share of each step.
const MIN_STEPS: u64 = 256;

/// A conversation that is kept in a store.
///
/// It changes only through steps, each of which is durable in the store before it returns. If such a call is
/// given up while it waits, the conversation has to be loaded again before it can change.
#[derive(Clone, Debug)]
pub struct Conversation {
    id: Arc<str>,
    session: Session,
    history: History,
    position: LogPosition,
    /// The number in the newest id that was made here or is of that form.
    newest_name: u64,
    /// Whether a change is under way, or was given up midway.
    is_unsettled: bool,
}

/// Where a conversation in memory stands in the log that the store has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// How many steps the store has of it.
    revision: u64,
    /// How many steps follow the checkpoint.
    uncovered: u64,
    /// After how many of them the next checkpoint is made.
    patience: u64,
    /// What tells the latest step from others, where it is known: another conversation of the same name has another.
    last: Option<Fingerprint>,
}

impl Conversation {
    /// Begins a conversation; `at_millis` is the time, in milliseconds since 1970-01-01T00:00:00Z.
    pub async fn create(
        store: &dyn ConversationStore,
        id: &str,
        at_millis: Option<i64>,
    ) -> Result<Self, StoreError> {
        Self::import(store, id, Session::new(id), at_millis).await
    }

    /// Begins a conversation with one that is there already, such as a file's.
    pub async fn import(
        store: &dyn ConversationStore,
        id: &str,
        mut session: Session,
        at_millis: Option<i64>,
    ) -> Result<Self, StoreError> {
        store.create(id, session.clone(), at_millis).await?;
        let (history, _) = History::take(&mut session.header);
        let position = LogPosition::new(&session, 0, &[]);
        Ok(Self::of_parts(id, session, history, position))
    }

    /// Loads a conversation: its latest checkpoint, and the steps since.
    pub async fn load(store: &dyn ConversationStore, id: &str) -> Result<Self, StoreError> {
        let stored = store.load(id).await?;
        Self::fold(id, stored)
    }

    /// Acquires the lease of a conversation among all processes. Then updates `known` from the store, or sets it to
    /// `None` if the store has no such conversation.
    ///
    /// Canceling leaves `known` unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Held`] if another turn still has the lease after `patience`.
    pub async fn hold(
        store: &dyn ConversationStore,
        id: &str,
        known: &mut Option<Self>,
        patience: Duration,
    ) -> Result<Hold, StoreError> {
        let revision = known.as_ref().and_then(Self::known);
        let held = store.hold(id, revision, patience).await?;
        let (hold, steps) = held.ok_or_else(|| StoreError::Held { id: id.to_owned() })?;
        if let Some(known) = known
            && matches!(known.take_in(steps), Ok(true))
        {
            return Ok(hold);
        }
        *known = match Self::load(store, id).await {
            Ok(loaded) => Some(loaded),
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(hold)
    }

    /// Takes up a conversation that was taken apart by [`Conversation::into_parts`]. O(nodes).
    pub fn of_parts(id: &str, session: Session, history: History, position: LogPosition) -> Self {
        let newest_name = newest_name(&session);
        Self { id: id.into(), session, history, position, newest_name, is_unsettled: false }
    }

    /// Returns what was said, what can be undone and redone, and the place in the log.
    pub fn into_parts(self) -> (Session, History, LogPosition) {
        (self.session, self.history, self.position)
    }

    /// Returns after which revision [`Conversation::take_in`] needs the steps: that before the latest one, by which it
    /// is known again. None where no step of it is known.
    pub fn known(&self) -> Option<u64> {
        self.position.known()
    }

    /// Takes in the steps that others have taken since, where they are messages and other operations alone: those after
    /// the revision that [`Conversation::known`] gives.
    ///
    /// Where something was undone or done again, where it may be another conversation of the same name (also where
    /// no step of it is known), and after a change that was given up midway, it takes none and says false: the
    /// conversation has to be loaded again then.
    ///
    /// Costs what is new. Errors: [`StoreError::Damaged`] where a step does not fit; the conversation has to be loaded
    /// again then.
    pub fn take_in(&mut self, steps: Vec<LogEntry>) -> Result<bool, StoreError> {
        let is_op = |entry: &LogEntry| matches!(entry.step, Step::Do { .. });
        let news = self.position.news(steps);
        let Some(steps) = news.filter(|steps| !self.is_unsettled && steps.iter().all(is_op)) else {
            return Ok(false);
        };
        // What ends midway is loaded again.
        self.is_unsettled = !steps.is_empty();
        self.position.take(&self.id, steps, (&mut self.session, &mut self.history))?;
        self.is_unsettled = false;
        Ok(true)
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what was said.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns what can be undone and redone.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the number of steps that the store has of it.
    pub fn revision(&self) -> u64 {
        self.position.revision
    }

    /// Adds a message below the active leaf and returns its id, which is made if it has none.
    pub async fn append(
        &mut self,
        store: &dyn ConversationStore,
        node: Node,
        at_millis: Option<i64>,
    ) -> Result<NodeId, StoreError> {
        let parent = self.session.active_leaf_id().clone();
        self.append_below(store, parent, node, at_millis).await
    }

    /// Adds a message below a node, which need not be the active leaf: then a branch begins there.
    pub async fn append_below(
        &mut self,
        store: &dyn ConversationStore,
        parent: NodeId,
        node: Node,
        at_millis: Option<i64>,
    ) -> Result<NodeId, StoreError> {
        let (id, step) = self.addition(parent, node);
        self.step(store, step, at_millis, async |_| ()).await?;
        Ok(id)
    }

    /// Makes the step that adds a message below a node, and the id that the message will have.
    pub(crate) fn addition(&mut self, parent: NodeId, node: Node) -> (NodeId, Step) {
        let id = node.id.clone().unwrap_or_else(|| self.free_id());
        let label = StepLabel::add(node.role.unwrap_or_default());
        let op = SessionOp::Append { parent, node: Box::new(node.with_id(id.clone())) };
        (id, Step::Do { label, op: Box::new(op) })
    }

    /// Carries out an operation as one step.
    ///
    /// Errors: [`StoreError::Stale`] if another process changed the conversation, and whatever the store
    /// reports; the conversation is then as it was.
    pub async fn apply(
        &mut self,
        store: &dyn ConversationStore,
        label: &str,
        op: SessionOp,
        at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        let step = Step::Do { label: label.to_owned(), op: Box::new(op) };
        self.step(store, step, at_millis, async |_| ()).await
    }

    /// Takes the latest operation back.
    pub async fn undo(
        &mut self,
        store: &dyn ConversationStore,
        at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        self.step(store, Step::Undo, at_millis, async |_| ()).await
    }

    /// Carries out again what was taken back last.
    pub async fn redo(
        &mut self,
        store: &dyn ConversationStore,
        at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        self.step(store, Step::Redo, at_millis, async |_| ()).await
    }

    /// Returns the conversation as a file has it, with the log of what can be undone.
    pub fn to_file(&self) -> Session {
        to_file(&self.session, &self.history)
    }

    /// Takes a step in memory and stores it; takes it back if it cannot be stored.
    ///
    /// While it is made durable, something else is done with the conversation as it is then. What comes of that counts
    /// only if this returns it: it may have been done with a message that is not stored.
    pub(crate) async fn step<T>(
        &mut self,
        store: &dyn ConversationStore,
        step: Step,
        at_millis: Option<i64>,
        work: impl AsyncFnOnce(&Session) -> T,
    ) -> Result<T, StoreError> {
        if self.is_unsettled {
            return Err(StoreError::Unsettled { id: self.id.to_string() });
        }
        let before = self.history.clone();
        let way_back = take(&mut self.session, &mut self.history, &step, at_millis)?;
        self.is_unsettled = true;
        let taken = LogEntry { at_millis, step };
        let log = (&self.session, &self.history);
        let appending = self.position.append(store, &self.id, vec![taken], log);
        // The store has its work before the other begins, also where that is a task which runs on this thread.
        let beside = async {
            tokio::task::yield_now().await;
            work(&self.session).await
        };
        let (appended, done) = tokio::join!(biased; appending, beside);
        self.is_unsettled = false;
        if let Err(error) = appended {
            // What cannot be taken back in memory is right in the store alone.
            self.is_unsettled = way_back.is_none_or(|way_back| self.session.apply(&way_back).is_err());
            self.history = before;
            return Err(error);
        }
        Ok(done)
    }

    fn fold(id: &str, stored: Stored) -> Result<Self, StoreError> {
        let damaged = |step: u64, fault: String| StoreError::Damaged { id: id.to_owned(), step, fault };
        let mut session = stored.checkpoint.session;
        let (mut history, _) = History::take(&mut session.header);
        let forgotten = forgotten(&stored.steps);
        let numbers = stored.checkpoint.revision + 1..;
        for (index, (entry, number)) in stored.steps.iter().zip(numbers).enumerate() {
            let taken = match &entry.step {
                Step::Do { op, .. } if forgotten.contains(&index) => {
                    session.apply(op).map(|_| ()).map_err(StoreError::from)
                }
                step => take(&mut session, &mut history, step, entry.at_millis).map(|_| ()),
            };
            taken.map_err(|error| damaged(number, error.to_string()))?;
        }
        let position = LogPosition::new(&session, stored.revision, &stored.steps);
        Ok(Self::of_parts(id, session, history, position))
    }

    /// An id that no node has: `n` and the number of the next step, or a larger one. O(1).
    pub(crate) fn free_id(&mut self) -> NodeId {
        self.newest_name = self.newest_name.max(self.position.revision).saturating_add(1);
        let names = (self.newest_name..).map(|number| format!("n{number}"));
        let mut free = names.skip_while(|name| self.session.node(name).is_some());
        free.next().unwrap_or_default().into()
    }
}

impl LogPosition {
    fn new(session: &Session, revision: u64, since_checkpoint: &[LogEntry]) -> Self {
        let (uncovered, last) = (since_checkpoint.len() as u64, since_checkpoint.last().map(print));
        Self { revision, uncovered, patience: patience(session), last }
    }

    /// Returns the number of steps that the store has of the conversation.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Stores steps that were taken in memory, and where one is due a checkpoint of what they came to.
    ///
    /// Errors: [`StoreError::Stale`] if another process changed the conversation, and whatever the store reports; the
    /// store is then as it was. A checkpoint that fails is made another time.
    pub async fn append(
        &mut self,
        store: &dyn ConversationStore,
        id: &str,
        steps: Vec<LogEntry>,
        (session, history): (&Session, &History),
    ) -> Result<(), StoreError> {
        let (count, last) = (steps.len() as u64, steps.last().map(print));
        self.revision = store.append(id, self.revision, steps).await?;
        self.uncovered += count;
        self.last = last.or(self.last);
        if self.uncovered < self.patience {
            return Ok(());
        }
        let checkpoint = Checkpoint { revision: self.revision, session: to_file(session, history) };
        match store.checkpoint(id, checkpoint).await {
            Ok(()) => (self.uncovered, self.patience) = (0, patience(session)),
            Err(error) => tracing::warn!(%error, "no checkpoint was made; loading takes longer"),
        }
        Ok(())
    }

    /// Takes the steps that the store has beyond this place; false where they cannot be told from those of another
    /// conversation of the same name, so that it has to be loaded again.
    ///
    /// Errors: those of the store, and [`StoreError::Damaged`] where a step does not fit: the conversation has to be
    /// loaded again then.
    pub async fn catch_up(
        &mut self,
        store: &dyn ConversationStore,
        id: &str,
        log: (&mut Session, &mut History),
    ) -> Result<bool, StoreError> {
        let Some(known) = self.known() else { return Ok(false) };
        let Some(steps) = self.news(store.since(id, known).await?) else { return Ok(false) };
        self.take(id, steps, log)?;
        Ok(true)
    }

    /// Returns the revision before the latest step, where that step is known.
    fn known(&self) -> Option<u64> {
        self.revision.checked_sub(1).filter(|_| self.last.is_some())
    }

    /// Returns the steps beyond this place, of those after what is [`known`](Self::known); none where the first is not
    /// the one that is known.
    fn news(&self, mut steps: Vec<LogEntry>) -> Option<Vec<LogEntry>> {
        let is_known = self.last.is_some() && steps.first().map(print) == self.last;
        is_known.then(|| steps.split_off(1))
    }

    fn take(
        &mut self,
        id: &str,
        steps: Vec<LogEntry>,
        (session, history): (&mut Session, &mut History),
    ) -> Result<(), StoreError> {
        for LogEntry { at_millis, step } in steps {
            let number = self.revision + 1;
            take(session, history, &step, at_millis).map_err(|error| StoreError::Damaged {
                id: id.to_owned(),
                step: number,
                fault: error.to_string(),
            })?;
            self.last = Some(print(&LogEntry { at_millis, step }));
            (self.revision, self.uncovered) = (number, self.uncovered + 1);
        }
        Ok(())
    }
}

/// Tells a step from others.
fn print(entry: &LogEntry) -> Fingerprint {
    let at = entry.at_millis.map_or(0, |at| at.unsigned_abs() + 1);
    let print = Fingerprint::default().number(at);
    match &entry.step {
        Step::Do { label, op } => print.text(label).text(&serde_json::json!(op).to_string()),
        Step::Undo => print.number(1),
        Step::Redo => print.number(2),
    }
}

fn to_file(session: &Session, history: &History) -> Session {
    let mut session = session.clone();
    history.write(&mut session.header);
    session
}

/// The largest number of an id that is `n` and a number; 0 if there is none. O(nodes), so it is asked for once.
fn newest_name(session: &Session) -> u64 {
    let numbers = session.nodes().filter_map(|(id, _)| id.strip_prefix('n')?.parse().ok());
    // One that is nearly as large as numbers get is nobody's count of messages.
    numbers.filter(|number| *number < u64::from(u32::MAX)).max().unwrap_or(0)
}

/// How many steps may follow a checkpoint of this conversation. O(nodes), so it is asked for once a checkpoint.
fn patience(session: &Session) -> u64 {
    MIN_STEPS + session.nodes().count() as u64 / 4
}

/// The steps of which nothing is left in the log of what can be undone: as many operations follow as that holds, and
/// nothing is undone or done again after them.
fn forgotten(steps: &[LogEntry]) -> Range<usize> {
    let is_op = |entry: &LogEntry| matches!(entry.step, Step::Do { .. });
    let begin = steps.iter().rposition(|entry| !is_op(entry)).map_or(0, |last| last + 1);
    begin..steps.len().saturating_sub(History::CAPACITY).max(begin)
}

/// Takes a step and returns the operation that takes it back in memory, if there is one.
fn take(
    session: &mut Session,
    history: &mut History,
    step: &Step,
    at_millis: Option<i64>,
) -> Result<Option<SessionOp>, StoreError> {
    match step {
        Step::Do { label, op } => {
            history.apply(session, label, at_millis, (**op).clone()).map_err(|error| match error {
                HistoryError::Session(error) => StoreError::Session(error),
                error => StoreError::History(error),
            })?;
            Ok(history.undoable().last().map(|entry| entry.way_back().clone()))
        }
        Step::Undo => {
            history.undo(session)?;
            Ok(history.redoable().last().map(|entry| entry.way_back().clone()))
        }
        Step::Redo => {
            history.redo(session)?;
            Ok(history.undoable().last().map(|entry| entry.way_back().clone()))
        }
    }
}
