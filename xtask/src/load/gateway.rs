//! What is loaded: `ctx serve` in a folder of its own, and a `PostgreSQL` server for several of them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// Debian's programs of `PostgreSQL` are not in the path.
const POSTGRES: &str = "/usr/lib/postgresql";

/// An agent with something in front of the history and behind it. Nothing is summarised: that asks the provider more
/// often.
const AGENT: &str = "name: Ada\npresetMessages:\n- {role: system, content: You are Ada.}\n- {type: chat_history}\n\
     - {role: system, content: Be brief.}\nparameters: {contextCompression: {autoTrigger: false}}\n";

/// A folder with an agent, removed at the end.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("ctx-load-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        fs::write(path.join("agent.yaml"), AGENT)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for such files.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A gateway that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Gateway {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Gateway {
    /// Starts one by its command, whose output is piped; fails with what it printed instead of its address.
    pub(crate) fn spawn(command: &mut Command) -> Result<Self> {
        let process = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        // Dropped with the process if there is no address.
        let mut gateway = Self { process, address: SocketAddr::from(([0, 0, 0, 0], 0)) };
        let output = gateway.process.stdout.take().context("the gateway has no output")?;
        let (mut line, mut errors) = (String::new(), String::new());
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1"));
        if let Some(address) = address.and_then(|address| address.parse().ok()) {
            gateway.address = address;
            return Ok(gateway);
        }
        gateway.kill()?;
        if let Some(mut output) = gateway.process.stderr.take() {
            output.read_to_string(&mut errors)?;
        }
        bail!("the gateway said `{line}` {errors}")
    }

    /// Ends it without a word to it.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Returns how many KiB of memory it has (`VmRSS`) or had at most (`VmHWM`), where the system says so.
    pub(crate) fn memory(&self, field: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// Returns how much processor time it has had, in milliseconds, where the system says so.
    pub(super) fn processor_millis(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        let fields: Vec<u64> =
            text.rsplit_once(") ")?.1.split(' ').map(|field| field.parse().unwrap_or(0)).collect();
        // Of user and system, in hundredths of a second.
        Some((fields.get(11)? + fields.get(12)?) * 10)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        drop(self.kill());
    }
}

/// Returns the command that starts one on a port; any port if it is 0.
pub(super) fn command(
    program: &Path,
    folder: &Folder,
    (store, port): (&str, u16),
    upstream: SocketAddr,
) -> Command {
    let mut command = Command::new(program);
    command.arg("serve").arg(&folder.0).args(["--store", store, "--port", &port.to_string()]);
    command.args(["--model", "gpt-4o", "--base-url", &format!("http://{upstream}/v1")]);
    command.args(["--loaded-messages", "4000000", "--log", "error", "--no-config"]);
    command.env("OPENAI_API_KEY", "sk-load").stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// A `PostgreSQL` server with a folder of its own, until this is dropped.
#[derive(Debug)]
pub(super) struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    /// Whether it runs as the user `postgres`: it refuses to be run by root.
    is_root: bool,
    pub(super) address: String,
}

impl Postgres {
    /// Starts one; fails where Debian's package is not installed.
    pub(super) fn start() -> Result<Self> {
        let versions =
            fs::read_dir(POSTGRES).context("PostgreSQL (Debian's `postgresql`) is not installed")?;
        let mut programs: Vec<PathBuf> =
            versions.flatten().map(|version| version.path().join("bin")).collect();
        programs.sort();
        let programs = programs.pop().context("PostgreSQL is not installed")?;
        let folder = std::env::temp_dir().join(format!("ctx-load-pg-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let user = Command::new("id").arg("-u").output()?.stdout;
        let is_root = user.trim_ascii() == b"0";
        if is_root {
            ensure!(
                Command::new("chown").arg("postgres").arg(&folder).status()?.success(),
                "cannot give the folder away"
            );
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        let server = Self { folder, programs, is_root, address };
        let data = server.folder.join("data");
        server.run("initdb", &["-D", &data.to_string_lossy(), "-A", "trust", "-U", "postgres"])?;
        let options = format!("-p {port} -c listen_addresses=127.0.0.1 -k {}", server.folder.display());
        let log = server.folder.join("log");
        let log = log.to_string_lossy();
        server.run("pg_ctl", &["-D", &data.to_string_lossy(), "-o", &options, "-l", &log, "-w", "start"])?;
        Ok(server)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<()> {
        let program = self.programs.join(program);
        let mut command = if self.is_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(&program);
            command
        } else {
            Command::new(&program)
        };
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        let status = command.stdout(Stdio::null()).status();
        let status = status.with_context(|| format!("cannot start `{}`", program.display()))?;
        ensure!(status.success(), "`{}` ended with {status}", program.display());
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        // What does not end is told by the program itself.
        drop(self.run("pg_ctl", &["-D", &data.to_string_lossy(), "-m", "immediate", "-w", "stop"]));
        drop(fs::remove_dir_all(&self.folder));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_says_no_address_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; exec sleep 600"]).stdout(Stdio::piped());
        let error = Gateway::spawn(&mut command).unwrap_err().to_string();
        let number = error.split('`').nth(1).unwrap().trim();
        assert!(number.parse::<u32>().is_ok(), "{error}");
        assert!(!Path::new("/proc").join(number).exists());
    }
}
