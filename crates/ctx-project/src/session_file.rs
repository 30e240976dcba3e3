//! A conversation's file that is written again as it was, but for what was changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{ProjectError, Result, unusable};
use ctx_compress::mask::check_summaries;
use ctx_engine::Format;
use ctx_operations::check::pointer_in;
use ctx_types::{
    Diagnostic, History, HistoryEntry, HistoryError, Phrase, Session, SessionOp, excerpt, phrase,
};
use serde_json::Value;

use crate::codes;
use crate::digits;
use crate::files::{self, Existing, FilesRead};
use crate::inputs::{self, InputFile};
use crate::sources::Sources;

/// A conversation, the log of its steps, and the way back into its file.
#[derive(Clone, Debug)]
pub struct SessionFile {
    /// How results and findings speak of it.
    pub name: String,
    path: PathBuf,
    /// What the file holds.
    bytes: Vec<u8>,
    format: Format,
    /// The conversation.
    pub session: Session,
    /// The steps that can be taken back.
    pub history: History,
    /// What is odd about the file, its log and its summaries.
    pub found: Vec<Diagnostic>,
}

/// Where a changed conversation goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere: what would be written is only told.
    Nowhere,
    /// Over its own file.
    InPlace,
    /// To another file.
    Other(PathBuf),
}

impl SessionFile {
    /// Reads a conversation that may be written to a target; one that cannot be is refused at once.
    pub fn open(path: &Path, target: &Target, sources: &mut Sources) -> Result<Self> {
        if *target == Target::InPlace && files::is_stdin(path) {
            let message = phrase!("standard input cannot be written; `--out FILE` writes another file");
            return Err(ProjectError::Usage(message));
        }
        let mut file = Self::read(path, sources)?;
        file.check(target)?;
        if matches!(target, Target::Other(_)) && !file.is_editable() {
            let lost = digits::lost(&file.bytes, [&file.to_json()]);
            file.found.extend(lost.map(|lost| lost.in_document(&*file.name)));
        }
        Ok(file)
    }

    /// Reads a conversation in any form.
    fn read(path: &Path, sources: &mut Sources) -> Result<Self> {
        let name = files::name(path);
        let bytes = sources.read(path, &name)?;
        Self::parse(path, bytes, sources)
    }

    /// Returns what the file held when it was read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns why the file cannot be changed in place, if it cannot.
    pub fn refusal(&self) -> Option<Phrase> {
        self.check(&Target::InPlace).err().map(|error| error.phrase())
    }

    /// Returns whether it has another form than a session, such as a list of messages.
    pub fn is_list(&self) -> bool {
        self.format != Format::Session
    }

    /// Reads the file again, as it is now.
    pub fn read_again(&self, sources: &mut Sources) -> Result<Self> {
        let bytes = if files::is_stdin(&self.path) { self.bytes.clone() } else { files::read(&self.path)? };
        Self::parse(&self.path, bytes, sources)
    }

    fn parse(path: &Path, bytes: Vec<u8>, sources: &mut Sources) -> Result<Self> {
        let file = InputFile { bytes: Some(bytes.clone()), ..InputFile::from(path) };
        let imported = inputs::conversation(&file, sources)?;
        let (history, odd) = History::read(&imported.value.header);
        let of_tree = odd.into_iter().chain(check_summaries(&imported.value)).map(|mut found| {
            found.location.pointer = pointer_in(imported.format, found.location.pointer.take());
            found.in_document(&*file.name)
        });
        let found = imported.diagnostics.into_iter().chain(of_tree).collect();
        let (session, format) = (imported.value, imported.format);
        Ok(Self { name: file.name, path: path.to_owned(), bytes, format, session, history, found })
    }

    /// Carries out a step and notes it in the log under a name for people.
    ///
    /// A first step makes all nodes name the way to the active leaf, so that its way back holds all of them. Where
    /// that is too much for the log, they are made to name it before, which changes nothing that anybody sees.
    pub fn apply(&mut self, label: &str, at_millis: i64, op: &SessionOp) -> Result<(), HistoryError> {
        let before = (self.session.clone(), self.history.clone());
        if !self.note(label, at_millis, op)? {
            (self.session, self.history) = before;
            let id = self.session.active_leaf_id().clone();
            self.session.apply(&SessionOp::ActivateLeaf { id })?;
            if !self.note(label, at_millis, op)? {
                let message = phrase!(
                    "the step `{label}` is too large for the log and cannot be taken back by `undo`",
                    label
                );
                self.found.push(Diagnostic::warning(codes::UNLOGGED_STEP, message).in_document(&*self.name));
            }
        }
        self.history.write(&mut self.session.header);
        Ok(())
    }

    /// Carries out a step; tells whether the log has room for it.
    fn note(&mut self, label: &str, at_millis: i64, op: &SessionOp) -> Result<bool, HistoryError> {
        self.history.apply(&mut self.session, label, Some(at_millis), op.clone())?;
        Ok(self.history.undoable().last().is_some_and(|entry| entry.op == *op))
    }

    /// Takes the latest step back and returns its name.
    pub fn undo(&mut self) -> Result<String, HistoryError> {
        let label = self.history.undo(&mut self.session)?;
        self.history.write(&mut self.session.header);
        Ok(label.to_string())
    }

    /// Does again what was taken back last and returns its name.
    pub fn redo(&mut self) -> Result<String, HistoryError> {
        let label = self.history.redo(&mut self.session)?;
        self.history.write(&mut self.session.header);
        Ok(label.to_string())
    }

    /// Refuses a target that would not come back as it was.
    fn check(&self, target: &Target) -> Result<(), ProjectError> {
        if *target != Target::InPlace {
            return Ok(());
        }
        let refused = |reason: Phrase| Err(ProjectError::Usage(reason));
        let name = &self.name;
        let long = std::str::from_utf8(&self.bytes).ok().and_then(digits::first);
        let help = if let Some((number, _)) = long {
            phrase!(
                "save it as a session in plain JSON, with `{number}` as a string, for it would lose digits",
                number = excerpt(&number)
            )
        } else {
            phrase!("`session import` and `session export ID --out FILE` write it as a session")
        };
        if self.format != Format::Session {
            return refused(phrase!(
                "`{name}` is {format}, which cannot hold this; {help}",
                name,
                format = self.format.to_string(),
                help
            ));
        }
        match self.is_editable() {
            true => Ok(()),
            false => refused(phrase!(
                "`{name}` is not plain JSON and would not be restored exactly; {help}",
                name,
                help
            )),
        }
    }

    /// Writes the conversation; tells whether that was wanted.
    ///
    /// A file that somebody else has changed since it was read is not written over; that nobody does so between the
    /// look and the writing is what a lock is for, which other runs of the command take too.
    pub fn save(&self, target: &Target, read: &FilesRead) -> Result<bool> {
        self.check(target)?;
        match target {
            Target::Nowhere => return Ok(false),
            Target::Other(path) => {
                let bytes = match self.is_editable() {
                    true => self.edited()?,
                    false => files::pretty_json(&self.to_json()),
                };
                files::write(&[(path.clone(), &bytes)], Existing::Named, read)?;
            }
            Target::InPlace => {
                let bytes = self.edited()?;
                let _lock = files::lock(&self.path)?;
                files::refuse_changed(&self.path, &self.bytes)?;
                // That this run has read it does not matter: this is what the user asked for.
                files::write(&[(self.path.clone(), &bytes)], Existing::Named, &FilesRead::default())?;
            }
        }
        Ok(true)
    }

    /// Returns whether the file can be written again as it is, but for what was changed.
    fn is_editable(&self) -> bool {
        self.format == Format::Session && files::is_editable(&self.bytes)
    }

    /// Returns the file with what was changed.
    fn edited(&self) -> Result<Vec<u8>> {
        files::edited(&self.bytes, &self.to_json()).map_err(|reason| {
            unusable!(
                "`{name}` would not be restored exactly: {reason}; nothing is written; write long numbers in it as strings",
                name = self.name,
                reason
            )
        })
    }

    /// Returns what would be written.
    pub fn to_json(&self) -> Value {
        serde_json::json!(self.session)
    }

    /// Returns what the log holds, for programs: the steps that can be taken back and done again, the latest first.
    pub fn steps_json(&self) -> Value {
        let steps = |entries: &[Arc<HistoryEntry>]| {
            let step = |entry: &Arc<HistoryEntry>| serde_json::json!({ "label": entry.label, "atMillis": entry.at_millis });
            entries.iter().rev().map(step).collect::<Value>()
        };
        serde_json::json!({ "undo": steps(self.history.undoable()), "redo": steps(self.history.redoable()) })
    }
}
