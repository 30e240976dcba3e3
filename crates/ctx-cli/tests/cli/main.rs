//! The command as people use it: arguments and files in; standard output, standard error and exit code out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as expected"
)]

mod anchors;
mod asked_summaries;
mod assemble;
mod batch;
mod budgets;
mod bytes;
mod chat;
mod check;
mod completions;
mod compress;
mod config;
mod count;
mod diff;
mod explain;
mod explain_page;
mod explanations;
mod fix;
mod help;
mod hostile;
mod import;
mod import_bad_files;
mod import_writing;
mod init;
mod kept;
mod lang;
mod life;
mod limits;
mod macros;
#[path = "../../../../xtask/src/markers.rs"]
mod markers;
mod masks;
mod mcp;
mod own_files;
mod processors;
mod recall;
#[path = "../../../ctx-chat/tests/servers/relay.rs"]
mod relay;
mod report;
mod schemas;
mod sequences;
#[cfg(unix)]
mod serve;
#[path = "../../../ctx-chat/tests/server/mod.rs"]
mod server;
mod session;
mod stores;
mod studio;
#[cfg(unix)]
mod summarizers;
#[cfg(unix)]
mod tap;
mod test;
// Elsewhere the system decides whom to trust, and no variable changes that.
#[cfg(target_os = "linux")]
mod tls;
mod trust;
mod turn;
mod usage;
mod window_plans;
mod worldbook;
mod writing;

use std::path::Path;

use assert_cmd::Command;

/// Runs `ctx` in a new folder that holds these files, and tells what came of it.
#[track_caller]
fn ctx(arguments: &str, files: &[(&str, &str)]) -> String {
    Folder::with(files).ctx(arguments)
}

/// A folder of a test's own, in which `ctx` is run.
struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes a folder with these files; a name may hold folders.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, content) in files {
            folder.write(name, content.as_bytes());
        }
        folder
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the names of what the folder holds, in order.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `ctx` with arguments that are separated by blanks, and tells what came of it.
    #[track_caller]
    fn ctx(&self, arguments: &str) -> String {
        self.ctx_reading(arguments, "")
    }

    /// Runs a script in which `ctx` is the command, and returns what it prints; none where there is no shell.
    #[track_caller]
    fn shell(&self, script: &str, lang: &str) -> Option<String> {
        if cfg!(not(unix)) {
            return None;
        }
        let command = assert_cmd::cargo::cargo_bin!("ctx").parent().unwrap().to_owned();
        let mut path = vec![command];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut shell = Command::new("sh");
        shell.current_dir(self.path()).env_clear().env("NO_COLOR", "1").env("CTX_LANG", lang);
        shell.env("CTX_HOME", self.path().join(".home")).env("PATH", std::env::join_paths(path).unwrap());
        let output = shell.args(["-c", script]).output().unwrap();
        Some(String::from_utf8([output.stdout, b"\n".to_vec(), output.stderr].concat()).unwrap())
    }

    /// As [`Folder::ctx`] with a standard input.
    #[track_caller]
    fn ctx_reading(&self, arguments: &str, stdin: &str) -> String {
        let output = self.command(arguments).write_stdin(stdin).output().unwrap();
        let code = output.status.code().expect("no signal ended it");
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let part =
            |title: &str, text: String| if text.is_empty() { text } else { format!("=== {title}\n{text}") };
        format!("exit code {code}\n{}{}", part("output", stdout), part("errors", stderr))
    }

    /// Starts `ctx` without an input; its output and errors are read by the test.
    fn spawn(&self, arguments: &str) -> std::process::Child {
        use std::process::Stdio;

        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("ctx"));
        command.current_dir(self.path()).env_clear().env("CTX_HOME", self.path().join(".home"));
        command.args(arguments.split_whitespace()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The command, without anything of the environment, and with a home of its own.
    fn command(&self, arguments: &str) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctx");
        command.current_dir(self.path()).env_clear().env("NO_COLOR", "1");
        command.env("CTX_HOME", self.path().join(".home")).args(arguments.split_whitespace());
        command
    }
}
