//! What a `ctx.toml` that was found may do: nothing outside of its folder, unless the user trusts it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_types::{Argument, Divider, Phrase, phrase};
use serde_json::Value;

use crate::error::{ProjectError, Result};

use super::NAME;
use super::document::ConfigDocument;
use super::nearest::is_same;
use super::reach::Withheld;
use super::trust::Trusted;
use crate::{files, home};

/// A `ctx.toml` that was found and that asks for more than it may by itself.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// What it asks for.
    pub withheld: &'a [Withheld],
    /// It was trusted with something else in it.
    pub is_changed: bool,
    /// What the user is told where the run goes on without what it asks for; then nobody is asked.
    pub notice: Option<&'a Phrase>,
}

impl Untrusted<'_> {
    /// Describes how it stands with the file, behind its name.
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

/// Asks the user whether a file is trusted from now on. A clone shares what asks.
#[derive(Clone)]
pub struct Ask(Arc<dyn Fn(&Untrusted<'_>) -> Answer + Send + Sync>);

impl Ask {
    /// Asks by a function, which may hold what it needs to, such as the language of whoever is asked.
    pub fn by(ask: impl Fn(&Untrusted<'_>) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask")
    }
}

/// What of a file is withheld until the user trusts it; nothing of the user's own file.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    folder: PathBuf,
    name: String,
    bytes: Vec<u8>,
    /// What nothing else stands in for.
    withheld: Vec<Withheld>,
    /// What the run goes on without, until it is told: the user's own file says it too, or it is seldom needed.
    untold: RefCell<Vec<Withheld>>,
    /// The folder was trusted with something else in its file.
    is_changed: bool,
    /// The user has agreed during this run.
    is_agreed: Cell<bool>,
    ask: Option<Ask>,
}

impl Guard {
    /// Guards a file that was found, unless it is the user's own, is trusted or reaches nowhere; `own` is the value of
    /// the user's own file.
    ///
    /// A record of trusted folders that cannot be read trusts none: a run that needs no trust goes on without it.
    pub(super) fn of(found: &ConfigDocument, own: &Value, ask: Option<Ask>) -> Self {
        let withheld = found.withheld();
        if withheld.is_empty() || home::configuration().is_some_and(|own| is_same(&own, &found.folder)) {
            return Self::default();
        }
        let trusted = Trusted::read().unwrap_or_default();
        if trusted.holds(&found.folder, &found.bytes) {
            return Self::default();
        }
        let (untold, withheld) = withheld.into_iter().partition(|withheld| withheld.is_dispensable(own));
        Self {
            folder: found.folder.clone(),
            name: found.name.clone(),
            bytes: found.bytes.clone(),
            withheld,
            untold: RefCell::new(untold),
            is_changed: trusted.held(&found.folder),
            is_agreed: Cell::new(false),
            ask,
        }
    }

    /// Returns whether something of the file is withheld.
    pub(super) fn withholds(&self) -> bool {
        !self.name.is_empty() && !self.is_agreed.get()
    }

    /// Returns what of a file counts: all but what is withheld.
    pub(super) fn counting(&self, file: &Value) -> Value {
        let mut file = file.clone();
        for withheld in self.withheld.iter().chain(&*self.untold.borrow()) {
            let (table, key) = withheld.pointer.rsplit_once('/').unwrap_or_default();
            if let Some(table) = file.pointer_mut(table).and_then(Value::as_object_mut) {
                table.shift_remove(key);
            }
        }
        file
    }

    /// Forgets all keys but those whose pointers are wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.withheld.retain(|withheld| is_wanted(&withheld.pointer));
        self.untold.get_mut().retain(|withheld| is_wanted(&withheld.pointer));
    }

    /// Leaves out the keys whose pointers are wanted where they are withheld, and tells so once.
    pub(super) fn leave_out(&self, is_wanted: impl Fn(&str) -> bool) {
        self.tell(&is_wanted, self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer)).cloned());
    }

    /// Tells once which keys are left out: those that the run goes on without, and `more`.
    fn tell(&self, is_wanted: impl Fn(&str) -> bool, more: impl Iterator<Item = Withheld>) {
        let (mut told, untold) =
            self.untold.take().into_iter().partition(|withheld: &Withheld| is_wanted(&withheld.pointer));
        self.untold.replace(untold);
        told.extend(more);
        if let (false, false, Some(Ask(ask))) = (told.is_empty(), self.is_agreed.get(), &self.ask) {
            let notice = phrase!(
                "`{name}` {state}; left out: {keys}; to use this, read the file, then run `ctx trust {folder}`",
                name = &self.name,
                state = self.untrusted().state(),
                keys = keys(&told),
                folder = self.folder()
            );
            ask(&Untrusted { withheld: &told, notice: Some(&notice), ..self.untrusted() });
        }
    }

    fn untrusted(&self) -> Untrusted<'_> {
        Untrusted { name: &self.name, withheld: &self.withheld, is_changed: self.is_changed, notice: None }
    }

    /// The folder of the file, for a command line.
    fn folder(&self) -> String {
        match self.folder.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => files::name(&self.folder),
        }
    }

    /// Lets a run use the keys whose pointers are wanted: where one is withheld and the user's own file has none, the
    /// user is asked; where that is not possible, it is an error that says what to do.
    pub(super) fn allow(&self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        let wanted = self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer));
        let wanted: Vec<&Withheld> = wanted.collect();
        if self.is_agreed.get() || wanted.is_empty() {
            self.tell(is_wanted, std::iter::empty());
            return Ok(());
        }
        let untrusted = self.untrusted();
        let answer = self.ask.as_ref().map_or(Answer::NotAsked, |Ask(ask)| ask(&untrusted));
        match answer {
            Answer::Yes => {}
            Answer::No => {
                return Err(ProjectError::Usage(phrase!(
                    "`{name}` {state}; `--no-config` leaves it out",
                    name = &self.name,
                    state = untrusted.state()
                )));
            }
            Answer::NotAsked => return Err(ProjectError::Usage(self.ways_out(&wanted, untrusted.state()))),
        }
        Trusted::add(&self.folder, &self.bytes)?;
        self.is_agreed.set(true);
        Ok(())
    }

    /// Says what to do where keys are needed and withheld.
    fn ways_out(&self, wanted: &[&Withheld], state: &str) -> Phrase {
        let name = &self.name;
        let folder = self.folder();
        let mut options: Vec<&str> = wanted.iter().filter_map(|withheld| withheld.option).collect();
        options.dedup();
        if options.contains(&"--key-env") {
            options.retain(|option| *option != "--key-file");
        }
        let keys = keys(wanted.iter().copied());
        if options.is_empty() {
            return phrase!(
                "`{name}` {state}; read it, then run `ctx trust {folder}`; or name the file on the command line, or set {keys} in your own `ctx.toml`",
                name,
                state,
                folder,
                keys
            );
        }
        phrase!(
            "`{name}` {state}; read it, then run `ctx trust {folder}`; or give {options}, or set {keys} in your own `ctx.toml`",
            name,
            state,
            folder,
            options = Argument::names(options, Divider::And),
            keys
        )
    }
}

fn keys<'a>(withheld: impl IntoIterator<Item = &'a Withheld>) -> Argument {
    Argument::names(withheld.into_iter().map(Withheld::key), Divider::And)
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
