//! The proxy with one scripted client and one scripted server.

use std::path::PathBuf;
use std::time::Duration;

use ctx_tap::{LogSummary, Recorder, Tap, TapConfig, Upstream, Upstreams};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Ends a test that waits for bytes that do not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Host that clients write.
pub(crate) const HOST: &str = "localhost:1";

pub(crate) struct Wire {
    pub(crate) listener: TcpListener,
    pub(crate) recorder: Recorder,
    tap: String,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
    folder: tempfile::TempDir,
}

/// Connections of the client and of the server, with the proxy between them.
pub(crate) struct Pair {
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
}

/// Runs a test on a runtime with a time limit.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async { timeout(PATIENCE, test).await.expect("the bytes did not arrive") })
}

impl Wire {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = Upstream::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(&folder.path().join("log")).unwrap();
        let (upstreams, log) = (Upstreams::all(&upstream), Some(recorder.clone()));
        let tap = Tap::bind(TapConfig { upstreams, recorder: log, ..TapConfig::default() }).await.unwrap();
        let (address, (end, ended)) = (tap.address().to_string(), oneshot::channel());
        let running = tokio::spawn(tap.run_until(async move { drop(ended.await) }));
        Self { listener, recorder, tap: address, end, running, folder }
    }

    pub(crate) async fn client(&self) -> TcpStream {
        TcpStream::connect(&self.tap).await.unwrap()
    }

    /// Sends the first request of a connection.
    pub(crate) async fn connect(&self, request: &[u8]) -> Pair {
        let mut client = self.client().await;
        let (sent, accepted) = tokio::join!(client.write_all(request), self.listener.accept());
        sent.unwrap();
        let mut pair = Pair { client, server: accepted.unwrap().0 };
        expect(&mut pair.server, &self.forwarded(request)).await;
        pair
    }

    /// Returns the bytes that the server gets for bytes of the client.
    pub(crate) fn forwarded(&self, sent: &[u8]) -> Vec<u8> {
        let host = self.listener.local_addr().unwrap().to_string();
        let mut expected = Vec::new();
        let mut rest = sent;
        while let Some(at) = rest.windows(HOST.len()).position(|window| window == HOST.as_bytes()) {
            expected.extend_from_slice(&rest[..at]);
            expected.extend_from_slice(host.as_bytes());
            rest = &rest[at + HOST.len()..];
        }
        expected.extend_from_slice(rest);
        expected
    }

    /// Ends the proxy; returns the lines of the log.
    pub(crate) async fn log(self) -> Vec<Value> {
        let (text, _) = self.finish().await;
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ends the proxy; returns the text of the log.
    pub(crate) async fn finish(self) -> (String, LogSummary) {
        drop(self.end);
        self.running.await.unwrap();
        let summary = self.recorder.finish();
        (std::fs::read_to_string(&summary.path).unwrap_or_default(), summary)
    }

    pub(crate) fn log_folder(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Pair {
    /// Sends bytes of the server, which the client gets unchanged.
    pub(crate) async fn answer(&mut self, response: &[u8]) {
        let Self { client, server } = self;
        let (sent, ()) = tokio::join!(server.write_all(response), expect(client, response));
        sent.unwrap();
    }

    /// Sends bytes of the client, which the server gets with its own host.
    pub(crate) async fn ask(&mut self, wire: &Wire, request: &[u8]) {
        let Self { client, server } = self;
        let expected = wire.forwarded(request);
        let (sent, ()) = tokio::join!(client.write_all(request), expect(server, &expected));
        sent.unwrap();
    }
}

/// Reads bytes and compares them.
#[track_caller]
pub(crate) fn expect<'s>(stream: &'s mut TcpStream, expected: &'s [u8]) -> impl Future<Output = ()> + 's {
    let caller = std::panic::Location::caller();
    async move {
        let mut read = vec![0; expected.len()];
        let result = stream.read_exact(&mut read).await;
        assert!(result.is_ok(), "{caller}: {result:?}, expected {:?}", String::from_utf8_lossy(expected));
        let is_equal = read == expected;
        assert!(is_equal, "{caller}: {:?}", String::from_utf8_lossy(&read[..read.len().min(2_000)]));
    }
}

/// Reads until the end of the connection.
pub(crate) async fn rest(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.map(|_| rest)
}

/// Writes a request of an API with a JSON body.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: {HOST}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Writes a response with a JSON body.
pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}
