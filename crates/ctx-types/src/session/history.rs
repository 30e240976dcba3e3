//! The log of operations that a session's file carries, for undoing and redoing them.

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

/// The key of a session's file under which the log stands; other readers keep or ignore it.
const KEY: &str = "operationLog";

/// The key inside the log under which a log of another version stands.
const FOREIGN: &str = "otherVersion";

/// The version of the form in which the log is written.
const VERSION: u64 = 1;

/// How many bytes of JSON a log may have; older operations go.
const MAX_BYTES: usize = 4 << 20;

/// The latest operations on a session, to be undone and redone. Its entries are shared, so that a copy costs little.
///
/// Each operation is one step, whatever it does. The log stands in the session's header and so in its file,
/// capped at 50 operations and 4 MiB. An operation is undone exactly, byte for byte, if nothing has touched
/// its nodes since. Otherwise only what it did is taken back, and what came later stays, be it messages that
/// follow a summary or words that somebody edited; where that is not possible, nothing changes and the error
/// says so.
///
/// ```
/// use ctx_types::{History, Node, Role, Session, SessionOp};
///
/// let (mut session, _) = Session::linear("s1", [Node::new(Role::User, "hello")]);
/// let mut history = History::default();
/// let op = SessionOp::Toggle { id: "n1".into(), enabled: false };
/// history.apply(&mut session, "switch off", None, op)?;
/// assert_eq!(history.undo(&mut session)?, "switch off".into());
/// assert!(session.node("n1").unwrap().is_enabled());
/// history.redo(&mut session)?;
/// assert!(!session.node("n1").unwrap().is_enabled());
/// # Ok::<(), ctx_types::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// What can be undone, the latest last.
    undo: Vec<Arc<HistoryEntry>>,
    /// What was undone and can be redone, the latest last.
    redo: Vec<Arc<HistoryEntry>>,
    /// A log of another version that the file has; nobody here can use it, and it is written again as it was.
    foreign: Option<Arc<Value>>,
}

/// Why an operation was not undone or redone; session and log are as they were.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum HistoryError {
    /// The log holds nothing more in that direction.
    Empty {
        /// `undo` or `redo`.
        direction: &'static str,
    },
    /// What the operation changed was changed again by something else.
    Conflict {
        /// `undo` or `redo`.
        direction: &'static str,
        /// What the operation is called.
        label: Arc<str>,
        /// What has changed.
        reason: Phrase,
    },
    /// The operation itself does not fit the session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl HistoryError {
    /// Writes it in one phrase.
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
    /// How many operations a log keeps, those that were undone included; older ones go.
    pub const CAPACITY: usize = 50;

    /// Reads the log of a session; an operation that cannot be read, and older ones, are reported and left out.
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

    /// Reads the log of a session and takes it out of the header.
    pub fn take(header: &mut SessionHeader) -> (Self, Vec<Diagnostic>) {
        let read = Self::read(header);
        header.kept.remove(KEY);
        read
    }

    /// Writes the log into the header of its session; an empty one where there was none writes nothing.
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

    /// Carries out an operation and keeps it under a name for people; what was undone cannot be redone then.
    ///
    /// `at_millis` is the time, in milliseconds since 1970-01-01T00:00:00Z.
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

    /// Takes the latest operation back and returns its name.
    pub fn undo(&mut self, session: &mut Session) -> Result<Arc<str>, HistoryError> {
        let entry = self.undo.last().ok_or(HistoryError::Empty { direction: "undo" })?;
        let undone = entry.undone(session)?;
        let label = undone.label.clone();
        self.undo.pop();
        self.redo.push(Arc::new(undone));
        Ok(label)
    }

    /// Carries out again what was undone last and returns its name.
    pub fn redo(&mut self, session: &mut Session) -> Result<Arc<str>, HistoryError> {
        let entry = self.redo.last().ok_or(HistoryError::Empty { direction: "redo" })?;
        let redone = entry.redone(session)?;
        let label = redone.label.clone();
        self.redo.pop();
        self.undo.push(Arc::new(redone));
        Ok(label)
    }

    /// Returns what can be undone, the latest last.
    pub fn undoable(&self) -> &[Arc<HistoryEntry>] {
        &self.undo
    }

    /// Returns what can be redone, the latest last.
    pub fn redoable(&self) -> &[Arc<HistoryEntry>] {
        &self.redo
    }

    /// Forgets the oldest operations until the rest is within the limits.
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
