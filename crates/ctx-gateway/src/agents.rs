//! Agents of a folder. Each is a model, compiled on its first request and after its files change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ctx_chat::{Client, Endpoint};
use ctx_project::chat::{ChatOptions, ChatSetup, ToolOptions, WindowOrigin};
use ctx_project::files::FilesRead;
use ctx_project::{Config, ConfigOptions, EndpointOptions, ProjectError, Sources, TurnOptions};
use ctx_types::internal::excerpt;
use ctx_types::{Phrase, phrase};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::agent_list::{AgentList, UnreadFile};
use crate::api_error::ApiError;
use crate::gateway::Options;
use crate::lock;

/// Maximum number of compiled agents with their models.
const MAX_COMPILED: usize = 256;

/// Delay before an agent that failed to compile is retried without a file change.
const RETRY_DELAY: Duration = Duration::from_secs(3);

/// Time limit for waiting while another request compiles the agent.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum length of a model name, in bytes.
const MAX_NAME: usize = 300;

/// Agents of a folder by name, and the compiled agents.
#[derive(Debug)]
pub(crate) struct Agents {
    options: Options,
    listed: Mutex<Arc<AgentList>>,
    /// Names of agents that were served since the start, without those of now.
    removed: Mutex<BTreeSet<String>>,
    aliases: Mutex<Aliases>,
    slots: Mutex<BTreeMap<String, Arc<AgentSlot>>>,
}

/// Further names of agents.
#[derive(Debug, Default)]
struct Aliases {
    agents: BTreeMap<String, String>,
    /// Files that were read for them.
    config: FilesRead,
}

/// An agent as the operator sees it.
#[derive(Clone, Debug)]
pub struct LoadedAgent {
    /// Name of the agent.
    pub name: String,
    /// Model and context window, or the reason why the agent is not served.
    pub state: Result<Phrase, Phrase>,
}

/// An agent with its model, ready for turns.
#[derive(Debug)]
pub(crate) struct ServedAgent {
    /// Name of the agent.
    pub(crate) agent: String,
    pub(crate) setup: ChatSetup,
    /// Whether the token limit of the context is an option of the gateway.
    has_limit_option: bool,
    /// Clients for complete responses: the endpoint, then its fallbacks.
    pub(crate) complete_clients: Vec<Client>,
    /// Clients for streaming responses, in the same order.
    pub(crate) streaming_clients: Vec<Client>,
}

impl ServedAgent {
    /// Describes the model and its context window.
    fn phrase(&self) -> Phrase {
        let model = excerpt(self.setup.model());
        if model.is_empty() {
            return phrase!("no model; set one with `--model`");
        }
        let Some((tokens, origin)) = self.setup.context_window() else {
            return phrase!("{model}, unknown context window; set one with `--context-tokens`", model);
        };
        let origin = match origin {
            WindowOrigin::Option if self.has_limit_option => Phrase::verbatim("--context-tokens"),
            WindowOrigin::Option => Phrase::verbatim("ctx.toml"),
            WindowOrigin::Agent => phrase!("agent file"),
            WindowOrigin::ModelTable => phrase!("model table"),
            WindowOrigin::Server => phrase!("server"),
        };
        phrase!("{model}, {tokens} tokens ({origin})", model, tokens, origin)
    }
}

/// Cache of a model name. Only one request at a time compiles it.
#[derive(Debug)]
struct AgentSlot {
    turn: Arc<Semaphore>,
    cached: Mutex<Option<Arc<CompileResult>>>,
}

/// Result of compiling an agent.
#[derive(Debug)]
struct CompileResult {
    /// Time when reading its files began.
    started: Instant,
    result: Result<Arc<ServedAgent>, ApiError>,
    /// Reason why compiling failed. `result` is then the previous agent, if any.
    failure: Option<Phrase>,
    files: FilesRead,
}

impl AgentSlot {
    fn new() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), cached: Mutex::default() }
    }

    /// Returns a valid result for a request: newer than the request, or with unchanged files.
    fn current(&self, requested: Instant) -> Option<Result<Arc<ServedAgent>, ApiError>> {
        let cached = lock(&self.cached).clone()?;
        // The failure may have a cause outside the files.
        let is_old = cached.failure.is_some() && cached.started.elapsed() >= RETRY_DELAY;
        let is_current = cached.started >= requested || (!is_old && cached.files.are_unchanged());
        is_current.then(|| cached.result.clone())
    }

    /// Caches a result. Returns the result that applies from now on.
    fn update(&self, mut new: CompileResult) -> Result<Arc<ServedAgent>, ApiError> {
        let mut cached = lock(&self.cached);
        if let (Err(_), Some(Ok(before))) = (&new.result, cached.as_ref().map(|cached| &cached.result)) {
            // The file may not be completely written yet.
            let agent = &before.agent;
            tracing::warn!(agent, "cannot load the changed agent; keeping the previous version");
            new.result = Ok(before.clone());
        }
        cached.insert(new.into()).result.clone()
    }
}

/// Returns the names of the agents of a folder, in order.
pub fn agent_names(folder: &Path) -> Vec<String> {
    Agents::find(Options { folder: folder.to_owned(), ..Options::default() }).names()
}

impl Agents {
    /// Finds the agents of the folder.
    pub(crate) fn find(options: Options) -> Self {
        let list = AgentList::find(&options.folder, &AgentList::default()).unwrap_or_default();
        Self {
            options,
            listed: Mutex::new(list.into()),
            removed: Mutex::default(),
            aliases: Mutex::default(),
            slots: Mutex::default(),
        }
    }

    /// Finds new, renamed and deleted agents, and changed aliases.
    pub(crate) fn reload(&self) {
        let before = self.listed();
        if let Some(list) = AgentList::find(&self.options.folder, &before) {
            if !list.agents.keys().eq(before.agents.keys()) {
                tracing::info!(agents = list.agents.len(), "the agents of the folder changed");
            }
            let removed = before.agents.keys().filter(|name| !list.agents.contains_key(*name));
            lock(&self.removed).extend(removed.cloned());
            *lock(&self.listed) = list.into();
        } else if lock(&self.aliases).config.are_unchanged() {
            return;
        }
        self.read_aliases();
    }

    /// Reads the aliases from `ctx.toml`.
    pub(crate) fn read_aliases(&self) {
        // The user answered when the folder was opened.
        let options = ConfigOptions { ask: None, ..self.options.config.clone() };
        let mut sources = Sources::default();
        let config = Config::read_for(&self.options.folder, &options, &mut sources);
        let mut aliases = lock(&self.aliases);
        // The file may not be completely written yet.
        if let Ok(config) = config {
            aliases.agents = config.serve().aliases;
        }
        aliases.config = sources.files_read;
    }

    fn listed(&self) -> Arc<AgentList> {
        lock(&self.listed).clone()
    }

    /// Returns the names of the agents in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.listed().agents.keys().cloned().collect()
    }

    /// Returns the further names of agents in order.
    pub(crate) fn aliases(&self) -> Vec<String> {
        lock(&self.aliases).agents.keys().cloned().collect()
    }

    /// Describes each file that may be an agent, but cannot be read.
    pub(crate) fn unread(&self) -> Vec<Phrase> {
        self.listed().unread().map(UnreadFile::phrase).collect()
    }

    /// Returns the error of the first file that may be an agent, but cannot be read.
    pub(crate) fn unread_error(&self) -> Option<ProjectError> {
        self.listed().unread().next().map(UnreadFile::to_error)
    }

    /// Compiles the agents, and describes the result of each.
    pub(crate) async fn load(self: &Arc<Self>) -> Vec<LoadedAgent> {
        let names = self.names().into_iter().take(MAX_COMPILED);
        futures_util::future::join_all(names.map(|name| self.load_one(name))).await
    }

    async fn load_one(self: &Arc<Self>, name: String) -> LoadedAgent {
        let state = match self.get(&name).await {
            Ok(agent) => Ok(agent.phrase()),
            Err(error) => Err(self.failure(&name).unwrap_or(error.message)),
        };
        LoadedAgent { name, state }
    }

    /// Returns the reason why an agent could not be compiled.
    fn failure(&self, name: &str) -> Option<Phrase> {
        let slot = lock(&self.slots).get(name).cloned()?;
        lock(&slot.cached).as_ref()?.failure.clone()
    }

    /// Returns a model name without the prefix of Gemini, or the name that it is an alias of.
    pub(crate) fn resolve(&self, name: &str) -> String {
        let name = name.strip_prefix("models/").unwrap_or(name);
        lock(&self.aliases).agents.get(name).map_or(name, String::as_str).to_owned()
    }

    /// Returns the name of the agent that a model name selects. `None` for other models.
    pub(crate) fn agent_of(&self, name: &str) -> Option<String> {
        let name = self.resolve(name);
        let agent = agent_part(&name);
        self.listed().agents.contains_key(agent).then(|| agent.to_owned())
    }

    /// Returns whether a model name is one of an agent, or of an agent that was served since the start.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.agent_of(name).is_some() || lock(&self.removed).contains(agent_part(&self.resolve(name)))
    }

    /// Returns the agent of a model name: `agent` or `agent@model`.
    pub(crate) async fn get(self: &Arc<Self>, name: &str) -> Result<Arc<ServedAgent>, ApiError> {
        let name = self.resolve(name);
        let (agent, model) = match name.split_once('@') {
            Some((agent, model)) => (agent, Some(model.to_owned())),
            None => (name.as_str(), None),
        };
        let list = self.listed();
        let path = list.agents.get(agent).filter(|_| name.len() <= MAX_NAME && model.as_deref() != Some(""));
        let unknown = || {
            let text =
                phrase!("no model `{name}`; list the models with `GET /v1/models`", name = excerpt(&name));
            ApiError::not_found(text).at("model")
        };
        let path = path.ok_or_else(unknown)?.clone();
        let (agent, slot, requested) = (agent.to_owned(), self.slot(name), Instant::now());
        if let Some(result) = slot.current(requested) {
            return result;
        }
        let busy = || ApiError::unavailable(phrase!("the agent is loading; retry later"));
        let turn = timeout(COMPILE_TIMEOUT, slot.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        // Another request may have compiled it in the meantime.
        if let Some(result) = slot.current(requested) {
            return result;
        }
        let this = self.clone();
        let result = tokio::task::spawn_blocking(move || {
            let result = slot.update(this.compile(agent, path, model));
            drop(turn);
            result
        });
        result.await.map_err(|_| ApiError::internal())?
    }

    fn slot(&self, name: String) -> Arc<AgentSlot> {
        let mut slots = lock(&self.slots);
        if !slots.contains_key(&name) && slots.len() >= MAX_COMPILED {
            slots.pop_first();
        }
        slots.entry(name).or_insert_with(|| Arc::new(AgentSlot::new())).clone()
    }

    fn compile(&self, agent: String, path: PathBuf, model: Option<String>) -> CompileResult {
        let (started, mut sources) = (Instant::now(), Sources::default());
        let result = self.read(agent, path, model, &mut sources);
        let failure = result.as_ref().err().map(ProjectError::phrase);
        let result = result.map(Arc::new).map_err(ApiError::from);
        CompileResult { started, result, failure, files: sources.files_read }
    }

    /// Reads the files of an agent. Logs its diagnostics.
    fn read(
        &self,
        agent: String,
        path: PathBuf,
        model: Option<String>,
        sources: &mut Sources,
    ) -> Result<ServedAgent, ProjectError> {
        let options = &self.options;
        // The user answered when the folder was opened.
        let config = ConfigOptions { ask: None, ..options.config.clone() };
        let mut turn = TurnOptions {
            agent: Some(path),
            context_tokens: options.context_tokens,
            at: options.at.clone(),
            tz: options.tz.clone(),
            seed: options.seed,
            config: config.clone(),
            ..TurnOptions::default()
        };
        let (mut config, mut given) =
            (Config::read_for(&options.folder, &config, sources)?, options.endpoint.clone());
        let has_base_url = given.base_url.is_some();
        let agent_config = if has_base_url { None } else { config.for_agent(&agent)? };
        let agent_model = agent_config.as_ref().and_then(Config::endpoint_model).cloned();
        if let Some(agent_config) = agent_config {
            // The options are for another endpoint.
            (config, given) = (agent_config, EndpointOptions::default());
        }
        turn.model = model.or(agent_model).or_else(|| options.model.clone());
        let fallbacks = if has_base_url { Vec::new() } else { config.fallbacks()?.to_vec() };
        let (mut setup, notes) = ChatSetup::read(
            ChatOptions {
                turn,
                endpoint: given,
                sends: true,
                store: None,
                tools: ToolOptions::default(),
                mode: None,
                data: Vec::new(),
                expands_input: false,
                max_rounds: 1,
                streams: true,
            },
            config,
            sources,
        )?;
        for found in &notes.found {
            let place = found.location.pointer.as_deref().unwrap_or_default();
            tracing::warn!(agent, code = %found.code, place, "the agent has diagnostics; run `ctx check`");
        }
        tokio::runtime::Handle::current().block_on(setup.ask_context_window());
        if setup.needs_context_window() && setup.context_window().is_none() {
            return Err(ProjectError::Unusable(phrase!(
                "`request-compressor` needs the context window of `{model}`, which is unknown; use `--context-tokens`, \
                or set `context-tokens` in `ctx.toml`",
                model = excerpt(setup.model())
            )));
        }
        let first = setup.endpoint().clone();
        let mut endpoints = vec![first.clone()];
        for fallback in fallbacks {
            let given = EndpointOptions { dialect: Some(first.dialect), ..EndpointOptions::default() };
            let mut endpoint = fallback.for_dialect(first.dialect).endpoint(&given, true)?;
            endpoint.model.clone_from(&first.model);
            endpoints.push(endpoint);
        }
        let clients = |streams: bool| {
            let endpoints = endpoints.iter().cloned();
            let clients = endpoints.map(|endpoint| Client::new(Endpoint { streams, ..endpoint }));
            clients.collect::<Result<Vec<_>, _>>()
        };
        let has_limit_option = options.context_tokens.is_some();
        Ok(ServedAgent {
            agent,
            complete_clients: clients(false)?,
            streaming_clients: clients(true)?,
            setup,
            has_limit_option,
        })
    }
}

fn agent_part(name: &str) -> &str {
    name.split_once('@').map_or(name, |(agent, _)| agent)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use futures_util::future::join_all;

    use super::*;

    const ADA: &str = "name: Ada\npresetMessages: [{type: chat_history}]\n";

    /// Creates a folder with an agent whose last change has this age.
    fn folder(text: &str, age: Duration) -> (tempfile::TempDir, Arc<Agents>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ada.yaml"), ADA).unwrap();
        let options = Options {
            folder: folder.path().to_owned(),
            endpoint: EndpointOptions {
                base_url: Some("http://127.0.0.1:9/v1".to_owned()),
                ..EndpointOptions::default()
            },
            model: Some("some-model".to_owned()),
            config: ConfigOptions { is_ignored: true, ask: None },
            ..Options::default()
        };
        let agents = Arc::new(Agents::find(options));
        write(folder.path(), text, age);
        (folder, agents)
    }

    fn write(folder: &Path, text: &str, age: Duration) {
        let path = folder.join("ada.yaml");
        std::fs::write(&path, text).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    fn cached(agents: &Agents) -> Arc<CompileResult> {
        lock(&agents.slot("ada".to_owned()).cached).clone().unwrap()
    }

    #[tokio::test]
    async fn compiles_agent_once_for_concurrent_requests() {
        let (_folder, agents) = folder(ADA, HOUR);
        let result = join_all((0..8).map(|_| agents.get("ada"))).await;
        let first = result[0].as_ref().unwrap();
        assert!(result.iter().all(|result| Arc::ptr_eq(result.as_ref().unwrap(), first)));
    }

    #[tokio::test]
    async fn recompiles_broken_agent_after_file_change() {
        let (folder, agents) = folder("presetMessages: [{", HOUR);
        assert_eq!(agents.get("ada").await.unwrap_err().status, 500);
        let failed = cached(&agents);
        assert_eq!(agents.get("ada").await.unwrap_err().status, 500);
        assert!(Arc::ptr_eq(&cached(&agents), &failed));
        write(folder.path(), ADA, HOUR);
        assert!(agents.get("ada").await.is_ok());
    }

    #[tokio::test]
    async fn compiles_recently_saved_agent_once() {
        let (_folder, agents) = folder(ADA, Duration::ZERO);
        let before = agents.get("ada").await.unwrap();
        assert!(Arc::ptr_eq(&before, &agents.get("ada").await.unwrap()));
    }

    #[tokio::test]
    async fn notices_change_with_same_timestamp() {
        let (folder, agents) = folder(ADA, Duration::ZERO);
        let path = folder.path().join("ada.yaml");
        let changed = path.metadata().unwrap().modified().unwrap();
        let before = agents.get("ada").await.unwrap();
        std::fs::write(&path, ADA.replace("Ada", "Eva")).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        let after = agents.get("ada").await.unwrap();
        assert!(!Arc::ptr_eq(&before, &after));
    }
}
