//! A case: the files in its folder, and what they give.

mod changes;
mod find;
mod outcome;
mod snapshot;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ctx_engine::internal::Parameters;
use ctx_engine::internal::{MODEL_SETTINGS, USER_SETTINGS};
use ctx_engine::{AssembleError, Compile, Engine, ImportError, Switches};
use ctx_preset_import::Document;
use ctx_types::internal::{Argument, Divider, nearest};
use ctx_types::{Agent, Diagnostic, GenerationKind, Severity, TurnInput, phrase};
use jiff::Timestamp;
use schemars::{Schema, json_schema};
use serde_json::Value;

use crate::config::{ZoneName, project_of};
use crate::error::{ProjectError, Result, unusable};
use crate::files::{self, Once};
use crate::inputs::{self, InputFile};
use crate::keyed::{self, Filled, Meaning, Meaningless, Parsed, Shaped, Tokens, keyed};
use crate::keys::Keys;
use crate::named::{self, Named, Wanted};
use crate::sources::Sources;
use crate::switches;
use crate::turn::{self, Turn, TurnFiles};

pub use changes::{Change, compare, described};
pub use find::cases;
pub use outcome::{Outcome, test, write};

/// The file in the folder of a case that holds its result.
pub const EXPECTED: &str = "expected.txt";

/// The time of a case that names none.
const MOMENT: &str = "2026-01-01T00:00:00Z";

/// A case, ready to run.
#[derive(Debug)]
pub struct Case {
    turn: Turn,
    /// Whether to compare the request body too.
    openai: bool,
    /// Whether there is an agent, or a preset.
    pub has_agent: bool,
}

/// What a case says beside its files.
struct Options {
    files: TurnFiles,
    input: TurnInput,
    with: Compile,
    openai: bool,
}

keyed! {
    /// A test case of `ctx test`. Paths are relative to the folder of the case.
    pub struct CaseFile {
        /// Purpose of the case, for readers.
        why: Option<String> => "why",
        /// Agent or preset file. Default: `agent` in the same folder.
        agent: Option<Filled> => "agent",
        /// Conversation file. Default: `session` in the same folder.
        session: Option<Filled> => "session",
        /// User profile file. Default: `profile` in the same folder.
        profile: Option<Filled> => "profile",
        /// Model table file. Default: `models` in the same folder.
        models: Option<Filled> => "models",
        /// Tool definitions file. Default: `tools` in the same folder.
        tools: Option<Filled> => "tools",
        /// Worldbook files. Default: `worldbook` in the same folder.
        worldbooks: Vec<String> => "worldbooks",
        /// Settings of the user, with the keys of an agent's `parameters`.
        user_parameters: Option<Shaped<Parameters>> => "user_parameters",
        /// Settings of the model, with the keys of an agent's `parameters`.
        model_parameters: Option<Shaped<Parameters>> => "model_parameters",
        /// Ids of processors to enable.
        enable: Vec<String> => "enable",
        /// Ids of processors to disable.
        disable: Vec<String> => "disable",
        /// Time of the turn (RFC 3339). Default: 2026-01-01T00:00:00Z.
        at: Option<Parsed<Timestamp>> => "at",
        /// Time zone, such as `Asia/Shanghai`. Default: UTC.
        tz: Option<Parsed<ZoneName>> => "tz",
        /// Seed of random values. Default: 0.
        seed: Option<u64> => "seed",
        /// User's new message.
        input: Option<String> => "input",
        /// Generation kind. Default: a reply.
        kind: Option<Parsed<GenerationKind>> => "kind",
        /// Model that overrides the agent's.
        model: Option<String> => "model",
        /// Connection profile name, for `modelMatch`.
        profile_name: Option<String> => "profile_name",
        /// Token limit of the context; 0: the model's context window.
        context_tokens: Option<Tokens> => "context_tokens",
        /// Response reserve: tokens of the limit that are reserved for the reply.
        reserve: Option<Tokens> => "reserve",
        /// Whether to compare the request body too.
        openai: bool => "openai",
    }
}

impl Meaning for Timestamp {
    fn parse(text: &str) -> Result<Self, Meaningless> {
        turn::moment(text)
    }

    fn schema() -> Schema {
        // As strict as a pattern can be; what it lets through that is no time, the reader tells.
        json_schema!({ "type": ["string", "null"], "pattern": "^[+-]?[0-9]{4,6}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9]{2}" })
    }
}

impl Meaning for GenerationKind {
    fn parse(name: &str) -> Result<Self, Meaningless> {
        let fault = || Meaningless::new(phrase!("is not a generation kind")).near(nearest(name, Self::WORDS));
        let kind = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        kind.ok_or_else(|| {
            fault().otherwise(phrase!(
                "use one of {words}",
                words = Argument::names(Self::WORDS, Divider::Comma)
            ))
        })
    }

    fn schema() -> Schema {
        keyed::words(Self::WORDS)
    }
}

impl Case {
    /// Reads the files of a case.
    ///
    /// Files are called by their names in the folder, so that results are the same wherever the folder is.
    pub fn read(folder: &Path, sources: &mut Sources) -> Result<Self> {
        let options = Options::read(folder, sources)?;
        let has_agent = options.files.agent.is_some();
        let turn = Turn::read(&options.files, options.input, options.with, sources)?;
        Ok(Self { turn, openai: options.openai, has_agent })
    }

    /// Assembles the context and writes all of it as text; also that there is none, if no budget fits.
    pub fn run(&self) -> Result<String> {
        let context = match self.turn.assemble(false) {
            Ok(context) => context,
            Err(error @ (AssembleError::Budget(_) | AssembleError::Infeasible(_))) => {
                return Ok(format!("=== no context\n{error}\n"));
            }
            Err(error) => return Err(error.into()),
        };
        let mut text = context.to_snapshot();
        if self.openai {
            let (body, found) = self.turn.body(&context, None);
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
        // A file of comments only says nothing, which is no fault.
        let value = value.filter(|(value, _)| !value.is_null());
        let empty = Value::Object(serde_json::Map::new());
        let (value, name) = value.as_ref().map_or((&empty, ""), |(value, name)| (value, name.as_str()));
        // Also an unknown key is an error: a mistyped one would test something else than its author thinks.
        let fail = |fault: Diagnostic| {
            sources.failure(Diagnostic { severity: Severity::Error, ..fault.in_document(name) })
        };
        let mut keys = Keys::of(value).map_err(|fault| fail(*fault))?;
        let case = CaseFile::read(&mut keys);
        let project = project_of(folder);
        let missing = named_files(&case, &case.worldbooks, folder).find_map(|named| {
            outside(&named, project.as_deref())
                .or_else(|| named::missing(&named.path, folder, &named.pointer))
        });
        match keys.finish().into_iter().next().or(missing) {
            Some(fault) => Err(fail(fault)),
            None => Self::of(case, folder),
        }
    }

    fn of(case: CaseFile, folder: &Path) -> Result<Self> {
        let named = |key: &str, path: &Option<Filled>| match path {
            Some(path) => Ok(Some(below(folder, path))),
            None => file(folder, key),
        };
        let files = TurnFiles {
            agent: named("agent", &case.agent)?,
            session: named("session", &case.session)?,
            profile: named("profile", &case.profile)?,
            worldbooks: books(folder, &case.worldbooks)?,
            models: named("models", &case.models)?,
            tools: named("tools", &case.tools)?,
            ..TurnFiles::default()
        };
        let with = Compile::default().with(|compile| {
            compile.user_parameters = case.user_parameters.map(|shaped| shaped.value);
            compile.model_parameters = case.model_parameters.map(|shaped| shaped.value);
            compile.switches = Switches { enable: case.enable, disable: case.disable };
        });
        let at = case.at.map_or_else(|| turn::moment(MOMENT), |Parsed(at)| Ok(at));
        let at = at.map_err(|fault| ProjectError::Unusable(fault.line()))?;
        let zone = case.tz.map(|Parsed(ZoneName(zone))| zone);
        let input = TurnInput::default().with(|turn| {
            turn.at_millis = Some(at.as_millisecond());
            turn.zone = Some(zone.as_deref().unwrap_or("UTC").into());
            turn.seed = case.seed.unwrap_or_default();
            turn.input = case.input.as_deref().map(Into::into);
            turn.kind = case.kind.map_or(GenerationKind::Normal, |Parsed(kind)| kind);
            turn.model = case.model.as_deref().map(Into::into);
            turn.profile = case.profile_name.as_deref().map(Into::into);
            turn.context_tokens = case.context_tokens.map(|Tokens(tokens)| tokens.into());
            turn.reserve = case.reserve.map(|Tokens(tokens)| tokens);
            turn.preview = true;
        });
        Ok(Self { files, input, with, openai: case.openai })
    }
}

/// Returns whether a path is that of the file with the turn of a case.
pub fn is_case(path: &Path) -> bool {
    path.file_stem() == Some(OsStr::new("case")) && files::has_ending(path, files::DOCUMENTS)
}

/// Checks the bytes of `case.yaml`: its keys, the files that it names, and its settings of processors. Syntax errors of
/// `checked` files are left out.
pub fn check(
    bytes: &[u8],
    path: &Path,
    engine: &Engine,
    checked: &Once,
) -> Result<Vec<Diagnostic>, ImportError> {
    let name = files::name(path);
    let document = Document::read(bytes, &name)?;
    let mut found = document.diagnostics;
    let empty = Value::Object(serde_json::Map::new());
    match Keys::of(if document.value.is_null() { &empty } else { &document.value }) {
        Err(fault) => found.push(*fault),
        Ok(mut keys) => {
            let case = CaseFile::read(&mut keys);
            let faults = keys.finish().into_iter();
            // As `ctx test` has it: a case with such a key is none that can be run.
            found.extend(faults.map(|fault| Diagnostic { severity: Severity::Error, ..fault }));
            let folder = path.parent().unwrap_or(Path::new(""));
            let (books, more) = named::first(&case.worldbooks, "/worldbooks");
            let project = project_of(folder);
            let mut named: Vec<Named> = named_files(&case, books, folder).collect();
            found.extend(named.iter().filter_map(|named| outside(named, project.as_deref())));
            named.retain(|named| outside(named, project.as_deref()).is_none());
            found.extend(named::faults(named, folder, engine, checked));
            found.extend(more);
            found.extend(switches::faults("/enable", &case.enable, true, engine));
            found.extend(switches::faults("/disable", &case.disable, false, engine));
            found.extend(of_settings(case, engine));
        }
    }
    Ok(found.into_iter().map(|found| found.in_document(&*name)).collect())
}

/// Returns what is wrong with the settings of processors.
fn of_settings(case: CaseFile, engine: &Engine) -> Vec<Diagnostic> {
    let with = Compile::default().with(|compile| {
        compile.user_parameters = case.user_parameters.map(|shaped| shaped.value);
        compile.model_parameters = case.model_parameters.map(|shaped| shaped.value);
    });
    let compiled = engine.compile(&Agent::default(), &with);
    let place = |found: &Diagnostic| {
        let key = match found.location.document.as_deref()? {
            USER_SETTINGS => "user_parameters",
            MODEL_SETTINGS => "model_parameters",
            _ => return None,
        };
        let below = found.location.pointer.as_deref().unwrap_or_default();
        Some(found.clone().at_pointer(format!("/{key}{below}")))
    };
    compiled.diagnostics().iter().filter_map(place).collect()
}

/// Returns the files that a case names, and these worldbooks of it.
fn named_files<'c>(
    case: &'c CaseFile,
    books: &'c [String],
    folder: &'c Path,
) -> impl Iterator<Item = Named> + use<'c> {
    let files = [
        ("/agent", Wanted::Agent, &case.agent),
        ("/session", Wanted::Session, &case.session),
        ("/profile", Wanted::Profile, &case.profile),
        ("/models", Wanted::Models, &case.models),
        ("/tools", Wanted::Tools, &case.tools),
    ];
    let files = files
        .into_iter()
        .filter_map(|(pointer, wanted, name)| Some((pointer.to_owned(), wanted, name.as_deref()?)));
    let books = books.iter().enumerate();
    let books = books.map(|(index, name)| (format!("/worldbooks/{index}"), Wanted::Worldbook, name.as_str()));
    files.chain(books).map(|(pointer, wanted, name)| Named {
        pointer,
        wanted,
        path: files::below(folder, name),
        name: name.to_owned(),
    })
}

/// Reports that a file lies outside of the project of the case.
fn outside(named: &Named, project: Option<&Path>) -> Option<Diagnostic> {
    Some(named::outside(&named.path, &named.name, project?)?.at_pointer(&*named.pointer))
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
    InputFile { path: files::below(folder, name), name: name.replace('\\', "/"), bytes: None }
}

/// The endings of files that a case may have.
const ENDINGS: [&str; 7] = ["json", "jsonl", "ndjson", "yaml", "yml", "txt", "md"];

/// Finds the file with a name before its ending.
fn file(folder: &Path, stem: &str) -> Result<Option<InputFile>> {
    let entries = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let entries = entries
        .map_err(|error| unusable!("cannot read the folder: {error}", error = files::reason(&error)))?;
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
        ([path], [name]) if project_of(folder).is_some_and(|project| !files::is_within(path, &project)) => {
            Err(unusable!("`{name}` is a link to a path outside the project of the case", name))
        }
        ([path], [name]) => Ok(Some(InputFile { path: path.clone(), name: name.clone(), bytes: None })),
        _ => Err(unusable!(
            "found several `{stem}` files in the case: {names}; keep one",
            stem,
            names = Argument::list(names, Divider::And)
        )),
    }
}
