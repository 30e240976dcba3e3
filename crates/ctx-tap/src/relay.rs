//! Relays the requests of a client, and their responses.
//!
//! Each connection of a client has a separate connection to a server. Both end together, as without the proxy.
//! Bodies pass as they arrive, with their chunk sizes and trailers.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Buf as _;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use crate::body_scanner::{BodyLength, BodyScanner};
use crate::exchange_record::{ExchangeRecord, RecordedResponse};
use crate::head::{RequestHead, ResponseHead};
use crate::tap::TapState;
use crate::transport::{BufferedReader, HeadError, ServerConnection};

/// Time limit between two requests of a connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// Time limit for the next bytes of a message. Models can think for a long time.
const STALL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Time for a client to read the end of a response.
const LINGER: Duration = Duration::from_secs(2);

/// End of a client's connection.
enum ConnectionEnd {
    /// The client can read the last bytes.
    Cleanly,
    /// Only a reset tells the client that a response without a length is incomplete.
    Reset,
}

/// Error of a body or head.
enum RelayError {
    /// The sender closed the connection early.
    Truncated,
    /// The sender failed.
    Read(io::Error),
    /// The receiver failed.
    Write(io::Error),
    /// The head is not HTTP/1, or too large.
    InvalidHead,
}

impl From<HeadError> for RelayError {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::End => Self::Truncated,
            HeadError::TooLarge => Self::InvalidHead,
            HeadError::Io(error) => Self::Read(error),
        }
    }
}

/// Both directions of a client's connection.
struct Client<'c> {
    reader: BufferedReader<ReadHalf<'c>>,
    writer: WriteHalf<'c>,
}

/// Relays the requests of a connection in order.
pub(crate) async fn serve_client(mut stream: TcpStream, state: &TapState) {
    // Events are small, and clients should see each at once.
    stream.set_nodelay(true).unwrap_or_default();
    let (reader, writer) = stream.split();
    let mut client = Client { reader: BufferedReader::new(reader), writer };
    let mut server = None;
    let closed = loop {
        let Some(head) = next_request(&mut client, server.as_mut()).await else {
            break ConnectionEnd::Cleanly;
        };
        match relay_request(&mut client, &mut server, head, state).await {
            Ok(()) => {}
            Err(closed) => break closed,
        }
    };
    drop(server);
    match closed {
        ConnectionEnd::Cleanly => {
            // A reset would delete a response that the client did not read yet.
            let Client { mut reader, mut writer } = client;
            writer.shutdown().await.unwrap_or_default();
            drop(timeout(LINGER, reader.closed()).await);
        }
        ConnectionEnd::Reset => {
            drop(client);
            stream.set_zero_linger().unwrap_or_default();
        }
    }
}

/// Waits for the head of a request. Ends when the client or the server closes the connection.
async fn next_request(client: &mut Client<'_>, server: Option<&mut ServerConnection>) -> Option<RequestHead> {
    let server_closed = async {
        match server {
            // Bytes without a request are an error.
            Some(server) => drop(server.reader.fill().await),
            None => std::future::pending().await,
        }
    };
    let head = tokio::select! {
        biased;
        head = timeout(IDLE_TIMEOUT, client.reader.read_head()) => head.ok()?,
        () = server_closed => return None,
    };
    let refusal = match head {
        Ok(head) => match RequestHead::parse(head.freeze()) {
            Ok(head) => return Some(head),
            Err(_) => "400 Bad Request",
        },
        Err(HeadError::TooLarge) => "431 Request Header Fields Too Large",
        Err(_) => return None,
    };
    refuse(client, refusal, "the request is not valid HTTP/1.1").await;
    None
}

/// Answers in place of a server.
async fn refuse(client: &mut Client<'_>, status: &str, reason: &str) {
    let error =
        serde_json::json!({ "error": { "type": "ctx_tap", "message": format!("ctx tap: {reason}") } });
    let body = error.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A client that left does not read it.
    client.writer.write_all(format!("{head}{body}").as_bytes()).await.unwrap_or_default();
}

/// Relays a request and its response. `Ok` means that another request may follow.
async fn relay_request(
    client: &mut Client<'_>,
    server: &mut Option<ServerConnection>,
    head: RequestHead,
    state: &TapState,
) -> Result<(), ConnectionEnd> {
    if !head.target.starts_with('/') {
        refuse(client, "400 Bad Request", "set this address as a base URL, not as a proxy").await;
        return Err(ConnectionEnd::Cleanly);
    }
    if state.is_local && !is_local_host(head.header("host")) {
        refuse(client, "421 Misdirected Request", "`host` is not a name of this machine").await;
        return Err(ConnectionEnd::Cleanly);
    }
    let upstream = state.upstreams.choose(&head);
    let target = upstream.target(&head.target);
    let mut recording = ExchangeRecord::start(state.recorder.as_ref(), &head, upstream, &target);
    let mut connection = match server.take().filter(|open| open.server == *upstream) {
        Some(open) => open,
        None => match ServerConnection::open(upstream, state).await {
            Ok(opened) => opened,
            Err(error) => {
                let reason = format!("cannot connect to {}: {error}", upstream.authority());
                refuse(client, "502 Bad Gateway", &reason).await;
                recording.fail(reason);
                return Err(ConnectionEnd::Cleanly);
            }
        },
    };
    let forwarded = head.forwarded(&target, &upstream.authority());
    let sent = send(&mut connection.writer, &forwarded).await;
    let ended = match sent {
        Ok(()) => exchange(client, &mut connection, &head, &mut recording).await,
        Err(error) => Err(Failure { is_of_client: true, error }),
    };
    match ended {
        Ok(ExchangeEnd::Persistent) => {
            recording.finish();
            *server = Some(connection);
            Ok(())
        }
        Ok(ExchangeEnd::Last) => {
            recording.finish();
            Err(ConnectionEnd::Cleanly)
        }
        Ok(ExchangeEnd::Upgraded) => {
            recording.finish();
            tunnel(client, connection, &mut recording).await;
            Err(ConnectionEnd::Cleanly)
        }
        Err(failure) => {
            recording.fail(failure.reason());
            let is_hidden = matches!(failure.error, RelayError::Read(_)) && recording.response.is_until_close;
            Err(if is_hidden { ConnectionEnd::Reset } else { ConnectionEnd::Cleanly })
        }
    }
}

/// Returns whether a `host` is of this machine. A page of another site can point its own name at this address.
fn is_local_host(host: Option<&str>) -> bool {
    let Some(host) = host else { return true };
    let name =
        host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let name = name.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

enum ExchangeEnd {
    /// Another request may follow.
    Persistent,
    Last,
    /// Other bytes than HTTP follow.
    Upgraded,
}

struct Failure {
    is_of_client: bool,
    error: RelayError,
}

impl Failure {
    fn reason(&self) -> String {
        let [reader, writer] =
            if self.is_of_client { ["client", "provider"] } else { ["provider", "client"] };
        match &self.error {
            RelayError::Truncated => format!("the {reader} closed the connection"),
            RelayError::Read(error) => format!("the connection to the {reader} failed: {error}"),
            RelayError::Write(error) => format!("the connection to the {writer} failed: {error}"),
            RelayError::InvalidHead => format!("the {reader} did not send valid HTTP/1.1"),
        }
    }
}

/// Sends the body of a request while the response arrives.
async fn exchange(
    client: &mut Client<'_>,
    server: &mut ServerConnection,
    head: &RequestHead,
    recording: &mut ExchangeRecord<'_>,
) -> Result<ExchangeEnd, Failure> {
    let of_client = |error| Failure { is_of_client: true, error };
    let of_server = |error| Failure { is_of_client: false, error };
    let ExchangeRecord { request, response, .. } = recording;
    let mut copy = |data: &[u8]| {
        if let Some(request) = request {
            request.add(data);
        }
    };
    let mut receiving =
        std::pin::pin!(relay_response(&mut server.reader, &mut client.writer, head, response));
    let mut received = None;
    let mut has_failed = false;
    {
        let (from, to) = (&mut client.reader, &mut server.writer);
        let mut sending = std::pin::pin!(relay_body(from, to, head.length, &mut copy));
        loop {
            tokio::select! {
                biased;
                sent = &mut sending => match sent {
                    Ok(()) => break,
                    // A server can answer before it has the whole request.
                    Err(RelayError::Write(_)) => { has_failed = true; break }
                    Err(error) => return Err(of_client(error)),
                },
                ended = &mut receiving, if received.is_none() => {
                    let ended = ended.map_err(of_server)?;
                    if matches!(ended, ExchangeEnd::Last) {
                        return Ok(ended);
                    }
                    received = Some(ended);
                }
            }
        }
    }
    let end = match received {
        Some(end) => end,
        None if has_failed => receiving.await.map_err(of_server)?,
        None => tokio::select! {
            biased;
            ended = &mut receiving => ended.map_err(of_server)?,
            () = client.reader.closed() => return Err(of_client(RelayError::Truncated)),
        },
    };
    Ok(if has_failed || !head.is_persistent && matches!(end, ExchangeEnd::Persistent) {
        ExchangeEnd::Last
    } else {
        end
    })
}

/// Relays a response and the interim responses before it.
async fn relay_response(
    from: &mut BufferedReader<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    request: &RequestHead,
    recorded: &mut RecordedResponse,
) -> Result<ExchangeEnd, RelayError> {
    let head = loop {
        let head = timeout(STALL_TIMEOUT, from.read_head()).await.map_err(|_| stalled())??;
        let parsed = ResponseHead::parse(&head, &request.method).map_err(|_| RelayError::InvalidHead)?;
        send(to, &head).await?;
        if !(100..200).contains(&parsed.status) || parsed.status == 101 {
            break parsed;
        }
    };
    recorded.set_head(&head);
    if head.status == 101 {
        return Ok(ExchangeEnd::Upgraded);
    }
    relay_body(from, to, head.length, |data| recorded.add(data)).await?;
    let is_persistent = head.is_persistent && head.length != BodyLength::UntilClose;
    Ok(if is_persistent { ExchangeEnd::Persistent } else { ExchangeEnd::Last })
}

/// Relays a body as it arrives. Passes its data to `copy`.
async fn relay_body(
    from: &mut BufferedReader<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    length: BodyLength,
    mut copy: impl FnMut(&[u8]),
) -> Result<(), RelayError> {
    let mut scanner = BodyScanner::new(length);
    while !scanner.is_done() {
        if from.buffer.is_empty() {
            let filled = timeout(STALL_TIMEOUT, from.fill()).await.map_err(|_| stalled())?;
            if filled.map_err(RelayError::Read)? == 0 {
                return if scanner.is_until_close() { Ok(()) } else { Err(RelayError::Truncated) };
            }
        }
        let length = scanner.scan(&from.buffer, &mut copy);
        send(to, &from.buffer[..length]).await?;
        from.buffer.advance(length);
    }
    Ok(())
}

async fn send(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), RelayError> {
    let written = timeout(STALL_TIMEOUT, async {
        to.write_all(bytes).await?;
        to.flush().await
    });
    written.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(RelayError::Write)
}

fn stalled() -> RelayError {
    RelayError::Read(io::ErrorKind::TimedOut.into())
}

/// Relays bytes until one side ends.
async fn tunnel(client: &mut Client<'_>, server: ServerConnection, recording: &mut ExchangeRecord<'_>) {
    let ServerConnection { mut reader, mut writer, .. } = server;
    let ExchangeRecord { request, response, sent_times, .. } = recording;
    let copy_sent = |bytes: &[u8]| request.iter_mut().for_each(|copy| copy.add_at(bytes, sent_times));
    let RecordedResponse { copy, received_times, .. } = response;
    let copy_received = |bytes: &[u8]| copy.iter_mut().for_each(|copy| copy.add_at(bytes, received_times));
    tokio::select! {
        () = relay_bytes(&mut client.reader, &mut writer, copy_sent) => {}
        () = relay_bytes(&mut reader, &mut client.writer, copy_received) => {}
    }
}

/// Relays bytes in one direction until an end. Passes them to `copy`.
async fn relay_bytes(
    from: &mut BufferedReader<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    mut copy: impl FnMut(&[u8]),
) {
    loop {
        copy(&from.buffer);
        if send(to, &from.buffer).await.is_err() {
            return;
        }
        from.buffer.clear();
        if !matches!(from.fill().await, Ok(1..)) {
            return;
        }
    }
}
