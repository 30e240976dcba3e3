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

/// Starts one whose streams have so many pieces, or without a number one piece and no end; it runs until the program ends.
pub(crate) fn start(pieces: Option<u32>) -> Result<SocketAddr> {
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
fn serve(mut connection: &TcpStream, answers: &AtomicU64, pieces: Option<u32>) -> std::io::Result<bool> {
    let Some((body, is_last)) = read(connection)? else { return Ok(false) };
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
        return Ok(!is_last);
    }
    let encoding = if is_last { "connection: close" } else { "transfer-encoding: chunked" };
    write!(connection, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{encoding}\r\n\r\n")?;
    let mut send = |data: &str| {
        let event = format!("data: {data}\n\n");
        let chunk = if is_last { event } else { format!("{:x}\r\n{event}\r\n", event.len()) };
        connection.write_all(chunk.as_bytes())
    };
    let begun = Instant::now();
    for piece in 0..pieces.unwrap_or(1) {
        thread::sleep((Duration::from_secs(1) / RATE * piece).saturating_sub(begun.elapsed()));
        let text = format!("a{answer}.{} ", micros());
        send(&format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}"))?;
    }
    if pieces.is_none() {
        // Until the other side closes the connection.
        std::io::copy(&mut connection, &mut std::io::sink())?;
        return Ok(false);
    }
    send(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#)?;
    send("[DONE]")?;
    if !is_last {
        connection.write_all(b"0\r\n\r\n")?;
    }
    Ok(!is_last)
}

/// What a body has that asks for pieces; it stands behind the messages.
const STREAMS: &[u8] = br#""stream":true"#;

/// Reads a request to its end; returns its body, and whether it is the last one, being of the old version of HTTP. None once
/// the other side has closed.
fn read(connection: &TcpStream) -> std::io::Result<Option<(Vec<u8>, bool)>> {
    let (mut reader, mut length, mut is_last) = (BufReader::new(connection), 0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        is_last |= line.ends_with(" http/1.0");
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((body, is_last)))
}
