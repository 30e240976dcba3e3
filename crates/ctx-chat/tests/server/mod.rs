//! A server on loopback that answers by a script, bytes and all, and remembers what it was asked.
//!
//! No clock and no chance: it stalls by sending nothing until the client leaves.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ctx_chat::TimeLimits;
use serde_json::{Value, json};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Whether it is a `GET` request.
    is_get: bool,
    /// The path.
    pub(crate) path: String,
    /// The header lines.
    pub(crate) headers: Vec<String>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.iter().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The contents of the messages, each with its role.
    pub(crate) fn messages(&self) -> Vec<(String, String)> {
        let body = self.json();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<String>,
    steps: Vec<Step>,
}

/// A step of an answer's body.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// These bytes are sent.
    Bytes(Vec<u8>),
    /// These bytes are sent again and again until the client leaves.
    Repeat(Vec<u8>),
    /// Nothing more is sent until the client leaves.
    Stall,
    /// The connection is closed in the middle.
    Close,
}

impl Answer {
    /// A body of JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let header = "content-type: application/json".to_owned();
        Self { status, headers: vec![header], steps: vec![Step::Bytes(body.to_string().into_bytes())] }
    }

    /// An error as OpenAI writes it.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, &json!({ "error": { "message": message, "type": "error", "code": code } }))
    }

    /// A stream of these steps.
    pub(crate) fn stream(steps: Vec<Step>) -> Self {
        Self { status: 200, headers: vec!["content-type: text/event-stream".to_owned()], steps }
    }

    /// A stream of chat completions that says a text, a piece for each word.
    pub(crate) fn text(text: &str) -> Self {
        let mut events: Vec<Value> = text.split_inclusive(' ').map(word).collect();
        events.push(end("stop"));
        Self::events(&events)
    }

    /// A stream of chat completions that calls tools: (id, name, arguments) each, the arguments in two pieces.
    pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut events = Vec::new();
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            let (head, tail) = arguments.split_at(arguments.len() / 2);
            events.push(delta(&json!({ "tool_calls": [{ "index": index, "id": id, "type": "function",
                "function": { "name": name, "arguments": head } }] })));
            let rest = json!({ "index": index, "function": { "arguments": tail } });
            events.push(delta(&json!({ "tool_calls": [rest] })));
        }
        events.push(end("tool_calls"));
        Self::events(&events)
    }

    /// A stream of these events, with its end.
    pub(crate) fn events(events: &[Value]) -> Self {
        Self::stream(vec![Step::Bytes(sse(events, true))])
    }

    pub(crate) fn with_header(mut self, line: &str) -> Self {
        self.headers.push(line.to_owned());
        self
    }
}

/// A chunk that says a word.
pub(crate) fn word(text: &str) -> Value {
    delta(&json!({ "content": text }))
}

pub(crate) fn delta(delta: &Value) -> Value {
    json!({ "id": "r1", "model": "scripted", "choices": [{ "index": 0, "delta": delta }] })
}

pub(crate) fn end(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// Events as bytes of a stream.
pub(crate) fn sse(events: &[Value], done: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events {
        write!(bytes, "data: {event}\n\n").unwrap();
    }
    if done {
        bytes.extend_from_slice(b"data: [DONE]\n\n");
    }
    bytes
}

/// A server with its script.
pub(crate) struct Server {
    address: SocketAddr,
    /// Whether an answer of its script never ends.
    stalls: bool,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Answers each request with the next answer; what nobody wrote an answer for is refused.
    pub(crate) fn script(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = answers.into_iter().collect::<Vec<_>>();
        let is_endless = |step: &Step| matches!(step, Step::Stall | Step::Repeat(_));
        let stalls = answers.iter().any(|answer| answer.steps.iter().any(is_endless));
        let mut answers = answers.into_iter();
        let server = Self::start(move |_| {
            answers.next().unwrap_or_else(|| Answer::error(418, "script", "the script has no more answers"))
        });
        Self { stalls, ..server }
    }

    /// Answers each request by a function, one request after the other.
    pub(crate) fn start(answer: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        Self::start_with(None, answer)
    }

    /// As [`start`](Self::start), and answers `GET` requests with this. By default, they get the status 404.
    pub(crate) fn start_with(
        models: Option<Answer>,
        answer: impl FnMut(&Received) -> Answer + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (received.clone(), Arc::new(Mutex::new(answer)));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (log, answer, models) = (log.clone(), answer.clone(), models.clone());
                thread::spawn(move || serve(&connection, models.as_ref(), &log, &answer));
            }
        });
        Self { address, stalls: false, received }
    }

    /// How long a client waits for it: not long where an answer never ends, and else as long as a busy
    /// machine may take.
    pub(crate) fn time_limits(&self) -> TimeLimits {
        let (usual, short) = (TimeLimits::default(), Duration::from_millis(500));
        if self.stalls { TimeLimits { first_token: short, stall: short, ..usual } } else { usual }
    }

    /// The address as endpoints have it.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What was asked so far, which is then forgotten.
    pub(crate) fn take_requests(&self) -> Vec<Received> {
        std::mem::take(&mut *self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was asked so far.
    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve<F: FnMut(&Received) -> Answer>(
    connection: &TcpStream,
    models: Option<&Answer>,
    log: &Mutex<Vec<Received>>,
    answer: &Mutex<F>,
) {
    let Some(request) = read(connection) else { return };
    if request.is_get {
        // Readers of models and their context windows are not part of a script.
        drop(write(connection, models.unwrap_or(&Answer::error(404, "not_found", "no models"))));
        return;
    }
    log.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    let answer = (answer.lock().unwrap_or_else(PoisonError::into_inner))(&request);
    // A client that left has got what it wanted.
    drop(write(connection, &answer));
}

fn read(connection: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let is_get = lines.first()?.starts_with("GET ");
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let headers = lines.split_off(1);
    let mut received = Received { is_get, path, headers, body: Vec::new() };
    let length = received.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    received.body = vec![0; length];
    reader.read_exact(&mut received.body).ok()?;
    Some(received)
}

fn write(mut connection: &TcpStream, answer: &Answer) -> std::io::Result<()> {
    // Chunks, so that an end in the middle can be told from a real one.
    let head = "connection: close\r\ntransfer-encoding: chunked\r\n";
    let headers: String = answer.headers.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
    write!(connection, "HTTP/1.1 {} Scripted\r\n{head}{headers}\r\n", answer.status)?;
    for step in &answer.steps {
        match step {
            Step::Bytes(bytes) => write_chunk(connection, bytes)?,
            Step::Repeat(bytes) => loop {
                write_chunk(connection, bytes)?;
            },
            Step::Stall => {
                let mut rest = Vec::new();
                connection.read_to_end(&mut rest)?;
                return Ok(());
            }
            Step::Close => return connection.shutdown(std::net::Shutdown::Both),
        }
    }
    connection.write_all(b"0\r\n\r\n")
}

fn write_chunk(mut connection: &TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    write!(connection, "{:x}\r\n", bytes.len())?;
    connection.write_all(bytes)?;
    connection.write_all(b"\r\n")?;
    connection.flush()
}
