//! A relay before a server: it changes how the two sides are connected, or leaves a header out.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A relay on a port of its own.
pub(crate) struct Relay(SocketAddr);

impl Relay {
    /// Serves connections one after the other.
    pub(crate) fn start(serve: impl Fn(TcpStream) -> std::io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A side that leaves ends its connection, and no other.
                drop(serve(client));
            }
        });
        Self(address)
    }

    /// Passes everything on to a server and back, but for this header of its answers.
    pub(crate) fn without(header: &'static str, server: &str) -> Self {
        let server = server.to_owned();
        Self::start(move |mut client| {
            pass(&mut client, &server, header)?;
            client.shutdown(Shutdown::Both)
        })
    }

    /// The address and the port.
    pub(crate) fn address(&self) -> SocketAddr {
        self.0
    }
}

/// Passes one request on and its answer back, without one header of the answer.
pub(crate) fn pass(client: &mut (impl Read + Write), server: &str, header: &str) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server)?;
    let mut request = BufReader::new(&mut *client);
    let head = head(&mut request, "connection")?;
    let mut body = vec![0; length(&head)];
    request.read_exact(&mut body)?;
    server.write_all(format!("{head}connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    let mut answer = BufReader::new(server);
    let head = self::head(&mut answer, header)?;
    client.write_all(format!("{head}\r\n").as_bytes())?;
    std::io::copy(&mut answer, client)?;
    client.flush()
}

/// Reads the lines before a body, but for one header.
fn head(from: &mut impl BufRead, without: &str) -> std::io::Result<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(head);
        }
        let name = line.split(':').next().unwrap_or_default();
        if !name.eq_ignore_ascii_case(without) {
            head.push_str(&line);
        }
    }
}

/// The length of the body that follows.
fn length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    found.find_map(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}
