//! Listener and connections of clients.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::proxy::HttpProxy;
use crate::recorder::Recorder;
use crate::relay::serve_client;
use crate::transport::tls_config;
use crate::upstream::Upstreams;

/// Maximum number of connections of clients.
const MAX_CONNECTIONS: usize = 1_024;

/// Pause before the next attempt to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Options of a proxy.
#[derive(Clone, Debug)]
pub struct TapConfig {
    /// Address to listen on. The default is a free port of 127.0.0.1.
    pub listen: SocketAddr,
    /// Servers of the requests.
    pub upstreams: Upstreams,
    /// Log of the requests, if they are recorded.
    pub recorder: Option<Recorder>,
    /// HTTP proxy between this machine and the servers.
    pub proxy: Option<HttpProxy>,
}

impl Default for TapConfig {
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { listen, upstreams: Upstreams::default(), recorder: None, proxy: None }
    }
}

/// Error that prevents a proxy from starting.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
    /// The machine has no usable certificates.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// A proxy that listens.
#[derive(Debug)]
pub struct Tap {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<TapState>,
}

/// State that all connections share.
#[derive(Debug)]
pub(crate) struct TapState {
    pub(crate) upstreams: Upstreams,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) proxy: Option<HttpProxy>,
    /// Whether only programs on this machine can connect.
    pub(crate) is_local: bool,
}

impl Tap {
    /// Listens on an address. Requires an async runtime.
    ///
    /// # Errors
    ///
    /// The address cannot be used, or TLS cannot be set up.
    pub async fn bind(config: TapConfig) -> Result<Self, TapError> {
        let TapConfig { listen, upstreams, recorder, proxy } = config;
        let failed = |error| TapError::Listen { address: listen, error };
        let servers = [&upstreams.openai, &upstreams.anthropic, &upstreams.gemini];
        let tls = Arc::new(tls_config(servers.iter().any(|server| server.is_secure()))?);
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let is_local = address.ip().is_loopback();
        Ok(Self {
            listener,
            address,
            shared: Arc::new(TapState { upstreams, recorder, tls, proxy, is_local }),
        })
    }

    /// Returns the address with its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Forwards requests until `end`. Then closes all connections; requests that are still running are recorded with an
    /// error.
    pub async fn run_until(self, end: impl Future<Output = ()>) {
        let Self { listener, shared, .. } = self;
        let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut clients = JoinSet::new();
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = async {
                let permit = free.clone().acquire_owned().await;
                (permit, listener.accept().await)
            };
            tokio::select! {
                () = &mut end => break,
                Some(_) = clients.join_next() => {}
                (permit, accepted) = accepted => match accepted {
                    Ok((stream, _)) => {
                        let shared = shared.clone();
                        clients.spawn(async move {
                            serve_client(stream, &shared).await;
                            drop(permit);
                        });
                    }
                    // Too many open files, for example.
                    Err(_) => sleep(PAUSE).await,
                },
            }
        }
        drop(listener);
        clients.shutdown().await;
    }
}
