//! The options of a case of `fixtures/`. `fixtures/README.md` says what they mean.
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

use crate::case_files::CaseFiles;

/// Areas whose cases are no assemblies; other tests run them.
const OTHERS: [&str; 5] = ["compress_masks", "gateway", "import", "recall", "transcripts"];

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
    /// Reads the options of a case.
    pub(crate) fn of(files: &CaseFiles) -> Self {
        let case = serde_json::from_value(Value::Object(files.options.clone()));
        let case: Self = case.map_err(|error| format!("`{}`: {error}", files.name)).unwrap();
        assert!(!case.why.trim().is_empty(), "`{}` has no `why`", files.name);
        case
    }

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

/// Returns the folders in a folder, in the order of their names.
pub(crate) fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
