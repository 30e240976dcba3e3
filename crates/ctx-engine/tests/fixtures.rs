//! Runs the cases of `fixtures/`: one test a folder, compared with its `expected.snap`.
//!
//! A case has an `agent.*`, a `session.*`, or both, and perhaps a `profile.*` and a `case.yaml`. The snapshot
//! shows the whole result: messages with sources, decisions, diagnostics, and what else the case asks for.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its own files has failed")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ctx_engine::{
    Compile, Engine, Format, ImportError, Imported, Limits, Request, Switches, openai_chat, read_agent,
    read_conversation, read_profile,
};
use ctx_types::{Agent, Diagnostic, GenerationKind, Persist, Session, TurnInput};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let root = root.canonicalize().unwrap();
    let mut trials = Vec::new();
    for area in folders(&root) {
        for case in folders(&area) {
            let name = case.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
            trials.push(Trial::test(name, move || check(&case)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The options of a case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Case {
    /// What rule the case shows, and why it matters.
    why: String,
    input: Option<String>,
    model: Option<String>,
    profile_name: Option<String>,
    at: Option<String>,
    tz: Option<String>,
    seed: u64,
    kind: Kind,
    enable: Vec<String>,
    disable: Vec<String>,
    /// Also show the OpenAI request body.
    openai: bool,
    /// Also show what saving the files would write.
    saved: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Normal,
    Continue,
}

/// Assembles a case and compares all of it with the snapshot.
fn check(folder: &Path) -> Result<(), Failed> {
    let shown = run(folder);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let compare = || settings.bind(|| insta::assert_snapshot!("expected", shown));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare))
        .map_err(|_| Failed::from("the snapshot differs"))
}

fn run(folder: &Path) -> String {
    let engine = Engine::new();
    let limits = Limits::default();
    let case = file(folder, "case").map(|(_, bytes)| serde_yaml::from_slice(&bytes).unwrap());
    let case: Case = case.unwrap_or_default();
    let mut shown = String::new();
    let mut files = Files { shown: &mut shown, case: &case, folder };
    let agent: Option<Imported<Agent>> =
        files.read("agent", |bytes, name| read_agent(bytes, name, &limits, &engine.anchors));
    let session: Option<Imported<Session>> =
        files.read("session", |bytes, name| read_conversation(bytes, name, &limits));
    let profile = files.read("profile", |bytes, name| read_profile(bytes, name, &limits));
    let with = Compile {
        profile: profile.map(|profile| profile.value),
        switches: Switches { enable: case.enable.clone(), disable: case.disable.clone() },
    };
    let agent = agent.map(|agent| agent.value).unwrap_or_default();
    let compiled = engine.compile(&agent, &with);
    let session = session.map_or_else(|| Session::new("session"), |session| session.value);
    let context = compiled.assemble(&session, &turn(&case));
    assert_eq!(context, compiled.assemble(&session, &turn(&case)), "two assemblies are equal");
    shown.push_str(&context.to_snapshot());
    if case.openai {
        let request = Request { model: "model", tools: &[], parameters: &serde_json::Map::new() };
        let encoded = openai_chat::encode(&context.messages, &request);
        writeln!(shown, "=== openai\n{:#}", encoded.body).unwrap();
        if !encoded.diagnostics.is_empty() {
            list(&mut shown, "openai diagnostics", &encoded.diagnostics);
        }
    }
    shown
}

fn turn(case: &Case) -> TurnInput {
    let at = case.at.as_deref().map(|at| at.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    TurnInput {
        at_millis: at,
        zone: case.tz.as_deref().map(Into::into),
        seed: case.seed,
        input: case.input.as_deref().map(Into::into),
        kind: match case.kind {
            Kind::Normal => GenerationKind::Normal,
            Kind::Continue => GenerationKind::Continue,
        },
        model: case.model.as_deref().map(Into::into),
        profile: case.profile_name.as_deref().map(Into::into),
        preview: false,
    }
}

/// Reads the files of a case and shows what was found in them.
struct Files<'a> {
    shown: &'a mut String,
    case: &'a Case,
    folder: &'a Path,
}

impl Files<'_> {
    fn read<T: Persist>(
        &mut self,
        stem: &str,
        read: impl Fn(&[u8], &str) -> Result<Imported<T>, ImportError>,
    ) -> Option<Imported<T>> {
        let (name, bytes) = file(self.folder, stem)?;
        match read(&bytes, &name) {
            Ok(imported) => {
                self.found(stem, imported.format, &imported.diagnostics);
                if self.case.saved {
                    writeln!(self.shown, "=== saved {stem}\n{:#}", imported.value.write()).unwrap();
                }
                Some(imported)
            }
            Err(error) => {
                list(self.shown, &format!("{stem} is unreadable"), &[error.to_diagnostic()]);
                None
            }
        }
    }

    fn found(&mut self, stem: &str, format: Format, diagnostics: &[Diagnostic]) {
        list(self.shown, &format!("{stem}: {format}"), diagnostics);
    }
}

fn list(shown: &mut String, title: &str, diagnostics: &[Diagnostic]) {
    writeln!(shown, "=== {title}").unwrap();
    for diagnostic in diagnostics {
        writeln!(shown, "{diagnostic}").unwrap();
        if let Some(help) = &diagnostic.help {
            writeln!(shown, "  help: {help}").unwrap();
        }
    }
}

/// Finds the file of a folder with a name before its extension.
fn file(folder: &Path, stem: &str) -> Option<(String, Vec<u8>)> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    names.sort();
    let path = names.into_iter().find(|path| path.file_stem().is_some_and(|found| found == stem))?;
    Some((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
