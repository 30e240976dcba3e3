//! Defaults from `ctx.toml`: the nearest file in the working folder or a parent, on top of the user's own file.

mod check;
mod document;
mod guard;
mod key_table;
mod named;
mod nearest;
mod reach;
mod read;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ctx_engine::Engine;
use ctx_processors::internal::ids;
use ctx_tokens::ModelTable;
use ctx_types::internal::canonical_id;
use ctx_types::{CachePolicy, Diagnostic, Severity, phrase};
use serde_json::Value;

use crate::endpoint::EndpointConfig;
use crate::error::{ProjectError, Result};
use crate::files;
use crate::home;
use crate::inputs::{self, InputFile};
use crate::named::missing;
use crate::options::{ConfigOptions, EndpointOptions, OnLoss, TurnOptions};
pub use crate::secrets::covered;
use crate::sources::Sources;

pub use check::check;
pub(crate) use document::MAX_BYTES;
pub use document::{ConfigDocument, found_in, is_config, is_there, value_of};
use guard::Guard;
pub use guard::{Answer, Ask, Untrusted, is_link_out};
pub use key_table::{
    ConfigFile, EndpointKeys, KeyRow, KeyRule, MaskKeys, PageAccess, Reach, ServeKeys, ToolKeys,
    ToolRuleKeys, ValueType, ZoneName, is_editable, locked_keys,
};
pub(crate) use key_table::{Secrecy, find, rule_of};
use nearest::Nearest;
pub use reach::{MAX_ITEMS, Withheld, WithheldItem, by_reach, count_outside};
pub use trust::{TrustState, Trusted};

/// File name.
const NAME: &str = "ctx.toml";

/// Defaults for the command line.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Name of the file, if there is one.
    pub name: Option<String>,
    /// The user's settings of processors, in the form of an agent's `parameters`.
    pub user_parameters: Option<Value>,
    /// Diagnostics of the file.
    pub found: Vec<Diagnostic>,
    /// Keys without effect until the user trusts the file.
    guard: Guard,
    /// Folder of the file. Its paths are relative to this folder.
    folder: PathBuf,
    /// Files that the file names, by key.
    files: Vec<DefaultFile>,
    /// Worldbooks that the file names.
    worldbooks: Vec<PathBuf>,
    /// The file that names the worldbooks.
    worldbooks_of: Rc<Origin>,
    /// The same defaults with the withheld keys, for when the user trusts the file during this run.
    trusted: Option<Box<Config>>,
    /// Endpoint of the provider.
    endpoint: EndpointConfig,
    /// Endpoints that replace an unavailable endpoint.
    fallbacks: Vec<EndpointConfig>,
    /// Endpoints of single agents of the gateway.
    agent_endpoints: Vec<EndpointConfig>,
    /// Settings of `ctx serve`.
    serve: Option<ServeConfig>,
    /// Endpoint for transcripts of recordings.
    transcription: EndpointConfig,
    /// Fields of requests that name a conversation.
    conversation_names: Vec<String>,
    /// The store of conversations.
    store: Option<PathBuf>,
    /// Rules for tool calls.
    tools: Option<Value>,
    /// Names of tools and categories in these rules.
    tool_names: Vec<ToolNames>,
    /// Folder that tools can read.
    tools_folder: Option<PathBuf>,
    /// Settings of compaction.
    compression: Option<Value>,
    /// Folder of attachments.
    assets: Option<PathBuf>,
    /// Model of requests.
    model: Option<String>,
    context_tokens: Option<u32>,
    reserve: Option<u32>,
    tz: Option<String>,
    on_loss: Option<OnLoss>,
}

/// Settings of `ctx serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeConfig {
    /// Agents by further model names.
    pub aliases: BTreeMap<String, String>,
    /// Origins of web pages that can send requests.
    pub origins: Vec<String>,
    /// Whether requests for models that no agent has are sent to the endpoint unchanged.
    pub passthrough: bool,
    /// Placement of cache marks in requests to Anthropic's API, if the client sets none.
    pub cache_marks: Option<CachePolicy>,
}

/// Files that `ctx.toml` adds to the files of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedFiles {
    /// Name of the `ctx.toml`.
    pub config: String,
    /// Keys and names of the files.
    pub files: Vec<(&'static str, String)>,
}

/// The file that sets a default, and its folder.
#[derive(Clone, Debug, Default)]
struct Origin {
    name: String,
    folder: PathBuf,
}

/// A default that is a file.
#[derive(Clone, Debug)]
struct DefaultFile {
    key: &'static str,
    path: PathBuf,
    origin: Rc<Origin>,
}

/// Names and categories in a rule that allows or denies tools.
#[derive(Clone, Debug)]
struct ToolNames {
    /// JSON pointer of the rule.
    pointer: String,
    categories: Vec<String>,
    tools: Vec<String>,
}

impl Config {
    /// Reads the nearest `ctx.toml` on top of the user's own file. Without either file, there are no defaults.
    ///
    /// Reports unknown keys. Returns an error for an unreadable file or a value of the wrong type, because without
    /// this value the command would do something unexpected.
    pub fn read(options: &ConfigOptions, sources: &mut Sources) -> Result<Self> {
        if options.is_ignored {
            return Ok(Self::default());
        }
        Self::read_nearest(nearest::folder(NAME), options, sources)
    }

    /// Like [`read`](Self::read), but starts in a given folder, whose path has no links.
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
        // If the nearest file is the user's own, it is trusted.
        let is_same = |nearest: &PathBuf| own.as_ref().is_some_and(|own| nearest::is_same(own, nearest));
        let nearest = nearest.and_then(|nearest| nearest.allowed(options.ask.as_ref()));
        let nearest = nearest.filter(|nearest| !is_same(nearest));
        let own = own.map(|folder| Self::read_file(&folder, sources)).transpose()?;
        let Some(folder) = nearest else { return Ok(own.map(|(own, _)| own).unwrap_or_default()) };
        guard::refuse_link(&folder)?;
        let found = Self::read_file(&folder, sources)?;
        Ok(Self::joined(found, own, options.ask.clone()))
    }

    /// Merges a `ctx.toml` with the user's own file. Removes the withheld keys first. Otherwise they would hide
    /// values of the user's own file.
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
        let effective = Self::of(&guard.effective(&found.value), &found.folder).named(&found);
        let effective = Self { found: config.found.clone(), ..effective };
        Self { guard, trusted: Some(Box::new(config.over(own.clone()))), ..effective.over(own) }
    }

    /// Reads the file of a folder. Returns its defaults and the document.
    fn read_file(folder: &Path, sources: &mut Sources) -> Result<(Self, ConfigDocument)> {
        let document = found_in(folder, sources)?;
        let config = Self::of(&document.value, folder).named(&document);
        if let Some(fault) = config.found.iter().find(|odd| odd.severity == Severity::Error) {
            return Err(sources.failure(fault.clone()));
        }
        Ok((config, document))
    }

    /// Sets the file that these defaults are from.
    fn named(self, document: &ConfigDocument) -> Self {
        let found = self.found.into_iter().map(|odd| odd.in_document(&*document.name)).collect();
        let origin = Rc::new(Origin { name: document.name.clone(), folder: document.folder.clone() });
        let files = self.files.into_iter().map(|file| DefaultFile { origin: origin.clone(), ..file });
        let files = files.collect();
        Self { name: Some(document.name.clone()), found, files, worldbooks_of: origin, ..self }
    }

    /// Fills in missing values from the user's own file.
    ///
    /// The endpoint always comes from one file only. Otherwise a key from one file could be sent to the base URL of
    /// another.
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
            agent_endpoints: if self.agent_endpoints.is_empty() {
                own.agent_endpoints
            } else {
                self.agent_endpoints
            },
            serve: self.serve.or(own.serve),
            transcription: self.transcription.over(own.transcription),
            store: self.store.or(own.store),
            compression: self.compression.or(own.compression),
            assets: self.assets.or(own.assets),
            conversation_names: Some(self.conversation_names)
                .filter(|names| !names.is_empty())
                .unwrap_or(own.conversation_names),
            model: self.model.or(own.model),
            context_tokens: self.context_tokens.or(own.context_tokens),
            reserve: self.reserve.or(own.reserve),
            tz: self.tz.or(own.tz),
            on_loss: self.on_loss.or(own.on_loss),
            ..self
        }
    }

    /// Returns the endpoint. The command line may replace parts of it.
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
        Ok(&self.effective().endpoint)
    }

    /// Returns the fallbacks in order.
    pub fn fallbacks(&self) -> Result<&[EndpointConfig]> {
        self.guard.allow(|pointer| pointer == "/fallbacks")?;
        Ok(&self.effective().fallbacks)
    }

    /// Returns the endpoints of single agents of the gateway.
    pub fn agent_endpoints(&self) -> Result<&[EndpointConfig]> {
        self.guard.allow(|pointer| pointer == "/endpoints")?;
        Ok(&self.effective().agent_endpoints)
    }

    /// Returns the defaults with the endpoint of `endpoints` that names the agent, and without fallbacks. Returns `None`
    /// if no endpoint names it.
    pub fn for_agent(&self, agent: &str) -> Result<Option<Self>> {
        let endpoints = self.agent_endpoints()?;
        let named = endpoints.iter().find(|endpoint| endpoint.agents.iter().any(|name| name == agent));
        Ok(named.map(|endpoint| {
            let mut config = self.effective().clone();
            config.guard.retain(|pointer| !pointer.starts_with("/endpoint/") && pointer != "/fallbacks");
            Self { endpoint: endpoint.clone(), fallbacks: Vec::new(), trusted: None, ..config }
        }))
    }

    /// Returns the settings of `ctx serve`. Reports withheld settings and ignores them.
    pub fn serve(&self) -> ServeConfig {
        self.guard.ignore(|pointer| pointer == "/serve");
        self.effective().serve.clone().unwrap_or_default()
    }

    /// Returns the defaults in effect: with the withheld keys if the user trusted the file during this run.
    fn effective(&self) -> &Self {
        self.trusted.as_deref().filter(|_| !self.guard.withholds()).unwrap_or(self)
    }

    /// Returns the fields of requests to `ctx serve` that name a conversation. Empty without the key.
    pub fn conversation_names(&self) -> &[String] {
        &self.effective().conversation_names
    }

    /// Returns the model of requests. Reports a withheld model and ignores it.
    pub fn model(&self) -> Option<&String> {
        self.guard.ignore(|pointer| pointer == "/model");
        self.effective().model.as_ref()
    }

    /// Returns the settings of compaction. Reports withheld settings and ignores them.
    pub fn compression(&self) -> Option<&Value> {
        self.guard.ignore(|pointer| pointer == "/compression");
        self.effective().compression.as_ref()
    }

    /// Returns the handling of parts of a request that the API dialect of the provider cannot express.
    pub fn on_loss(&self) -> OnLoss {
        self.on_loss.unwrap_or_default()
    }

    /// Returns the model of the endpoint.
    pub fn endpoint_model(&self) -> Option<&String> {
        self.effective().endpoint.model.as_ref()
    }

    /// Returns the endpoint for transcripts. Reports withheld keys and ignores them, because most turns have no
    /// recordings.
    pub fn transcription(&self) -> &EndpointConfig {
        self.guard.ignore(|pointer| pointer.starts_with("/transcription/"));
        &self.effective().transcription
    }

    /// Returns the folder of attachments. Reports a withheld folder and ignores it.
    pub fn assets(&self) -> Option<&Path> {
        self.guard.ignore(|pointer| pointer == "/assets");
        self.effective().assets.as_deref()
    }

    /// Returns the store of conversations, if one is set.
    pub fn store(&self) -> Result<Option<&Path>> {
        self.guard.allow(|pointer| pointer == "/store")?;
        Ok(self.effective().store.as_deref())
    }

    /// Returns the rules for tool calls and the folder that tools can read.
    ///
    /// `is_given` means that the command line names a folder. This folder then replaces the folder of `ctx.toml`, and
    /// only trusted rules apply.
    pub fn tools(&self, is_given: bool) -> Result<(Option<&Value>, Option<&Path>)> {
        if is_given {
            self.guard.ignore(|pointer| pointer == "/tools");
        } else {
            self.guard.allow(|pointer| pointer == "/tools")?;
        }
        let effective = self.effective();
        Ok((effective.tools.as_ref(), effective.tools_folder.as_deref()))
    }

    /// Removes the defaults of a conversation: its files, the default worldbooks, and the setting that enables or
    /// disables worldbooks.
    #[must_use]
    pub fn of_books(mut self) -> Self {
        self.trusted = self.trusted.map(|trusted| Box::new(trusted.of_books()));
        self.files.retain(|file| file.key == "models");
        self.guard.retain(|pointer| pointer == "/models");
        self.worldbooks.clear();
        let settings = self.user_parameters.as_mut().and_then(|parameters| parameters.get_mut("processors"));
        for setting in settings.and_then(Value::as_array_mut).into_iter().flatten() {
            let id = setting.get("id").and_then(Value::as_str).map(canonical_id);
            if id == Some(ids::WORLDBOOK_PROCESSOR) {
                setting.as_object_mut().map(|setting| setting.shift_remove("enabled"));
            }
        }
        self
    }

    /// Ignores the model of an untrusted file. The user's own endpoint may be set by the environment or the command
    /// line only, and this file must not select the model of requests to it.
    #[must_use]
    pub(crate) fn for_requests(mut self) -> Self {
        if self.guard.withhold_from_requests() {
            self.model = None;
        }
        self
    }

    /// Removes the default file of a key.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.trusted = self.trusted.map(|trusted| Box::new(trusted.without(key)));
        self.files.retain(|file| file.key != key);
        self.guard.retain(|pointer| pointer.strip_prefix('/') != Some(key));
        self
    }

    /// Fills in missing options of a turn. Returns the files that this adds to the files of the command line.
    pub fn complete(&self, turn: &mut TurnOptions, sources: &Sources) -> Result<Option<AddedFiles>> {
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
        Ok(self.added_files(&given))
    }

    /// Returns the default files that apply in addition to the files of the command line.
    ///
    /// `keys` lists file keys and whether the command line sets each. The user should learn which defaults join the
    /// agent or conversation that they named.
    pub fn added_files(&self, keys: &[(&'static str, bool)]) -> Option<AddedFiles> {
        let absent = keys.iter().filter(|(_, is_given)| !is_given);
        let taken = absent.filter_map(|(key, _)| Some((*key, files::name(&self.default_file(key)?.path))));
        let taken: Vec<_> = taken.collect();
        let is_named = keys.iter().any(|(key, is_given)| *is_given && *key != "profile");
        let is_worth_saying = is_named && !taken.is_empty();
        self.name.clone().filter(|_| is_worth_saying).map(|config| AddedFiles { config, files: taken })
    }

    /// Returns the file of the command line, or the default file of a key, which must exist.
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

    /// Returns the built-in table of models. The rows of the given file, or of the default file, come first.
    pub fn models(
        &self,
        given: Option<PathBuf>,
        sources: &mut Sources,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Arc<ModelTable>> {
        let mut models = Engine::new().models;
        if let Some(file) = self.file("models", given, sources)? {
            found.extend(inputs::add_models(&mut models, &InputFile::from(file), sources)?);
        }
        Ok(models)
    }

    fn default_file(&self, key: &str) -> Option<&DefaultFile> {
        self.effective().files.iter().find(|file| file.key == key)
    }

    /// Returns the conversation of the command line, or the default conversation.
    ///
    /// Returns a usage error if there is no conversation.
    pub fn conversation(&self, given: Option<PathBuf>, sources: &Sources) -> Result<PathBuf> {
        let named = self.file("session", given, sources)?;
        named.ok_or_else(|| {
            ProjectError::Usage(phrase!("no conversation given; name a file, or set `session` in `ctx.toml`"))
        })
    }

    /// Returns the default worldbooks, which must exist.
    fn worldbooks(&self, sources: &Sources) -> Result<Vec<PathBuf>> {
        self.guard.allow(|pointer| pointer == "/worldbooks")?;
        let effective = self.effective();
        for (index, path) in effective.worldbooks.iter().enumerate() {
            check_exists(path, &effective.worldbooks_of, &format!("/worldbooks/{index}"), sources)?;
        }
        Ok(effective.worldbooks.clone())
    }
}

fn check_exists(path: &Path, origin: &Origin, pointer: &str, sources: &Sources) -> Result<()> {
    match missing(path, &origin.folder, pointer) {
        None => Ok(()),
        Some(missing) => Err(sources.failure(missing.in_document(&*origin.name))),
    }
}

/// Returns the folder that contains all files of a test case.
pub(crate) fn project_of(case: &Path) -> Option<PathBuf> {
    nearest::project_of(case, NAME)
}

fn fill<T: Clone>(given: &mut Option<T>, default: Option<&T>) {
    if given.is_none() {
        *given = default.cloned();
    }
}

#[cfg(test)]
mod tests;
