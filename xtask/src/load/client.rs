//! A client of the load: sends a request, reads the answer, and notes how long its pieces were on their way.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Where turns are asked for.
const CHAT: &str = "/v1/chat/completions";

/// How long an answer may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

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
    let mut answer = open(address, ("POST", CHAT), call, body)?;
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
    let mut bytes = Vec::new();
    open(address, ("POST", CHAT), call, body)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a conversation as it is stored.
pub(super) fn show(address: SocketAddr, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let path = format!("/conversations/{name}");
    open(address, ("GET", &path), &Call::default(), b"")?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Sends a request, and reads the head of its answer.
fn open(
    address: SocketAddr,
    (method, path): (&str, &str),
    call: &Call<'_>,
    body: &[u8],
) -> io::Result<BufReader<Body>> {
    let mut connection = TcpStream::connect_timeout(&address, PATIENCE)?;
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    let fields = [
        ("x-ctx-conversation", call.conversation),
        ("x-ctx-after", call.after),
        ("x-ctx-dry-run", call.is_dry.then_some("1")),
        ("content-type", Some("application/json")),
    ];
    for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        head = format!("{head}{name}: {value}\r\n");
    }
    write!(connection, "{head}content-length: {}\r\n\r\n", body.len())?;
    connection.write_all(body)?;
    let (mut reader, mut is_chunked, mut status) = (BufReader::new(connection), false, String::new());
    for index in 0.. {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        is_chunked |= line == "transfer-encoding: chunked";
        if index == 0 {
            status = line;
        }
    }
    let mut body = BufReader::new(Body { reader, left: if is_chunked { Some(0) } else { None } });
    if status.split(' ').nth(1) != Some("200") {
        let mut said = String::new();
        body.read_to_string(&mut said)?;
        return Err(io::Error::other(format!("{status}: {said}")));
    }
    Ok(body)
}

/// The body of an answer.
struct Body {
    reader: BufReader<TcpStream>,
    /// How much of a chunk is left, where it comes in chunks.
    left: Option<usize>,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left else { return self.reader.read(buffer) };
        let left = match left {
            0 => self.next_chunk()?,
            left => left,
        };
        let most = left.min(buffer.len());
        let count = self.reader.read(buffer.get_mut(..most).unwrap_or_default())?;
        if count == 0 && left > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left = Some(left - count);
        Ok(count)
    }
}

impl Body {
    /// Reads the size of the next chunk; 0 at the end.
    fn next_chunk(&mut self) -> io::Result<usize> {
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            if self.reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let size = line.trim().split(';').next().unwrap_or_default();
        usize::from_str_radix(size, 16).map_err(io::Error::other)
    }
}
