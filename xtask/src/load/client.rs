//! A client of the load: sends a request, reads the answer, and notes how long its pieces were on their way.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Where turns are asked for.
pub(crate) const CHAT: &str = "POST /v1/chat/completions";

/// How long an answer may stand still.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the time since this program began to count it, which provider and clients have in common.
pub(super) fn micros() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGIN.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// What came of a streamed answer.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Its words.
    pub(super) text: String,
    /// From the request to the first piece, in microseconds.
    pub(super) first: u64,
    /// How long each further piece was on its way.
    pub(super) pieces: Vec<u64>,
    /// From when the last piece was sent to the end of the answer.
    pub(super) end: u64,
}

/// Where a request goes, and what it says of the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Call<'a> {
    pub(super) conversation: Option<&'a str>,
    /// The message behind which it goes on.
    pub(super) after: Option<&'a str>,
    pub(super) is_dry: bool,
}

/// The body of a turn in which the user says something.
pub(super) fn body(text: &str, streams: bool) -> Vec<u8> {
    let messages = [json!({ "role": "user", "content": text })];
    json!({ "model": "agent", "messages": messages, "stream": streams }).to_string().into_bytes()
}

/// Asks for a streamed answer, and reads it to its end.
pub(super) fn stream(address: SocketAddr, call: &Call<'_>, body: &[u8]) -> io::Result<Heard> {
    let (begun, mut heard, mut sent) = (micros(), Heard::default(), 0);
    let (_, mut answer) = open(address, CHAT, call, body)?;
    let mut line = String::new();
    loop {
        line.clear();
        if answer.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let now = micros();
        match line.trim_end().strip_prefix("data: ") {
            Some("[DONE]") => break,
            Some(data) => {
                let event: Value = serde_json::from_str(data)?;
                if event.get("error").is_some() {
                    return Err(io::Error::other(data.to_owned()));
                }
                let Some(words) =
                    event["choices"][0]["delta"]["content"].as_str().filter(|words| !words.is_empty())
                else {
                    continue;
                };
                let stamp = words.trim_end().rsplit_once('.').and_then(|(_, stamp)| stamp.parse().ok());
                sent = stamp.unwrap_or(now);
                if heard.text.is_empty() {
                    heard.first = now - begun;
                } else {
                    heard.pieces.push(now.saturating_sub(sent));
                }
                heard.text.push_str(words);
            }
            None => {}
        }
    }
    heard.end = micros().saturating_sub(sent);
    Ok(heard)
}

/// Sends a turn, and returns the body of its answer.
pub(super) fn ask(address: SocketAddr, call: &Call<'_>, body: &[u8]) -> io::Result<Vec<u8>> {
    Ok(ask_with_head(address, call, body)?.1)
}

/// Sends a turn, and returns the head and the body of its answer.
pub(super) fn ask_with_head(
    address: SocketAddr,
    call: &Call<'_>,
    body: &[u8],
) -> io::Result<(String, Vec<u8>)> {
    let (head, mut answer) = open(address, CHAT, call, body)?;
    let mut bytes = Vec::new();
    answer.read_to_end(&mut bytes)?;
    Ok((head, bytes))
}

/// Returns a conversation as it is stored.
pub(super) fn show(address: SocketAddr, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let request = format!("GET /conversations/{name}");
    open(address, &request, &Call::default(), b"")?.1.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Sends a request, and reads the head of its answer. The rest can be read.
fn open(
    address: SocketAddr,
    request: &str,
    call: &Call<'_>,
    body: &[u8],
) -> io::Result<(String, BufReader<TcpStream>)> {
    let fields = [
        ("x-ctx-conversation", call.conversation),
        ("x-ctx-after", call.after),
        ("x-ctx-dry-run", call.is_dry.then_some("1")),
        ("content-type", Some("application/json")),
    ];
    let fields: Vec<_> = fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let mut reader = BufReader::new(send(address, request, &fields, body)?);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        let mut said = String::new();
        reader.read_to_string(&mut said)?;
        return Err(io::Error::other(format!("{status}: {said}")));
    }
    Ok((head, reader))
}

/// Sends a request in the old version of HTTP, whose responses come without chunks and end with the connection.
pub(crate) fn send(
    address: SocketAddr,
    request: &str,
    fields: &[(&str, &str)],
    body: &[u8],
) -> io::Result<TcpStream> {
    let mut connection = TcpStream::connect_timeout(&address, PATIENCE)?;
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!("{request} HTTP/1.0\r\nhost: {address}\r\n");
    for (name, value) in fields {
        head = format!("{head}{name}: {value}\r\n");
    }
    write!(connection, "{head}content-length: {}\r\n\r\n", body.len())?;
    // A server that refuses a body may close the connection before all of it is sent.
    drop(connection.write_all(body));
    Ok(connection)
}
