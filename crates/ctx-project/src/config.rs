//! `ctx.toml`: defaults for the command line, in the working folder or one above it, and the user's own below them.

mod guard;
mod named;
mod nearest;
mod reach;
mod trust;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{ProjectError, Result};
use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel};
use ctx_engine::{Compile, Engine, ImportError, USER_SETTINGS};
use ctx_pipeline::{ProcessorSetting, canonical_id};
use ctx_processors::WorldbookProcessor;
use ctx_types::{Agent, ConfigField, Diagnostic, Phrase, Severity, Span, phrase};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::codes;
use crate::endpoint::{EndpointConfig, EndpointKeys};
use crate::files;
use crate::home;
use crate::keyed::{Filled, Meaning, Meaningless, Parsed, Shaped, Tokens, keyed};
use crate::keys::Keys;
use crate::named::missing;
use crate::options::{ConfigOptions, EndpointOptions, TurnOptions};
pub use crate::secrets::covered;
use crate::sources::Sources;
use crate::toml_document;
use crate::turn::check_zone;

use guard::Guard;
pub use guard::{Answer, Ask, ConfigDocument, Untrusted, found_in};
pub use reach::Withheld;
pub use trust::Trusted;

/// The name of the file.
const NAME: &str = "ctx.toml";

/// The largest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

keyed! {
    /// `ctx.toml`: defaults for the command line. Files are named as seen from the folder of `ctx.toml`.
    pub struct ConfigFile {
        /// The agent or preset.
        agent: Option<Filled> => "agent",
        /// The conversation.
        session: Option<Filled> => "session",
        /// The user profile.
        profile: Option<Filled> => "profile",
        /// A table of models, whose rows are tried before the built-in ones.
        models: Option<Filled> => "models",
        /// Where models are reached.
        endpoint: Option<Shaped<EndpointKeys>> => "endpoint",
        /// Where transcripts of recordings are made.
        transcription: Option<Shaped<EndpointKeys>> => "transcription",
        /// The user's settings of processors.
        processors: Option<Shaped<Vec<ProcessorSetting>>> => "processors",
        /// Worldbooks, which hold for every turn.
        worldbooks: Vec<String> => "worldbooks",
        /// The file that keeps conversations.
        store: Option<Filled> => "store",
        /// The folder of attached files.
        assets: Option<Filled> => "assets",
        /// Which tools may be called.
        tools: Option<Shaped<ToolKeys>> => "tools",
        /// When conversations are summarised, and how.
        compression: Option<Shaped<MaskKeys>> => "compression",
        /// The model.
        model: Option<String> => "model",
        /// How many tokens the context may have; 0 means the model's window.
        context_tokens: Option<Tokens> => "context-tokens",
        /// How many of them are kept free for the answer.
        reserve: Option<Tokens> => "reserve",
        /// The time zone, such as `Asia/Shanghai`.
        tz: Option<Parsed<ZoneName>> => "tz",
    }
}

/// The name of a time zone.
#[derive(Clone, Debug)]
pub struct ZoneName(pub String);

impl Meaning for ZoneName {
    fn parse(zone: &str) -> Result<Self, Meaningless> {
        check_zone(zone).map(|()| Self(zone.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

keyed! {
    /// What tools the model may call, and which of them.
    pub struct ToolKeys {
        /// The folder that the model may look into.
        folder: Option<Filled> => "folder",
        /// Whether each call waits until you agree.
        ask: bool => "ask",
        /// The tools that may be called; all if absent.
        allow: Option<Shaped<ToolRuleKeys>> => "allow",
        /// The tools that may not be called.
        deny: Option<Shaped<ToolRuleKeys>> => "deny",
    }
}

keyed! {
    /// Tools, by their names and categories.
    pub struct ToolRuleKeys {
        /// The categories.
        categories: Vec<String> => "categories",
        /// The names.
        tools: Vec<String> => "tools",
    }
}

/// When conversations are summarised, and how.
#[derive(Debug)]
pub struct MaskKeys;

impl JsonSchema for MaskKeys {
    fn schema_name() -> Cow<'static, str> {
        "Compression".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let field = |field: &ConfigField| (field.key.to_string(), Value::from(field.schema()));
        let fields: Map<String, Value> = MaskConfig::fields().iter().map(field).collect();
        let about = "When conversations are summarised, and how.";
        json_schema!({ "type": "object", "description": about, "properties": fields })
    }
}

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
    pub model: Option<String>,
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
        nearest: Option<PathBuf>,
        options: &ConfigOptions,
        sources: &mut Sources,
    ) -> Result<Self> {
        let own = home::configuration().filter(|folder| folder.join(NAME).is_file());
        // Whoever works beside their own file has not found a stranger's.
        let is_same = |nearest: &PathBuf| own.as_ref().is_some_and(|own| nearest::is_same(own, nearest));
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
        self.guard.allow(|pointer| match pointer {
            "/endpoint/base-url" | "/endpoint/headers" => given.base_url.is_none(),
            "/endpoint/dialect" => given.dialect.is_none() && given.base_url.is_none(),
            "/endpoint/key-env" | "/endpoint/key-file" => !has_key,
            pointer => pointer.starts_with("/endpoint/"),
        })?;
        Ok(&self.counting().endpoint)
    }

    /// Returns the defaults that count: all that are trusted.
    fn counting(&self) -> &Self {
        self.trusted.as_deref().filter(|_| !self.guard.withholds()).unwrap_or(self)
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

    fn of(value: &Value, folder: &Path) -> Self {
        let mut keys = match Keys::of(value) {
            Ok(keys) => keys,
            Err(fault) => return Self { found: vec![*fault], ..Self::default() },
        };
        let file = ConfigFile::read(&mut keys);
        let place = |path: &str| files::below(folder, path);
        let named = [
            ("agent", &file.agent),
            ("session", &file.session),
            ("profile", &file.profile),
            ("models", &file.models),
        ];
        let origin = Rc::new(Origin::default());
        let named = named.into_iter().filter_map(|(key, path)| {
            Some(DefaultFile { key, path: place(path.as_deref()?), origin: origin.clone() })
        });
        let files = named.collect();
        let (endpoint, odd) = endpoint_of(file.endpoint.as_ref(), "endpoint", &place);
        let (transcription, odder) = endpoint_of(file.transcription.as_ref(), "transcription", &place);
        let (tools_folder, tool_names, oddest) = tools_of(file.tools.as_ref(), &place);
        let parameters = |list: Value| Value::Object(Map::from_iter([("processors".to_owned(), list)]));
        Self {
            name: None,
            guard: Guard::default(),
            trusted: None,
            worldbooks_of: origin,
            user_parameters: file.processors.map(|list| parameters(list.value)),
            folder: folder.to_owned(),
            files,
            worldbooks: file.worldbooks.iter().map(|path| place(path)).collect(),
            endpoint,
            transcription,
            store: file.store.as_deref().map(place),
            assets: file.assets.as_deref().map(place),
            tools: file.tools.map(|shaped| shaped.value),
            tool_names,
            tools_folder,
            compression: file.compression.map(|shaped| shaped.value),
            model: file.model,
            context_tokens: file.context_tokens.map(|Tokens(tokens)| tokens),
            reserve: file.reserve.map(|Tokens(tokens)| tokens),
            tz: file.tz.map(|Parsed(ZoneName(zone))| zone),
            found: [keys.finish(), odd, odder, oddest].concat(),
        }
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
            self.guard.leave_out(|pointer| pointer == "/assets");
            turn.assets.clone_from(&self.counting().assets);
        }
        fill(&mut turn.model, self.model.as_ref());
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

/// Returns whether a folder has a file of defaults.
pub fn is_there(folder: &Path) -> bool {
    folder.join(NAME).is_file()
}

/// Returns the folder beyond which a case names no files.
pub fn project_of(case: &Path) -> Option<PathBuf> {
    nearest::project_of(case, NAME)
}

/// Reads the text of a file of defaults, whatever it sets; none if it is no TOML.
pub fn value_of(text: &str) -> Option<Value> {
    toml_document::read(text).ok()
}

/// Returns whether a path is that of a file of defaults.
pub fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME)
}

/// Checks the bytes of a file of defaults, and keeps their text: what reading them finds, what the settings of
/// processors and of compression are, and what it names.
///
/// What is no TOML at all is an error.
pub fn check(
    bytes: &[u8],
    path: &Path,
    engine: &Engine,
    sources: &mut Sources,
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let name = files::name(path);
    if let Some(fault) = too_large(bytes, &name) {
        return Err(Box::new(Diagnostic::error(codes::UNREADABLE_FILE, fault).in_document(&*name)));
    }
    sources.add(&name, &shown(bytes));
    let value = parse(bytes, &name, sources)?;
    let config = Config::of(&value, path.parent().unwrap_or(Path::new("")));
    let layer = |value: &Value| MaskLayer {
        level: MaskLevel::Global,
        value: value.clone(),
        pointer: "/compression".to_owned(),
    };
    let layers: Vec<MaskLayer> = config.compression.iter().map(layer).collect();
    let of_compression = MaskConfig::resolve(&layers).diagnostics;
    let with = Compile::default().with(|compile| compile.user_parameters = config.user_parameters.clone());
    let compiled = engine.compile(&Agent::default(), &with);
    let is_of_user = |found: &&Diagnostic| found.location.document.as_deref() == Some(USER_SETTINGS);
    let of_processors = compiled.diagnostics().iter().filter(is_of_user).cloned().collect();
    let file =
        ConfigDocument { folder: config.folder.clone(), name: name.clone(), bytes: bytes.to_vec(), value };
    let is_guarded = Guard::of(&file, &Value::Null, None).withholds();
    let named = named::faults(&config, engine, is_guarded);
    let found = [config.found, of_compression, of_processors, named].concat();
    Ok(found.into_iter().map(|found| found.in_document(&*name)).collect())
}

/// Reads the table that says which tools may be called: where their folder is, which tools it names, and what is wrong
/// with the table.
fn tools_of(
    table: Option<&Shaped<ToolKeys>>,
    place: &dyn Fn(&str) -> PathBuf,
) -> (Option<PathBuf>, Vec<ToolNames>, Vec<Diagnostic>) {
    let Some(table) = table else { return (None, Vec::new(), Vec::new()) };
    let mut keys = match Keys::of(&table.value) {
        Ok(keys) => keys,
        Err(fault) => return (None, Vec::new(), below_pointer("/tools", vec![*fault])),
    };
    let file = ToolKeys::read(&mut keys);
    let mut found = below_pointer("/tools", keys.finish());
    let mut named = Vec::new();
    for (rules, pointer) in [(&file.allow, "/tools/allow"), (&file.deny, "/tools/deny")] {
        let Some(rules) = rules else { continue };
        match Keys::of(&rules.value) {
            Ok(mut keys) => {
                let ToolRuleKeys { categories, tools } = ToolRuleKeys::read(&mut keys);
                named.push(ToolNames { pointer: pointer.to_owned(), categories, tools });
                found.extend(below_pointer(pointer, keys.finish()));
            }
            Err(fault) => found.extend(below_pointer(pointer, vec![*fault])),
        }
    }
    (file.folder.as_deref().map(place), named, found)
}

/// Leads findings about a value to where that value stands.
fn below_pointer(pointer: &str, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for finding in &mut found {
        let below = finding.location.pointer.as_deref().unwrap_or_default();
        finding.location.pointer = Some(format!("{pointer}{below}"));
    }
    found
}

/// Reads a table that says where something is reached.
fn endpoint_of(
    table: Option<&Shaped<EndpointKeys>>,
    key: &'static str,
    place: &dyn Fn(&str) -> PathBuf,
) -> (EndpointConfig, Vec<Diagnostic>) {
    let read = table.map(|table| EndpointConfig::read(&table.value, place));
    let (endpoint, odd) = read.unwrap_or_default();
    (endpoint, below_pointer(&format!("/{key}"), odd))
}

/// Reports that bytes are more than are read.
fn too_large(bytes: &[u8], name: &str) -> Option<Phrase> {
    let is_larger = bytes.len() > MAX_BYTES;
    is_larger.then(|| phrase!("`{name}` is larger than {limit} KiB", name, limit = MAX_BYTES / 1024))
}

/// The bytes as findings show them: without what is nobody's business.
fn shown(bytes: &[u8]) -> Vec<u8> {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| covered(text).into_bytes())
}

fn parse(bytes: &[u8], name: &str, sources: &Sources) -> Result<Value, Box<Diagnostic>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let error = ImportError::NotText { offset: error.valid_up_to() };
        sources.explained(name, &error)
    })?;
    toml_document::read(text).map_err(|(message, range)| {
        let finding = Diagnostic::error(codes::TOML_SYNTAX, phrase!("invalid TOML: {message}", message));
        Box::new(finding.in_document(name).at_span(Span::new(range.start, range.end)))
    })
}

fn fill<T: Clone>(given: &mut Option<T>, default: Option<&T>) {
    if given.is_none() {
        *given = default.cloned();
    }
}

#[cfg(test)]
mod tests;
