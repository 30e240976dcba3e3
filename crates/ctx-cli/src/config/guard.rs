//! What a `ctx.toml` that was found may do: nothing outside of its folder, unless the user trusts it.

use std::cell::Cell;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use super::nearest::is_same;
use super::reach::{self, Withheld};
use super::trust::Trusted;
use super::{NAME, parse, shown, too_large};
use crate::exit::UsageError;
use crate::show::{self, Sources};
use crate::{files, home, lang};

/// A file of defaults in a folder.
pub(crate) struct Found {
    /// The folder, as it is seen from the working folder.
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    /// What the file holds.
    pub(crate) bytes: Vec<u8>,
    pub(crate) value: Value,
}

impl Found {
    /// Returns what of it counts only where it is trusted.
    pub(crate) fn withheld(&self) -> Vec<Withheld> {
        reach::withheld(&self.value, &self.folder)
    }
}

/// Reads the file of a folder, and keeps its text for findings.
pub(crate) fn found_in(folder: &Path, sources: &mut Sources) -> Result<Found> {
    let path = folder.join(NAME);
    let name = files::name(&path);
    let bytes = files::read(&path)?;
    sources.files_read.note(&path);
    if let Some(fault) = too_large(&bytes, &name) {
        bail!(fault);
    }
    sources.add(&name, &shown(&bytes));
    let value = parse(&bytes, &name, sources).map_err(|fault| sources.failure(&fault))?;
    Ok(Found { folder: folder.to_owned(), name, bytes, value })
}

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
}

impl Guard {
    /// Guards a file that was found, unless it is the user's own, is trusted or reaches nowhere.
    ///
    /// A record of trusted folders that cannot be read trusts none: a run that needs no trust goes on without it.
    pub(super) fn of(found: &Found) -> Self {
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

    /// Lets a run use the keys whose pointers are wanted: where one is withheld, the user is asked at a terminal, and
    /// elsewhere it is an error that says what to do.
    pub(super) fn allow(&self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        if self.is_agreed.get() || !self.withheld.iter().any(|withheld| is_wanted(&withheld.pointer)) {
            return Ok(());
        }
        for withheld in &self.withheld {
            tell(&self.name, withheld);
        }
        let name = &self.name;
        let state = if self.is_changed { "was changed since it was trusted" } else { "is not trusted" };
        if !is_asked() {
            let folder = match self.folder.as_os_str().is_empty() {
                true => ".".to_owned(),
                false => files::name(&self.folder),
            };
            let message = format!(
                "`{name}` {state}; read it, then run `ctx trust {folder}`; or give the values as options, if the command has them; or leave the file out with `--no-config`"
            );
            return Err(UsageError(message).into());
        }
        let question = lang::text(&format!("`{name}` {state}; trust it from now on? [y/N]")).into_owned();
        show::prompt(&format!("{question} "));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            return Err(UsageError(format!("`{name}` {state}; `--no-config` leaves it out")).into());
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
        let message = format!("`{name}` is a link that leads out of its folder; `--no-config` leaves it out");
        return Err(UsageError(message).into());
    }
    Ok(())
}

/// Tells whether somebody sits at a terminal.
fn is_asked() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Says what a file asks for.
pub(crate) fn tell(name: &str, withheld: &Withheld) {
    let Withheld { shown, .. } = withheld;
    show::remark(&format!("`{name}` sets `{}` to `{shown}`: {}", withheld.key(), withheld.about()));
}
