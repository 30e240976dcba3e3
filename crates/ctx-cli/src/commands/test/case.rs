//! A case: the files in its folder, and what they give.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum as _;
use ctx_engine::{AssembleError, Compile, Dialect, Switches};
use ctx_types::{Diagnostic, Severity, TurnInput, closest};
use serde_json::Value;

use crate::args::Kind;
use crate::commands::inputs::{self, InputFile};
use crate::commands::turn::{self, Turn, TurnFiles};
use crate::files;
use crate::keys::Keys;
use crate::show::Sources;

/// The time of a case that names none.
const MOMENT: &str = "2026-01-01T00:00:00Z";

/// A case, ready to run.
pub(super) struct Case {
    turn: Turn,
    /// Whether the request body is compared too.
    openai: bool,
}

/// What a case says beside its files.
struct Options {
    files: TurnFiles,
    input: TurnInput,
    with: Compile,
    openai: bool,
}

impl Case {
    /// Reads the files of a case.
    ///
    /// Files are called by their names in the folder, so that results are the same wherever the folder is.
    pub(super) fn read(folder: &Path, sources: &mut Sources) -> Result<Self> {
        let options = Options::read(folder, sources)?;
        let turn = Turn::read(&options.files, options.input, options.with, sources)?;
        Ok(Self { turn, openai: options.openai })
    }

    /// Assembles the context and writes all of it as text; also that there is none, if no budget fits.
    pub(super) fn run(&self) -> Result<String> {
        let context = match self.turn.assemble(false) {
            Ok(context) => context,
            Err(error @ (AssembleError::Budget(_) | AssembleError::Infeasible(_))) => {
                return Ok(format!("=== no context\n{error}\n"));
            }
            Err(error) => return Err(error.into()),
        };
        let mut text = context.to_snapshot();
        if self.openai {
            let (body, found) = self.turn.body(&context, Dialect::OpenaiChat, None);
            text.extend([format!("=== openai\n{body:#}\n")]);
            text.extend(found.iter().map(|found| format!("{found}\n")));
        }
        Ok(text)
    }
}

impl Options {
    /// Reads `case.yaml`, if there is one, and finds the other files.
    fn read(folder: &Path, sources: &mut Sources) -> Result<Self> {
        let value = match file(folder, "case")? {
            Some(file) => Some((inputs::document(&file, sources)?.0, file.name)),
            None => None,
        };
        let empty = Value::Object(serde_json::Map::new());
        let (value, name) = value.as_ref().map_or((&empty, ""), |(value, name)| (value, name.as_str()));
        // Also an unknown key is an error: a mistyped one would test something else than its author thinks.
        let fail = |fault: Diagnostic| {
            sources.failure(&Diagnostic { severity: Severity::Error, ..fault.in_document(name) })
        };
        let mut keys = Keys::of(value).map_err(|fault| fail(*fault))?;
        let options = Self::of(&mut keys, folder)?;
        match keys.finish().into_iter().next() {
            Some(fault) => Err(fail(fault)),
            None => Ok(options),
        }
    }

    fn of(keys: &mut Keys<'_>, folder: &Path) -> Result<Self> {
        keys.text("why");
        let mut named = |key| match keys.text(key) {
            Some(path) => Ok(Some(below(folder, path))),
            None => file(folder, key),
        };
        let files = TurnFiles {
            agent: named("agent")?,
            session: named("session")?,
            profile: named("profile")?,
            worldbooks: Vec::new(),
            worldbook_settings: None,
            models: named("models")?,
            model_settings: None,
            tools: named("tools")?,
            assets: None,
        };
        let worldbooks = keys.texts("worldbooks");
        let files = TurnFiles { worldbooks: books(folder, &worldbooks)?, ..files };
        let with = Compile {
            user_parameters: keys.structure("user_parameters").cloned(),
            model_parameters: keys.structure("model_parameters").cloned(),
            switches: Switches { enable: keys.texts("enable"), disable: keys.texts("disable") },
            ..Compile::default()
        };
        let at = keys.parsed("at", turn::moment).map_or_else(|| turn::moment(MOMENT), Ok);
        let zone = keys.parsed("tz", |zone| turn::check_zone(zone).map(|()| zone.to_owned()));
        let input = TurnInput {
            at_millis: Some(at.map_err(|error| anyhow!(error))?.as_millisecond()),
            zone: Some(zone.as_deref().unwrap_or("UTC").into()),
            seed: keys.number("seed").unwrap_or_default(),
            input: keys.text("input").map(Into::into),
            kind: turn::kind(keys.parsed("kind", kind).unwrap_or(Kind::Normal)),
            model: keys.text("model").map(Into::into),
            profile: keys.text("profile_name").map(Into::into),
            context_tokens: keys.tokens("context_tokens").map(Into::into),
            reserve: keys.tokens("reserve"),
            preview: true,
            ..TurnInput::default()
        };
        Ok(Self { files, input, with, openai: keys.flag("openai") })
    }
}

/// The worldbooks that a case names; without names, its file `worldbook`.
fn books(folder: &Path, names: &[String]) -> Result<Vec<InputFile>> {
    match names {
        [] => Ok(file(folder, "worldbook")?.into_iter().collect()),
        names => Ok(names.iter().map(|name| below(folder, name)).collect()),
    }
}

/// A file that a case names.
fn below(folder: &Path, name: &str) -> InputFile {
    InputFile { path: folder.join(name), name: name.replace('\\', "/"), bytes: None }
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_str(name, false).map_err(|_| {
        let names: Vec<&str> = Kind::value_variants().iter().map(|kind| turn::kind(*kind).as_str()).collect();
        match closest(name, names.iter().copied()) {
            Some(near) => format!("is no kind of generation; did you mean `{near}`?"),
            None => format!("is no kind of generation; known are {}", names.join(", ")),
        }
    })
}

/// The endings of files that a case may have.
const ENDINGS: [&str; 7] = ["json", "jsonl", "ndjson", "yaml", "yml", "txt", "md"];

/// Finds the file with a name before its ending.
fn file(folder: &Path, stem: &str) -> Result<Option<InputFile>> {
    let entries = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let entries = entries.map_err(|error| anyhow!("cannot read the folder: {}", files::reason(&error)))?;
    let is_meant = |path: &PathBuf| {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        path.file_stem() == Some(OsStr::new(stem)) && ENDINGS.contains(&ending) && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.into_iter().filter(is_meant).collect();
    found.sort();
    let names =
        found.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    match (found.as_slice(), names.as_slice()) {
        ([], _) => Ok(None),
        ([path], [name]) => Ok(Some(InputFile { path: path.clone(), name: name.clone(), bytes: None })),
        _ => bail!("a case has one file `{stem}`, not {}", names.join(" and ")),
    }
}
