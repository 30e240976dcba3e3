//! A folder in which commands are run, by a few words of a shell.

mod gateway;
mod model;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gateway::Gateway;
use model::Model;

/// Where commands are run.
pub(crate) struct Place {
    /// Removed when the page has been run.
    folder: tempfile::TempDir,
    /// Where the page is now.
    here: PathBuf,
    /// The root of the repository.
    root: PathBuf,
    /// The language of the output; English if absent.
    language: Option<String>,
    /// Variables that the page exports.
    variables: Vec<(String, String)>,
    model: Option<Model>,
    gateway: Option<Gateway>,
}

/// One command of a pipe.
struct Call {
    words: Vec<String>,
    /// The file that is read.
    input: Option<String>,
    /// The file that is written.
    output: Option<String>,
}

impl Place {
    pub(crate) fn new(root: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().to_owned();
        let root = root.to_owned();
        Self { folder, here, root, language: None, variables: vec![], model: None, gateway: None }
    }

    /// Goes on in a new folder, with a copy of this one.
    pub(crate) fn begin(&mut self, from: &Path) {
        self.folder = tempfile::tempdir().unwrap();
        self.here = self.folder.path().to_owned();
        copy(from, &self.here);
    }

    /// Sets the language of the output.
    pub(crate) fn set_language(&mut self, name: &str) {
        self.language = Some(name.to_owned());
    }

    /// The model that answers the page's requests.
    pub(crate) fn model(&mut self) -> &Model {
        self.model.get_or_insert_with(Model::start)
    }

    /// Returns how many answers nobody asked for, if any.
    pub(crate) fn unused_answers(&self) -> Option<usize> {
        self.model.as_ref().map(Model::left).filter(|left| *left > 0)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.here.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, self.addressed(text)).unwrap();
    }

    /// Replaces lines of a file that stand in it once.
    pub(crate) fn change(&self, name: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.here.join(name)).unwrap();
        assert_eq!(text.matches(old).count(), 1, "`{name}` has these lines once:\n{old}");
        self.write(name, &text.replace(old, new));
    }

    /// Runs a line and returns what a terminal would show of it.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let mut shown = String::new();
        let mut input = String::new();
        for call in self.calls(&self.addressed(line)) {
            if let Some(name) = &call.input {
                input = fs::read_to_string(self.here.join(name)).unwrap();
            }
            let (printed, told) = self.call(&call, &input);
            shown.push_str(&told);
            input = printed;
            if let Some(name) = &call.output {
                let path = self.here.join(name.replace("~/", ""));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, &input).unwrap();
                input.clear();
            }
        }
        let shown = input + &shown;
        self.model.as_ref().map_or_else(|| shown.clone(), |model| model.hide_address(&shown))
    }

    /// Runs the numbered lines of a block `sh` in a copy of the folder. Returns what those print that fail.
    pub(crate) fn run_usages<'l>(
        &mut self,
        lines: impl Iterator<Item = (usize, &'l String)>,
    ) -> Vec<(usize, &'l str, String)> {
        let folder = tempfile::tempdir().unwrap();
        copy(&self.here, folder.path());
        let here = std::mem::replace(&mut self.here, folder.path().to_owned());
        let run = |(at, line): (usize, &'l String)| Some((at, &**line, self.run_usage(line)?));
        let faults = lines.filter_map(run).collect();
        self.here = here;
        faults
    }

    /// Returns what a line prints if it fails. Skips commands of other programs.
    fn run_usage(&mut self, line: &str) -> Option<String> {
        let line = line.split_once(" #").map_or(line, |(line, _)| line);
        let words: Vec<String> = shlex::split(line).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match *words {
            ["ctx", "studio", ..] => self.watch(line, &["--no-open", "--port", "0"]),
            ["ctx", "test", .., "--watch"] => self.watch(line, &[]),
            // Without its command, it waits.
            ["ctx", "tap", ..] => self.watch(line.split(" -- ").next().unwrap_or(line), &[]),
            ["ctx", "serve", ref arguments @ ..] if arguments.first() != Some(&"key") => {
                self.serve_briefly(&words[1..])
            }
            ["ctx", "chat", ..] if !line.contains("--base-url") => {
                self.failure(&format!("{line} --base-url {}", model::SHOWN))
            }
            ["ctx", ..] | ["export", _] => self.failure(line),
            ["cargo", "run", "-p", "ctx-cli", "--", ref arguments @ ..] => {
                let output = ctx(&self.root, arguments).stdin(Stdio::null()).output().unwrap();
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                (!output.status.success()).then_some(told)
            }
            _ => None,
        }
    }

    fn failure(&mut self, line: &str) -> Option<String> {
        let shown = self.run(line);
        shown.contains("[exit code ").then_some(shown)
    }

    fn serve_briefly(&self, arguments: &[&str]) -> Option<String> {
        let mut arguments = [arguments, &["--base-url", model::SHOWN]].concat();
        if let Some(at) = arguments.iter().position(|word| *word == "--port") {
            arguments.drain(at..at + 2);
        }
        let (gateway, shown) = Gateway::start(self.command(&arguments));
        gateway.is_none().then_some(shown)
    }

    /// Starts a command that runs until it is stopped, and stops it after its first line.
    fn watch(&self, line: &str, further: &[&str]) -> Option<String> {
        let call = self.calls(line).pop()?;
        let words: Vec<&str> = call.words.iter().skip(1).map(String::as_str).collect();
        let mut child = ctx(&self.here, &[&words, further].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        // It may have ended already.
        drop(child.kill());
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        child.wait().unwrap();
        first.trim().is_empty().then_some(told)
    }

    /// Returns what goes to the next command of the pipe, and what is told beside it.
    fn call(&mut self, call: &Call, input: &str) -> (String, String) {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        let read = |name: &&str| fs::read_to_string(self.here.join(name)).unwrap();
        match *words {
            ["ctx", "serve", ref arguments @ ..] if arguments.first() != Some(&"key") => {
                // One gateway runs at a time.
                self.gateway = None;
                let (gateway, shown) = Gateway::start(self.command(&words[1..]));
                self.gateway = gateway;
                (
                    shown.replace(&format!("{}/", self.here.canonicalize().unwrap().display()), ""),
                    String::new(),
                )
            }
            ["curl", ref arguments @ ..] => {
                let gateway = self.gateway.as_ref().expect("a gateway runs");
                (gateway.curl(arguments), String::new())
            }
            ["ctx", ref arguments @ ..] => {
                let is_last = call.output.is_none();
                self.ctx(arguments, input, is_last)
            }
            ["cat", ref names @ ..] => (names.iter().map(read).collect(), String::new()),
            ["echo", ref texts @ ..] => (texts.join(" ") + "\n", String::new()),
            ["ls"] => (listing(&self.here), String::new()),
            ["ls", folder] => (listing(&self.here.join(folder)), String::new()),
            ["export", variable] => {
                let (name, value) = variable.split_once('=').unwrap();
                self.variables.push((name.to_owned(), value.to_owned()));
                (String::new(), String::new())
            }
            ["cd", folder] => {
                self.here.push(folder);
                assert!(self.here.is_dir(), "`cd {folder}`: there is no such folder");
                (String::new(), String::new())
            }
            _ => panic!(
                "pages may use `ctx`, `curl`, `cat`, `cd`, `echo`, `export` and `ls`, and not `{}`",
                words.join(" ")
            ),
        }
    }

    /// Runs the command; on a terminal, what goes to both of its outputs stands in the order of writing.
    fn ctx(&self, arguments: &[&str], input: &str, is_shown: bool) -> (String, String) {
        let (mut told, errors) = std::io::pipe().unwrap();
        let mut command = self.command(arguments);
        if is_shown {
            command.stdout(errors.try_clone().unwrap())
        } else {
            command.stdout(Stdio::piped())
        };
        let mut child = command.stdin(Stdio::piped()).stderr(errors).spawn().unwrap();
        // Its ends of the pipe must be closed, or reading never ends.
        drop(command);
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let (mut printed, mut shown) = (String::new(), String::new());
        if let Some(mut output) = child.stdout.take() {
            output.read_to_string(&mut printed).unwrap();
        }
        told.read_to_string(&mut shown).unwrap();
        let ended = match child.wait().unwrap().code().expect("no signal ends it") {
            0 => String::new(),
            code => format!("[exit code {code}]\n"),
        };
        (printed, shown + &ended)
    }

    /// Takes a line apart into the commands of a pipe.
    fn calls(&self, line: &str) -> Vec<Call> {
        let words = shlex::split(line).unwrap_or_else(|| panic!("`{line}` has an open quotation mark"));
        let parts = words.split(|word| word == "|").map(|words| {
            let mut call = Call { words: vec![], input: None, output: None };
            let mut words = words.iter().cloned();
            while let Some(word) = words.next() {
                match &*word {
                    ">" => call.output = words.next(),
                    "<" => call.input = words.next(),
                    _ => call.words.extend(self.files(word)),
                }
            }
            call
        });
        parts.collect()
    }

    /// Returns the files of a pattern such as `agents/*.json`, and any other word as it is.
    fn files(&self, word: String) -> Vec<String> {
        let Some((folder, extension)) = word.split_once("/*.") else { return vec![word] };
        let names = listing(&self.here.join(folder));
        let names = names.split_whitespace().filter(|name| name.ends_with(extension));
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ctx(&self.here, arguments);
        command.envs(self.language.iter().map(|name| ("CTX_LANG", name)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn addressed(&self, text: &str) -> String {
        self.model.as_ref().map_or_else(|| text.to_owned(), |model| model.put_address(text))
    }
}

/// The command in a folder, without anything of the environment.
fn ctx(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    command
        .current_dir(folder)
        .env_clear()
        .env("NO_COLOR", "1")
        .env("CTX_HOME", folder.join(".home"))
        .args(arguments);
    command
}

/// Lists a folder as a terminal shows a short one.
fn listing(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names.join("  ") + "\n"
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
