//! `ctx.toml`: defaults for the command line, in the working folder or one above it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ctx_compress::mask::MaskConfig;
use ctx_engine::ImportError;
use ctx_pipeline::{ProcessorSetting, canonical_id};
use ctx_types::{ConfigField, Diagnostic, Severity, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::args::{ConfigArguments, TurnArguments};
use crate::codes;
use crate::commands::endpoint::{EndpointConfig, EndpointKeys};
use crate::commands::turn::check_zone;
use crate::files;
use crate::keyed::{Meaning, Parsed, Shaped, Tokens, keyed};
use crate::keys::Keys;
use crate::secrets::covered;
use crate::show::Sources;
use crate::toml_document;

/// The name of the file.
const NAME: &str = "ctx.toml";

/// The largest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// How many folders above the working folder are looked into.
const MAX_PARENTS: usize = 64;

keyed! {
    /// `ctx.toml`: defaults for the command line. Files are named as seen from the folder of `ctx.toml`.
    pub(crate) struct ConfigFile {
        /// The agent or preset.
        agent: Option<String> => "agent",
        /// The conversation.
        session: Option<String> => "session",
        /// The user profile.
        profile: Option<String> => "profile",
        /// A table of models, whose rows are tried before the built-in ones.
        models: Option<String> => "models",
        /// Where models are reached.
        endpoint: Option<Shaped<EndpointKeys>> => "endpoint",
        /// Where transcripts of recordings are made.
        transcription: Option<Shaped<EndpointKeys>> => "transcription",
        /// The user's settings of processors.
        processors: Option<Shaped<Vec<ProcessorSetting>>> => "processors",
        /// Worldbooks, which hold for every turn.
        worldbooks: Vec<String> => "worldbooks",
        /// The file that keeps conversations.
        store: Option<String> => "store",
        /// The folder of attached files.
        assets: Option<String> => "assets",
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
pub(crate) struct ZoneName(pub(crate) String);

impl Meaning for ZoneName {
    fn parse(zone: &str) -> Result<Self, String> {
        check_zone(zone).map(|()| Self(zone.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

/// What tools the model may call, and which of them.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "it only says what the table may hold")]
pub(crate) struct ToolKeys {
    /// The folder that the model may look into.
    folder: Option<String>,
    /// Whether each call waits until you agree.
    ask: Option<bool>,
    /// The tools that may be called; all if absent.
    allow: Option<ToolRuleKeys>,
    /// The tools that may not be called.
    deny: Option<ToolRuleKeys>,
}

/// Tools, by their names and categories.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "it only says what the table may hold")]
struct ToolRuleKeys {
    /// The categories.
    categories: Option<Vec<String>>,
    /// The names.
    tools: Option<Vec<String>>,
}

/// When conversations are summarised, and how.
#[derive(Debug)]
pub(crate) struct MaskKeys;

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
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The name of the file, if there is one.
    pub(crate) name: Option<String>,
    /// The user's settings of processors: an object as an agent's `parameters`.
    pub(crate) user_parameters: Option<Value>,
    /// What was found in it.
    pub(crate) found: Vec<Diagnostic>,
    /// The files that it names, by their keys.
    files: Vec<(&'static str, PathBuf)>,
    /// The worldbooks that it names.
    worldbooks: Vec<PathBuf>,
    /// Where models are reached.
    pub(crate) endpoint: EndpointConfig,
    /// Where transcripts of recordings are made.
    pub(crate) transcription: EndpointConfig,
    /// The file that keeps conversations.
    pub(crate) store: Option<PathBuf>,
    /// Which tools may be called.
    pub(crate) tools: Option<Value>,
    /// When conversations are summarised, and how.
    pub(crate) compression: Option<Value>,
    /// The folder of attached files.
    assets: Option<PathBuf>,
    pub(crate) model: Option<String>,
    context_tokens: Option<u32>,
    reserve: Option<u32>,
    tz: Option<String>,
}

impl Config {
    /// Reads the nearest file, in the working folder or above; without one there are no defaults.
    ///
    /// An unknown key is a finding. What cannot be read is an error, and so is a value of a wrong type: without
    /// it the command would do something else than its user thinks.
    pub(crate) fn read(arguments: &ConfigArguments, sources: &mut Sources) -> Result<Self> {
        let nearest = if arguments.no_config { None } else { nearest() };
        let Some(folder) = nearest else { return Ok(Self::default()) };
        let path = folder.join(NAME);
        let name = files::name(&path);
        let bytes = files::read(&path)?;
        sources.files_read.note(&path);
        sources.add(&name, &shown(&bytes));
        if bytes.len() > MAX_BYTES {
            bail!("`{name}` is larger than {} KiB", MAX_BYTES / 1024);
        }
        let value = parse(&bytes, &name, sources)?;
        let config = Self::of(&value, &folder);
        let found: Vec<Diagnostic> =
            config.found.into_iter().map(|found| found.in_document(&*name)).collect();
        match found.iter().find(|found| found.severity == Severity::Error) {
            Some(fault) => Err(sources.failure(fault)),
            None => Ok(Self { name: Some(name), found, ..config }),
        }
    }

    fn of(value: &Value, folder: &Path) -> Self {
        let mut keys = match Keys::of(value) {
            Ok(keys) => keys,
            Err(fault) => return Self { found: vec![*fault], ..Self::default() },
        };
        let file = ConfigFile::read(&mut keys);
        let place = |path: &str| below(folder, path);
        let named = [
            ("agent", &file.agent),
            ("session", &file.session),
            ("profile", &file.profile),
            ("models", &file.models),
        ];
        let files =
            named.into_iter().filter_map(|(key, path)| Some((key, place(path.as_deref()?)))).collect();
        let (endpoint, odd) = endpoint_of(file.endpoint.as_ref(), "endpoint", &place);
        let (transcription, odder) = endpoint_of(file.transcription.as_ref(), "transcription", &place);
        let parameters = |list: Value| Value::Object(Map::from_iter([("processors".to_owned(), list)]));
        Self {
            name: None,
            user_parameters: file.processors.map(|list| parameters(list.value)),
            files,
            worldbooks: file.worldbooks.iter().map(|path| place(path)).collect(),
            endpoint,
            transcription,
            store: file.store.as_deref().map(place),
            assets: file.assets.as_deref().map(place),
            tools: file.tools.map(|shaped| shaped.value),
            compression: file.compression.map(|shaped| shaped.value),
            model: file.model,
            context_tokens: file.context_tokens.map(|Tokens(tokens)| tokens),
            reserve: file.reserve.map(|Tokens(tokens)| tokens),
            tz: file.tz.map(|Parsed(ZoneName(zone))| zone),
            found: [keys.finish(), odd, odder].concat(),
        }
    }

    /// Leaves out what decides about one conversation and not about books: agent, conversation, person, and whether
    /// books are searched at all.
    pub(crate) fn of_books(mut self) -> Self {
        self.files.retain(|(key, _)| *key == "models");
        self.worldbooks.clear();
        let settings = self.user_parameters.as_mut().and_then(|parameters| parameters.get_mut("processors"));
        for setting in settings.and_then(Value::as_array_mut).into_iter().flatten() {
            let id = setting.get("id").and_then(Value::as_str).map(canonical_id);
            if id == Some("worldbook-processor") {
                setting.as_object_mut().map(|setting| setting.shift_remove("enabled"));
            }
        }
        self
    }

    /// Fills in what a command line does not say about a turn.
    pub(crate) fn complete(&self, turn: &mut TurnArguments, sources: &Sources) -> Result<()> {
        turn.agent = self.file("agent", turn.agent.take(), sources)?;
        turn.session = self.file("session", turn.session.take(), sources)?;
        turn.profile = self.file("profile", turn.profile.take(), sources)?;
        turn.models = self.file("models", turn.models.take(), sources)?;
        if turn.worldbooks.is_empty() {
            turn.worldbooks = self.worldbooks(sources)?;
        }
        fill(&mut turn.assets, self.assets.as_ref());
        fill(&mut turn.model, self.model.as_ref());
        fill(&mut turn.context_tokens, self.context_tokens.as_ref());
        fill(&mut turn.reserve, self.reserve.as_ref());
        fill(&mut turn.tz, self.tz.as_ref());
        Ok(())
    }

    /// Returns the file of a command line, or else the one under a key here; that must exist.
    pub(crate) fn file(
        &self,
        key: &str,
        given: Option<PathBuf>,
        sources: &Sources,
    ) -> Result<Option<PathBuf>> {
        let default = self.files.iter().find(|(named, _)| *named == key).map(|(_, path)| path);
        if let (None, Some(path)) = (&given, default) {
            self.check_exists(path, &format!("/{key}"), sources)?;
        }
        Ok(given.or_else(|| default.cloned()))
    }

    /// Returns the worldbooks that are named here; they must exist.
    fn worldbooks(&self, sources: &Sources) -> Result<Vec<PathBuf>> {
        for (index, path) in self.worldbooks.iter().enumerate() {
            self.check_exists(path, &format!("/worldbooks/{index}"), sources)?;
        }
        Ok(self.worldbooks.clone())
    }

    fn check_exists(&self, path: &Path, pointer: &str, sources: &Sources) -> Result<()> {
        if path.exists() {
            return Ok(());
        }
        let message = format!("there is no file `{}`", files::name(path));
        let missing = Diagnostic::error(codes::UNREADABLE_FILE, message).at_pointer(pointer);
        Err(sources.failure(&missing.in_document(self.name.as_deref().unwrap_or_default())))
    }
}

/// Reads a table that says where something is reached.
fn endpoint_of(
    table: Option<&Shaped<EndpointKeys>>,
    key: &'static str,
    place: &dyn Fn(&str) -> PathBuf,
) -> (EndpointConfig, Vec<Diagnostic>) {
    let read = table.map(|table| EndpointConfig::read(&table.value, place));
    let (endpoint, mut odd) = read.unwrap_or_default();
    for finding in &mut odd {
        let pointer = finding.location.pointer.as_deref().unwrap_or_default();
        finding.location.pointer = Some(format!("/{key}{pointer}"));
    }
    (endpoint, odd)
}

/// The bytes as findings show them.
fn shown(bytes: &[u8]) -> Vec<u8> {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.to_vec(), |text| covered(text).into_bytes())
}

fn parse(bytes: &[u8], name: &str, sources: &Sources) -> Result<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let error = ImportError::NotText { offset: error.valid_up_to() };
        sources.explain(name, &error)
    })?;
    toml_document::read(text).map_err(|(message, range)| {
        let finding = Diagnostic::error(codes::TOML_SYNTAX, format!("invalid TOML: {message}"));
        sources.failure(&finding.in_document(name).at_span(Span::new(range.start, range.end)))
    })
}

/// Returns the nearest folder that holds the file, as it is seen from the working folder.
fn nearest() -> Option<PathBuf> {
    let above = std::env::current_dir().ok()?.ancestors().count().saturating_sub(1);
    let folders = (0..=above.min(MAX_PARENTS)).map(|levels| std::iter::repeat_n("..", levels).collect());
    let mut folders = folders.filter(|folder: &PathBuf| folder.join(NAME).is_file());
    folders.next()
}

/// Returns a path that the file names, as it is seen from the working folder.
fn below(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    // Only a command line can mean standard input.
    if files::is_stdin(&path) { Path::new(".").join(path) } else { path }
}

fn fill<T: Clone>(given: &mut Option<T>, default: Option<&T>) {
    if given.is_none() {
        *given = default.cloned();
    }
}
