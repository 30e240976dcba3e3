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
use super::reach::{MAX_ITEMS, Withheld, count_outside};
use super::trust::{TrustState, Trusted};
use crate::{files, home};

/// A `ctx.toml` that was found and that asks for more than it may by itself.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// What it asks for.
    pub withheld: &'a [Withheld],
    /// Why it is not trusted.
    pub state: &'a TrustState,
    /// What the user is told where the run goes on without what it asks for; then nobody is asked.
    pub notice: Option<&'a Phrase>,
}

impl Untrusted<'_> {
    /// Returns how many items reach outside, if they are too many to be asked about.
    pub fn too_many(&self) -> Option<usize> {
        Some(count_outside(self.withheld)).filter(|count| *count > MAX_ITEMS)
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
    document: ConfigDocument,
    /// Where its paths led when it was read.
    targets: Vec<(String, PathBuf)>,
    /// What nothing else stands in for.
    withheld: Vec<Withheld>,
    /// What the run goes on without, until it is told: the user's own file says it too, or it is seldom needed.
    untold: RefCell<Vec<Withheld>>,
    state: TrustState,
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
        let withheld = found.withheld(own);
        if withheld.is_empty() || home::configuration().is_some_and(|own| is_same(&own, &found.folder)) {
            return Self::default();
        }
        let targets = found.targets();
        let state = Trusted::read().unwrap_or_default().state_at(found, &targets);
        if state == TrustState::Trusted {
            return Self::default();
        }
        let (untold, withheld) = withheld.into_iter().partition(|withheld| withheld.is_dispensable(own));
        Self {
            document: found.clone(),
            targets,
            withheld,
            untold: RefCell::new(untold),
            state,
            is_agreed: Cell::new(false),
            ask,
        }
    }

    /// Returns whether something of the file is withheld.
    pub(super) fn withholds(&self) -> bool {
        !self.document.name.is_empty() && !self.is_agreed.get()
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
        let more = self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer)).cloned();
        self.tell(|withheld| is_wanted(&withheld.pointer), more);
    }

    /// Tells once which keys are left out: those that the run goes on without, and `more`.
    fn tell(&self, is_wanted: impl Fn(&Withheld) -> bool, more: impl Iterator<Item = Withheld>) {
        let (mut told, untold) = self.untold.take().into_iter().partition(is_wanted);
        self.untold.replace(untold);
        told.extend(more);
        if let (false, false, Some(Ask(ask))) = (told.is_empty(), self.is_agreed.get(), &self.ask) {
            let notice = phrase!(
                "`{name}` {state}; left out: {keys}; to use this, read the file, then run `ctx trust {folder}`",
                name = &self.document.name,
                state = self.state.phrase(),
                keys = keys(&told),
                folder = self.folder()
            );
            ask(&Untrusted { withheld: &told, notice: Some(&notice), ..self.untrusted() });
        }
    }

    fn untrusted(&self) -> Untrusted<'_> {
        Untrusted { name: &self.document.name, withheld: &self.withheld, state: &self.state, notice: None }
    }

    /// The folder of the file, for a command line.
    fn folder(&self) -> String {
        folder_name(&self.document.folder)
    }

    /// Lets a run use the keys whose pointers are wanted: where one is withheld and the user's own file has none, the
    /// user is asked; where that is not possible, it is an error that says what to do.
    pub(super) fn allow(&self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        self.allow_unless(|pointer, _| is_wanted(pointer))
    }

    /// As [`allow`](Self::allow), for what is wanted by its pointer and the option that replaces it.
    pub(super) fn allow_unless(&self, is_wanted: impl Fn(&str, Option<&str>) -> bool) -> Result<()> {
        let wanted = self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer, withheld.option));
        let wanted: Vec<&Withheld> = wanted.collect();
        if self.is_agreed.get() || wanted.is_empty() {
            self.tell(|withheld| is_wanted(&withheld.pointer, withheld.option), std::iter::empty());
            return Ok(());
        }
        let untrusted = self.untrusted();
        let answer = self.ask.as_ref().map_or(Answer::NotAsked, |Ask(ask)| ask(&untrusted));
        match answer {
            Answer::Yes => {}
            Answer::No => {
                return Err(ProjectError::Usage(phrase!(
                    "`{name}` {state}; `--no-config` leaves it out",
                    name = &self.document.name,
                    state = self.state.phrase()
                )));
            }
            Answer::NotAsked => return Err(ProjectError::Usage(self.ways_out(&wanted))),
        }
        Trusted::add_at(&self.document, &self.targets)?;
        self.is_agreed.set(true);
        Ok(())
    }

    /// Says what to do where keys are needed and withheld.
    fn ways_out(&self, wanted: &[&Withheld]) -> Phrase {
        let (name, state) = (&self.document.name, self.state.phrase());
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

/// The name of a folder, for a command line.
fn folder_name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { files::shell_word(folder) }
}

/// Says that a file above the working folder is not read, since it is another user's.
pub(super) fn tell_foreign(folder: &Path, ask: Option<&Ask>) {
    let Some(Ask(ask)) = ask else { return };
    let name = files::name(&folder.join(NAME));
    let notice = phrase!(
        "`{name}` belongs to another user and is not read; to use it, read it, then run `ctx trust {folder}`",
        name = &name,
        folder = folder_name(folder)
    );
    ask(&Untrusted { name: &name, withheld: &[], state: &TrustState::New, notice: Some(&notice) });
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
