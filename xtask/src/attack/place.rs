//! A temporary folder, and the command in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::load::gateway::Gateway;
use crate::load::upstream;

/// Time limit of a command.
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

    /// Starts `ctx serve` with a scripted provider that does not end streams.
    pub(super) fn gateway(&self, more: &[&str]) -> Result<Gateway> {
        self.write("key", "sk-any")?;
        let url = format!("http://{}", upstream::start(None)?);
        let arguments = ["serve", "--port", "0", "--no-config", "--store", "chats.db", "--model", "m"];
        let mut command = self.command(&arguments);
        command.args(["--base-url", &url, "--key-file", "key"]).args(more);
        Gateway::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
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
