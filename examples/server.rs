//! Serves request bodies over HTTP, from agents that are compiled once.
//!
//! `cargo run -p examples --bin server -- 127.0.0.1:8080` listens until you stop it:
//!
//! ```text
//! curl -d '{"chat": [], "input": "Hello"}' http://127.0.0.1:8080/robin
//! ```
//!
//! Without an address, it uses a free port, sends itself three requests, and stops.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use anyhow::{Context as _, ensure};
use ctx_engine::prelude::{
    Compile, CompiledAgent, Engine, Request, TurnInput, read_agent, read_conversation,
};
use serde_json::Value;

const AGENTS: [(&str, &str); 2] = [
    ("robin", "presetMessages: [{ role: system, content: You are a gardener. }, { type: chat_history }]"),
    ("ada", "presetMessages: [{ role: system, content: You count lamps. }, { type: chat_history }]"),
];

/// Maximum length of a request body.
const MOST: usize = 1 << 20;

fn main() -> anyhow::Result<()> {
    let engine = Engine::new();
    let mut agents = BTreeMap::new();
    for (name, file) in AGENTS {
        let agent = read_agent(file.as_bytes(), name)?;
        // All threads share the compiled agents, which never change.
        agents.insert(name, engine.compile(&agent.value, &Compile::default()));
    }
    if let Some(address) = std::env::args().nth(1) {
        let listener = TcpListener::bind(address)?;
        println!("listening on http://{}", listener.local_addr()?);
        return serve(&listener, &agents, usize::MAX);
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener, &agents, 3));
        for (path, body) in [
            ("/robin", r#"{ "chat": [{ "role": "user", "content": "Hello" }] }"#),
            ("/ada", r#"{ "chat": [], "input": "How many?" }"#),
            ("/nobody", r#"{ "chat": [] }"#),
        ] {
            println!("POST {path}\n  {}", ask(address, path, body)?.replace("\r\n\r\n", "\n  "));
        }
        server.join().unwrap_or_else(|_| Ok(()))
    })
}

/// Answers this number of requests, each in its own thread.
fn serve(listener: &TcpListener, agents: &BTreeMap<&str, CompiledAgent>, count: usize) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        for stream in listener.incoming().take(count) {
            let mut stream = stream?;
            scope.spawn(move || {
                let (status, body) = match answer(&mut stream, agents) {
                    Ok(body) => ("200 OK", body),
                    Err(error) => ("400 Bad Request", format!("{error:#}").into_bytes()),
                };
                let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n");
                // Ignore clients that closed the connection.
                let _sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            });
        }
        Ok(())
    })
}

/// Reads a request and assembles its context.
fn answer(stream: &mut TcpStream, agents: &BTreeMap<&str, CompiledAgent>) -> anyhow::Result<Vec<u8>> {
    let (path, body) = read_request(stream)?;
    let agent = agents.get(path.trim_start_matches('/')).with_context(|| format!("no agent `{path}`"))?;
    let body: Value = serde_json::from_slice(&body)?;
    let chat = read_conversation(body["chat"].to_string().as_bytes(), "chat.json")?;
    let input = body["input"].as_str().map(Into::into);
    let context =
        agent.assemble_blocking(&chat.value, &TurnInput::default().with(|turn| turn.input = input))?;
    Ok(context.encode(&Request::new("gpt-5")).to_bytes())
}

/// Minimal HTTP: the path, the length, and the body.
fn read_request(stream: &mut TcpStream) -> anyhow::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream.take(2 * MOST as u64));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).context("no path")?.to_owned();
    let mut length = 0;
    while !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some((_, value)) =
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            length = value.trim().parse()?;
        }
    }
    ensure!(length <= MOST, "the body has more than {MOST} bytes");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((path, body))
}

/// The client: sends a body and returns the response.
fn ask(address: SocketAddr, path: &str, body: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.replace("\r\nConnection: close", ""))
}
