//! Connections to servers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::head::MAX_HEAD;
use crate::tap::TapState;
use crate::upstream::Upstream;

/// Time limit for a connection to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Size of a read, in bytes.
const READ: usize = 32 << 10;

/// A plain or encrypted connection.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A connection to a server.
pub(crate) struct ServerConnection {
    pub(crate) server: Upstream,
    pub(crate) reader: BufferedReader<ReadHalf<Box<dyn Transport>>>,
    pub(crate) writer: WriteHalf<Box<dyn Transport>>,
}

/// A reader with its unused bytes.
pub(crate) struct BufferedReader<R> {
    stream: R,
    pub(crate) buffer: BytesMut,
}

/// Error of a head.
#[derive(Debug)]
pub(crate) enum HeadError {
    /// The connection ended before the head.
    End,
    TooLarge,
    Io(io::Error),
}

impl<R: AsyncRead + Unpin> BufferedReader<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// Reads more bytes; 0 at the end of the connection. Canceling loses no bytes.
    pub(crate) async fn fill(&mut self) -> io::Result<usize> {
        self.buffer.reserve(READ);
        self.stream.read_buf(&mut self.buffer).await
    }

    /// Reads a head with its empty line.
    pub(crate) async fn read_head(&mut self) -> Result<BytesMut, HeadError> {
        let mut searched = 0_usize;
        loop {
            // Empty lines may precede a request.
            while searched == 0 && self.buffer.first().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
                drop(self.buffer.split_to(1));
            }
            let start = searched.saturating_sub(3);
            if let Some(end) = memchr::memmem::find(&self.buffer[start..], b"\r\n\r\n") {
                return Ok(self.buffer.split_to(start + end + 4));
            }
            searched = self.buffer.len();
            if searched > MAX_HEAD {
                return Err(HeadError::TooLarge);
            }
            match self.fill().await {
                Ok(0) => return Err(HeadError::End),
                Ok(_) => {}
                Err(error) => return Err(HeadError::Io(error)),
            }
        }
    }

    /// Waits until the other side closes the connection. Keeps bytes that arrive before, up to a limit.
    pub(crate) async fn closed(&mut self) {
        while self.buffer.len() < MAX_HEAD {
            if !matches!(self.fill().await, Ok(1..)) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}

impl ServerConnection {
    /// Connects to a server.
    pub(crate) async fn open(server: &Upstream, state: &TapState) -> io::Result<Self> {
        let opened = timeout(CONNECT_TIMEOUT, connect(server, state)).await;
        let stream = opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        let (reader, writer) = split(stream);
        Ok(Self { server: server.clone(), reader: BufferedReader::new(reader), writer })
    }
}

async fn connect(server: &Upstream, state: &TapState) -> io::Result<Box<dyn Transport>> {
    let stream = match state.proxy.as_ref().filter(|proxy| proxy.is_for(server)) {
        Some(proxy) => proxy.connect(server).await?,
        None => TcpStream::connect((server.host(), server.port())).await?,
    };
    stream.set_nodelay(true)?;
    if !server.is_secure() {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(server.host().to_owned()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(state.tls.clone());
    Ok(Box::new(connector.connect(name, stream).await?))
}

/// Returns settings for TLS. Reads the certificates of the machine only if needed, because containers may lack them.
pub(crate) fn tls_config(is_needed: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = if is_needed {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
