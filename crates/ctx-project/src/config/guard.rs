//! Limits an untrusted `ctx.toml` to its own folder.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};
use serde_json::Value;

use crate::error::{ProjectError, Result};

use super::NAME;
use super::document::ConfigDocument;
use super::nearest::is_same;
use super::reach::{MAX_ITEMS, Withheld, count_outside};
use super::trust::{TrustState, Trusted};
use crate::{files, home};

/// A `ctx.toml` that needs the user's trust.
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    /// Name of the file.
    pub name: &'a str,
    /// Keys of the notice; in a question, all keys that reach outside the folder. A reply trusts the whole file.
    pub withheld: &'a [Withheld],
    /// Reason why the file is not trusted.
    pub state: &'a TrustState,
    /// Message about ignored keys. If it is set, the run continues and the user is not asked.
    pub notice: Option<&'a Phrase>,
}

impl Untrusted<'_> {
    /// Returns the number of items that reach outside the folder if it exceeds the limit for a question.
    pub fn too_many(&self) -> Option<usize> {
        Some(count_outside(self.withheld)).filter(|count| *count > MAX_ITEMS)
    }
}

/// The user's reply to the question whether to trust a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Trust the file until it changes.
    Yes,
    /// Do not trust the file.
    No,
    /// There is no terminal for a question.
    NotAsked,
}

/// Asks the user whether to trust a file. Clones share the function that asks.
#[derive(Clone)]
pub struct Ask(Arc<dyn Fn(&Untrusted<'_>) -> Answer + Send + Sync>);

impl Ask {
    /// Asks with a function. The function can capture context, such as the user's language.
    pub fn by(ask: impl Fn(&Untrusted<'_>) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask")
    }
}

/// The keys of a file that have no effect until the user trusts it. Empty for the user's own file.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    document: ConfigDocument,
    /// Targets of the file's paths when it was read.
    targets: Vec<(String, PathBuf)>,
    /// All keys that need trust. A question shows every one, even if the run does not use it.
    items: Vec<Withheld>,
    /// Withheld keys that the run may need.
    withheld: Vec<Withheld>,
    /// Withheld keys that the run can ignore and that were not reported yet: the user's own file replaces them, or
    /// few runs need them.
    unreported: RefCell<Vec<Withheld>>,
    /// Keys that are withheld from requests only.
    request_keys: Vec<Withheld>,
    state: TrustState,
    /// Whether the user trusted the file during this run.
    is_agreed: Cell<bool>,
    ask: Option<Ask>,
}

impl Guard {
    /// Creates the guard of a file. `own` is the value of the user's own file.
    ///
    /// The guard is empty if the file is the user's own, is trusted, or reaches nothing outside its folder. An
    /// unreadable record of trusted folders trusts no folder. Runs that need no trust then still work.
    pub(super) fn of(found: &ConfigDocument, own: &Value, ask: Option<Ask>) -> Self {
        let items = found.withheld();
        if items.is_empty() || home::configuration().is_some_and(|own| is_same(&own, &found.folder)) {
            return Self::default();
        }
        let targets = found.targets();
        let state = Trusted::read().unwrap_or_default().state_at(found, &targets);
        if state == TrustState::Trusted {
            return Self::default();
        }
        let (mut unreported, withheld): (Vec<_>, Vec<_>) =
            items.iter().cloned().partition(|withheld| withheld.is_optional(own));
        // Without an endpoint of the user's own, the model selects the tokenizer and the context window of local
        // work, and compaction is previewed. Requests ignore both, because they may carry a key from the environment
        // or the command line.
        let is_local = own.get("endpoint").is_none() && own.get("model").is_none();
        let is_for_requests = |withheld: &mut Withheld| {
            let is_one = ["/model", "/compression"].contains(&withheld.pointer.as_str());
            is_local && is_one && own.pointer(&withheld.pointer).is_none()
        };
        let request_keys = unreported.extract_if(.., is_for_requests).collect();
        Self {
            document: found.clone(),
            targets,
            items,
            withheld,
            unreported: RefCell::new(unreported),
            request_keys,
            state,
            is_agreed: Cell::new(false),
            ask,
        }
    }

    /// Returns whether the guard withholds any key.
    pub(super) fn withholds(&self) -> bool {
        !self.document.name.is_empty() && !self.is_agreed.get()
    }

    /// Returns the value of a file without the withheld keys.
    pub(super) fn effective(&self, file: &Value) -> Value {
        let mut file = file.clone();
        for withheld in self.withheld.iter().chain(&*self.unreported.borrow()) {
            let (table, key) = withheld.pointer.rsplit_once('/').unwrap_or_default();
            if let Some(table) = file.pointer_mut(table).and_then(Value::as_object_mut) {
                table.shift_remove(key);
            }
        }
        file
    }

    /// Keeps only the withheld keys with matching pointers. A question still shows all keys.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.withheld.retain(|withheld| is_wanted(&withheld.pointer));
        self.unreported.get_mut().retain(|withheld| is_wanted(&withheld.pointer));
    }

    /// Withholds the keys that requests ignore. Returns whether there are any.
    pub(super) fn withhold_from_requests(&mut self) -> bool {
        let keys = std::mem::take(&mut self.request_keys);
        let is_any = !keys.is_empty();
        self.unreported.get_mut().extend(keys);
        is_any
    }

    /// Ignores the withheld keys with matching pointers and reports them once.
    pub(super) fn ignore(&self, is_wanted: impl Fn(&str) -> bool) {
        let more = self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer)).cloned();
        self.report(|withheld| is_wanted(&withheld.pointer), more);
    }

    /// Reports ignored keys once: the matching keys in `unreported`, and `more`.
    fn report(&self, is_wanted: impl Fn(&Withheld) -> bool, more: impl Iterator<Item = Withheld>) {
        let (mut reported, unreported) = self.unreported.take().into_iter().partition(is_wanted);
        self.unreported.replace(unreported);
        reported.extend(more);
        if let (false, false, Some(Ask(ask))) = (reported.is_empty(), self.is_agreed.get(), &self.ask) {
            let notice = phrase!(
                "`{name}` {state}; ignored: {keys}; to use these, read the file, then run `ctx trust \
                {folder}`",
                name = &self.document.name,
                state = self.state.phrase(),
                keys = keys(&reported),
                folder = self.folder()
            );
            ask(&Untrusted { withheld: &reported, notice: Some(&notice), ..self.untrusted() });
        }
    }

    fn untrusted(&self) -> Untrusted<'_> {
        Untrusted { name: &self.document.name, withheld: &self.items, state: &self.state, notice: None }
    }

    /// Returns the folder of the file as an argument of a command line.
    fn folder(&self) -> String {
        folder_name(&self.document.folder)
    }

    /// Lets a run use the keys with matching pointers.
    ///
    /// If such a key is withheld and the user's own file does not replace it, asks the user. Returns a usage error
    /// with a fix if the user cannot be asked.
    pub(super) fn allow(&self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        self.allow_unless(|pointer, _| is_wanted(pointer))
    }

    /// Like [`allow`](Self::allow), but matches a key by its pointer and the option that replaces it.
    pub(super) fn allow_unless(&self, is_wanted: impl Fn(&str, Option<&str>) -> bool) -> Result<()> {
        let wanted = self.withheld.iter().filter(|withheld| is_wanted(&withheld.pointer, withheld.option));
        let wanted: Vec<&Withheld> = wanted.collect();
        if self.is_agreed.get() || wanted.is_empty() {
            self.report(|withheld| is_wanted(&withheld.pointer, withheld.option), std::iter::empty());
            return Ok(());
        }
        let untrusted = self.untrusted();
        let answer = self.ask.as_ref().map_or(Answer::NotAsked, |Ask(ask)| ask(&untrusted));
        match answer {
            Answer::Yes => {}
            Answer::No => {
                return Err(ProjectError::Usage(phrase!(
                    "`{name}` {state}; use `--no-config` to ignore it",
                    name = &self.document.name,
                    state = self.state.phrase()
                )));
            }
            Answer::NotAsked => return Err(ProjectError::Usage(self.fixes(&wanted))),
        }
        Trusted::add_at(&self.document, &self.targets)?;
        self.is_agreed.set(true);
        Ok(())
    }

    /// Describes the fixes for keys that the run needs and the guard withholds.
    fn fixes(&self, wanted: &[&Withheld]) -> Phrase {
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
                "`{name}` {state}; read it, then run `ctx trust {folder}`, or name the file on the command \
                line, or set {keys} in your own `ctx.toml`",
                name,
                state,
                folder,
                keys
            );
        }
        phrase!(
            "`{name}` {state}; read it, then run `ctx trust {folder}`, or use {options}, or set {keys} in \
            your own `ctx.toml`",
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

/// Returns the name of a folder for a command line.
fn folder_name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { files::shell_word(folder) }
}

/// Reports that a file in a parent folder is ignored because it or the folder belongs to another user.
pub(super) fn report_foreign(folder: &Path, ask: Option<&Ask>) {
    let Some(Ask(ask)) = ask else { return };
    let name = files::name(&folder.join(NAME));
    let notice = phrase!(
        "ignoring `{name}`: the file or its folder belongs to another user; to use it, read it, then run `ctx trust {folder}`",
        name = &name,
        folder = folder_name(folder)
    );
    ask(&Untrusted { name: &name, withheld: &[], state: &TrustState::New, notice: Some(&notice) });
}

/// Returns whether a `ctx.toml` is a link out of its folder. Diagnostics would show lines of another file. The user's own
/// file may be such a link.
pub fn is_link_out(folder: &Path) -> bool {
    files::leads_out(Path::new(NAME), folder)
        && !home::configuration().is_some_and(|own| is_same(&own, folder))
}

/// Rejects a `ctx.toml` that is a link out of its folder.
pub(super) fn refuse_link(folder: &Path) -> Result<()> {
    if is_link_out(folder) {
        let name = files::name(&folder.join(NAME));
        let message =
            phrase!("`{name}` is a link to a path outside its folder; use `--no-config` to ignore it", name);
        return Err(ProjectError::Usage(message));
    }
    Ok(())
}
