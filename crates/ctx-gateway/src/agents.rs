//! The agents of a folder: each is a model, compiled when it is asked for first, and again when a file of it has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ctx_chat::{Client, Endpoint};
use ctx_engine::{Format, Limits};
use ctx_preset_import::detect;
use ctx_project::chat::{ChatOptions, ChatSetup, ToolOptions};
use ctx_project::folder::{FolderEntry, files};
use ctx_project::{Config, ConfigOptions, EndpointOptions, ProjectError, Sources, TurnOptions};
use ctx_types::{excerpt, phrase};

use crate::gateway::Options;
use crate::refusal::Refusal;

/// The largest file that is looked at.
const MAX_BYTES: u64 = 32 << 20;

/// How many agents stay compiled, each with a model of its own.
const MAX_COMPILED: usize = 256;

/// The longest name of a model, in bytes.
const MAX_NAME: usize = 300;

/// The agents by name, and those that are compiled.
#[derive(Debug)]
pub(crate) struct Agents {
    options: Options,
    files: BTreeMap<String, PathBuf>,
    compiled: Mutex<BTreeMap<String, Arc<Compiled>>>,
}

/// An agent with its model, ready for turns.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The name of the agent.
    pub(crate) agent: String,
    pub(crate) setup: ChatSetup,
    /// What is asked for whole answers: the endpoint, then what stands in for it.
    pub(crate) whole: Vec<Client>,
    /// What is asked for answers in pieces, likewise.
    pub(crate) pieces: Vec<Client>,
    /// The files that were read for it, as they were then.
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// By what a change of a file is noticed: when it was written, and its size.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Compiled {
    fn is_current(&self) -> bool {
        self.files.iter().all(|(path, known)| stamp(path) == *known)
    }
}

impl Agents {
    /// Finds the agents of the folder.
    pub(crate) fn find(options: Options) -> Self {
        let entries = files(&options.folder).into_iter();
        let paths = entries.filter_map(|entry| match entry {
            FolderEntry::File(path) if is_agent(&path) => Some(path),
            _ => None,
        });
        let paths: Vec<PathBuf> = paths.collect();
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut stems = BTreeMap::<String, usize>::new();
        for path in &paths {
            *stems.entry(stem(path)).or_default() += 1;
        }
        // Two files of one name are told apart by their folders.
        let name = |path: &PathBuf| {
            let below = path.strip_prefix(&options.folder).unwrap_or(path).with_extension("");
            let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            if stems.get(&stem(path)) == Some(&1) { stem(path) } else { below }
        };
        let files = paths.iter().map(|path| (name(path), path.clone())).collect();
        Self { options, files, compiled: Mutex::default() }
    }

    /// Returns the names of the agents, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the agent of a model's name: `agent` or `agent@model`.
    pub(crate) async fn get(self: &Arc<Self>, name: &str) -> Result<Arc<Compiled>, Refusal> {
        let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
        let (agent, model) = match name.split_once('@') {
            Some((agent, model)) => (agent, Some(model.to_owned())),
            None => (name.as_str(), None),
        };
        let path = self.files.get(agent).filter(|_| name.len() <= MAX_NAME && model.as_deref() != Some(""));
        let unknown = || {
            let text =
                phrase!("there is no model `{name}`; `GET /v1/models` lists them", name = excerpt(&name));
            Refusal::not_found(text).at("model")
        };
        let path = path.ok_or_else(unknown)?.clone();
        let known = self.lock().get(&name).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.is_current()) {
            return Ok(known.clone());
        }
        let (this, agent) = (self.clone(), agent.to_owned());
        let made = tokio::task::spawn_blocking(move || this.compile(agent, path, model));
        let made = match (made.await.map_err(|_| Refusal::internal())?, known) {
            (Ok(made), _) => Arc::new(made),
            // Whoever writes it may not be done yet.
            (Err(_), Some(known)) => {
                tracing::warn!(
                    agent = known.agent,
                    "the agent was changed and cannot be used; it stays as it was"
                );
                return Ok(known);
            }
            (Err(error), None) => return Err(error.into()),
        };
        let mut compiled = self.lock();
        if compiled.len() >= MAX_COMPILED {
            compiled.pop_first();
        }
        compiled.insert(name, made.clone());
        Ok(made)
    }

    /// Reads the files of an agent; what is odd about them is in the log.
    fn compile(&self, agent: String, path: PathBuf, model: Option<String>) -> Result<Compiled, ProjectError> {
        let (options, mut sources) = (&self.options, Sources::default());
        // Whoever was asked has answered when the folder was opened.
        let config = ConfigOptions { ask: None, ..options.config.clone() };
        let turn = TurnOptions {
            agent: Some(path),
            model: model.or_else(|| options.model.clone()),
            at: options.at.clone(),
            tz: options.tz.clone(),
            seed: options.seed,
            config: config.clone(),
            ..TurnOptions::default()
        };
        let config = Config::read_for(&options.folder, &config, &mut sources)?;
        let fallbacks = match options.endpoint.base_url.is_some() {
            // Who names an address on the command line means no other.
            true => Vec::new(),
            false => config.fallbacks()?.to_vec(),
        };
        let (setup, notes) = ChatSetup::read(
            ChatOptions {
                turn,
                endpoint: options.endpoint.clone(),
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
            &mut sources,
        )?;
        for found in &notes.found {
            let place = found.location.pointer.as_deref().unwrap_or_default();
            tracing::warn!(agent, code = %found.code, place, "something is odd about the agent; `ctx check` says what");
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
        let files = sources.files_read.paths().map(|path| (path.to_owned(), stamp(path))).collect();
        Ok(Compiled { agent, whole: clients(false)?, pieces: clients(true)?, setup, files })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Compiled>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a file is an agent or a preset of ours.
fn is_agent(path: &Path) -> bool {
    let is_small = path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
    let bytes = if is_small { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    let format = detect(&bytes, &path.to_string_lossy(), &Limits::default());
    matches!(format, Ok(Format::Agent | Format::AgentExport | Format::PresetList | Format::PresetFile))
}
