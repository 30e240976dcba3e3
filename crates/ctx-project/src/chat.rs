//! A chat: its agent, its model, its tools and its store, read once for many turns.

mod greeting;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_chat::assets::FolderAssets;
use ctx_chat::{
    Approval, AudioTranscriber, Briefing, Chat, Client, Endpoint, FolderTools, LearnedLimits, MessageTags,
    Mode, ModelSummarizer, Persona, RequestShape, SpillFolder, SqliteStore, Tool, ToolAccess, ToolHost,
    ToolLimits, ToolPolicy, TurnRequest, data_context, sampling,
};
use ctx_compress::mask::MaskConfig;
use ctx_engine::{Compile, CompiledAgent, Engine, TurnCache};
use ctx_pipeline::SettingOrigin;
use ctx_processors::internal::ids;
use ctx_types::ports::{AttachmentPorts, Transcriber};
use ctx_types::session::Session;
use ctx_types::{Agent, Diagnostic, Location, Message, TurnInput, phrase};
use serde_json::Value;

use crate::books::Books;
use crate::compress;
use crate::config::{AddedFiles, Config};
use crate::error::{ProjectError, Result};
use crate::files;
use crate::options::{EndpointOptions, TurnOptions};
use crate::sources::Sources;
use crate::store;
use crate::turn::{self, Turn, TurnFiles};

pub use greeting::Greeting;

/// What a chat is to be. What is absent is taken from `ctx.toml`.
#[derive(Debug)]
pub struct ChatOptions {
    /// The agent and what its contexts are made with; a chat has a conversation of its own.
    pub turn: TurnOptions,
    /// Where the model is reached.
    pub endpoint: EndpointOptions,
    /// Whether requests are sent: a preview needs no key.
    pub sends: bool,
    /// The store that keeps the conversation; without one nothing is kept.
    pub store: Option<(SqliteStore, SpillFolder)>,
    /// Which tools the model may call.
    pub tools: ToolOptions,
    /// How the conversation is led; an agent with a persona is told of it.
    pub mode: Option<Mode>,
    /// Files whose beginnings are sent with the first message.
    pub data: Vec<PathBuf>,
    /// Whether macros in what the user says are expanded; the agent's `expandInput` asks for it too.
    pub expands_input: bool,
    /// How often the model may be asked in one turn.
    pub max_rounds: usize,
    /// Whether answers come piece by piece.
    pub streams: bool,
}

/// Which tools a model may call.
#[derive(Clone, Debug, Default)]
pub struct ToolOptions {
    /// The folder whose files it may read.
    pub folder: Option<PathBuf>,
    /// Whether each call is asked about.
    pub asks: bool,
}

/// A chat, ready for its turns.
#[derive(Debug)]
pub struct ChatSetup {
    /// The agent, compiled for the mode.
    pub agent: CompiledAgent,
    /// The store that keeps the conversation.
    pub store: Option<(SqliteStore, SpillFolder)>,
    /// What turns remember of the conversation, so that the next one costs what is new.
    pub memory: TurnCache,
    /// The agent as its file has it.
    file: Agent,
    engine: Engine,
    with: Compile,
    /// The mode, where the agent is told of one.
    mode: Option<Mode>,
    client: Arc<Client>,
    summarizer: ModelSummarizer,
    /// Whether the server reported the context window.
    has_server_window: bool,
    /// Token budget of request compression in `ctx.toml`. It applies without a known context window.
    token_budget: Option<u64>,
    masks: MaskConfig,
    shape: RequestShape,
    max_rounds: usize,
    expands_input: bool,
    limits: LearnedLimits,
    tools: Option<FolderTools>,
    assets: FolderAssets,
    transcriber: Option<AudioTranscriber>,
    policy: ToolPolicy,
    /// The inputs that every turn begins with.
    input: TurnInput,
    /// The time that every turn has, if somebody set one.
    at: Option<i64>,
    /// The worldbooks, into whose files findings lead.
    books: Books,
}

/// Origin of a context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowOrigin {
    /// Option of the command line or `ctx.toml`.
    Option,
    /// Settings in the agent.
    Agent,
    /// Model table.
    ModelTable,
    /// Report of the server.
    Server,
}

/// What was seen while a chat was read.
#[derive(Debug, Default)]
pub struct ChatNotes {
    /// Which files `ctx.toml` brings in.
    pub added_files: Option<AddedFiles>,
    /// What was found in the files.
    pub found: Vec<Diagnostic>,
}

impl ChatSetup {
    /// Reads the files and settings of a chat.
    pub fn read(options: ChatOptions, config: Config, sources: &mut Sources) -> Result<(Self, ChatNotes)> {
        Self::read_on(Engine::new(), options, config, sources)
    }

    /// As [`read`](Self::read), on an engine with parts of one's own.
    pub fn read_on(
        engine: Engine,
        options: ChatOptions,
        config: Config,
        sources: &mut Sources,
    ) -> Result<(Self, ChatNotes)> {
        let config = config.for_requests();
        let given = &options.endpoint;
        let (endpoint, transcription) = (config.endpoint(given)?.clone(), config.transcription().clone());
        let tools = open_tools(&options.tools, &config)?;
        let rules = config.tools(options.tools.folder.is_some())?.0;
        let policy = rules.map_or_else(ToolPolicy::default, ToolPolicy::read);
        let of_config = config.compression().cloned();
        let token_budget = config.user_parameters.as_ref().and_then(token_budget);
        let further = options.data.iter().map(|path| data(path, sources)).collect::<Result<_>>()?;
        let (mut turn, at, added_files) = read_turn((engine, options.turn), config, sources)?;
        // A missing key is reported after a missing file.
        let mut endpoint = endpoint.endpoint(given, options.sends)?;
        let transcriber = transcription.transcriber(options.sends)?;
        let found = turn.settings().1;
        let assets = turn.take_assets();
        let (file, engine, with, input, books) = turn.into_parts();
        let policy = policy.and(file.kept.get("tools").map(ToolPolicy::read).unwrap_or_default());
        let masks = compress::settings_of(of_config.as_ref(), &file);
        let mode = options.mode.or_else(|| Persona::of(&file).map(|_| Mode::Chat));
        let agent = compile(&file, &engine, &with, mode, &policy);
        let streams = options.streams;
        let parameters = file.parameters.as_ref().map(sampling).unwrap_or_default();
        let model = agent.model_name(&input).unwrap_or_default().to_owned();
        endpoint.model = Some(model.clone());
        endpoint.streams = streams;
        let client = Arc::new(Client::new(endpoint)?);
        let summarizer =
            ModelSummarizer::new(client.clone(), RequestShape { model, streams, ..RequestShape::default() });
        let setup = Self {
            summarizer: summarizer
                .with_window(agent.model(&input).0.context_window)
                .with_models(engine.models.clone()),
            has_server_window: false,
            token_budget,
            masks: masks.config,
            shape: RequestShape { parameters, streams, ..RequestShape::default() },
            max_rounds: options.max_rounds,
            expands_input: options.expands_input || wants_expansion(&file),
            limits: limits(options.store.as_ref())?,
            memory: TurnCache::default(),
            books,
            input: input.with(|turn| turn.further = further),
            file,
            engine,
            with,
            agent,
            mode,
            client,
            tools,
            assets,
            transcriber,
            policy,
            at,
            store: options.store,
        };
        Ok((setup, ChatNotes { added_files, found: [found, masks.diagnostics].concat() }))
    }

    /// Returns what turns are carried out with; `approval` agrees to calls of tools.
    pub fn for_turns<'a>(&'a self, approval: Option<&'a dyn Approval>) -> Chat<'a> {
        let mut chat = Chat::new(&self.agent, &*self.client);
        chat.shape = self.shape.clone();
        chat.attachments = AttachmentPorts {
            assets: Some(&self.assets),
            documents: crate::document_text(),
            transcriber: self.transcriber.as_ref().map(|transcriber| transcriber as &dyn Transcriber),
        };
        if let (None, Some(compression)) = (self.context_window(), &mut chat.compression) {
            compression.token_budget = self.token_budget;
        }
        chat.max_rounds = self.max_rounds;
        chat.limits = Some(&self.limits);
        chat.masks = Some(ctx_chat::Masks { config: self.masks.clone(), summarizer: &self.summarizer });
        chat.tools = self.tools.as_ref().map(|host| ToolAccess {
            host,
            policy: self.policy.clone(),
            approval,
            limits: ToolLimits::default(),
            spill: self.store.as_ref().map(|(_, spill)| spill),
        });
        chat
    }

    /// Returns what writes summaries when somebody asks for one.
    pub fn summarizer(&self) -> ModelSummarizer {
        self.summarizer.clone()
    }

    /// Looks for attached files in these folders first.
    pub fn look_in(&mut self, assets: FolderAssets) {
        self.assets = assets.and(std::mem::take(&mut self.assets));
    }

    /// Returns where the model is reached.
    pub fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    /// Returns the model of requests.
    pub fn model(&self) -> &str {
        self.agent.model_name(&self.input).unwrap_or_default()
    }

    /// Returns the token limit of the context and its origin, if it is known.
    pub fn context_window(&self) -> Option<(u32, WindowOrigin)> {
        let limit = self.agent.context_tokens(&self.input).and_then(|tokens| u32::try_from(tokens).ok());
        if let Some(tokens) = limit.filter(|tokens| *tokens > 0) {
            let is_option = self.input.context_tokens.is_some();
            return Some((tokens, if is_option { WindowOrigin::Option } else { WindowOrigin::Agent }));
        }
        let origin = if self.has_server_window { WindowOrigin::Server } else { WindowOrigin::ModelTable };
        Some((self.agent.model(&self.input).0.context_window?, origin))
    }

    /// Asks the server for the context window if it is not known.
    pub async fn ask_context_window(&mut self) {
        let model = self.model().to_owned();
        if model.is_empty() || self.context_window().is_some() {
            return;
        }
        let Some(tokens) = self.client.context_window(&model).await else { return };
        let models = Arc::new((*self.engine.models).clone().with_window(&model, tokens));
        self.summarizer = self.summarizer.clone().with_window(Some(tokens)).with_models(models.clone());
        self.engine.models = models;
        self.agent = compile(&self.file, &self.engine, &self.with, self.mode, &self.policy);
        self.has_server_window = true;
    }

    /// Returns whether the agent enables request compression, and neither it nor `ctx.toml` has a token budget. It then
    /// needs a context window.
    pub fn needs_context_window(&self) -> bool {
        if self.token_budget.is_some() {
            return false;
        }
        let is_own = |origin| {
            matches!(origin, SettingOrigin::Model | SettingOrigin::Agent | SettingOrigin::CommandLine)
        };
        let mut settings = self.agent.pipeline().settings().iter();
        settings.any(|setting| {
            let mut values = setting.config.values().iter();
            *setting.id == *ids::REQUEST_COMPRESSOR
                && setting.enabled.value
                && is_own(setting.enabled.origin)
                && !values.any(|value| value.key == "tokenBudget" && is_own(value.setting.origin))
        })
    }

    /// Returns the tools that the model may call.
    pub fn tools(&self) -> Vec<Tool> {
        let all = self.tools.as_ref().map(ToolHost::tools).unwrap_or_default();
        all.into_iter().filter(|tool| self.policy.allows(tool)).collect()
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    /// Changes the mode; the conversation stays.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = Some(mode);
        self.agent = compile(&self.file, &self.engine, &self.with, self.mode, &self.policy);
    }

    /// Forgets what is sent with the first message alone.
    pub fn forget_data(&mut self) {
        self.input.further.clear();
    }

    /// Returns the request of a turn in which the user says something; nothing if the text is blank.
    pub fn request(&self, text: &str) -> TurnRequest {
        let turn = self.input.clone().with(|turn| {
            turn.input = Some(text).filter(|text| !text.trim().is_empty()).map(Into::into);
            turn.at_millis = self.at.or_else(|| Some(now()));
            turn.preview = false;
        });
        let tags = MessageTags { mode: Some(self.mode().as_str().into()), ..MessageTags::default() };
        TurnRequest { turn, tags, ..TurnRequest::default() }
    }

    /// Returns the request of a turn in which the user has typed something, its macros expanded if that is wanted, and
    /// what was found in them.
    pub fn typed(&self, text: &str, session: Option<&Session>) -> (TurnRequest, Vec<Diagnostic>) {
        let request = self.request(text);
        if !self.expands_input || request.turn.input.is_none() {
            return (request, Vec::new());
        }
        let nothing = Session::new("none");
        let prepared = self.agent.prepare_input(session.unwrap_or(&nothing), &request.turn);
        let turn = request.turn.with(|turn| turn.input = Some(prepared.text));
        (TurnRequest { turn, raw: Some(prepared.raw), ..request }, prepared.diagnostics)
    }

    /// Leads findings of a turn into the files that they are about.
    pub fn lead_back(&self, found: &mut [Diagnostic]) {
        self.books.lead_back(found);
        found.iter_mut().for_each(lead_to_model);
    }
}

/// A request that is nobody's file has no line to show, and its model comes from elsewhere.
fn lead_to_model(finding: &mut Diagnostic) {
    if finding.code == ctx_wire::codes::NO_MODEL && finding.location.document.is_none() {
        finding.location = Location { document: Some("request body".into()), ..Location::default() };
        finding.help = Some(phrase!("set one with `--model`, or as `model` in `ctx.toml`"));
    }
}

/// Opens the folder that the model may look into, if options or `ctx.toml` name one.
fn open_tools(options: &ToolOptions, config: &Config) -> Result<Option<FolderTools>> {
    let (rules, folder) = config.tools(options.folder.is_some())?;
    let Some(path) = options.folder.as_deref().or(folder) else {
        return Ok(None);
    };
    let tools = FolderTools::open(path);
    let tools = tools.map_err(|error| ProjectError::Unusable(files::not_opened(path, &error)))?;
    let asks = options.asks || rules.and_then(|rules| rules.get("ask")?.as_bool()) == Some(true);
    Ok(Some(if asks { tools.asking() } else { tools }))
}

/// Reads the files of a chat's turns, with compression of requests on unless somebody's settings say otherwise.
fn read_turn(
    (engine, mut given): (Engine, TurnOptions),
    config: Config,
    sources: &mut Sources,
) -> Result<(Turn, Option<i64>, Option<AddedFiles>)> {
    // A chat has a conversation of its own.
    let mut config = config.without("session");
    let added_files = config.complete(&mut given, sources)?;
    given.model = given.model.or_else(|| config.endpoint_model().cloned());
    let files = TurnFiles::of(&given)?;
    let input = turn::input(&given)?;
    let at = given.at.as_ref().and(input.at_millis);
    let with = Compile::default().with(|compile| compile.switches = given.switches);
    config.user_parameters = Some(ctx_chat::with_compression(config.user_parameters.take()));
    Ok((Turn::read_with((engine, with), config, &files, input, sources)?, at, added_files))
}

/// Compiles the agent; where a mode was chosen, or the agent has a persona, it is told of both.
fn compile(
    file: &Agent,
    engine: &Engine,
    with: &Compile,
    mode: Option<Mode>,
    policy: &ToolPolicy,
) -> CompiledAgent {
    match mode {
        None => engine.compile(file, with),
        Some(mode) => {
            let briefing =
                Briefing { base_rules: None, policy: policy.clone(), persona: Persona::of(file), mode };
            engine.compile(&briefing.apply(file), with)
        }
    }
}

/// Returns the token budget of request compression in the user's settings of processors. The settings of an agent
/// replace all of them.
fn token_budget(settings: &Value) -> Option<u64> {
    let entries = settings.get("processors")?.as_array()?;
    let is_compressor = |entry: &&Value| entry["id"] == *ids::REQUEST_COMPRESSOR;
    entries.iter().rfind(is_compressor)?["config"]["tokenBudget"].as_u64()
}

/// Returns whether the agent's file asks for the macros of what the user types.
fn wants_expansion(file: &Agent) -> bool {
    file.kept.get("expandInput").and_then(Value::as_bool) == Some(true)
}

/// Reads what the store knows of the windows of models.
fn limits(store: Option<&(SqliteStore, SpillFolder)>) -> Result<LearnedLimits> {
    match store {
        Some((store, _)) => Ok(store::wait(LearnedLimits::load(store, now()))??),
        None => Ok(LearnedLimits::default()),
    }
}

/// Reads the beginning of a file that is sent with a message.
fn data(path: &Path, sources: &mut Sources) -> Result<Message> {
    /// How much of a file is sent, in bytes.
    const MOST: usize = 64 << 10;
    let name = files::name(path);
    let bytes = sources.read(path, &name)?;
    let text = String::from_utf8_lossy(&bytes);
    let end = (0..=MOST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let rest = if end < text.len() { "\n[the rest is omitted]" } else { "" };
    let label = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(data_context(&label, &name, &format!("{}{rest}", &text[..end])))
}

/// A name for a new conversation: the moment at which it begins.
pub fn new_id() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f").to_string()
}

/// The present moment, in milliseconds since 1970.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
