//! What a `ctx.toml` that was found may do: nothing outside of its folder, unless the user trusts it.

use ctx_types::phrase;
use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::error::{ProjectError, Result};
use serde_json::Value;

use super::nearest::is_same;
use super::reach::{self, Withheld};
use super::trust::Trusted;
use super::{NAME, parse, shown, too_large};
use crate::sources::Sources;
use crate::{files, home};

/// A file of defaults in a folder.
#[derive(Debug)]
pub struct ConfigDocument {
    /// The folder, as it is seen from the working folder.
    pub folder: PathBuf,
    /// How results and findings speak of it.
    pub name: String,
    /// What the file holds.
    pub bytes: Vec<u8>,
    /// The same, parsed.
    pub value: Value,
}

impl ConfigDocument {
    /// Returns what of it counts only where it is trusted.
    pub fn withheld(&self) -> Vec<Withheld> {
        reach::withheld(&self.value, &self.folder)
    }
}

/// Reads the file of a folder, and keeps its text for findings.
pub fn found_in(folder: &Path, sources: &mut Sources) -> Result<ConfigDocument> {
    let path = folder.join(NAME);
    let name = files::name(&path);
    let bytes = files::read(&path)?;
    sources.files_read.note(&path);
    if let Some(fault) = too_large(&bytes, &name) {
        return Err(ProjectError::Unusable(fault));
    }
    sources.add(&name, &shown(&bytes));
    let value = parse(&bytes, &name, sources).map_err(|fault| sources.failure(*fault))?;
    Ok(ConfigDocument { folder: folder.to_owned(), name, bytes, value })
}

/// A `ctx.toml` that was found and that asks for more than it may by itself.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// What it asks for.
    pub withheld: &'a [Withheld],
    /// It was trusted with something else in it.
    pub is_changed: bool,
}

impl Untrusted<'_> {
    /// Says how it stands with the file, behind its name.
    pub const fn state(&self) -> &'static str {
        if self.is_changed { "was changed since it was trusted" } else { "is not trusted" }
    }
}

/// What a user says who is asked whether a file is trusted from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is, until it changes.
    Yes,
    /// It is not.
    No,
    /// Nobody is there to be asked.
    NotAsked,
}

/// Asks the user whether a file is trusted from now on.
pub type Ask = fn(&Untrusted<'_>) -> Answer;

/// What of a file is withheld until the user trusts it; nothing of the user's own file.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    folder: PathBuf,
    name: String,
    bytes: Vec<u8>,
    withheld: Vec<Withheld>,
    /// The folder was trusted with something else in its file.
    is_changed: bool,
    /// The user has agreed during this run.
    is_agreed: Cell<bool>,
    ask: Option<Ask>,
}

impl Guard {
    /// Guards a file that was found, unless it is the user's own, is trusted or reaches nowhere.
    ///
    /// A record of trusted folders that cannot be read trusts none: a run that needs no trust goes on without it.
    pub(super) fn of(found: &ConfigDocument, ask: Option<Ask>) -> Self {
        let withheld = found.withheld();
        if withheld.is_empty() || home::configuration().is_some_and(|own| is_same(&own, &found.folder)) {
            return Self::default();
        }
        let trusted = Trusted::read().unwrap_or_default();
        if trusted.holds(&found.folder, &found.bytes) {
            return Self::default();
        }
        Self {
            folder: found.folder.clone(),
            name: found.name.clone(),
            bytes: found.bytes.clone(),
            withheld,
            is_changed: trusted.held(&found.folder),
            is_agreed: Cell::new(false),
            ask,
        }
    }

    /// Tells whether something of the file is withheld.
    pub(super) fn withholds(&self) -> bool {
        !self.withheld.is_empty() && !self.is_agreed.get()
    }

    /// Tells whether a key is withheld.
    pub(super) fn withholds_at(&self, pointer: &str) -> bool {
        self.withholds() && self.withheld.iter().any(|withheld| withheld.pointer == pointer)
    }

    /// Returns what of a file counts: all but what is withheld.
    pub(super) fn counting(&self, file: &Value) -> Value {
        let mut file = file.clone();
        for withheld in &self.withheld {
            let (table, key) = withheld.pointer.rsplit_once('/').unwrap_or_default();
            if let Some(table) = file.pointer_mut(table).and_then(Value::as_object_mut) {
                table.shift_remove(key);
            }
        }
        file
    }

    /// Lets a run use the keys whose pointers are wanted: where one is withheld, the user is asked; where that is not
    /// possible, it is an error that says what to do.
    pub(super) fn allow(&self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        if self.is_agreed.get() || !self.withheld.iter().any(|withheld| is_wanted(&withheld.pointer)) {
            return Ok(());
        }
        let untrusted = Untrusted { name: &self.name, withheld: &self.withheld, is_changed: self.is_changed };
        let answer = self.ask.map_or(Answer::NotAsked, |ask| ask(&untrusted));
        let (name, state) = (&self.name, untrusted.state());
        match answer {
            Answer::Yes => {}
            Answer::No => {
                return Err(ProjectError::Usage(phrase!(
                    "`{name}` {state}; `--no-config` leaves it out",
                    name,
                    state
                )));
            }
            Answer::NotAsked => {
                let folder = match self.folder.as_os_str().is_empty() {
                    true => ".".to_owned(),
                    false => files::name(&self.folder),
                };
                return Err(ProjectError::Usage(phrase!(
                    "`{name}` {state}; read it, then run `ctx trust {folder}`; or give the values as options, if the command has them; or leave the file out with `--no-config`",
                    name,
                    state,
                    folder
                )));
            }
        }
        Trusted::add(&self.folder, &self.bytes)?;
        self.is_agreed.set(true);
        Ok(())
    }
}

/// Refuses a file that was found and is a link to another one elsewhere: findings show lines of it.
pub(super) fn refuse_link(folder: &Path) -> Result<()> {
    if files::leads_out(Path::new(NAME), folder) {
        let name = files::name(&folder.join(NAME));
        let message =
            phrase!("`{name}` is a link that leads out of its folder; `--no-config` leaves it out", name);
        return Err(ProjectError::Usage(message));
    }
    Ok(())
}
