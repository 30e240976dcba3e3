//! A temporary folder, the command in it, and requests to the servers that it starts.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Time limit of a command, and of a wait for a server.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder of one attempt, removed at the end.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    program: PathBuf,
}

impl Place {
    pub(super) fn new(program: &Path) -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("ctx-attack-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("work"))?;
        let place = Self { folder, program: program.to_owned() };
        place.write("agent.yaml", AGENT)?;
        Ok(place)
    }

    /// The folder in which commands run.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let path = self.work().join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("CTX_HOME", self.folder.join("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
        command
    }

    /// Runs the command; returns its exit code and all that it printed. A command that does not end is an error.
    pub(super) fn ctx(&self, arguments: &[&str]) -> Result<(i32, String)> {
        self.run(&mut self.command(arguments))
    }

    fn run(&self, command: &mut Command) -> Result<(i32, String)> {
        let path = self.folder.join("printed");
        let file = File::create(&path)?;
        let mut child = command.stdout(file.try_clone()?).stderr(file).spawn()?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begun.elapsed() > TIMEOUT {
                child.kill()?;
                child.wait()?;
                bail!("it did not end within {} s", TIMEOUT.as_secs());
            }
            thread::sleep(Duration::from_millis(5));
        };
        Ok((status.code().unwrap_or(-1), String::from_utf8_lossy(&fs::read(path)?).into_owned()))
    }

    /// Runs a shell line in a pseudo-terminal; `$CTX` is the command. Returns all that reached the terminal.
    pub(super) fn dialog(&self, line: &str, typed: &str) -> Result<String> {
        let input = self.folder.join("typed");
        fs::write(&input, typed)?;
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).current_dir(self.work()).stdin(File::open(input)?);
        command.env("CTX", &self.program).env("CTX_HOME", self.folder.join("home"));
        command.env("TERM", "xterm").env("SHELL", "/bin/sh");
        Ok(self.run(&mut command)?.1)
    }

    /// Starts `ctx serve` with a scripted provider.
    pub(super) fn gateway(&self, more: &[&str]) -> Result<Server> {
        self.write("key", "sk-any")?;
        let url = format!("http://{}", provider()?);
        let arguments = ["serve", "--port", "0", "--no-config", "--store", "chats.db", "--model", "m"];
        let mut command = self.command(&arguments);
        command.args(["--base-url", &url, "--key-file", "key"]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let host =
            line.trim().split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let Ok(address) = host.parse() else {
            child.kill()?;
            let mut errors = String::new();
            child.stderr.take().context("no errors")?.read_to_string(&mut errors)?;
            child.wait()?;
            bail!("the server did not start: {line}{errors}");
        };
        Ok(Server { child, address, _output: output })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The system removes files left in its folder for temporary ones.
        drop(fs::remove_dir_all(&self.folder));
    }
}

const AGENT: &str = "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n\
     parameters: {contextCompression: {autoTrigger: false}}\n";

/// A server that runs until this is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// Sends a chat completion without waiting for the response.
    pub(super) fn open(&self, body: &[u8]) -> Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let (host, length) = (self.address, body.len());
        write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n")?;
        write!(stream, "{JSON}content-length: {length}\r\n\r\n")?;
        // A server that refuses a body may close the connection before all of it is sent.
        drop(stream.write_all(body));
        Ok(stream)
    }

    /// Sends a chat completion and returns the status; 0 if there is none.
    pub(super) fn chat(&self, body: &[u8]) -> Result<u16> {
        let mut response = Vec::new();
        drop(self.open(body)?.read_to_end(&mut response));
        let response = String::from_utf8_lossy(&response);
        let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok(status.unwrap_or(0))
    }

    /// The largest memory that it had, in MiB; 0 where the system does not tell.
    pub(super) fn peak(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) >> 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const JSON: &str = "content-type: application/json\r\n";

/// Starts a provider that answers each request, and does not end streams. It runs until the program ends.
fn provider() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut request = Vec::new();
    (&mut reader).take(length).read_to_end(&mut request)?;
    if String::from_utf8_lossy(&request).contains(r#""stream":true"#) {
        let delta = r#"{"choices":[{"delta":{"role":"assistant","content":"Hi."}}]}"#;
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {delta}\n\n")?;
        // Until the gateway closes the connection.
        std::io::copy(&mut reader, &mut std::io::sink())?;
        return Ok(());
    }
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}"#;
    let length = body.len();
    write!(stream, "HTTP/1.1 200 OK\r\n{JSON}connection: close\r\ncontent-length: {length}\r\n\r\n{body}")?;
    Ok(())
}
