//! Entry point of this crate: serves a folder on a listener.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use ctx_chat::{Client, ConversationStore};
use ctx_project::{Config, ConfigOptions, EndpointOptions, OnLoss, ProjectError, Sources, files, store};
use ctx_tap::Recorder;
use ctx_types::internal::excerpt;
use ctx_types::session::NodeId;
use ctx_types::{CachePolicy, Phrase, phrase};
use tokio::net::TcpListener;

use crate::agents::{Agents, LoadedAgent};
use crate::body::{BodyReader, DEFAULT_MAX_BYTES};
use crate::bounded_map::BoundedMap;
use crate::conversation_cache::{ConversationCache, MAX_MESSAGES};
use crate::conversation_name::{NamingFields, StoredResponse};
use crate::history_cache::{self, CachedHistory, HistoryHash};
use crate::keys::{KeyFile, Keys};
use crate::limits::Meters;
use crate::metrics::Metrics;
use crate::serve;
use crate::spans::Exporter;
use crate::turn::TurnReport;

/// Maximum number of stored turn reports.
const MAX_REPORTS: usize = 512;

/// Maximum number of response ids that requests can continue.
const MAX_RESPONSES: usize = 10_000;

/// Options of a gateway. Missing options come from the folder's `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder with the agents, which clients see as models.
    pub folder: PathBuf,
    /// Store of conversations: a file, or a URL such as `postgres://ctx@host/ctx` with the feature `postgres`. The
    /// default is the store of `ctx.toml`, then the user's own store.
    pub store: Option<PathBuf>,
    /// Key file of clients, which must exist. The default is `serve-keys.json` in the folder, if it exists.
    pub keys: Option<PathBuf>,
    /// Endpoint of the provider.
    pub endpoint: EndpointOptions,
    /// Default model of requests to the provider.
    pub model: Option<String>,
    /// Token limit of the context; 0 means the context window of the model. The default comes from `ctx.toml` or the
    /// agent.
    pub context_tokens: Option<u32>,
    /// Time of every turn in RFC 3339. The default is the current time.
    pub at: Option<String>,
    /// Time zone. The default is UTC.
    pub tz: Option<String>,
    /// Seed of random values.
    pub seed: u64,
    /// Options for reading `ctx.toml` and for asking the user to trust it.
    pub config: ConfigOptions,
    /// Maximum number of messages of all cached conversations. The default is 1,000,000.
    ///
    /// The next turn of an evicted conversation reloads it from the store, which takes longer.
    pub loaded_messages: Option<usize>,
    /// Maximum size of a request body, in bytes. The default is 16 MiB.
    pub max_body: Option<u64>,
    /// Origins of web pages that can send requests. `ctx.toml` can add more.
    pub origins: Vec<String>,
    /// Whether requests for models that no agent has are sent to the endpoint unchanged. `ctx.toml` can allow it too.
    pub passthrough: bool,
    /// Handling of parts of a request that the API dialect of the provider cannot express.
    pub on_loss: Option<OnLoss>,
    /// Placement of cache marks in requests to Anthropic's API, if the client sets none. The default is
    /// [`CachePolicy::Stable`].
    pub cache_marks: Option<CachePolicy>,
    /// Time limits of clients.
    pub time: TimeLimits,
    /// OpenTelemetry collector of request spans, such as `http://127.0.0.1:4318`. By default, spans are not sent.
    ///
    /// A span has the status, agent, provider host, times, and counts. It has no texts and no keys.
    pub collector: Option<String>,
    /// Log of the requests of turns to providers, after assembly. By default, requests are not recorded.
    pub recorder: Option<Recorder>,
}

/// Time limits of clients and of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Time limit for a request head. The default is 10 s.
    pub head: Duration,
    /// Time limit for a request body. The default is 60 s.
    pub body: Duration,
    /// Time for running turns to complete at shutdown. The default is 30 s.
    pub drain: Duration,
    /// Interval of checks for changed keys, agents and aliases. The default is 2 s.
    pub keys: Duration,
    /// Interval of pings in a stream before its first chunk. The default is 10 s.
    pub ping: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { head: seconds(10), body: seconds(60), drain: seconds(30), keys: seconds(2), ping: seconds(10) }
    }
}

impl Options {
    /// Returns the path of the key file.
    pub fn key_file(&self) -> PathBuf {
        self.keys.clone().unwrap_or_else(|| self.folder.join(KeyFile::NAME))
    }
}

/// A server that provides agents over the APIs of providers.
#[derive(Debug)]
pub struct Gateway(Arc<Server>);

/// Error that prevents serving a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Nothing to serve, or invalid options.
    #[error("{0}")]
    Unusable(Phrase),
    /// Invalid file, store, or agent.
    #[error(transparent)]
    Project(#[from] ProjectError),
}

impl GatewayError {
    /// Describes the error.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Unusable(phrase) => phrase.clone(),
            Self::Project(error) => error.phrase(),
        }
    }
}

/// State that all requests share.
pub(crate) struct Server {
    /// Folder as the user named it.
    folder: PathBuf,
    pub(crate) agents: Arc<Agents>,
    pub(crate) keys: Keys,
    /// Origins of web pages that can send requests.
    pub(crate) origins: Vec<HeaderValue>,
    /// Client for models that no agent has, if the operator allows them.
    pub(crate) passthrough: Option<Client>,
    pub(crate) bodies: BodyReader,
    pub(crate) time: TimeLimits,
    pub(crate) on_loss: OnLoss,
    /// Placement of cache marks in requests to Anthropic's API, if the client sets none.
    pub(crate) cache_marks: CachePolicy,
    pub(crate) meters: Meters,
    pub(crate) store: Arc<dyn ConversationStore>,
    pub(crate) conversations: ConversationCache,
    /// Caches of unnamed requests.
    pub(crate) caches: BoundedMap<HistoryHash, CachedHistory>,
    /// Fields of requests that name a conversation.
    pub(crate) naming: NamingFields,
    /// Responses of named conversations, by client key and id.
    pub(crate) responses: BoundedMap<(String, String), StoredResponse>,
    /// Reports of the latest turns, by conversation and message.
    pub(crate) reports: BoundedMap<(String, NodeId), Arc<TurnReport>>,
    pub(crate) metrics: Metrics,
    pub(crate) exporter: Option<Arc<Exporter>>,
    pub(crate) recorder: Option<Recorder>,
    /// Cancels running turns.
    pub(crate) end: ctx_pipeline::Cancel,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("agents", &self.agents).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Reads the folder, opens the store, and reads the keys.
    ///
    /// # Errors
    ///
    /// The folder has no readable agent, or the store, the keys, or `ctx.toml` cannot be used.
    pub async fn open(mut options: Options) -> Result<Self, GatewayError> {
        let given = options.folder.clone();
        let failed = |error| GatewayError::Unusable(files::not_opened(&given, &error));
        options.folder = given.canonicalize().map_err(failed)?;
        options.folder.read_dir().map_err(failed)?;
        let agents = Agents::find(options.clone());
        if agents.names().is_empty() {
            if let Some(error) = agents.unread_error() {
                return Err(error.into());
            }
            return Err(GatewayError::Unusable(phrase!(
                "no agent in `{folder}`: no JSON or YAML file there is an agent; create one with `ctx init`",
                folder = files::name(&given)
            )));
        }
        let config = Config::read_for(&options.folder, &options.config, &mut Sources::default())?;
        // Report untrusted settings at the start.
        let endpoint = config.endpoint(&options.endpoint)?.clone();
        let mut needs_key = true;
        if options.endpoint.base_url.is_none() {
            config.fallbacks()?;
            needs_key = config.agent_endpoints()?.is_empty();
        }
        let serve = config.serve();
        let is_passthrough = options.passthrough || serve.passthrough;
        // Agents report a missing key themselves if some have another endpoint.
        let mut endpoint = endpoint.endpoint(&options.endpoint, needs_key || is_passthrough)?;
        let origins = read_origins(options.origins.iter().chain(&serve.origins))?;
        // Each request has its own model in the URL of Gemini.
        (endpoint.model, endpoint.streams) = (Some("model".to_owned()), false);
        let passthrough = is_passthrough.then(|| Client::new(endpoint));
        let passthrough = passthrough.transpose().map_err(ProjectError::from)?;
        let on_loss = options.on_loss.unwrap_or_else(|| config.on_loss());
        let cache_marks = options.cache_marks.or(serve.cache_marks).unwrap_or(CachePolicy::Stable);
        let naming = NamingFields::read(config.conversation_names());
        let naming = naming.map_err(GatewayError::Unusable)?;
        let store = open_store(options.store.as_deref(), &config);
        // The defaults are not `Send`; drop them before the next `await`.
        drop(config);
        agents.read_aliases();
        let store = store?.await?;
        let keys = Keys::open(options.keys.as_deref(), &options.folder, origins.clone())?;
        let time = options.time;
        let bodies = BodyReader::new(options.max_body.unwrap_or(DEFAULT_MAX_BYTES), time.body);
        let exporter = options.collector.as_deref().map(Exporter::open).transpose();
        let exporter = exporter.map_err(GatewayError::Unusable)?.map(Arc::new);
        let loaded_messages = options.loaded_messages.unwrap_or(MAX_MESSAGES);
        Ok(Self(Arc::new(Server {
            folder: given,
            agents: Arc::new(agents),
            keys,
            origins,
            passthrough,
            bodies,
            time,
            on_loss,
            cache_marks,
            meters: Meters::default(),
            store,
            conversations: ConversationCache::new(loaded_messages),
            caches: BoundedMap::new(history_cache::MAX_BYTES),
            naming,
            responses: BoundedMap::new(MAX_RESPONSES),
            reports: BoundedMap::new(MAX_REPORTS),
            metrics: Metrics::default(),
            exporter,
            recorder: options.recorder,
            end: ctx_pipeline::Cancel::default(),
        })))
    }

    /// Compiles the agents and describes each, in the order of their names: at most 256.
    ///
    /// Asks the servers of models with an unknown context window, for at most 2 s each.
    pub async fn load_agents(&self) -> Vec<LoadedAgent> {
        self.0.agents.load().await
    }

    /// Describes each JSON or YAML file that may be an agent, but cannot be read.
    pub fn unread_files(&self) -> Vec<Phrase> {
        self.0.agents.unread()
    }

    /// Describes who may send requests: the key file with its number of keys, or programs on this machine.
    pub fn access(&self) -> Phrase {
        match self.0.keys.status() {
            Some((file, count)) => {
                phrase!("clients need a client key; `{file}` has {count}", file = files::name(file), count)
            }
            None => phrase!("no key file: programs on this machine need no client key"),
        }
    }

    /// Checks that only clients with a client key can reach an address from other machines.
    ///
    /// # Errors
    ///
    /// There are no keys, and other machines can reach the address.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), GatewayError> {
        if self.0.keys.is_open() && !address.ip().is_loopback() {
            return Err(GatewayError::Unusable(phrase!(
                "other machines can reach `{address}`; create a client key with `ctx serve key add NAME --dir {folder}`",
                address = address.to_string(),
                folder = files::shell_word(&self.0.folder)
            )));
        }
        Ok(())
    }

    /// Serves requests until a signal. Then stops accepting connections, and gives running turns some time before
    /// canceling them. Partial replies are stored.
    ///
    /// # Errors
    ///
    /// There are no keys, and other machines can reach the listener.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send,
    ) -> Result<(), GatewayError> {
        let address = listener.local_addr().map_err(|error| {
            GatewayError::Unusable(phrase!(
                "cannot read the address of the listener: {error}",
                error = files::reason(&error)
            ))
        })?;
        self.check_address(address)?;
        let exporter = self.0.exporter.clone();
        let reloading = tokio::spawn(reload(self.0.clone()));
        serve::serve(self.0, listener, end).await;
        reloading.abort();
        if let Some(exporter) = exporter {
            exporter.close().await;
        }
        Ok(())
    }
}

/// Reads origins of web pages.
fn read_origins<'a>(origins: impl Iterator<Item = &'a String>) -> Result<Vec<HeaderValue>, GatewayError> {
    let read = |origin: &'a String| {
        let host = ["https://", "http://"].into_iter().find_map(|scheme| origin.strip_prefix(scheme));
        let is_origin = host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*']));
        let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
        value.ok_or_else(|| {
            GatewayError::Unusable(phrase!(
                "`{origin}` is not an origin; use `https://HOST` or `https://HOST:PORT`",
                origin = excerpt(origin)
            ))
        })
    };
    origins.map(read).collect()
}

/// Reloads keys, agents and aliases while the gateway runs.
async fn reload(server: Arc<Server>) {
    loop {
        tokio::time::sleep(server.time.keys).await;
        let server = server.clone();
        let work = move || {
            server.keys.reload();
            server.agents.reload();
        };
        drop(tokio::task::spawn_blocking(work).await);
    }
}

type StoreFuture = Pin<Box<dyn Future<Output = Result<Arc<dyn ConversationStore>, GatewayError>> + Send>>;

/// Opens the store: a database URL or a file.
fn open_store(given: Option<&Path>, config: &Config) -> Result<StoreFuture, GatewayError> {
    let address = given.and_then(Path::to_str);
    let address =
        address.filter(|text| ["postgres://", "postgresql://"].iter().any(|head| text.starts_with(head)));
    if let Some(address) = address {
        return Ok(connect(address.to_owned()));
    }
    let (store, _) = store::open(given, config)?;
    Ok(Box::pin(std::future::ready(Ok(Arc::new(store) as Arc<dyn ConversationStore>))))
}

#[cfg(feature = "postgres")]
fn connect(address: String) -> StoreFuture {
    Box::pin(async move {
        let store = ctx_chat::PostgresStore::connect(&address).await.map_err(ProjectError::from)?;
        Ok(Arc::new(store) as Arc<dyn ConversationStore>)
    })
}

#[cfg(not(feature = "postgres"))]
fn connect(_: String) -> StoreFuture {
    let none = GatewayError::Unusable(phrase!("this program was built without PostgreSQL"));
    Box::pin(std::future::ready(Err(none)))
}
