//! A gateway that serves a folder with an agent, and a scripted provider.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use ctx_gateway::{Gateway, KeyFile, KeyLimits, Options, TimeLimits};
use ctx_project::{ConfigOptions, EndpointOptions};
use ctx_wire::Dialect;
use serde_json::Value;

use crate::server::{Answer, Received, Server};

/// Time of all turns.
pub(crate) const AT: &str = "2026-01-31T12:00:00Z";

/// API key of the provider. No client may see it.
pub(crate) const PROVIDER_KEY: &str = "sk-canary-0123456789";

/// An agent with messages before and after the history. Its requests are those of `ctx assemble`.
pub(crate) const AGENT: &str = "name: Ada\nprefix: moving\npresetMessages:\n- {role: system, content: \"You are Ada. It is {{date}}.\"}\n\
     - {type: chat_history}\n- {role: system, content: Be brief.}\n";

pub(crate) struct TestGateway {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) provider: Server,
    pub(crate) address: SocketAddr,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    served: Option<std::thread::JoinHandle<()>>,
}

/// A response to a client.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl TestResponse {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the data of the events of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

impl TestGateway {
    pub(crate) fn new(dialect: Dialect, answers: Vec<Answer>) -> Self {
        Self::with(dialect, answers, &[])
    }

    /// Like [`new`](Self::new), with keys of these names.
    pub(crate) fn with(dialect: Dialect, answers: Vec<Answer>, keys: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ada.yaml"), AGENT).unwrap();
        std::fs::write(folder.path().join("key"), PROVIDER_KEY).unwrap();
        let mut file = KeyFile::default();
        for name in keys {
            let key = file.add(name, None, KeyLimits::default()).unwrap();
            std::fs::write(folder.path().join(name), key.reveal()).unwrap();
        }
        if !keys.is_empty() {
            file.write(&folder.path().join(KeyFile::NAME)).unwrap();
        }
        Self::open(folder, dialect, Server::script(answers))
    }

    /// Serves an existing folder.
    pub(crate) fn open(folder: tempfile::TempDir, dialect: Dialect, provider: Server) -> Self {
        Self::open_with(folder, dialect, provider, |_| {})
    }

    /// Serves an agent whose provider has this base URL.
    pub(crate) fn with_base_url(address: &str) -> Self {
        let folder = Self::new(Dialect::OpenaiChat, vec![]).close();
        Self::open_with(folder, Dialect::OpenaiChat, Server::script([]), |options| {
            options.endpoint.base_url = Some(address.to_owned());
            // A gateway with a limit does not read the context window from the server.
            options.context_tokens = Some(1_000_000);
        })
    }

    /// Like [`open`](Self::open), with changed options.
    pub(crate) fn open_with(
        folder: tempfile::TempDir,
        dialect: Dialect,
        provider: Server,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let mut options = options(folder.path(), dialect, &provider);
        change(&mut options);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (end, ended) = tokio::sync::oneshot::channel();
        let (opened, is_open) = std::sync::mpsc::channel();
        let served = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let ended = async { drop(ended.await) };
                let gateway = Gateway::open(options).await.unwrap();
                opened.send(()).unwrap();
                gateway.serve_until(listener, ended).await.unwrap();
            });
        });
        // The test may change the files that the gateway read.
        is_open.recv().unwrap();
        Self { folder, provider, address, end: Some(end), served: Some(served) }
    }

    /// Ends the gateway like a signal, and waits for its end.
    pub(crate) fn close(mut self) -> tempfile::TempDir {
        drop(self.end.take());
        self.served.take().unwrap().join().unwrap();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    /// Ends the gateway without waiting.
    pub(crate) fn ask_to_close(&mut self) {
        drop(self.end.take());
    }

    /// Returns the header value of the key with this name.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("Bearer {}", std::fs::read_to_string(self.folder.path().join(name)).unwrap())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.ask("POST", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> TestResponse {
        self.ask("GET", path, &[], b"")
    }

    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TestResponse {
        read(self.send(method, path, headers, body))
    }

    /// Sends a request. The caller reads the response.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        self.begin((method, path), headers, (body, body.len()))
    }

    /// Sends a request with this content length and this part of its body.
    pub(crate) fn begin(
        &self,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        (body, length): (&[u8], usize),
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address)
            .unwrap();
        write!(stream, "content-type: application/json\r\ncontent-length: {length}\r\n").unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        stream.write_all(b"\r\n").unwrap();
        stream.write_all(body).unwrap();
        stream
    }

    /// Returns the provider's only request.
    #[track_caller]
    pub(crate) fn request(&self) -> Received {
        let mut requests = self.provider.take_requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

pub(crate) fn options(folder: &Path, dialect: Dialect, provider: &Server) -> Options {
    let keys = folder.join(KeyFile::NAME);
    Options {
        folder: folder.to_owned(),
        keys: keys.exists().then_some(keys),
        store: Some(folder.join("conversations.db")),
        endpoint: EndpointOptions {
            base_url: Some(provider.base_url()),
            dialect: Some(dialect),
            key_file: Some(folder.join("key")),
            ..EndpointOptions::default()
        },
        model: Some("some-model".to_owned()),
        at: Some(AT.to_owned()),
        config: ConfigOptions { is_ignored: true, ask: None },
        time: TimeLimits {
            drain: Duration::from_millis(100),
            keys: Duration::from_millis(10),
            ..TimeLimits::default()
        },
        ..Options::default()
    }
}

/// Reads a response to its end.
pub(crate) fn read(mut stream: TcpStream) -> TestResponse {
    let mut bytes = Vec::new();
    // An interrupted response is a partial response.
    drop(stream.read_to_end(&mut bytes));
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let body = bytes.get(end + 4..).unwrap_or_default();
    let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        body.to_vec()
    };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    TestResponse { status, head, body: String::from_utf8(body).unwrap() }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 || bytes.len() < end + 2 + size {
            break;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    body
}
