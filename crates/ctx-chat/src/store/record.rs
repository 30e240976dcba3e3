//! A conversation as databases have it: rows of text and numbers.

use ctx_types::session::{Session, SessionOp};

use crate::store::{Checkpoint, LogEntry, Step, StoreError, Stored};

/// What a database has of a conversation, as text; parsed where nobody waits for the connection.
pub(super) struct Rows {
    /// The current title; the checkpoint can have an older one.
    pub(super) name: Option<String>,
    pub(super) checkpoint_revision: u64,
    pub(super) checkpoint: String,
    pub(super) revision: u64,
    pub(super) steps: Vec<StepRow>,
}

/// A step of it.
pub(super) struct StepRow {
    pub(super) revision: u64,
    pub(super) at_millis: Option<i64>,
    pub(super) kind: String,
    pub(super) label: Option<String>,
    pub(super) op: Option<String>,
}

impl Rows {
    pub(super) fn into_stored(self, id: &str) -> Result<Stored, StoreError> {
        let damaged = |step: u64, fault: String| StoreError::Damaged { id: id.to_owned(), step, fault };
        let mut session: Session =
            serde_json::from_str(&self.checkpoint).map_err(|error| damaged(0, error.to_string()))?;
        // Sessions are read from whatever there is: what never was one would look like an empty one.
        if session.header.kept.get("nodes").is_none() {
            return Err(damaged(0, "it is not a conversation".to_owned()));
        }
        session.header.name = self.name.map(Into::into);
        let steps = entries(id, self.steps, self.checkpoint_revision)?;
        if self.checkpoint_revision + steps.len() as u64 != self.revision {
            return Err(damaged(self.revision, "the step is missing".to_owned()));
        }
        let checkpoint = Checkpoint { revision: self.checkpoint_revision, session };
        Ok(Stored { checkpoint, steps, revision: self.revision })
    }
}

/// Reads the steps after a revision, of which none may be missing.
pub(super) fn entries(id: &str, rows: Vec<StepRow>, revision: u64) -> Result<Vec<LogEntry>, StoreError> {
    let damaged = |step: u64, fault: String| StoreError::Damaged { id: id.to_owned(), step, fault };
    let entry = |(row, expected): (StepRow, u64)| {
        if row.revision != expected {
            return Err(damaged(expected, "the step is missing".to_owned()));
        }
        let step = row.step().map_err(|fault| damaged(expected, fault))?;
        Ok(LogEntry { at_millis: row.at_millis, step })
    };
    rows.into_iter().zip(revision + 1..).map(entry).collect()
}

impl StepRow {
    fn step(&self) -> Result<Step, String> {
        match self.kind.as_str() {
            "undo" => Ok(Step::Undo),
            "redo" => Ok(Step::Redo),
            _ => {
                let op = self.op.as_deref().unwrap_or_default();
                let op: SessionOp = serde_json::from_str(op).map_err(|error| error.to_string())?;
                Ok(Step::Do { label: self.label.clone().unwrap_or_default(), op: Box::new(op) })
            }
        }
    }
}

/// Returns the kind, the label and the operation of a step, as they are stored.
pub(super) fn columns<'a>(
    id: &str,
    revision: u64,
    step: &'a Step,
) -> Result<(&'static str, Option<&'a str>, Option<String>), StoreError> {
    Ok(match step {
        Step::Do { label, op } => ("do", Some(label), Some(written(id, revision, op)?)),
        Step::Undo => ("undo", None, None),
        Step::Redo => ("redo", None, None),
    })
}

fn written(id: &str, step: u64, op: &SessionOp) -> Result<String, StoreError> {
    let fault =
        |error: serde_json::Error| StoreError::Damaged { id: id.to_owned(), step, fault: error.to_string() };
    serde_json::to_string(op).map_err(fault)
}

/// Writes a conversation as a file has it.
pub(super) fn checkpoint_text(id: &str, session: &Session) -> Result<String, StoreError> {
    serde_json::to_string(session).map_err(|error| StoreError::Damaged {
        id: id.to_owned(),
        step: 0,
        fault: error.to_string(),
    })
}

/// Databases have signed numbers alone; a count of steps is far below their end.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
