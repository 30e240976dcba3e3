//! A conversation in a file, which is written again as it was but for what was changed, or in the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{ProjectError, Result, unusable};
use ctx_chat::{Conversation, LogEntry, LogPosition, SqliteStore, Step};
use ctx_compress::mask::check_summaries;
use ctx_engine::Format;
use ctx_operations::check::pointer_in;
use ctx_types::internal::excerpt;
use ctx_types::session::{History, HistoryEntry, HistoryError, Session, SessionOp};
use ctx_types::{Diagnostic, Phrase, phrase};
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
    origin: Origin,
    /// The conversation.
    pub session: Arc<Session>,
    /// The steps that can be taken back.
    pub history: History,
    /// What is odd about the file, its log and its summaries.
    pub found: Vec<Diagnostic>,
}

/// Where a conversation comes from, and how it is written there.
#[derive(Clone, Debug)]
enum Origin {
    File(FileOrigin),
    Store(StoreOrigin),
}

#[derive(Clone, Debug)]
struct FileOrigin {
    path: PathBuf,
    /// What the file holds.
    bytes: Vec<u8>,
    format: Format,
}

#[derive(Clone, Debug)]
struct StoreOrigin {
    store: SqliteStore,
    position: LogPosition,
    /// The steps that were taken here and are not stored.
    steps: Vec<LogEntry>,
}

/// Where a changed conversation goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere: what would be written is only told.
    Nowhere,
    /// Over its own file, or into its store.
    InPlace,
    /// To another file.
    Other(PathBuf),
}

impl SessionFile {
    /// Reads a conversation that may be written to a target; one that cannot be is refused at once.
    pub fn open(path: &Path, target: &Target, sources: &mut Sources) -> Result<Self> {
        refuse_stdin(path, target)?;
        let mut file = Self::parse(path, sources.read(path, &files::name(path))?, sources)?;
        file.check(target)?;
        if let (Target::Other(_), Origin::File(origin)) = (target, &file.origin)
            && !origin.is_editable()
        {
            let lost = digits::lost(&origin.bytes, [&file.to_json()]);
            file.found.extend(lost.map(|lost| lost.in_document(&*file.name)));
        }
        Ok(file)
    }

    /// Loads a conversation of a store.
    pub fn stored(store: &SqliteStore, id: &str) -> Result<Self> {
        let (session, history, position) = pollster::block_on(Conversation::load(store, id))?.into_parts();
        let found = found_in(&session, id);
        let origin = Origin::Store(StoreOrigin { store: store.clone(), position, steps: Vec::new() });
        Ok(Self { name: id.to_owned(), origin, session: Arc::new(session), history, found })
    }

    /// Returns what the file held when it was read; nothing of one in a store.
    pub fn bytes(&self) -> &[u8] {
        match &self.origin {
            Origin::File(origin) => &origin.bytes,
            Origin::Store(_) => &[],
        }
    }

    /// Returns how many steps a store has of it; none of one in a file.
    pub fn revision(&self) -> Option<u64> {
        match &self.origin {
            Origin::File(_) => None,
            Origin::Store(origin) => Some(origin.position.revision()),
        }
    }

    /// Returns the conversation of a store, for the turns of a chat; none of one in a file. O(messages).
    pub fn to_conversation(&self) -> Option<Conversation> {
        let Origin::Store(origin) = &self.origin else { return None };
        let (session, history) = (Session::clone(&self.session), self.history.clone());
        Some(Conversation::of_parts(&self.name, session, history, origin.position))
    }

    /// Returns why the file cannot be changed in place, if it cannot.
    pub fn refusal(&self) -> Option<Phrase> {
        let reason = self.check(&Target::InPlace).err()?.phrase();
        let help = phrase!(
            "convert it with `ctx session import {file}`, then `ctx session export ID --out FILE`",
            file = files::shell_word(Path::new(&self.name))
        );
        Some(phrase!("{reason}; {out}", reason, out = help))
    }

    /// Returns the format of a list of messages, which has no undo history.
    pub fn list_form(&self) -> Option<Format> {
        match &self.origin {
            Origin::File(origin) if origin.format != Format::Session => Some(origin.format),
            _ => None,
        }
    }

    /// Returns whether it has another form than a session, such as a list of messages.
    pub fn is_list(&self) -> bool {
        self.list_form().is_some()
    }

    /// Reads the conversation again, as it is now.
    pub fn read_again(&self, sources: &mut Sources) -> Result<Self> {
        match &self.origin {
            Origin::File(FileOrigin { path, bytes, .. }) if files::is_stdin(path) => {
                Self::parse(path, bytes.clone(), sources)
            }
            Origin::File(FileOrigin { path, .. }) => Self::parse(path, files::read(path)?, sources),
            Origin::Store(origin) => Self::stored(&origin.store, &self.name),
        }
    }

    /// Takes the steps that others have stored since; one in a file stays as it is. O(messages), and much less than loading
    /// it.
    pub fn catch_up(&mut self) -> Result<()> {
        let Origin::Store(StoreOrigin { store, position, .. }) = &mut self.origin else { return Ok(()) };
        let log = (Arc::make_mut(&mut self.session), &mut self.history);
        if !matches!(pollster::block_on(position.catch_up(store, &self.name, log)), Ok(true)) {
            *self = self.read_again(&mut Sources::default())?;
            return Ok(());
        }
        self.found = found_in(&self.session, &self.name);
        Ok(())
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
        let origin = Origin::File(FileOrigin { path: path.to_owned(), bytes, format: imported.format });
        Ok(Self { name: file.name, origin, session: Arc::new(imported.value), history, found })
    }

    /// Carries out a step and notes it in the log under a name for people.
    ///
    /// A first step makes all nodes name the way to the active leaf, so that its way back holds all of them. Where
    /// that is too much for the log, they are made to name it before, which changes nothing that anybody sees.
    pub fn apply(&mut self, label: &str, at_millis: i64, op: &SessionOp) -> Result<(), HistoryError> {
        if let Origin::Store(origin) = &mut self.origin {
            self.history.apply(Arc::make_mut(&mut self.session), label, Some(at_millis), op.clone())?;
            let step = Step::Do { label: label.to_owned(), op: Box::new(op.clone()) };
            origin.steps.push(LogEntry { at_millis: Some(at_millis), step });
            return Ok(());
        }
        let before = (self.session.clone(), self.history.clone());
        if !self.note(label, at_millis, op)? {
            (self.session, self.history) = before;
            let id = self.session.active_leaf_id().clone();
            Arc::make_mut(&mut self.session).apply(&SessionOp::ActivateLeaf { id })?;
            if !self.note(label, at_millis, op)? {
                let message = phrase!("`undo` cannot revert `{label}`: it is too large for the log", label);
                self.found.push(Diagnostic::warning(codes::UNLOGGED_STEP, message).in_document(&*self.name));
            }
        }
        self.history.write(&mut Arc::make_mut(&mut self.session).header);
        Ok(())
    }

    /// Carries out a step; tells whether the log has room for it.
    fn note(&mut self, label: &str, at_millis: i64, op: &SessionOp) -> Result<bool, HistoryError> {
        self.history.apply(Arc::make_mut(&mut self.session), label, Some(at_millis), op.clone())?;
        Ok(self.history.undoable().last().is_some_and(|entry| entry.op == *op))
    }

    /// Takes the latest step back and returns its name.
    pub fn undo(&mut self) -> Result<String, HistoryError> {
        let label = self.history.undo(Arc::make_mut(&mut self.session))?;
        self.went(Step::Undo);
        Ok(label.to_string())
    }

    /// Does again what was taken back last and returns its name.
    pub fn redo(&mut self) -> Result<String, HistoryError> {
        let label = self.history.redo(Arc::make_mut(&mut self.session))?;
        self.went(Step::Redo);
        Ok(label.to_string())
    }

    /// Notes a step along the log.
    fn went(&mut self, step: Step) {
        match &mut self.origin {
            Origin::File(_) => self.history.write(&mut Arc::make_mut(&mut self.session).header),
            Origin::Store(origin) => origin.steps.push(LogEntry { at_millis: None, step }),
        }
    }

    /// Refuses a target that would not come back as it was.
    pub fn check(&self, target: &Target) -> Result<(), ProjectError> {
        match (target, &self.origin) {
            (Target::InPlace, Origin::File(origin)) => {
                refuse_stdin(&origin.path, target)?;
                origin.check(&self.name)
            }
            (Target::InPlace | Target::Nowhere | Target::Other(_), _) => Ok(()),
        }
    }

    /// Writes the conversation; tells whether that was wanted.
    ///
    /// A file that somebody else has changed since it was read is not written over; that nobody does so between the
    /// look and the writing is what a lock is for, which other runs of the command take too.
    pub fn save(&mut self, target: &Target, read: &FilesRead) -> Result<bool> {
        self.check(target)?;
        let session = &*self.session;
        match (target, &mut self.origin) {
            (Target::Nowhere, _) => return Ok(false),
            (Target::Other(path), origin) => {
                let json = serde_json::json!(session);
                let bytes = match origin {
                    Origin::File(origin) if origin.is_editable() => origin.edited(&self.name, &json)?,
                    Origin::File(_) | Origin::Store(_) => files::pretty_json(&json),
                };
                files::write(&[(path.clone(), &bytes)], Existing::Named, read)?;
            }
            (Target::InPlace, Origin::File(origin)) => {
                origin.save(&self.name, &serde_json::json!(session))?;
            }
            (Target::InPlace, Origin::Store(StoreOrigin { store, position, steps })) => {
                let file = (session, &self.history);
                pollster::block_on(position.append(store, &self.name, steps.clone(), file))?;
                steps.clear();
            }
        }
        Ok(true)
    }

    /// Returns what would be written.
    pub fn to_json(&self) -> Value {
        serde_json::json!(*self.session)
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

impl FileOrigin {
    /// Refuses a file that would not come back as it was.
    fn check(&self, name: &str) -> Result<(), ProjectError> {
        let refused = |reason: Phrase| Err(ProjectError::Usage(reason));
        let long = std::str::from_utf8(&self.bytes).ok().and_then(digits::first);
        let reason = if self.format != Format::Session {
            let format = Phrase::from(self.format.as_str());
            phrase!("cannot store this in `{name}` ({format})", name, format)
        } else if self.is_editable() {
            return Ok(());
        } else {
            phrase!("cannot change `{name}`: it is not plain JSON", name)
        };
        refused(match long {
            Some((number, _)) => phrase!(
                "{reason}; write `{number}` as a string to keep its digits",
                reason,
                number = excerpt(&number)
            ),
            None => reason,
        })
    }

    /// Returns whether the file can be written again as it is, but for what was changed.
    fn is_editable(&self) -> bool {
        self.format == Format::Session && files::is_editable(&self.bytes)
    }

    /// Returns the file with what was changed.
    fn edited(&self, name: &str, json: &Value) -> Result<Vec<u8>> {
        files::edited(&self.bytes, json).map_err(|reason| {
            unusable!(
                "nothing written: cannot change `{name}` without losses: {reason}; write long numbers as \
                strings",
                name,
                reason
            )
        })
    }

    /// Writes the file, if it still holds what was read.
    fn save(&mut self, name: &str, json: &Value) -> Result<()> {
        let bytes = self.edited(name, json)?;
        // That this run has read it does not matter: this is what the user asked for.
        files::replace(&self.path, &self.bytes, &bytes, &FilesRead::default())?;
        self.bytes = bytes;
        Ok(())
    }
}

/// Refuses to write to standard input.
fn refuse_stdin(path: &Path, target: &Target) -> Result<(), ProjectError> {
    if *target == Target::InPlace && files::is_stdin(path) {
        return Err(ProjectError::Usage(phrase!("cannot write to standard input")));
    }
    Ok(())
}

/// Adds to a refused target what to do instead.
pub fn with_way_out(way_out: Phrase) -> impl FnOnce(ProjectError) -> ProjectError {
    move |error| match error {
        ProjectError::Usage(reason) => ProjectError::Usage(phrase!("{reason}; {out}", reason, out = way_out)),
        error => error,
    }
}

/// Returns what is odd about the summaries of a conversation in a store.
fn found_in(session: &Session, id: &str) -> Vec<Diagnostic> {
    check_summaries(session).into_iter().map(|found| found.in_document(id)).collect()
}
