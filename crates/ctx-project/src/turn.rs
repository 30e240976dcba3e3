//! One turn: its files, read and compiled, and the context that is assembled from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{ProjectError, Result};
use ctx_chat::assets::FolderAssets;
use ctx_engine::internal::{MODEL_SETTINGS, USER_SETTINGS};
use ctx_engine::{
    AssembleError, Compile, CompiledAgent, Context, Encoded, Engine, Options, Ports, Request, Template,
};
use ctx_pipeline::internal::EffectiveSetting;
use ctx_types::internal::{NearestName, TextCache, nearest, nearest_key};
use ctx_types::ports::{AttachmentPorts, Stopwatch};
use ctx_types::session::Session;
use ctx_types::{
    Agent, Content, Diagnostic, PresetMessage, Role, Segment, SourceKind, Span, Text, TurnInput, phrase,
};
use serde_json::{Map, Value};

use crate::books::{self, Books};
use crate::codes;
use crate::config::{AddedFiles, Config};
use crate::documents::document_text;
use crate::files;
use crate::inputs::{self, AgentFile, InputFile};
use crate::keyed::Meaningless;
use crate::options::TurnOptions;
use crate::sources::Sources;

/// What the request body names as its model where nothing else does.
const UNNAMED_MODEL: &str = "unspecified";

/// A conversation that was read before, with what was found in it. A clone shares the conversation, and what was counted
/// of it.
#[derive(Clone, Debug)]
pub struct ReadSession {
    /// The conversation.
    pub session: Arc<Session>,
    /// What was found in its file.
    pub found: Vec<Diagnostic>,
}

impl ReadSession {
    /// Reads a conversation.
    pub fn read(file: &InputFile, sources: &mut Sources) -> Result<Self> {
        let imported = inputs::conversation(file, sources)?;
        Ok(Self { session: Arc::new(imported.value), found: imported.diagnostics })
    }
}

/// The files of a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnFiles {
    /// The agent or preset.
    pub agent: Option<InputFile>,
    /// The same, read before; its file then only shows where findings are.
    pub read_agent: Option<AgentFile>,
    /// The conversation.
    pub session: Option<InputFile>,
    /// The same, read before; its file is then only named.
    pub read_session: Option<ReadSession>,
    /// The user profile.
    pub profile: Option<InputFile>,
    /// Worldbooks, which hold for this turn.
    pub worldbooks: Vec<InputFile>,
    /// Settings of worldbooks, in place of those that the agent has.
    pub worldbook_settings: Option<InputFile>,
    /// A table of models, whose rows are tried before the built-in ones.
    pub models: Option<InputFile>,
    /// The model's own settings of processors.
    pub model_settings: Option<InputFile>,
    /// Tool definitions.
    pub tools: Option<InputFile>,
    /// The folder of attached files, in place of those of the conversation and the agent.
    pub assets: Option<PathBuf>,
    /// Texts of earlier turns, of which those that are the same need not be counted again.
    pub texts: Option<Arc<TextCache>>,
}

impl TurnFiles {
    /// Takes the files of a command line; a usage error if two of them are standard input.
    pub fn of(arguments: &TurnOptions) -> Result<Self> {
        let TurnOptions { agent, session, profile, models, model_settings, tools, .. } = arguments;
        let files = [agent, session, profile, models, model_settings, tools];
        inputs::check_stdin(files.into_iter().flatten().chain(&arguments.worldbooks))?;
        let worldbooks = arguments.worldbooks.iter().map(InputFile::from).collect();
        let [agent, session, profile, models, model_settings, tools] =
            files.map(|path| path.as_ref().map(InputFile::from));
        Ok(Self {
            agent,
            read_agent: None,
            session,
            read_session: None,
            profile,
            worldbooks,
            worldbook_settings: None,
            models,
            model_settings,
            tools,
            assets: arguments.assets.clone(),
            texts: None,
        })
    }

    /// Opens the folders in which attached files are: the one that was named, else those of the conversation and of
    /// the agent.
    fn assets(&self) -> Result<FolderAssets> {
        if let Some(folder) = &self.assets {
            let opened = FolderAssets::open([folder]);
            return opened.map_err(|error| ProjectError::Unusable(files::not_opened(folder, &error)));
        }
        let files = [&self.session, &self.agent].into_iter().flatten();
        let folders = files.filter(|file| !files::is_stdin(&file.path)).filter_map(|file| file.path.parent());
        let here = |folder: &Path| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        };
        // A folder that cannot be opened holds no files: that is told where one is missing.
        let opened = folders.map(here).filter_map(|folder| FolderAssets::open([folder]).ok());
        Ok(opened.fold(FolderAssets::default(), FolderAssets::and))
    }
}

/// A turn, ready to be assembled.
#[derive(Debug)]
pub struct Turn {
    /// What the moment gives: the input, the time, the budget.
    pub input: TurnInput,
    /// Whether contexts keep what each stage left behind.
    pub is_traced: bool,
    agent: Option<AgentFile>,
    engine: Engine,
    with: Compile,
    compiled: CompiledAgent,
    session: Arc<Session>,
    books: Books,
    assets: FolderAssets,
    tools: Vec<Value>,
    /// What was found while reading.
    found: Vec<Diagnostic>,
    /// The files of settings, by what findings call them.
    settings: Vec<(&'static str, String)>,
    /// The file of the settings of worldbooks.
    worldbook_settings: Option<String>,
}

impl Turn {
    /// Reads the files of a turn, what `ctx.toml` gives beside them included, and compiles its agent.
    pub fn open(options: &TurnOptions, sources: &mut Sources) -> Result<Self> {
        let config = Config::read(&options.config, sources)?;
        Ok(Self::open_on(Engine::new(), options, config, |_| {}, sources)?.0)
    }

    /// As [`open`](Self::open), on an engine with processors of one's own and with defaults that were read before;
    /// `change` changes which files are read. Returns which files the defaults bring in, too.
    pub fn open_on(
        engine: Engine,
        options: &TurnOptions,
        config: Config,
        change: impl FnOnce(&mut TurnFiles),
        sources: &mut Sources,
    ) -> Result<(Self, Option<AddedFiles>)> {
        let mut options = options.clone();
        let added_files = config.complete(&mut options, sources)?;
        let mut files = TurnFiles::of(&options)?;
        change(&mut files);
        let input = input(&options)?;
        let with = Compile::default().with(|compile| compile.switches = options.switches);
        Ok((Self::read_with((engine, with), config, &files, input, sources)?, added_files))
    }

    /// Hands out the agent, what it is compiled with, and the inputs of its turns.
    pub fn into_parts(self) -> (Agent, Engine, Compile, TurnInput, Books) {
        (self.compiled.agent().clone(), self.engine, self.with, self.input, self.books)
    }

    /// Hands out what loads attached files.
    pub fn take_assets(&mut self) -> FolderAssets {
        std::mem::take(&mut self.assets)
    }

    /// Returns the worldbooks.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Returns the name of the file with the settings of worldbooks.
    pub fn worldbook_settings(&self) -> Option<&str> {
        self.worldbook_settings.as_deref()
    }

    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        self.compiled.agent()
    }

    /// Returns the name of the agent, if it has one.
    pub fn agent_name(&self) -> Option<&str> {
        self.compiled.agent().name.as_deref()
    }

    /// Returns the conversation.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the conversation, to be changed.
    pub fn session_mut(&mut self) -> &mut Session {
        Arc::make_mut(&mut self.session)
    }

    /// Reads the files of a turn and compiles its agent.
    pub fn read(files: &TurnFiles, input: TurnInput, with: Compile, sources: &mut Sources) -> Result<Self> {
        Self::read_on((Engine::new(), with), files, input, sources)
    }

    /// As [`read`](Self::read), on an engine with processors of the verb's own.
    pub fn read_on(
        (mut engine, mut with): (Engine, Compile),
        files: &TurnFiles,
        mut input: TurnInput,
        sources: &mut Sources,
    ) -> Result<Self> {
        let mut found = Vec::new();
        let read = |file: InputFile, sources: &mut Sources| match &files.read_agent {
            Some(read) => inputs::load(&file, sources, &|_, _| Ok(read.clone())),
            None => inputs::agent(file, &engine, sources),
        };
        let agent = files.agent.clone().map(|file| read(file, sources)).transpose()?;
        found.extend(agent.iter().flat_map(|file| file.found.iter().cloned()));
        let mut session = Arc::new(Session::new("session"));
        if let Some(file) = &files.session {
            let read = files.read_session.clone();
            let read = read.map_or_else(|| ReadSession::read(file, sources), Ok)?;
            session = read.session;
            found.extend(read.found);
        }
        if let Some(file) = &files.profile {
            let imported = inputs::profile(file, sources)?;
            with.profile = Some(imported.value);
            found.extend(imported.diagnostics);
        }
        let (mut books, odd) = books::read(&files.worldbooks, sources)?;
        if let (Some(file), Some(agent)) = (&files.agent, &agent) {
            books::add_beside(&mut books, &file.path, &agent.agent, sources)?;
        }
        with.worldbooks = books.loaded();
        with.texts.clone_from(&files.texts);
        found.extend(odd);
        if let Some(file) = &files.models {
            found.extend(inputs::add_models(&mut engine.models, file, sources)?);
        }
        if let Some(file) = &files.model_settings {
            let (settings, odd) = inputs::settings(file, sources)?;
            with.model_parameters = Some(settings);
            found.extend(odd);
        }
        let mut tools = Vec::new();
        if let Some(file) = &files.tools {
            let (definitions, odd) = inputs::tools(file, sources)?;
            tools = definitions;
            found.extend(odd);
        }
        let mut read = agent.as_ref().map(|file| file.agent.clone()).unwrap_or_default();
        if let Some(file) = &files.worldbook_settings {
            let (settings, odd) = inputs::document(file, sources)?;
            read.worldbook_settings = Some(settings);
            found.extend(odd);
        }
        let compiled = engine.compile(&read, &with);
        input.tools = tools.iter().map(inputs::tool_of).collect();
        input.model = compiled.model_name(&input).map(Into::into);
        let settings = files.model_settings.iter().map(|file| (MODEL_SETTINGS, file.name.clone()));
        let settings = settings.collect();
        let worldbook_settings = files.worldbook_settings.as_ref().map(|file| file.name.clone());
        Ok(Self {
            input,
            is_traced: false,
            agent,
            engine,
            with,
            compiled,
            session,
            books,
            assets: files.assets()?,
            tools,
            found,
            settings,
            worldbook_settings,
        })
    }

    /// As [`read_on`](Self::read_on), with the user's settings.
    pub fn read_with(
        (engine, with): (Engine, Compile),
        config: Config,
        files: &TurnFiles,
        input: TurnInput,
        sources: &mut Sources,
    ) -> Result<Self> {
        let with = with.with(|compile| compile.user_parameters = config.user_parameters);
        let mut turn = Self::read_on((engine, with), files, input, sources)?;
        turn.found.splice(..0, config.found);
        turn.settings.extend(config.name.map(|name| (USER_SETTINGS, name)));
        Ok(turn)
    }

    /// Returns the settings of all processors, and everything that was found while reading and compiling.
    pub fn settings(&self) -> (&[EffectiveSetting], Vec<Diagnostic>) {
        let found = self.lead_back(self.compiled.diagnostics().to_vec());
        (self.compiled.pipeline().settings(), [self.found.clone(), found].concat())
    }

    /// Assembles the context; its report begins with what was found while reading.
    pub fn assemble(&self, timings: bool) -> Result<Context, AssembleError> {
        let clock = Clock(Instant::now());
        let stopwatch: Option<&dyn Stopwatch> = if timings { Some(&clock) } else { None };
        let attachments = AttachmentPorts {
            assets: Some(&self.assets),
            documents: document_text(),
            ..AttachmentPorts::default()
        };
        let ports = Ports::default().with(|ports| {
            ports.stopwatch = stopwatch;
            ports.attachments = attachments;
            ports.is_traced = self.is_traced;
        });
        let assembly = self.compiled.assemble_with(&self.session, &self.input, ports);
        let mut context = pollster::block_on(assembly)?;
        let found = self.lead_back(std::mem::take(&mut context.report.diagnostics));
        context.report.diagnostics = [self.found.clone(), found].concat();
        Ok(context)
    }

    /// Points findings about what was compiled into the files that it was read from.
    pub fn lead_back(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for location in found.iter_mut().map(|found| &mut found.location) {
            let is_of = |(name, _): &&(&str, String)| location.document.as_deref() == Some(*name);
            if let Some((_, file)) = self.settings.iter().find(is_of) {
                location.document = Some(file.as_str().into());
            }
            let below = |pointer: &String| pointer.strip_prefix("/worldbookSettings").map(str::to_owned);
            let below = location.pointer.as_ref().filter(|_| location.document.is_none()).and_then(below);
            if let (Some(file), Some(below)) = (&self.worldbook_settings, below) {
                location.document = Some(file.as_str().into());
                location.pointer = Some(below);
            }
        }
        self.books.lead_back(&mut found);
        match &self.agent {
            Some(file) => file.lead_back(found),
            None => found,
        }
    }

    /// Writes the request body in the dialect of the turn, and what does not fit into it.
    pub fn body(&self, context: &Context, template: Option<&Template>) -> (Value, Vec<Diagnostic>) {
        let (encoded, found) = self.encoded(context, template);
        (encoded.to_value(), found)
    }

    /// As [`body`](Self::body), with the bytes that are sent.
    pub fn body_bytes(&self, context: &Context, template: Option<&Template>) -> (Vec<u8>, Vec<Diagnostic>) {
        let (encoded, found) = self.encoded(context, template);
        (encoded.to_bytes(), found)
    }

    fn encoded(&self, context: &Context, template: Option<&Template>) -> (Encoded<'static>, Vec<Diagnostic>) {
        let model = self.compiled.model_name(&self.input).unwrap_or(UNNAMED_MODEL);
        let request = Request { model, tools: &self.tools, parameters: &Map::new() };
        let options = Options { template, ..context.options() };
        let mut encoded = context.encode_with(&request, &options).into_owned();
        let of_body = |found: Diagnostic| found.in_document("request body");
        let found = std::mem::take(&mut encoded.diagnostics).into_iter().map(of_body).collect();
        (encoded, found)
    }

    /// Reports that nothing names the model of the request body, which no provider accepts.
    pub fn unnamed_model(&self) -> Option<Diagnostic> {
        if self.compiled.model_name(&self.input).is_some() {
            return None;
        }
        let message = phrase!("no model set; the request uses `{model}`", model = UNNAMED_MODEL);
        let unnamed =
            Diagnostic::warning(codes::UNNAMED_MODEL, message).with_help(phrase!("set one with `--model`"));
        Some(unnamed.in_document("request body"))
    }
}

/// What a text becomes where an agent's entries stand.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// The text.
    pub text: String,
    /// What wrote which bytes of it.
    pub segments: Vec<Segment>,
    /// What was found in the text that was given, at its bytes.
    pub found: Vec<Diagnostic>,
}

impl Turn {
    /// Expands a text as an entry of the agent's preset, below all others. Whatever it changes is forgotten.
    pub fn expand(self, text: &str) -> Result<Expansion, AssembleError> {
        let mut agent = self.compiled.agent().clone();
        let index = agent.preset_messages.len();
        agent.preset_messages.push(PresetMessage {
            role: Some(Role::System),
            content: Some(Content::Text(Text::from(text))),
            ..PresetMessage::default()
        });
        let compiled = self.engine.compile(&agent, &self.with);
        let context =
            pollster::block_on(compiled.assemble_with(&self.session, &self.input, Ports::default()))?;
        let own = format!("/presetMessages/{index}/content");
        let found = compiled.diagnostics().iter().chain(&context.report.diagnostics);
        let mut expansion = Expansion::default();
        for found in found.filter(|found| found.location.pointer.as_deref() == Some(own.as_str())) {
            if !expansion.found.contains(found) {
                expansion.found.push(found.clone());
            }
        }
        for message in &context.messages {
            let text = message.text();
            for segment in message.segments().iter() {
                let root = segment.via.last().unwrap_or(&segment.source);
                let piece = text.get(segment.span.start..segment.span.end);
                let is_own = root.kind == SourceKind::Preset && root.index() == Some(index);
                if let Some(piece) = piece.filter(|_| is_own) {
                    let start = expansion.text.len();
                    expansion.text.push_str(piece);
                    let span = Span::new(start, expansion.text.len());
                    expansion.segments.push(Segment { span, ..segment.clone() });
                }
            }
        }
        Ok(expansion)
    }
}

/// The time since an assembly began.
struct Clock(Instant);

impl Stopwatch for Clock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The turn that the command line describes; without `--at` it is now.
pub fn input(arguments: &TurnOptions) -> Result<TurnInput> {
    let at = time(arguments.at.as_deref())?;
    let zone = zone(arguments.tz.as_deref())?;
    Ok(TurnInput::default().with(|turn| {
        turn.at_millis = Some(at.as_millisecond());
        turn.zone = Some(zone.into());
        turn.seed = arguments.seed;
        turn.input = arguments.input.as_deref().map(Into::into);
        turn.kind = arguments.kind;
        turn.prefix = arguments.prefix;
        turn.model = arguments.model.as_deref().map(Into::into);
        turn.context_tokens = arguments.context_tokens.map(Into::into);
        turn.reserve = arguments.reserve;
        turn.preview = true;
    }))
}

/// Returns the time that `--at` names; now if it names none.
pub fn time(at: Option<&str>) -> Result<jiff::Timestamp, ProjectError> {
    match at {
        None => Ok(jiff::Timestamp::now()),
        Some(text) => moment(text)
            .map_err(|fault| ProjectError::Usage(phrase!("`--at {text}` {line}", text, line = fault.line()))),
    }
}

/// Returns the time zone that `--tz` names; UTC if it names none.
pub fn zone(tz: Option<&str>) -> Result<&str> {
    let zone = tz.unwrap_or("UTC");
    check_zone(zone)
        .map_err(|fault| ProjectError::Usage(phrase!("`--tz {zone}` {line}", zone, line = fault.line())))?;
    Ok(zone)
}

/// Reads an RFC 3339 time; or says what is wrong with it.
pub fn moment(text: &str) -> Result<jiff::Timestamp, Meaningless> {
    text.parse()
        .map_err(|_| Meaningless::new(phrase!("is not an RFC 3339 time such as 2026-01-31T12:00:00Z")))
}

/// Checks the name of a time zone; or says what is wrong with it.
pub(crate) fn check_zone(zone: &str) -> Result<(), Meaningless> {
    if jiff::tz::TimeZone::get(zone).is_ok() {
        return Ok(());
    }
    let names: Vec<_> = jiff::tz::db().available().collect();
    let names = || names.iter().map(jiff::tz::TimeZoneName::as_str);
    // Many names are near each other; a letter or two leave no doubt all the same.
    let certain = nearest_key(zone, names());
    let near =
        nearest(zone, names()).map(|near| NearestName { is_certain: certain == Some(near.name), ..near });
    let fault = Meaningless::new(phrase!("is not a time zone")).near(near);
    Err(fault.otherwise(phrase!("use a name such as Asia/Shanghai or UTC")))
}
