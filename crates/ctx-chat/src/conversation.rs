//! A conversation in memory that matches its log in the store.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ctx_types::internal::Fingerprint;
use ctx_types::session::{History, HistoryError, Node, NodeId, Session, SessionOp};

use crate::step_label::StepLabel;
use crate::store::{Checkpoint, ConversationStore, LogEntry, Step, StoreError, StoreLease, Stored};

/// Minimum number of steps between two checkpoints. A quarter of the number of nodes is added.
///
/// The cost of a checkpoint grows with the length of the conversation. With this interval, it adds a constant cost
/// per step.
const MIN_STEPS: u64 = 256;

/// A conversation in a store.
///
/// Each change is a step, which is durable when the call returns. If a call is canceled, the conversation must be
/// loaded again before the next change.
#[derive(Clone, Debug)]
pub struct Conversation {
    id: Arc<str>,
    session: Session,
    history: History,
    position: LogPosition,
    /// Largest number in an id of the form `n` and a number.
    newest_name: u64,
    /// Whether a change is running or was canceled.
    is_unsettled: bool,
}

/// Position of a conversation in its log in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// Number of steps in the store.
    revision: u64,
    /// Number of steps after the checkpoint.
    uncovered: u64,
    /// Number of steps before the next checkpoint.
    patience: u64,
    /// Fingerprint of the latest step, if it is known. It differs for another conversation with the same name.
    last: Option<Fingerprint>,
}

impl Conversation {
    /// Creates a conversation. `at_millis` is the time in milliseconds since 1970-01-01T00:00:00Z.
    pub async fn create(
        store: &dyn ConversationStore,
        id: &str,
        at_millis: Option<i64>,
    ) -> Result<Self, StoreError> {
        Self::import(store, id, Session::new(id), at_millis).await
    }

    /// Creates a conversation from an existing session, such as a file.
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

    /// Loads a conversation: its latest checkpoint and the later steps.
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
    ) -> Result<StoreLease, StoreError> {
        let revision = known.as_ref().and_then(Self::known_revision);
        let held = store.hold(id, revision, patience).await?;
        let (hold, steps) = held.ok_or_else(|| StoreError::Held { id: id.to_owned() })?;
        if let Some(known) = known
            && matches!(known.add_steps(steps), Ok(true))
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

    /// Builds a conversation from the result of [`Conversation::into_parts`]. O(nodes).
    pub fn of_parts(id: &str, session: Session, history: History, position: LogPosition) -> Self {
        let newest_name = newest_name(&session);
        Self { id: id.into(), session, history, position, newest_name, is_unsettled: false }
    }

    /// Returns the session, the undo history, and the position in the log.
    pub fn into_parts(self) -> (Session, History, LogPosition) {
        (self.session, self.history, self.position)
    }

    /// Returns the revision for [`Conversation::add_steps`]: the revision before the latest step, which identifies the
    /// conversation. Returns `None` if no step is known.
    pub fn known_revision(&self) -> Option<u64> {
        self.position.known_revision()
    }

    /// Applies the steps that others have added after the revision of [`Conversation::known_revision`].
    ///
    /// Returns false and applies nothing in these cases: a step is undone or redone, the conversation may be another
    /// one with the same name (also if no step is known), or an earlier change was canceled. Then the conversation
    /// must be loaded again.
    ///
    /// O(new steps).
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Damaged`] if a step does not fit. Then the conversation must be loaded again.
    pub fn add_steps(&mut self, steps: Vec<LogEntry>) -> Result<bool, StoreError> {
        let is_op = |entry: &LogEntry| matches!(entry.step, Step::Do { .. });
        let news = self.position.news(steps);
        let Some(steps) = news.filter(|steps| !self.is_unsettled && steps.iter().all(is_op)) else {
            return Ok(false);
        };
        // If this fails midway, the conversation must be loaded again.
        self.is_unsettled = !steps.is_empty();
        self.position.take(&self.id, steps, (&mut self.session, &mut self.history))?;
        self.is_unsettled = false;
        Ok(true)
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the undo history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the number of steps in the store.
    pub fn revision(&self) -> u64 {
        self.position.revision
    }

    /// Appends a message to the active leaf. Returns its id, which is generated if it is empty.
    pub async fn append(
        &mut self,
        store: &dyn ConversationStore,
        node: Node,
        at_millis: Option<i64>,
    ) -> Result<NodeId, StoreError> {
        let parent = self.session.active_leaf_id().clone();
        self.append_below(store, parent, node, at_millis).await
    }

    /// Appends a message to a node. If the node is not the active leaf, this starts a branch.
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

    /// Builds the step that appends a message to a node, and the id of the message.
    pub(crate) fn addition(&mut self, parent: NodeId, node: Node) -> (NodeId, Step) {
        let id = node.id.clone().unwrap_or_else(|| self.free_id());
        let label = StepLabel::add(node.role.unwrap_or_default());
        let op = SessionOp::Append { parent, node: Box::new(node.with_id(id.clone())) };
        (id, Step::Do { label, op: Box::new(op) })
    }

    /// Applies an operation as one step.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Stale`] if another process changed the conversation, or another error of the store. The
    /// conversation is then unchanged.
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

    /// Undoes the latest operation.
    pub async fn undo(
        &mut self,
        store: &dyn ConversationStore,
        at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        self.step(store, Step::Undo, at_millis, async |_| ()).await
    }

    /// Redoes the latest undone operation.
    pub async fn redo(
        &mut self,
        store: &dyn ConversationStore,
        at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        self.step(store, Step::Redo, at_millis, async |_| ()).await
    }

    /// Returns the conversation in its file format, with the undo history.
    pub fn to_file(&self) -> Session {
        to_file(&self.session, &self.history)
    }

    /// Applies a step in memory and stores it. Reverts the step if it cannot be stored.
    ///
    /// Runs `work` with the changed conversation while the step is stored. Its result is valid only if this returns
    /// it, because the step may be rejected.
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
        // Send the job to the store before `work` starts, even if the store runs on this thread.
        let beside = async {
            tokio::task::yield_now().await;
            work(&self.session).await
        };
        let (appended, done) = tokio::join!(biased; appending, beside);
        self.is_unsettled = false;
        if let Err(error) = appended {
            // If the step cannot be reverted in memory, only the store is correct.
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

    /// Returns an unused id: `n` and the number of the next step, or a larger number. O(1).
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

    /// Returns the number of steps in the store.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Stores steps that were applied in memory, and a checkpoint if it is due.
    ///
    /// A failed checkpoint is retried later.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Stale`] if another process changed the conversation, or another error of the store. The
    /// store is then unchanged.
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
            Err(error) => tracing::warn!(%error, "cannot save a checkpoint; loading will take longer"),
        }
        Ok(())
    }

    /// Applies the newer steps of the store. Returns false if the steps may belong to another conversation with the
    /// same name. The conversation must then be loaded again.
    ///
    /// # Errors
    ///
    /// Returns an error of the store, or [`StoreError::Damaged`] if a step does not fit. The conversation must then
    /// be loaded again.
    pub async fn catch_up(
        &mut self,
        store: &dyn ConversationStore,
        id: &str,
        log: (&mut Session, &mut History),
    ) -> Result<bool, StoreError> {
        let Some(known) = self.known_revision() else { return Ok(false) };
        let Some(steps) = self.news(store.since(id, known).await?) else { return Ok(false) };
        self.take(id, steps, log)?;
        Ok(true)
    }

    /// Returns the revision before the latest step, if that step is known.
    fn known_revision(&self) -> Option<u64> {
        self.revision.checked_sub(1).filter(|_| self.last.is_some())
    }

    /// Returns the steps after this position. `steps` are the steps after
    /// [`known_revision`](Self::known_revision). Returns `None` if the first of them is not the known step.
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

/// Returns the fingerprint of a step.
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

/// Returns the largest number in an id of the form `n` and a number, or 0. O(nodes), so call it only once.
fn newest_name(session: &Session) -> u64 {
    let numbers = session.nodes().filter_map(|(id, _)| id.strip_prefix('n')?.parse().ok());
    // A number close to the maximum is not a message count.
    numbers.filter(|number| *number < u64::from(u32::MAX)).max().unwrap_or(0)
}

/// Returns the number of steps before the next checkpoint. O(nodes), so call it once per checkpoint.
fn patience(session: &Session) -> u64 {
    MIN_STEPS + session.nodes().count() as u64 / 4
}

/// Returns the range of steps that no longer affect the undo history: it is full of later operations, and none of the
/// later steps is an undo or redo.
fn forgotten(steps: &[LogEntry]) -> Range<usize> {
    let is_op = |entry: &LogEntry| matches!(entry.step, Step::Do { .. });
    let begin = steps.iter().rposition(|entry| !is_op(entry)).map_or(0, |last| last + 1);
    begin..steps.len().saturating_sub(History::CAPACITY).max(begin)
}

/// Applies a step. Returns the operation that reverts it in memory, if there is one.
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
            Ok(history.undoable().last().map(|entry| entry.inverse().clone()))
        }
        Step::Undo => {
            history.undo(session)?;
            Ok(history.redoable().last().map(|entry| entry.inverse().clone()))
        }
        Step::Redo => {
            history.redo(session)?;
            Ok(history.undoable().last().map(|entry| entry.inverse().clone()))
        }
    }
}
