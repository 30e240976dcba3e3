//! `ctx.toml`: defaults for the command line, in the working folder or one above it, and the user's own below them.

mod check;
mod document;
mod guard;
mod key_table;
mod named;
mod nearest;
mod reach;
mod read;
mod trust;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ctx_pipeline::canonical_id;
use ctx_processors::WorldbookProcessor;
use ctx_types::{Diagnostic, Severity, phrase};
use serde_json::Value;

use crate::endpoint::EndpointConfig;
use crate::error::{ProjectError, Result};
use crate::files;
use crate::home;
use crate::named::missing;
use crate::options::{ConfigOptions, EndpointOptions, TurnOptions};
pub use crate::secrets::covered;
use crate::sources::Sources;

pub use check::check;
pub(crate) use document::MAX_BYTES;
pub use document::{ConfigDocument, found_in, is_config, is_there, value_of};
use guard::Guard;
pub use guard::{Answer, Ask, Untrusted};
pub use key_table::{
    ConfigFile, EndpointKeys, Holds, KeyRow, KeyRule, MaskKeys, PageAccess, Reach, ToolKeys, ToolRuleKeys,
    ZoneName, locked_keys,
};
pub(crate) use key_table::{Secrecy, find, rule_of};
use nearest::Nearest;
pub use reach::{MAX_ITEMS, Withheld, WithheldItem, count_outside};
pub use trust::{TrustState, Trusted};

/// The name of the file.
const NAME: &str = "ctx.toml";

/// Defaults for the command line.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The name of the file, if there is one.
    pub name: Option<String>,
    /// The user's settings of processors: an object as an agent's `parameters`.
    pub user_parameters: Option<Value>,
    /// What was found in it.
    pub found: Vec<Diagnostic>,
    /// What a file that was found may not do by itself.
    guard: Guard,
    /// The folder of the file, as seen from which it names others.
    folder: PathBuf,
    /// The files that it names, by their keys.
    files: Vec<DefaultFile>,
    /// The worldbooks that it names.
    worldbooks: Vec<PathBuf>,
    /// The file that names the worldbooks.
    worldbooks_of: Rc<Origin>,
    /// The same with what is withheld, for when the user trusts the file during this run.
    trusted: Option<Box<Config>>,
    /// Where models are reached.
    endpoint: EndpointConfig,
    /// Where models are reached while the endpoint does not answer.
    fallbacks: Vec<EndpointConfig>,
    /// Where transcripts of recordings are made.
    transcription: EndpointConfig,
    /// The file that keeps conversations.
    store: Option<PathBuf>,
    /// Which tools may be called.
    tools: Option<Value>,
    /// The tools and categories that these rules name.
    tool_names: Vec<ToolNames>,
    /// The folder that the model may look into.
    tools_folder: Option<PathBuf>,
    /// When conversations are summarised, and how.
    pub compression: Option<Value>,
    /// The folder of attached files.
    assets: Option<PathBuf>,
    /// The model that requests go to.
    model: Option<String>,
    context_tokens: Option<u32>,
    reserve: Option<u32>,
    tz: Option<String>,
}

/// Files that `ctx.toml` puts beside those that were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The name of the `ctx.toml`.
    pub config: String,
    /// The keys, and the names of the files.
    pub files: Vec<(&'static str, String)>,
}

/// The file that a default is from, and its folder.
#[derive(Clone, Debug, Default)]
struct Origin {
    name: String,
    folder: PathBuf,
}

/// A file that is a default.
#[derive(Clone, Debug)]
struct DefaultFile {
    key: &'static str,
    path: PathBuf,
    origin: Rc<Origin>,
}

/// The tools that may be called, or may not, by their names and categories.
#[derive(Clone, Debug)]
struct ToolNames {
    /// Where they are named.
    pointer: String,
    categories: Vec<String>,
    tools: Vec<String>,
}

impl Config {
    /// Reads the nearest file, in the working folder or above, over the user's own; without either there are no
    /// defaults.
    ///
    /// An unknown key is a finding. What cannot be read is an error, and so is a value of a wrong type: without
    /// it the command would do something else than its user thinks.
    pub fn read(options: &ConfigOptions, sources: &mut Sources) -> Result<Self> {
        if options.is_ignored {
            return Ok(Self::default());
        }
        Self::read_nearest(nearest::folder(NAME), options, sources)
    }

    /// As [`read`](Self::read), for another folder than the working folder, named without links.
    pub fn read_for(folder: &Path, options: &ConfigOptions, sources: &mut Sources) -> Result<Self> {
        if options.is_ignored {
            return Ok(Self::default());
        }
        Self::read_nearest(nearest::folder_from(folder, NAME), options, sources)
    }

    fn read_nearest(
        nearest: Option<Nearest>,
        options: &ConfigOptions,
        sources: &mut Sources,
    ) -> Result<Self> {
        let own = home::configuration().filter(|folder| folder.join(NAME).is_file());
        // Whoever works beside their own file has not found a stranger's.
        let is_same = |nearest: &PathBuf| own.as_ref().is_some_and(|own| nearest::is_same(own, nearest));
        let nearest = nearest.and_then(|nearest| nearest.allowed(options.ask.as_ref()));
        let nearest = nearest.filter(|nearest| !is_same(nearest));
        let own = own.map(|folder| Self::read_file(&folder, sources)).transpose()?;
        let Some(folder) = nearest else { return Ok(own.map(|(own, _)| own).unwrap_or_default()) };
        guard::refuse_link(&folder)?;
        let found = Self::read_file(&folder, sources)?;
        Ok(Self::joined(found, own, options.ask.clone()))
    }

    /// Joins a file that was found with the user's own. What is withheld is left out before: it must not stand in the
    /// way of what the user's own file says.
    fn joined(
        (config, found): (Self, ConfigDocument),
        own: Option<(Self, ConfigDocument)>,
        ask: Option<Ask>,
    ) -> Self {
        let (own, own_value) = own.map(|(own, document)| (own, document.value)).unzip();
        let own = own.unwrap_or_default();
        let guard = Guard::of(&found, &own_value.unwrap_or_default(), ask);
        if !guard.withholds() {
            return config.over(own);
        }
        let counting = Self::of(&guard.counting(&found.value), &found.folder).named(&found);
        let counting = Self { found: config.found.clone(), ..counting };
        Self { guard, trusted: Some(Box::new(config.over(own.clone()))), ..counting.over(own) }
    }

    /// Reads the file of a folder; returns its bytes and its value too.
    fn read_file(folder: &Path, sources: &mut Sources) -> Result<(Self, ConfigDocument)> {
        let document = found_in(folder, sources)?;
        let config = Self::of(&document.value, folder).named(&document);
        if let Some(fault) = config.found.iter().find(|odd| odd.severity == Severity::Error) {
            return Err(sources.failure(fault.clone()));
        }
        Ok((config, document))
    }

    /// Says which file these defaults are from.
    fn named(self, document: &ConfigDocument) -> Self {
        let found = self.found.into_iter().map(|odd| odd.in_document(&*document.name)).collect();
        let origin = Rc::new(Origin { name: document.name.clone(), folder: document.folder.clone() });
        let files = self.files.into_iter().map(|file| DefaultFile { origin: origin.clone(), ..file });
        let files = files.collect();
        Self { name: Some(document.name.clone()), found, files, worldbooks_of: origin, ..self }
    }

    /// Takes from the user's own file what this one does not say. Where requests go is said by one file alone: a key is
    /// not sent to the address of another.
    fn over(mut self, own: Self) -> Self {
        let is_missing = |file: &DefaultFile| self.files.iter().all(|named| named.key != file.key);
        let files: Vec<DefaultFile> = own.files.into_iter().filter(is_missing).collect();
        self.files.extend(files);
        if self.worldbooks.is_empty() {
            (self.worldbooks, self.worldbooks_of) = (own.worldbooks, own.worldbooks_of);
        }
        if self.tools.is_none() {
            (self.tools, self.tool_names, self.tools_folder) = (own.tools, own.tool_names, own.tools_folder);
        }
        Self {
            name: self.name.or(own.name),
            user_parameters: self.user_parameters.or(own.user_parameters),
            found: [own.found, self.found].concat(),
            endpoint: self.endpoint.over(own.endpoint),
            fallbacks: if self.fallbacks.is_empty() { own.fallbacks } else { self.fallbacks },
            transcription: self.transcription.over(own.transcription),
            store: self.store.or(own.store),
            compression: self.compression.or(own.compression),
            assets: self.assets.or(own.assets),
            model: self.model.or(own.model),
            context_tokens: self.context_tokens.or(own.context_tokens),
            reserve: self.reserve.or(own.reserve),
            tz: self.tz.or(own.tz),
            ..self
        }
    }

    /// Returns where models are reached, for a command line that may say some of it.
    pub fn endpoint(&self, given: &EndpointOptions) -> Result<&EndpointConfig> {
        let has_key = given.key_env.is_some() || given.key_file.is_some();
        self.guard.allow_unless(|pointer, option| {
            pointer.starts_with("/endpoint/")
                && match option {
                    Some("--base-url") => given.base_url.is_none(),
                    Some("--dialect") => given.dialect.is_none() && given.base_url.is_none(),
                    Some("--key-env" | "--key-file") => !has_key,
                    _ => true,
                }
        })?;
        Ok(&self.counting().endpoint)
    }

    /// Returns where models are reached while the endpoint does not answer, in order.
    pub fn fallbacks(&self) -> Result<&[EndpointConfig]> {
        self.guard.allow(|pointer| pointer == "/fallbacks")?;
        Ok(&self.counting().fallbacks)
    }

    /// Returns the defaults that count: all that are trusted.
    fn counting(&self) -> &Self {
        self.trusted.as_deref().filter(|_| !self.guard.withholds()).unwrap_or(self)
    }

    /// Returns the model that requests go to, if one is named. What is withheld is left out, and that is told.
    pub fn model(&self) -> Option<&String> {
        self.guard.leave_out(|pointer| pointer == "/model");
        self.counting().model.as_ref()
    }

    /// Returns the model of the endpoint.
    pub fn endpoint_model(&self) -> Option<&String> {
        self.counting().endpoint.model.as_ref()
    }

    /// Returns where transcripts of recordings are made. What is withheld is left out, and that is told: most turns have
    /// no recordings.
    pub fn transcription(&self) -> &EndpointConfig {
        self.guard.leave_out(|pointer| pointer.starts_with("/transcription/"));
        &self.counting().transcription
    }

    /// Returns the folder of attached files, if one is named. What is withheld is left out, and that is told.
    pub fn assets(&self) -> Option<&Path> {
        self.guard.leave_out(|pointer| pointer == "/assets");
        self.counting().assets.as_deref()
    }

    /// Returns the file that keeps conversations, if one is named.
    pub fn store(&self) -> Result<Option<&Path>> {
        self.guard.allow(|pointer| pointer == "/store")?;
        Ok(self.counting().store.as_deref())
    }

    /// Returns which tools may be called, and the folder that the model may look into; `is_given` says that a command
    /// line names a folder, which then is the only one, with no rules but those that are trusted.
    pub fn tools(&self, is_given: bool) -> Result<(Option<&Value>, Option<&Path>)> {
        if is_given {
            self.guard.leave_out(|pointer| pointer == "/tools");
        } else {
            self.guard.allow(|pointer| pointer == "/tools")?;
        }
        let counting = self.counting();
        Ok((counting.tools.as_ref(), counting.tools_folder.as_deref()))
    }

    /// Leaves out what decides about one conversation and not about books: agent, conversation, person, and whether
    /// books are searched at all.
    #[must_use]
    pub fn of_books(mut self) -> Self {
        self.trusted = self.trusted.map(|trusted| Box::new(trusted.of_books()));
        self.files.retain(|file| file.key == "models");
        self.guard.retain(|pointer| pointer == "/models");
        self.worldbooks.clear();
        let settings = self.user_parameters.as_mut().and_then(|parameters| parameters.get_mut("processors"));
        for setting in settings.and_then(Value::as_array_mut).into_iter().flatten() {
            let id = setting.get("id").and_then(Value::as_str).map(canonical_id);
            if id == Some(WorldbookProcessor::ID) {
                setting.as_object_mut().map(|setting| setting.shift_remove("enabled"));
            }
        }
        self
    }

    /// Leaves out the conversation, for what has one of its own.
    #[must_use]
    pub fn without_session(self) -> Self {
        self.without("session")
    }

    /// Leaves out the file under a key, for whoever wants none.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.trusted = self.trusted.map(|trusted| Box::new(trusted.without(key)));
        self.files.retain(|file| file.key != key);
        self.guard.retain(|pointer| pointer.strip_prefix('/') != Some(key));
        self
    }

    /// Fills in what a command line does not say about a turn, and returns which files that brings in beside those that
    /// it names.
    pub fn complete(&self, turn: &mut TurnOptions, sources: &Sources) -> Result<Option<Beside>> {
        let given = [("agent", &turn.agent), ("session", &turn.session), ("profile", &turn.profile)];
        let given = given.map(|(key, path)| (key, path.is_some()));
        turn.agent = self.file("agent", turn.agent.take(), sources)?;
        turn.session = self.file("session", turn.session.take(), sources)?;
        turn.profile = self.file("profile", turn.profile.take(), sources)?;
        turn.models = self.file("models", turn.models.take(), sources)?;
        if turn.worldbooks.is_empty() {
            turn.worldbooks = self.worldbooks(sources)?;
        }
        if turn.assets.is_none() {
            turn.assets = self.assets().map(Path::to_owned);
        }
        if turn.model.is_none() {
            turn.model = self.model().cloned();
        }
        fill(&mut turn.context_tokens, self.context_tokens.as_ref());
        fill(&mut turn.reserve, self.reserve.as_ref());
        fill(&mut turn.tz, self.tz.as_ref());
        Ok(self.beside(&given))
    }

    /// Returns which files are taken from here, of keys of which a command line gives some and not others: who names an
    /// agent or a conversation may not know what is put beside it.
    pub fn beside(&self, keys: &[(&'static str, bool)]) -> Option<Beside> {
        let absent = keys.iter().filter(|(_, is_given)| !is_given);
        let taken = absent.filter_map(|(key, _)| Some((*key, files::name(&self.default_file(key)?.path))));
        let taken: Vec<_> = taken.collect();
        let is_named = keys.iter().any(|(key, is_given)| *is_given && *key != "profile");
        let is_worth_saying = is_named && !taken.is_empty();
        self.name.clone().filter(|_| is_worth_saying).map(|config| Beside { config, files: taken })
    }

    /// Returns the file of a command line, or else the one under a key here; that must exist.
    pub fn file(&self, key: &str, given: Option<PathBuf>, sources: &Sources) -> Result<Option<PathBuf>> {
        if given.is_some() {
            return Ok(given);
        }
        let pointer = format!("/{key}");
        self.guard.allow(|withheld| withheld == pointer)?;
        let Some(file) = self.default_file(key) else { return Ok(None) };
        check_exists(&file.path, &file.origin, &pointer, sources)?;
        Ok(Some(file.path.clone()))
    }

    fn default_file(&self, key: &str) -> Option<&DefaultFile> {
        self.counting().files.iter().find(|file| file.key == key)
    }

    /// Returns the conversation of a command line, or else the one that is named here; a usage error that says how one
    /// is named if there is none.
    pub fn conversation(&self, given: Option<PathBuf>, how: &str, sources: &Sources) -> Result<PathBuf> {
        let named = self.file("session", given, sources)?;
        named.ok_or_else(|| ProjectError::Usage(phrase!("no conversation is named: {how}", how)))
    }

    /// Returns the worldbooks that are named here; they must exist.
    fn worldbooks(&self, sources: &Sources) -> Result<Vec<PathBuf>> {
        self.guard.allow(|pointer| pointer == "/worldbooks")?;
        let counting = self.counting();
        for (index, path) in counting.worldbooks.iter().enumerate() {
            check_exists(path, &counting.worldbooks_of, &format!("/worldbooks/{index}"), sources)?;
        }
        Ok(counting.worldbooks.clone())
    }
}

fn check_exists(path: &Path, origin: &Origin, pointer: &str, sources: &Sources) -> Result<()> {
    match missing(path, &origin.folder, pointer) {
        None => Ok(()),
        Some(missing) => Err(sources.failure(missing.in_document(&*origin.name))),
    }
}

/// Returns the folder beyond which a case names no files.
pub fn project_of(case: &Path) -> Option<PathBuf> {
    nearest::project_of(case, NAME)
}

fn fill<T: Clone>(given: &mut Option<T>, default: Option<&T>) {
    if given.is_none() {
        *given = default.cloned();
    }
}

#[cfg(test)]
mod tests;
