//! Agents of a folder. Each is a model, compiled on its first request and after its files change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use crate::gateway::Options;
use crate::refusal::Refusal;

/// Maximum number of compiled agents with their models.
const MAX_COMPILED: usize = 256;

/// Delay before an agent that failed to compile is retried without a file change.
const RETRY: Duration = Duration::from_secs(3);

/// Time limit for waiting while another request compiles the agent.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum length of a model name, in bytes.
const MAX_NAME: usize = 300;

/// Agents of a folder by name, and the compiled agents.
#[derive(Debug)]
pub(crate) struct Agents {
    options: Options,
    listed: Mutex<Arc<AgentList>>,
    aliases: Mutex<Aliases>,
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
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
pub(crate) struct Compiled {
    /// Name of the agent.
    pub(crate) agent: String,
    pub(crate) setup: ChatSetup,
    /// Whether the token limit of the context is an option of the gateway.
    has_limit_option: bool,
    /// Clients for complete responses: the endpoint, then its fallbacks.
    pub(crate) whole: Vec<Client>,
    /// Clients for streaming responses, in the same order.
    pub(crate) pieces: Vec<Client>,
}

impl Compiled {
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
struct Slot {
    turn: Arc<Semaphore>,
    known: Mutex<Option<Arc<Known>>>,
}

/// Result of compiling an agent.
#[derive(Debug)]
struct Known {
    /// Time when reading its files began.
    begun: Instant,
    made: Result<Arc<Compiled>, Refusal>,
    /// Reason why compiling failed. `made` is then the previous result, if any.
    failure: Option<Phrase>,
    files: FilesRead,
}

impl Slot {
    fn new() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), known: Mutex::default() }
    }

    /// Returns a valid result for a request: newer than the request, or with unchanged files.
    fn current(&self, asked: Instant) -> Option<Result<Arc<Compiled>, Refusal>> {
        let known = lock(&self.known).clone()?;
        // The failure may have a cause outside the files.
        let is_old = known.failure.is_some() && known.begun.elapsed() >= RETRY;
        let is_current = known.begun >= asked || (!is_old && known.files.are_unchanged());
        is_current.then(|| known.made.clone())
    }

    /// Caches a result. Returns the result that applies from now on.
    fn keep(&self, mut new: Known) -> Result<Arc<Compiled>, Refusal> {
        let mut known = lock(&self.known);
        if let (Err(_), Some(Ok(before))) = (&new.made, known.as_ref().map(|known| &known.made)) {
            // The file may not be completely written yet.
            let agent = &before.agent;
            tracing::warn!(agent, "cannot load the changed agent; keeping the previous version");
            new.made = Ok(before.clone());
        }
        known.insert(new.into()).made.clone()
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
        Self { options, listed: Mutex::new(list.into()), aliases: Mutex::default(), slots: Mutex::default() }
    }

    /// Finds new, renamed and deleted agents, and changed aliases.
    pub(crate) fn reload(&self) {
        let before = self.listed();
        if let Some(list) = AgentList::find(&self.options.folder, &before) {
            if !list.agents.keys().eq(before.agents.keys()) {
                tracing::info!(agents = list.agents.len(), "the agents of the folder changed");
            }
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
            Err(refusal) => Err(self.failure(&name).unwrap_or(refusal.message)),
        };
        LoadedAgent { name, state }
    }

    /// Returns the reason why an agent could not be compiled.
    fn failure(&self, name: &str) -> Option<Phrase> {
        let slot = lock(&self.slots).get(name).cloned()?;
        lock(&slot.known).as_ref()?.failure.clone()
    }

    /// Returns the agent of a model name: `agent` or `agent@model`.
    pub(crate) async fn get(self: &Arc<Self>, name: &str) -> Result<Arc<Compiled>, Refusal> {
        let name = name.strip_prefix("models/").unwrap_or(name);
        let name = lock(&self.aliases).agents.get(name).map_or(name, String::as_str).to_owned();
        let (agent, model) = match name.split_once('@') {
            Some((agent, model)) => (agent, Some(model.to_owned())),
            None => (name.as_str(), None),
        };
        let list = self.listed();
        let path = list.agents.get(agent).filter(|_| name.len() <= MAX_NAME && model.as_deref() != Some(""));
        let unknown = || {
            let text =
                phrase!("no model `{name}`; list the models with `GET /v1/models`", name = excerpt(&name));
            Refusal::not_found(text).at("model")
        };
        let path = path.ok_or_else(unknown)?.clone();
        let (agent, slot, asked) = (agent.to_owned(), self.slot(name), Instant::now());
        if let Some(made) = slot.current(asked) {
            return made;
        }
        let busy = || Refusal::unavailable(phrase!("the agent is loading; retry later"));
        let turn = timeout(PATIENCE, slot.turn.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        // Another request may have compiled it in the meantime.
        if let Some(made) = slot.current(asked) {
            return made;
        }
        let this = self.clone();
        let made = tokio::task::spawn_blocking(move || {
            let made = slot.keep(this.compile(agent, path, model));
            drop(turn);
            made
        });
        made.await.map_err(|_| Refusal::internal())?
    }

    fn slot(&self, name: String) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        if !slots.contains_key(&name) && slots.len() >= MAX_COMPILED {
            slots.pop_first();
        }
        slots.entry(name).or_insert_with(|| Arc::new(Slot::new())).clone()
    }

    fn compile(&self, agent: String, path: PathBuf, model: Option<String>) -> Known {
        let (begun, mut sources) = (Instant::now(), Sources::default());
        let made = self.read(agent, path, model, &mut sources);
        let failure = made.as_ref().err().map(ProjectError::phrase);
        let made = made.map(Arc::new).map_err(Refusal::from);
        Known { begun, made, failure, files: sources.files_read }
    }

    /// Reads the files of an agent. Logs its diagnostics.
    fn read(
        &self,
        agent: String,
        path: PathBuf,
        model: Option<String>,
        sources: &mut Sources,
    ) -> Result<Compiled, ProjectError> {
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
        let own = if has_base_url { None } else { config.for_agent(&agent)? };
        let own_model = own.as_ref().and_then(Config::endpoint_model).cloned();
        if let Some(own) = own {
            // The options are for another endpoint.
            (config, given) = (own, EndpointOptions::default());
        }
        turn.model = model.or(own_model).or_else(|| options.model.clone());
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
        Ok(Compiled { agent, whole: clients(false)?, pieces: clients(true)?, setup, has_limit_option })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn known(agents: &Agents) -> Arc<Known> {
        lock(&agents.slot("ada".to_owned()).known).clone().unwrap()
    }

    #[tokio::test]
    async fn requests_at_the_same_time_compile_an_agent_once() {
        let (_folder, agents) = folder(ADA, HOUR);
        let made = join_all((0..8).map(|_| agents.get("ada"))).await;
        let first = made[0].as_ref().unwrap();
        assert!(made.iter().all(|made| Arc::ptr_eq(made.as_ref().unwrap(), first)));
    }

    #[tokio::test]
    async fn a_broken_agent_is_compiled_again_only_when_a_file_has_changed() {
        let (folder, agents) = folder("presetMessages: [{", HOUR);
        assert_eq!(agents.get("ada").await.unwrap_err().status, 500);
        let failed = known(&agents);
        assert_eq!(agents.get("ada").await.unwrap_err().status, 500);
        assert!(Arc::ptr_eq(&known(&agents), &failed));
        write(folder.path(), ADA, HOUR);
        assert!(agents.get("ada").await.is_ok());
    }

    #[tokio::test]
    async fn an_agent_that_was_saved_just_now_is_compiled_once() {
        let (_folder, agents) = folder(ADA, Duration::ZERO);
        let before = agents.get("ada").await.unwrap();
        assert!(Arc::ptr_eq(&before, &agents.get("ada").await.unwrap()));
    }

    #[tokio::test]
    async fn a_change_at_the_time_of_the_last_one_is_noticed() {
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
