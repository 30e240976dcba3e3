//! What a folder of `fixtures/` holds: the options of a case, and its files. `fixtures/README.md` says what they mean.
#![allow(dead_code, reason = "each program uses its part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ctx_engine::{Compile, CompiledAgent, Switches};
use ctx_types::session::{Node, Session, SessionOp};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{GenerationKind, Role, TurnInput, UserProfile};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Areas whose cases are no assemblies; other tests run them.
const OTHERS: [&str; 4] = ["compress_masks", "gateway", "import", "recall"];

/// Returns whether the cases of an area are assemblies.
pub(crate) fn is_assembly(area: &Path) -> bool {
    !OTHERS.iter().any(|other| area.ends_with(other))
}

/// The options of a case.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of a case file")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What rule the case shows, and why it matters.
    pub(crate) why: String,
    pub(crate) input: Option<String>,
    /// Whether the macros of the input are expanded before it is sent.
    #[serde(default)]
    pub(crate) expand_input: bool,
    pub(crate) model: Option<String>,
    pub(crate) profile_name: Option<String>,
    pub(crate) at: Option<String>,
    pub(crate) tz: Option<String>,
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) enable: Vec<String>,
    #[serde(default)]
    pub(crate) disable: Vec<String>,
    pub(crate) context_tokens: Option<i64>,
    pub(crate) reserve: Option<u32>,
    /// Settings of the user and of the model: objects as `parameters` of an agent.
    pub(crate) user_parameters: Option<Value>,
    pub(crate) model_parameters: Option<Value>,
    /// Processors beside the built-in ones, by name; see `test_processors`.
    #[serde(default)]
    pub(crate) processors: Vec<String>,
    /// How long each processor may take, and the whole turn, in milliseconds of the test's clock.
    pub(crate) time_limit: Option<u64>,
    pub(crate) deadline: Option<u64>,
    /// Also show what each stage changed.
    #[serde(default)]
    pub(crate) stages: bool,
    /// Also show the settings of these processors and who set them.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    /// Whether the formatters that are on by default run.
    #[serde(default)]
    pub(crate) formatters: bool,
    /// Also show the OpenAI request body.
    #[serde(default)]
    pub(crate) openai: bool,
    /// Also show the request bodies of these dialects, with these tools and parameters.
    #[serde(default)]
    pub(crate) bodies: Vec<String>,
    #[serde(default)]
    pub(crate) tools: Vec<Value>,
    #[serde(default)]
    pub(crate) parameters: Map<String, Value>,
    /// The files of which is shown too what saving them would write: `agent`, `session`, `profile`, `worldbook`.
    #[serde(default)]
    pub(crate) saved: Vec<String>,
    /// The worldbooks that hold only where somebody asks for them, by the names of their files.
    #[serde(default)]
    pub(crate) at_hand: Vec<String>,
    /// Also show what the host would commit.
    #[serde(default)]
    pub(crate) effects: bool,
    /// How many assemblies follow each other, each after what the one before left was committed; 1 if absent.
    pub(crate) turns: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    #[default]
    Normal,
    Continue,
}

impl Case {
    /// Formatters are off unless the case is about them, so that it shows every message by itself.
    pub(crate) fn switches(&self) -> Switches {
        let quiet = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned);
        let off = quiet.into_iter().filter(|_| !self.formatters);
        Switches { enable: self.enable.clone(), disable: self.disable.iter().cloned().chain(off).collect() }
    }

    /// Returns what the agent is compiled with.
    pub(crate) fn compile(&self, profile: Option<UserProfile>, worldbooks: Vec<LoadedWorldbook>) -> Compile {
        Compile::default().with(|compile| {
            compile.profile = profile;
            compile.worldbooks = worldbooks;
            compile.switches = self.switches();
            compile.user_parameters = self.user_parameters.clone();
            compile.model_parameters = self.model_parameters.clone();
            compile.time_limit = self.time_limit.map(Duration::from_millis);
        })
    }

    /// Returns a worldbook as it is at hand.
    pub(crate) fn worldbook(&self, stem: &str, book: Worldbook) -> LoadedWorldbook {
        let name: Arc<str> = stem.into();
        let is_global = !self.at_hand.iter().any(|other| other == stem);
        LoadedWorldbook { id: name.clone(), name, book: Arc::new(book), is_global }
    }

    /// Returns the turn that is taken.
    pub(crate) fn turn(&self) -> TurnInput {
        let at = self.at.as_deref().map(|at| at.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        TurnInput::default().with(|turn| {
            turn.at_millis = at;
            turn.zone = self.tz.as_deref().map(Into::into);
            turn.seed = self.seed;
            turn.input = self.input.as_deref().map(Into::into);
            turn.kind = match self.kind {
                Kind::Normal => GenerationKind::Normal,
                Kind::Continue => GenerationKind::Continue,
            };
            turn.model = self.model.as_deref().map(Into::into);
            turn.profile = self.profile_name.as_deref().map(Into::into);
            turn.context_tokens = self.context_tokens;
            turn.reserve = self.reserve;
        })
    }

    /// Takes a turn before the one that is shown: commits its effects, then what was sent and an answer.
    pub(crate) fn take_turn(&self, session: &mut Session, compiled: &CompiledAgent, number: usize) {
        let turn = self.turn();
        let context =
            compiled.assemble_blocking(session, &turn).expect("turns before the last one have a context");
        for effect in &context.effects {
            session.apply(effect).unwrap();
        }
        let input = turn.input.as_deref().unwrap_or("Go on.");
        for (role, text) in [(Role::User, input), (Role::Assistant, "Yes.")] {
            let id = format!("{}{number}", role.as_str());
            let node = Box::new(Node::new(role, text).with_id(id));
            session.apply(&SessionOp::Append { parent: session.active_leaf_id().clone(), node }).unwrap();
        }
    }
}

/// A case: a folder, or an entry of `cases` in the `case.yaml` of a folder.
#[derive(Debug)]
pub(crate) struct CaseFiles {
    /// The name, which no other case of the area has.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The options, as an object that [`Case`] describes.
    pub(crate) options: Map<String, Value>,
    /// The input files, in the order of their names.
    pub(crate) inputs: Vec<InputFile>,
    is_entry: bool,
}

/// An input file of a case.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl CaseFiles {
    /// Returns the options.
    pub(crate) fn case(&self) -> Case {
        let case = serde_json::from_value(Value::Object(self.options.clone()));
        let case: Case = case.map_err(|error| format!("`{}`: {error}", self.name)).unwrap();
        assert!(!case.why.trim().is_empty(), "`{}` has no `why`", self.name);
        case
    }

    /// Returns the input file with this name before its extension.
    pub(crate) fn input(&self, stem: &str) -> Option<&InputFile> {
        let mut found = self.inputs.iter().filter(|file| stem_of(&file.name) == stem);
        let input = found.next();
        assert!(found.next().is_none(), "`{}` has more than one file `{stem}`", self.name);
        input
    }

    /// Lists the worldbooks: `worldbook`, and any others with this prefix.
    pub(crate) fn worldbook_stems(&self) -> Vec<String> {
        let stems = self.inputs.iter().map(|file| stem_of(&file.name).to_owned());
        stems.filter(|stem| stem.starts_with("worldbook")).collect()
    }

    /// Returns a result as `expected.snap` contains it: that of an entry is below its name.
    pub(crate) fn section(&self, result: String) -> String {
        if self.is_entry { format!("##### {}\n{}\n", self.name, result.trim_end()) } else { result }
    }
}

/// Reads the cases of a folder: the entries of `cases` in its `case.yaml`, or the folder as a single case.
///
/// An entry overrides the options and the input files of the folder. Its keys with a `.` are names of files, and the
/// values are their texts; `null` removes a file.
pub(crate) fn read_cases(folder: &Path) -> Vec<CaseFiles> {
    let mut inputs = files(folder);
    let at = inputs.iter().position(|file| stem_of(&file.name) == "case");
    let case = inputs.remove(at.expect("a case has a `case.yaml`"));
    let mut options: Map<String, Value> = if case.name == "case.json" {
        serde_json::from_slice(&case.bytes).unwrap()
    } else {
        serde_yaml::from_slice(&case.bytes).unwrap()
    };
    let Some(entries) = options.shift_remove("cases") else {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        return vec![CaseFiles { name, folder: folder.to_owned(), options, inputs, is_entry: false }];
    };
    options.shift_remove("why");
    let entries: Map<String, Value> = serde_json::from_value(entries).unwrap();
    let cases = entries.into_iter().map(|(name, entry)| {
        let entry: Map<String, Value> = serde_json::from_value(entry).unwrap();
        let (files, own): (Map<String, Value>, Map<String, Value>) =
            entry.into_iter().partition(|(key, _)| key.contains('.'));
        let mut options = options.clone();
        options.extend(own);
        let inputs = override_files(&inputs, files);
        CaseFiles { name, folder: folder.to_owned(), options, inputs, is_entry: true }
    });
    cases.collect()
}

/// Returns the files of a folder and of an entry. A file of the entry replaces that with the same stem.
fn override_files(shared: &[InputFile], own: Map<String, Value>) -> Vec<InputFile> {
    let is_replaced = |file: &InputFile| own.keys().any(|name| stem_of(name) == stem_of(&file.name));
    let mut files: Vec<InputFile> = shared.iter().filter(|file| !is_replaced(file)).cloned().collect();
    for (name, text) in own {
        assert!(is_input(&name), "a case has no use for `{name}`");
        let text: Option<String> = serde_json::from_value(text).unwrap();
        files.extend(text.map(|text| InputFile { name, bytes: text.into_bytes() }));
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Reads the files of a folder without its results; a file that no test reads is a mistake.
fn files(folder: &Path) -> Vec<InputFile> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files = Vec::new();
    for path in entries.filter(|path| !path.ends_with("assets")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["expected", "expected.snap"].contains(&stem_of(&name)) {
            continue;
        }
        let is_known = is_input(&name) || stem_of(&name) == "case";
        assert!(is_known && path.is_file(), "a case has no use for `{}`", path.display());
        files.push(InputFile { name, bytes: std::fs::read(path).unwrap() });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

fn is_input(name: &str) -> bool {
    let stem = stem_of(name);
    ["agent", "session", "profile"].contains(&stem) || stem.starts_with("worldbook")
}

/// Returns the name of a file without its extension.
fn stem_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the folders in a folder, in the order of their names.
pub(crate) fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
