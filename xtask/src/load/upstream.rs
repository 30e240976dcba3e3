//! The provider of the load: it answers every request with so many pieces, so many of them a second.
//!
//! Each piece says which answer it is of and when it was sent, so that whoever reads it knows how long it was on its
//! way, and no two answers are alike.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::client::micros;

/// How many pieces of an answer come in a second.
pub(super) const RATE: u32 = 50;

/// Starts one whose answers have so many pieces; it runs until the program ends.
pub(super) fn start(pieces: u32) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    let address = listener.local_addr()?;
    let answers = Arc::new(AtomicU64::new(0));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let answers = answers.clone();
            thread::spawn(move || {
                // Who leaves in the middle of an answer wants no more of it.
                while serve(&connection, &answers, pieces).is_ok_and(|goes_on| goes_on) {}
            });
        }
    });
    Ok(address)
}

/// Answers one request of a connection; says whether another one may come.
fn serve(mut connection: &TcpStream, answers: &AtomicU64, pieces: u32) -> std::io::Result<bool> {
    let Some((body, goes_on)) = read(connection)? else { return Ok(false) };
    connection.set_nodelay(true)?;
    let answer = answers.fetch_add(1, Ordering::Relaxed);
    let streams = body.windows(STREAMS.len()).rev().any(|bytes| bytes == STREAMS);
    if !streams {
        let text = format!("a{answer}.0 ");
        let message = serde_json::json!({ "role": "assistant", "content": text });
        let choice = serde_json::json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let usage = serde_json::json!({ "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11 });
        let body = serde_json::json!({
            "id": format!("a{answer}"), "object": "chat.completion", "created": 0, "model": "gpt-4o",
            "choices": [choice], "usage": usage,
        });
        let body = body.to_string();
        let length = body.len();
        write!(
            connection,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        return Ok(goes_on);
    }
    connection.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    let begun = Instant::now();
    for piece in 0..pieces {
        thread::sleep((Duration::from_secs(1) / RATE * piece).saturating_sub(begun.elapsed()));
        let text = format!("a{answer}.{} ", micros());
        chunk(
            connection,
            &format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}"),
        )?;
    }
    chunk(connection, r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#)?;
    chunk(connection, "[DONE]")?;
    connection.write_all(b"0\r\n\r\n")?;
    Ok(goes_on)
}

/// What a body has that asks for pieces; it stands behind the messages.
const STREAMS: &[u8] = br#""stream":true"#;

/// Reads a request to its end and returns its body, and whether the connection stays; none once the other side has closed.
fn read(connection: &TcpStream) -> std::io::Result<Option<(Vec<u8>, bool)>> {
    let (mut reader, mut length, mut goes_on) = (BufReader::new(connection), 0, true);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        goes_on &= line != "connection: close";
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((body, goes_on)))
}

fn chunk(mut connection: &TcpStream, data: &str) -> std::io::Result<()> {
    let event = format!("data: {data}\n\n");
    connection.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}
