//! Everything that a chat is carried out with, read once.

use ctx_language::Language;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use ctx_chat::assets::FolderAssets;
use ctx_chat::{
    Approval, AudioTranscriber, Briefing, Chat, Client, Conversation, ConversationStore as _, FolderTools,
    LearnedLimits, MessageTags, Mode, ModelSummarizer, Persona, RequestShape, SpillFolder, SqliteStore,
    StoreError, Tool, ToolAccess, ToolHost, ToolLimits, ToolPolicy, TurnRequest, data_context, sampling,
};
use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel, MaskSettings};
use ctx_engine::{Compile, CompiledAgent, ConversationMemory, Engine};
use ctx_types::{
    Agent, AttachmentPorts, Diagnostic, Location, Message, Session, Transcriber, TurnInput, phrase,
};
use serde_json::Value;

use crate::args::{ChatArguments, ModeName};
use crate::commands::chat::once::stored;
use crate::commands::chat::tools;
use crate::{project, show};
use ctx_project::Sources;
use ctx_project::books::Books;
use ctx_project::config::Config;
use ctx_project::error::ProjectError;
use ctx_project::files;
use ctx_project::options::EndpointOptions;
use ctx_project::store;
use ctx_project::turn::{self, Turn, TurnFiles};

/// What a chat is carried out with.
pub(super) struct Setup {
    pub(super) language: Language,
    /// The agent as its file has it.
    file: Agent,
    engine: Engine,
    with: Compile,
    /// The agent, compiled for the mode.
    pub(super) agent: CompiledAgent,
    /// The mode, where the agent is told of one.
    mode: Option<Mode>,
    client: Arc<Client>,
    summarizer: ModelSummarizer,
    masks: MaskConfig,
    shape: RequestShape,
    max_rounds: usize,
    /// Whether macros of the user's own words are expanded.
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
    pub(super) store: Option<(SqliteStore, SpillFolder)>,
    conversation: Option<String>,
    /// Whether the conversation that was changed last is gone on with.
    resumes: bool,
    pub(super) memory: ConversationMemory,
    sources: Sources,
    /// The worldbooks, into whose files findings lead.
    books: Books,
    /// The findings that were told already.
    told: Mutex<BTreeSet<String>>,
}

impl Setup {
    /// Reads the files and settings of a chat, and opens the store if it is to keep anything.
    pub(super) fn read(language: Language, arguments: &ChatArguments, sources: &mut Sources) -> Result<Self> {
        let config = project::config(language, &arguments.setup.config, sources)?;
        let given = EndpointOptions::from(&arguments.endpoint);
        let mut endpoint = config.endpoint(&given)?.endpoint(&given, !arguments.dry_run)?;
        let keeps = arguments.once.is_none() || arguments.conversation.is_some() || arguments.resume;
        let given_store = arguments.store.store.as_deref();
        let store = keeps.then(|| store::open(given_store, &config)).transpose()?;
        if let Some((store, _)) = &store {
            tell_of_waiting(language, store, &files::name(&store::path(given_store, &config)?));
        }
        let tools = tools::open(arguments, &config)?;
        let transcriber = config.transcription().transcriber(!arguments.dry_run)?;
        let (settings, policy) = (mask_settings(&config), tools::policy(arguments, &config)?);
        let further = arguments.data.iter().map(|path| data(path, sources)).collect::<Result<_>>()?;
        let (mut turn, at) = read_turn(language, arguments, config, sources)?;
        let found = turn.settings().1;
        let assets = turn.take_assets();
        let (file, engine, with, input, books) = turn.into_parts();
        let policy = policy.and(file.kept.get("tools").map(ToolPolicy::read).unwrap_or_default());
        let masks = masks(&file, settings);
        let mode = arguments.mode.map(Mode::from).or_else(|| Persona::of(&file).map(|_| Mode::Chat));
        let agent = compile(&file, &engine, &with, mode, &policy);
        let streams = !arguments.no_stream;
        let parameters = file.parameters.as_ref().map(sampling).unwrap_or_default();
        let model = agent.model_name(&input).unwrap_or_default().to_owned();
        endpoint.model = Some(model.clone());
        endpoint.streams = streams;
        let client = Arc::new(Client::new(endpoint)?);
        let summarizer =
            ModelSummarizer::new(client.clone(), RequestShape { model, streams, ..RequestShape::default() });
        let setup = Self {
            language,
            summarizer: summarizer.with_window(agent.model(&input).0.context_window),
            masks: masks.config,
            shape: RequestShape { parameters, streams, ..RequestShape::default() },
            max_rounds: arguments.max_rounds,
            expands_input: arguments.expand_input || wants_expansion(&file),
            limits: limits(store.as_ref())?,
            conversation: arguments.conversation.clone(),
            resumes: arguments.resume,
            memory: ConversationMemory::default(),
            sources: std::mem::take(sources),
            books,
            told: Mutex::default(),
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
            store,
        };
        setup.tell(&[found, masks.diagnostics].concat());
        Ok(setup)
    }

    /// Returns what turns are carried out with; `approval` agrees to calls of tools.
    pub(super) fn chat<'a>(&'a self, approval: Option<&'a dyn Approval>) -> Chat<'a> {
        let mut chat = Chat::new(&self.agent, &*self.client);
        chat.shape = self.shape.clone();
        chat.attachments = AttachmentPorts {
            assets: Some(&self.assets),
            documents: ctx_project::document_text(),
            transcriber: self.transcriber.as_ref().map(|transcriber| transcriber as &dyn Transcriber),
        };
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

    /// Returns the tools that the model may call.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let all = self.tools.as_ref().map(ToolHost::tools).unwrap_or_default();
        all.into_iter().filter(|tool| self.policy.allows(tool)).collect()
    }

    /// Returns the mode.
    pub(super) fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    /// Changes the mode; the conversation stays.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.mode = Some(mode);
        self.agent = compile(&self.file, &self.engine, &self.with, self.mode, &self.policy);
    }

    /// Forgets what is sent with the first message alone.
    pub(super) fn forget_data(&mut self) {
        self.input.further.clear();
    }

    /// Returns the request of a turn in which the user says something; nothing if the text is blank.
    pub(super) fn request(&self, text: &str) -> TurnRequest {
        let turn = self.input.clone().with(|turn| {
            turn.input = Some(text).filter(|text| !text.trim().is_empty()).map(Into::into);
            turn.at_millis = self.at.or_else(|| Some(now()));
            turn.preview = false;
        });
        let tags = MessageTags { mode: Some(self.mode().as_str().into()), ..MessageTags::default() };
        TurnRequest { turn, tags, ..TurnRequest::default() }
    }

    /// Returns the request of a turn in which the user has typed something, its macros expanded if that is wanted.
    pub(super) fn typed(&self, text: &str, conversation: Option<&Conversation>) -> TurnRequest {
        let request = self.request(text);
        if !self.expands_input || request.turn.input.is_none() {
            return request;
        }
        let nothing = Session::new("none");
        let session = conversation.map_or(&nothing, Conversation::session);
        let prepared = self.agent.prepare_input(session, &request.turn);
        self.tell(&prepared.diagnostics);
        let turn = request.turn.with(|turn| turn.input = Some(prepared.text));
        TurnRequest { turn, raw: Some(prepared.raw), ..request }
    }

    /// Opens the conversation that is named; nothing if there is none yet, or nothing is kept.
    pub(super) async fn open(&self) -> Result<Option<Conversation>> {
        let Some((store, _)) = &self.store else { return Ok(None) };
        let id = match (&self.conversation, self.resumes) {
            (Some(id), _) => id.clone(),
            (None, true) => newest(store).await?,
            (None, false) => return Ok(None),
        };
        match stored(Conversation::open(store, &id, Some(now()))).await {
            Ok((conversation, found)) => {
                self.tell(&found);
                Ok(Some(conversation))
            }
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a conversation if there is none and one is to be kept.
    pub(super) async fn begin(&self, conversation: &mut Option<Conversation>) -> Result<()> {
        if let (Some((store, _)), None) = (&self.store, &conversation) {
            let id = self.conversation.clone().unwrap_or_else(new_id);
            *conversation = Some(stored(Conversation::create(store, &id, Some(now()))).await?);
        }
        Ok(())
    }

    /// Reports findings on standard error, each once.
    pub(super) fn tell(&self, found: &[Diagnostic]) {
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut found = found.to_vec();
        self.books.lead_back(&mut found);
        found.iter_mut().for_each(lead_to_model);
        found.retain(|finding| told.insert(finding.to_string()));
        show::findings(self.language, &self.sources, &found);
    }
}

/// A request that is nobody's file has no line to show, and its model comes from elsewhere.
fn lead_to_model(finding: &mut Diagnostic) {
    if finding.code == ctx_wire::codes::NO_MODEL && finding.location.document.is_none() {
        finding.location = Location { document: Some("request body".into()), ..Location::default() };
        finding.help = Some(phrase!("name one with `--model`, or as `model` in `ctx.toml`"));
    }
}

/// Reads the files of a chat's turns, with compression of requests on unless somebody's settings say otherwise.
fn read_turn(
    language: Language,
    arguments: &ChatArguments,
    config: Config,
    sources: &mut Sources,
) -> Result<(Turn, Option<i64>)> {
    let mut given = project::turn_options(language, &arguments.setup.turn());
    // A chat has a conversation of its own.
    let mut config = config.without_session();
    let beside = config.complete(&mut given, sources)?;
    project::tell_beside(language, beside.as_ref());
    given.model = given.model.or_else(|| config.endpoint_model().cloned());
    let files = TurnFiles::of(&given)?;
    let input = turn::input(&given)?;
    let at = given.at.as_ref().and(input.at_millis);
    let with = Compile::default().with(|compile| compile.switches = given.switches);
    config.user_parameters = Some(ctx_chat::with_compression(config.user_parameters.take()));
    Ok((Turn::read_with((Engine::new(), with), config, &files, input, sources)?, at))
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

/// Returns whether the agent's file asks for the macros of what the user types.
fn wants_expansion(file: &Agent) -> bool {
    file.kept.get("expandInput").and_then(Value::as_bool) == Some(true)
}

/// Has the user told when the store of a name keeps a turn waiting.
fn tell_of_waiting(language: Language, store: &SqliteStore, name: &str) {
    let notice = phrase!("waiting for the store `{name}`: another program is writing to it", name);
    store.when_waiting(move || show::remark(language, &notice));
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
    let rest = if end < text.len() { "\n[the rest is left out]" } else { "" };
    let label = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(data_context(&label, &name, &format!("{}{rest}", &text[..end])))
}

fn masks(file: &Agent, global: Option<MaskLayer>) -> MaskSettings {
    let of_agent = file.parameters.as_ref().and_then(|value| value.get("contextCompression")).cloned();
    let of_agent = of_agent.map(|value| MaskLayer::new(MaskLevel::Agent, value));
    MaskConfig::resolve(&global.into_iter().chain(of_agent).collect::<Vec<_>>())
}

fn mask_settings(config: &Config) -> Option<MaskLayer> {
    let value = config.compression.clone()?;
    Some(MaskLayer { level: MaskLevel::Global, value, pointer: "/compression".to_owned() })
}

/// Returns the id of the conversation that was changed last.
async fn newest(store: &SqliteStore) -> Result<String> {
    let newest = store.list().await?.into_iter().next();
    newest
        .map(|entry| entry.id)
        .ok_or_else(|| ProjectError::Usage(phrase!("there is no conversation yet")).into())
}

/// A name for a new conversation: the moment at which it begins.
fn new_id() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f").to_string()
}

pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Chat => Self::Chat,
            ModeName::Agent => Self::Agent,
            ModeName::Run => Self::Run,
        }
    }
}
