mod entry;
mod rebase;

use crate::Phrase;
use crate::phrase;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::session::{Session, SessionError, SessionHeader, SessionOp};

pub use entry::HistoryEntry;

/// The key in the session file; other programs keep or ignore it.
const KEY: &str = "operationLog";

/// For a log in another version.
const FOREIGN: &str = "otherVersion";

const VERSION: u64 = 1;

const MAX_BYTES: usize = 4 << 20;

/// The undo and redo log of a session. Clones share entries.
///
/// The file stores at most 50 operations and 4 MiB. If the affected nodes are unchanged, undo restores them
/// byte for byte. Otherwise it keeps later changes, such as edits, and reverts only the operation. If that is
/// impossible, it returns an error and changes nothing.
///
/// ```
/// use ctx_types::Role;
/// use ctx_types::session::{History, Node, Session, SessionOp};
///
/// let (mut session, _) = Session::linear("s1", [Node::new(Role::User, "hello")]);
/// let mut history = History::default();
/// let op = SessionOp::Toggle { id: "n1".into(), enabled: false };
/// history.apply(&mut session, "switch off", None, op)?;
/// assert_eq!(history.undo(&mut session)?, "switch off".into());
/// assert!(session.node("n1").unwrap().is_enabled());
/// history.redo(&mut session)?;
/// assert!(!session.node("n1").unwrap().is_enabled());
/// # Ok::<(), ctx_types::session::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The latest is last.
    undo: Vec<Arc<HistoryEntry>>,
    /// The latest is last.
    redo: Vec<Arc<HistoryEntry>>,
    /// A log of another version, written back unchanged.
    foreign: Option<Arc<Value>>,
}

/// Error of an undo or redo, which changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum HistoryError {
    /// No operation to undo or redo.
    Empty {
        /// `undo` or `redo`.
        direction: &'static str,
    },
    /// The affected content has changed since.
    Conflict {
        /// `undo` or `redo`.
        direction: &'static str,
        /// The operation's name.
        label: Arc<str>,
        /// The conflicting change.
        reason: Phrase,
    },
    /// The operation is invalid for the session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl HistoryError {
    /// Returns the error as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Empty { direction: "redo" } => phrase!("nothing to redo"),
            Self::Empty { .. } => phrase!("nothing to undo"),
            Self::Conflict { direction: "redo", label, reason } => {
                phrase!("cannot redo `{label}`: {reason}", label, reason)
            }
            Self::Conflict { label, reason, .. } => {
                phrase!("cannot undo `{label}`: {reason}", label, reason)
            }
            Self::Session(error) => error.phrase(),
        }
    }
}

impl History {
    /// Maximum number of operations, including undone ones; the oldest are dropped.
    pub const CAPACITY: usize = 50;

    /// Reads the log. An unreadable operation is reported and dropped with all older ones.
    pub fn read(header: &SessionHeader) -> (Self, Vec<Diagnostic>) {
        let mut found = Vec::new();
        let Some(log) = header.kept.get(KEY).filter(|log| !log.is_null()) else {
            return (Self::default(), found);
        };
        if log.get("version").and_then(Value::as_u64) != Some(VERSION) {
            let message = phrase!("the operation log has an unknown version; it is ignored");
            let help = phrase!("find the old log under `{key}` of the new log", key = FOREIGN);
            let warning = Diagnostic::warning(codes::OPERATION_LOG, message).with_help(help);
            found.push(warning.at_pointer(format!("/{KEY}")));
            return (Self { foreign: Some(Arc::new(log.clone())), ..Self::default() }, found);
        }
        let mut read = |list: &str| entry::read_list(log.get(list), &format!("/{KEY}/{list}"), &mut found);
        let mut shared = |list: &str| read(list).into_iter().map(Arc::new).collect();
        let foreign = log.get(FOREIGN).cloned().map(Arc::new);
        let mut history = Self { undo: shared("undo"), redo: shared("redo"), foreign };
        history.cap();
        (history, found)
    }

    /// Reads the log and removes it from the header.
    pub fn take(header: &mut SessionHeader) -> (Self, Vec<Diagnostic>) {
        let read = Self::read(header);
        header.kept.remove(KEY);
        read
    }

    /// Writes the log to the header, unless both are empty.
    pub fn write(&self, header: &mut SessionHeader) {
        let is_empty = self.undo.is_empty() && self.redo.is_empty();
        if let Some(foreign) = self.foreign.as_deref().filter(|_| is_empty) {
            header.kept.set(KEY, foreign.clone());
            return;
        }
        if is_empty && header.kept.get(KEY).is_none() {
            return;
        }
        let list =
            |entries: &[Arc<HistoryEntry>]| entries.iter().map(|entry| entry.write()).collect::<Vec<_>>();
        let mut log = json!({ "version": VERSION, "undo": list(&self.undo), "redo": list(&self.redo) });
        if let (Some(foreign), Some(log)) = (self.foreign.as_deref(), log.as_object_mut()) {
            log.insert(FOREIGN.to_owned(), foreign.clone());
        }
        header.kept.set(KEY, log);
    }

    /// Applies an operation, logs it with a name for users, and clears the redo log.
    ///
    /// `at_millis` is in milliseconds since 1970-01-01T00:00:00Z.
    pub fn apply(
        &mut self,
        session: &mut Session,
        label: &str,
        at_millis: Option<i64>,
        op: SessionOp,
    ) -> Result<(), HistoryError> {
        let inverse = session.apply(&op)?;
        self.redo.clear();
        self.undo.push(Arc::new(HistoryEntry::new(session, label, at_millis, op, inverse)));
        self.cap();
        Ok(())
    }

    /// Undoes the latest operation and returns its name.
    pub fn undo(&mut self, session: &mut Session) -> Result<Arc<str>, HistoryError> {
        let entry = self.undo.last().ok_or(HistoryError::Empty { direction: "undo" })?;
        let undone = entry.undo(session)?;
        let label = undone.label.clone();
        self.undo.pop();
        self.redo.push(Arc::new(undone));
        Ok(label)
    }

    /// Redoes the latest undone operation and returns its name.
    pub fn redo(&mut self, session: &mut Session) -> Result<Arc<str>, HistoryError> {
        let entry = self.redo.last().ok_or(HistoryError::Empty { direction: "redo" })?;
        let redone = entry.redo(session)?;
        let label = redone.label.clone();
        self.redo.pop();
        self.undo.push(Arc::new(redone));
        Ok(label)
    }

    /// Returns the operations to undo, latest last.
    pub fn undoable(&self) -> &[Arc<HistoryEntry>] {
        &self.undo
    }

    /// Returns the operations to redo, latest last.
    pub fn redoable(&self) -> &[Arc<HistoryEntry>] {
        &self.redo
    }

    fn cap(&mut self) {
        let over = (self.undo.len() + self.redo.len()).saturating_sub(Self::CAPACITY);
        self.undo.drain(..over.min(self.undo.len()));
        let over = self.redo.len().saturating_sub(Self::CAPACITY);
        self.redo.drain(..over);
        let mut room = MAX_BYTES;
        let mut fits = |entry: &Arc<HistoryEntry>| {
            let left = room.checked_sub(entry.bytes());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let redo = self.redo.iter().rev().take_while(|entry| fits(entry)).count();
        let undo = self.undo.iter().rev().take_while(|entry| fits(entry)).count();
        self.redo.drain(..self.redo.len() - redo);
        self.undo.drain(..self.undo.len() - undo);
    }
}
