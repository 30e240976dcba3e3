//! A gateway that a page starts, and the requests of the page.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// The address that pages show.
const SHOWN: &str = "127.0.0.1:4180";

/// A running `ctx serve`.
pub(crate) struct Gateway {
    child: Child,
    address: String,
}

impl Gateway {
    /// Starts `ctx serve` on a free port. Returns the output up to the line about access, with the address of the page.
    pub(crate) fn start(mut command: Command) -> (Option<Self>, String) {
        command.args(["--port", "0", "--log", "off"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut printed = String::new();
        let mut output = BufReader::new(child.stdout.as_mut().unwrap());
        while !printed.contains("client key") && output.read_line(&mut printed).unwrap() > 0 {}
        let address = printed.strip_prefix("http://").and_then(|rest| rest.split_once("/v1"));
        let Some((address, _)) = address else {
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            let code = child.wait().unwrap().code().unwrap();
            return (None, format!("{told}[exit code {code}]\n"));
        };
        let address = address.to_owned();
        let shown = printed.replace(&address, SHOWN);
        (Some(Self { child, address }), shown)
    }

    /// Sends a request as `curl` does. Returns the body; ids and times of replies differ from run to run.
    pub(crate) fn curl(&self, words: &[&str]) -> String {
        let (mut url, mut headers, mut body) = ("", String::new(), None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-H" => headers.extend([words.next().unwrap(), "\r\n"]),
                "-d" => body = words.next(),
                _ => url = word,
            }
        }
        let path =
            url.strip_prefix("http://").and_then(|rest| rest.strip_prefix(SHOWN)).expect("the gateway's URL");
        let (method, body) = body.map_or(("GET", ""), |body| ("POST", *body));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        write!(stream, "{head}{headers}content-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let Ok(mut value) = serde_json::from_str::<Value>(body) else { return format!("{body}\n") };
        for (key, fixed) in [("id", json!("chatcmpl-1")), ("created", json!(1_767_225_600))] {
            if let Some(own) = value.get_mut(key) {
                *own = fixed;
            }
        }
        format!("{value}\n")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
