//! The conversation that a turn writes into, or none.

use std::time::Duration;

use ctx_engine::TurnCache;
use ctx_pipeline::Cancel;
use ctx_types::session::{Node, NodeId, Session, SessionOp};
use ctx_types::{Diagnostic, Message};

use crate::conversation::Conversation;
use crate::recovery;
use crate::store::{ConversationStore, LearnedLimit, StoreError, StoreLease};

/// How often a message is tried to be stored while others hold or change the store.
const ATTEMPTS: usize = 8;

/// How long a store may still take once the caller has cancelled.
const GRACE: Duration = Duration::from_secs(1);

/// A conversation and the store that has it.
pub struct ChatLog<'a> {
    /// The store.
    pub store: &'a dyn ConversationStore,
    /// The conversation, as it was loaded.
    pub conversation: &'a mut Conversation,
    /// What turns of it keep for each other, so that what was compressed once stays as it is.
    pub memory: Option<&'a TurnCache>,
    /// The lease of the conversation. The turn ends when the lease is lost.
    pub lease: Option<&'a StoreLease>,
}

/// A conversation that no store has.
#[derive(Debug)]
pub struct UnstoredConversation<'a> {
    /// The messages.
    pub session: Session,
    /// The cache of its turns.
    pub memory: Option<&'a TurnCache>,
}

impl std::fmt::Debug for ChatLog<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatLog").field("conversation", &self.conversation.id()).finish_non_exhaustive()
    }
}

/// Stores each message of a turn below the one before it, or keeps nothing.
pub(super) struct Recorder<'a> {
    log: Option<ChatLog<'a>>,
    /// Whether what is said belongs to the conversation.
    is_kept: bool,
    /// The conversation for the model, if it differs from the stored one, or if nothing is stored.
    copy: Option<Session>,
    memory: Option<&'a TurnCache>,
    /// The message below which the next one goes, whatever others do; none where there is no conversation.
    last: Option<NodeId>,
    clock: &'a (dyn Fn() -> i64 + Send + Sync),
    cancel: &'a Cancel,
    unstored: usize,
}

impl<'a> Recorder<'a> {
    /// Stores into a log. `sent` is the conversation for the model, if it differs from the stored one.
    pub(super) fn new(
        log: Option<ChatLog<'a>>,
        sent: Option<Session>,
        is_kept: bool,
        clock: &'a (dyn Fn() -> i64 + Send + Sync),
        cancel: &'a Cancel,
    ) -> Self {
        let last = log.as_ref().map(|log| log.conversation.session().active_leaf_id().clone());
        let memory = log.as_ref().and_then(|log| log.memory);
        let copy = sent.or_else(|| log.is_none().then(|| Session::new("none")));
        Self { log, is_kept, copy, memory, last, clock, cancel, unstored: 0 }
    }

    /// Writes into a copy of a conversation, and stores nothing.
    pub(super) fn on_copy(
        session: Session,
        memory: Option<&'a TurnCache>,
        is_kept: bool,
        clock: &'a (dyn Fn() -> i64 + Send + Sync),
        cancel: &'a Cancel,
    ) -> Self {
        let last = Some(session.active_leaf_id().clone());
        Self { log: None, is_kept, copy: Some(session), memory, last, clock, cancel, unstored: 0 }
    }

    /// Returns whether what is said belongs to the conversation.
    pub(super) const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns whether messages are stored.
    pub(super) fn stores(&self) -> bool {
        self.log.is_some() && self.is_kept
    }

    /// Returns whether there is a conversation into which messages go, be it a copy.
    pub(super) fn has_conversation(&self) -> bool {
        self.is_kept && self.last.is_some()
    }

    /// Returns the id of the conversation.
    pub(super) fn conversation_id(&self) -> Option<&str> {
        self.log.as_ref().map(|log| log.conversation.id())
    }

    /// Returns the conversation for the model.
    pub(super) fn session(&self) -> &Session {
        let stored = || self.log.as_ref().map(|log| log.conversation.session());
        self.copy.as_ref().or_else(stored).expect("there is a log or a copy")
    }

    /// Returns what turns of the conversation keep for each other.
    pub(super) fn memory(&self) -> Option<&'a TurnCache> {
        self.memory
    }

    pub(super) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Adds results to calls without one, and reports each.
    ///
    /// Only looks at the end: the rest of a stored conversation was repaired when it was loaded, and the messages of each
    /// request are repaired later.
    pub(super) async fn recover(&mut self) -> Result<Vec<Diagnostic>, StoreError> {
        if !self.is_kept {
            return Ok(Vec::new());
        }
        let at = self.now();
        let in_copy = self.copy.as_mut().map(recovery::recover_copy).unwrap_or_default();
        let found = match &mut self.log {
            Some(log) if recovery::ends_dangling(log.conversation.session()) => {
                within(self.cancel, log.conversation.recover(log.store, Some(at))).await?
            }
            Some(_) => Vec::new(),
            None => in_copy,
        };
        if !found.is_empty() {
            let log = self.log.as_ref().map(|log| log.conversation.session());
            self.last = log.or(self.copy.as_ref()).map(|session| session.active_leaf_id().clone());
        }
        Ok(found)
    }

    /// Adds a message and returns it as it is sent; it is durable before this returns.
    pub(super) async fn add(&mut self, node: Node) -> Result<(NodeId, Message), StoreError> {
        let (id, message, _) = self.add_beside(node, async |_| ()).await?;
        Ok((id, message))
    }

    /// The same; while the message is made durable, something else is done with the conversation that has it.
    ///
    /// What comes of that is returned unless the conversation has become another one, or nothing is stored.
    pub(super) async fn add_beside<T>(
        &mut self,
        mut node: Node,
        work: impl AsyncFnOnce(&Session) -> T,
    ) -> Result<(NodeId, Message, Option<T>), StoreError> {
        let at = self.now();
        node.timestamp = jiff::Timestamp::from_millisecond(at).ok().map(|at| at.to_string().into());
        let (id, done) = match (self.log.as_mut().filter(|_| self.is_kept), &mut self.copy) {
            (Some(log), None) => within(self.cancel, log.add(self.last.as_ref(), &node, at, work)).await?,
            (Some(log), Some(copy)) => {
                let id = log.conversation.free_id();
                node = node.with_id(id.clone());
                append(copy, &node)?;
                let copy = &*copy;
                let adding = log.add(self.last.as_ref(), &node, at, async |_| work(copy).await);
                within(self.cancel, adding).await?
            }
            (None, _) => (self.add_to_copy(&node)?, None),
        };
        if self.last.is_some() {
            self.last = Some(id.clone());
        }
        let message = node.to_message(&id);
        Ok((id, message, done))
    }

    fn add_to_copy(&mut self, node: &Node) -> Result<NodeId, StoreError> {
        self.unstored += 1;
        let numbers = self.unstored..;
        let mut names = numbers.map(|number| NodeId::from(format!("m{number}")));
        let id =
            names.find(|id| self.session().node(id).is_none()).expect("an unbounded range has a free id");
        if let (Some(copy), None) = (&mut self.copy, &self.log)
            && self.is_kept
            && self.last.is_some()
        {
            append(copy, &node.clone().with_id(id.clone()))?;
        }
        Ok(id)
    }

    /// Keeps what was learned of a model, where there is a store. No answer waits long for that.
    pub(super) async fn learn(&self, model: String, tokens: u64) -> Result<(), StoreError> {
        let Some(log) = &self.log else { return Ok(()) };
        let learned = log.store.learn(LearnedLimit { model, tokens, at_millis: self.now() });
        tokio::time::timeout(GRACE, learned).await.unwrap_or(Err(StoreError::GivenUp))
    }

    /// Carries out an operation; one that does not fit what others made of the conversation is an error.
    pub(super) async fn apply(&mut self, label: &str, op: SessionOp) -> Result<(), StoreError> {
        let at = self.now();
        let Some(log) = self.log.as_mut().filter(|_| self.is_kept) else { return Ok(()) };
        // A message may be in the copy only.
        let is_stored = match &op {
            SessionOp::Edit { id, .. } => log.conversation.session().node(id).is_some(),
            _ => true,
        };
        if is_stored || self.copy.is_none() {
            within(self.cancel, log.apply(label, &op, at)).await?;
        }
        if let Some(copy) = &mut self.copy {
            copy.apply(&op)?;
        }
        Ok(())
    }
}

/// Appends a message to the active leaf.
fn append(session: &mut Session, node: &Node) -> Result<(), StoreError> {
    let parent = session.active_leaf_id().clone();
    session.apply(&SessionOp::Append { parent, node: Box::new(node.clone()) })?;
    Ok(())
}

/// Waits for a store, and one second more once the caller has cancelled: then it has the change as a whole, or not.
///
/// Errors: [`StoreError::GivenUp`] after that second, and those of the work. A conversation whose change was given up
/// has to be loaded again before it can change.
///
/// ```
/// use ctx_chat::{Conversation, SqliteStore, within};
/// use ctx_pipeline::Cancel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let (store, cancel) = (SqliteStore::in_memory()?, Cancel::default());
/// let conversation = within(&cancel, Conversation::create(&store, "c", None)).await?;
/// assert_eq!(conversation.id(), "c");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn within<T>(
    cancel: &Cancel,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let over = async {
        cancel.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => done,
        () = over => Err(StoreError::GivenUp),
    }
}

impl ChatLog<'_> {
    async fn add<T>(
        &mut self,
        below: Option<&NodeId>,
        node: &Node,
        at: i64,
        work: impl AsyncFnOnce(&Session) -> T,
    ) -> Result<(NodeId, Option<T>), StoreError> {
        let parent = self.parent(below);
        let (id, step) = self.conversation.addition(parent, node.clone());
        let mut error = match self.conversation.step(self.store, step, Some(at), work).await {
            Ok(done) => return Ok((id, Some(done))),
            Err(error) => error,
        };
        let mut attempt = 1;
        loop {
            self.after(error, &mut attempt).await?;
            let parent = self.parent(below);
            match self.conversation.append_below(self.store, parent, node.clone(), Some(at)).await {
                Ok(id) => return Ok((id, None)),
                Err(next) => error = next,
            }
        }
    }

    /// The message below which one goes, if it is still there; else the newest.
    fn parent(&self, below: Option<&NodeId>) -> NodeId {
        let session = self.conversation.session();
        let known = below.filter(|id| session.node(id).is_some());
        known.unwrap_or_else(|| session.active_leaf_id()).clone()
    }

    async fn apply(&mut self, label: &str, op: &SessionOp, at: i64) -> Result<(), StoreError> {
        let mut attempt = 1;
        loop {
            match self.conversation.apply(self.store, label, op.clone(), Some(at)).await {
                Ok(()) => return Ok(()),
                Err(error) => self.after(error, &mut attempt).await?,
            }
        }
    }

    /// Makes ready for another attempt, if there is to be one.
    async fn after(&mut self, error: StoreError, attempt: &mut usize) -> Result<(), StoreError> {
        *attempt += 1;
        match error {
            _ if *attempt > ATTEMPTS => Err(error),
            StoreError::Stale { .. } | StoreError::Unsettled { .. } => {
                *self.conversation = Conversation::load(self.store, self.conversation.id()).await?;
                Ok(())
            }
            // The store itself has waited.
            StoreError::Busy(_) => Ok(()),
            error => Err(error),
        }
    }
}
