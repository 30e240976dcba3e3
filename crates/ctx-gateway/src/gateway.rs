//! What a program does with this crate: a folder, and a listener.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ctx_chat::ConversationStore;
use ctx_project::{Config, ConfigOptions, EndpointOptions, ProjectError, Sources, files, store};
use ctx_types::{NodeId, Phrase, Report, phrase};
use tokio::net::TcpListener;

use crate::agents::Agents;
use crate::beginnings::{Beginning, MAX_ENTRIES, Place};
use crate::body::{BodyReader, DEFAULT_MAX_BYTES};
use crate::figures::Figures;
use crate::keys::{KeyFile, Keys};
use crate::latest::Latest;
use crate::limits::Meters;
use crate::rooms::{MAX_MESSAGES, Rooms};
use crate::serve;
use crate::spans::Exporter;

/// How many reports of turns are kept.
const MAX_REPORTS: usize = 512;

/// What is served, and how. What is absent is taken from the folder's `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder whose agents are models.
    pub folder: PathBuf,
    /// The store of conversations: a file, or with the feature `postgres` an address such as `postgres://ctx@host/ctx`;
    /// that of `ctx.toml` or the user's own if absent.
    pub store: Option<PathBuf>,
    /// Key file of clients, which must exist; `serve-keys.json` in the folder, if there is one, by default.
    pub keys: Option<PathBuf>,
    /// Where the provider is reached.
    pub endpoint: EndpointOptions,
    /// The model that is asked where the client names none.
    pub model: Option<String>,
    /// The time of every turn in RFC 3339; now if absent.
    pub at: Option<String>,
    /// The time zone; UTC if absent.
    pub tz: Option<String>,
    /// The seed of random draws.
    pub seed: u64,
    /// Whether `ctx.toml` is read, and who is asked whether it is trusted.
    pub config: ConfigOptions,
    /// How many messages the conversations in memory may have together; a million if absent.
    ///
    /// A conversation that was forgotten is read from the store at its next turn, which then takes longer.
    pub loaded_messages: Option<usize>,
    /// Largest body of a request, in bytes; 16 MiB if absent.
    pub max_body: Option<u64>,
    /// How long clients may take.
    pub time: Patience,
    /// The OpenTelemetry collector that is told of each request, such as `http://127.0.0.1:4318`; none if absent.
    ///
    /// It takes the feature `otlp`. A span has status, agent, host of the provider, times and counts, and never words or keys.
    pub collector: Option<String>,
}

/// How long clients may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the head of a request; 10 s by default.
    pub head: Duration,
    /// For the body of a request; 60 s by default.
    pub body: Duration,
    /// For turns that are under way when the gateway ends, before they are stopped; 30 s by default.
    pub drain: Duration,
    /// Between two looks at the key file for changes; 2 s by default.
    pub keys: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { head: seconds(10), body: seconds(60), drain: seconds(30), keys: seconds(2) }
    }
}

impl Options {
    /// Returns the file that has the keys of clients.
    pub fn key_file(&self) -> PathBuf {
        self.keys.clone().unwrap_or_else(|| self.folder.join(KeyFile::NAME))
    }
}

/// Agents behind the addresses of providers.
#[derive(Debug)]
pub struct Gateway(Arc<Server>);

/// Why a folder is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// There is nothing to serve, or not this way.
    #[error("{0}")]
    Unusable(Phrase),
    /// A file, the store or an agent cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
}

impl GatewayError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Unusable(phrase) => phrase.clone(),
            Self::Project(error) => error.phrase(),
        }
    }
}

/// What all requests share.
pub(crate) struct Server {
    pub(crate) agents: Arc<Agents>,
    pub(crate) keys: Keys,
    pub(crate) bodies: BodyReader,
    pub(crate) time: Patience,
    pub(crate) meters: Meters,
    pub(crate) store: Arc<dyn ConversationStore>,
    pub(crate) rooms: Rooms,
    /// Where conversations were begun as requests begin.
    pub(crate) beginnings: Latest<Beginning, Place>,
    /// Why the latest turns sent what they sent, by conversation and by the message that was answered.
    pub(crate) reports: Latest<(String, NodeId), Arc<Report>>,
    pub(crate) figures: Figures,
    pub(crate) exporter: Option<Arc<Exporter>>,
    /// Called when the turns that are under way must end.
    pub(crate) end: ctx_pipeline::Cancel,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("agents", &self.agents).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Reads the folder, opens the store and reads the keys.
    ///
    /// # Errors
    ///
    /// The folder has no agent, or the store, the keys or `ctx.toml` cannot be used.
    pub async fn open(mut options: Options) -> Result<Self, GatewayError> {
        let folder = options.folder.canonicalize().map_err(|error| {
            let (folder, reason) = (files::name(&options.folder), files::reason(&error));
            GatewayError::Unusable(phrase!("cannot open the folder `{folder}`: {reason}", folder, reason))
        })?;
        options.folder = folder;
        let config = Config::read_for(&options.folder, &options.config, &mut Sources::default())?;
        // What is not trusted, and a key that is missing, are told at once.
        config.endpoint(&options.endpoint)?.endpoint(&options.endpoint, true)?;
        if options.endpoint.base_url.is_none() {
            config.fallbacks()?;
        }
        let store = open_store(options.store.as_deref(), &config);
        // The defaults are nobody's while it is waited.
        drop(config);
        let store = store?.await?;
        let keys = Keys::open(options.keys.as_deref(), &options.folder)?;
        let time = options.time;
        let bodies = BodyReader::new(options.max_body.unwrap_or(DEFAULT_MAX_BYTES), time.body);
        let exporter = options.collector.as_deref().map(Exporter::open).transpose();
        let exporter = exporter.map_err(GatewayError::Unusable)?.map(Arc::new);
        let loaded_messages = options.loaded_messages.unwrap_or(MAX_MESSAGES);
        let agents = Agents::find(options);
        if agents.names().next().is_none() {
            return Err(GatewayError::Unusable(phrase!("the folder has no agent; `ctx init` writes one")));
        }
        Ok(Self(Arc::new(Server {
            agents: Arc::new(agents),
            keys,
            bodies,
            time,
            meters: Meters::default(),
            store,
            rooms: Rooms::new(loaded_messages),
            beginnings: Latest::new(MAX_ENTRIES),
            reports: Latest::new(MAX_REPORTS),
            figures: Figures::default(),
            exporter,
            end: ctx_pipeline::Cancel::default(),
        })))
    }

    /// Returns the names of the agents, in order.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.0.agents.names()
    }

    /// Serves until a signal comes; then no connection is taken any more, and turns that are under way have some time to
    /// end before they are stopped. What came of those is stored.
    ///
    /// # Errors
    ///
    /// There are no keys, and the listener can be reached from other machines.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send,
    ) -> Result<(), GatewayError> {
        let address = listener.local_addr().map_err(|error| {
            GatewayError::Unusable(phrase!(
                "the listener has no address: {error}",
                error = files::reason(&error)
            ))
        })?;
        if self.0.keys.is_open() && !address.ip().is_loopback() {
            return Err(GatewayError::Unusable(phrase!(
                "`{address}` can be reached from other machines, and there are no keys; make one with `ctx serve key add NAME`",
                address = address.to_string()
            )));
        }
        match self.0.keys.status() {
            Some((file, keys)) => tracing::info!(file = %files::name(file), keys, "clients need a key"),
            None => tracing::info!("no key file: programs on this machine need no key"),
        }
        let exporter = self.0.exporter.clone();
        let reloading = tokio::spawn(reload_keys(self.0.clone()));
        serve::serve(self.0, listener, end).await;
        reloading.abort();
        if let Some(exporter) = exporter {
            drop(tokio::task::spawn_blocking(move || exporter.close()).await);
        }
        Ok(())
    }
}

/// Follows the key file while the gateway runs.
async fn reload_keys(server: Arc<Server>) {
    loop {
        tokio::time::sleep(server.time.keys).await;
        let server = server.clone();
        drop(tokio::task::spawn_blocking(move || server.keys.reload()).await);
    }
}

type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn ConversationStore>, GatewayError>> + Send>>;

/// Opens the store: a database by its address, or else a file.
fn open_store(given: Option<&Path>, config: &Config) -> Result<Opening, GatewayError> {
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
fn connect(address: String) -> Opening {
    Box::pin(async move {
        let store = ctx_chat::PostgresStore::connect(&address).await.map_err(ProjectError::from)?;
        Ok(Arc::new(store) as Arc<dyn ConversationStore>)
    })
}

#[cfg(not(feature = "postgres"))]
fn connect(_: String) -> Opening {
    let none = GatewayError::Unusable(phrase!("this program was built without PostgreSQL"));
    Box::pin(std::future::ready(Err(none)))
}
