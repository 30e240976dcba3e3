//! Options of a command, from command-line arguments or a form on the page.

use std::fmt;
use std::path::PathBuf;

use ctx_chat::redact_url;
use ctx_engine::Switches;
use ctx_types::internal::{Argument, Divider, nearest};
use ctx_types::{CachePolicy, GenerationKind, PrefixMode, phrase};
use ctx_wire::Dialect;
use schemars::Schema;

use crate::config::Ask;
use crate::error::ProjectError;
use crate::keyed::{Meaning, Meaningless, words};

/// Options for `ctx.toml`: whether it is read, and how the user is asked to trust it.
#[derive(Clone, Debug, Default)]
pub struct ConfigOptions {
    /// Whether to ignore every `ctx.toml`.
    pub is_ignored: bool,
    /// Asks the user. Without it, no question is asked.
    pub ask: Option<Ask>,
}

/// Handling of parts of a client's request that the API dialect of the provider cannot express.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Rejects the request.
    #[default]
    Refuse,
    /// Drops the parts, and lists them.
    Drop,
}

impl OnLoss {
    /// Names of the values.
    pub const NAMES: [&str; 2] = ["refuse", "drop"];
}

impl Meaning for OnLoss {
    fn parse(name: &str) -> Result<Self, Meaningless> {
        match name {
            "refuse" => Ok(Self::Refuse),
            "drop" => Ok(Self::Drop),
            _ => Err(Meaningless::new(phrase!("is not `refuse` or `drop`")).near(nearest(name, Self::NAMES))),
        }
    }

    fn schema() -> Schema {
        words(Self::NAMES)
    }
}

impl Meaning for CachePolicy {
    fn parse(name: &str) -> Result<Self, Meaningless> {
        let unknown = || {
            let names = Self::ALL.map(Self::as_str);
            Meaningless::new(phrase!("is not `off` or `stable`")).near(nearest(name, names))
        };
        Self::ALL.into_iter().find(|policy| policy.as_str() == name).ok_or_else(unknown)
    }

    fn schema() -> Schema {
        words(Self::ALL.map(Self::as_str))
    }
}

/// Options of one turn. Missing options come from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct TurnOptions {
    /// Agent or preset file. Without it, only the conversation is used.
    pub agent: Option<PathBuf>,
    /// Conversation file.
    pub session: Option<PathBuf>,
    /// The user's message.
    pub input: Option<String>,
    /// User profile file.
    pub profile: Option<PathBuf>,
    /// Worldbook files.
    pub worldbooks: Vec<PathBuf>,
    /// Model of the request.
    pub model: Option<String>,
    /// File with a table of models, which is tried before the built-in table.
    pub models: Option<PathBuf>,
    /// File with the model's settings of processors.
    pub model_settings: Option<PathBuf>,
    /// File with tool definitions.
    pub tools: Option<PathBuf>,
    /// Folder of attachments. The default is the folders of the conversation and the agent.
    pub assets: Option<PathBuf>,
    /// Token budget of the context; 0 means the context window of the model.
    pub context_tokens: Option<u32>,
    /// Response reserve, in tokens.
    pub reserve: Option<u32>,
    /// Type of generation.
    pub kind: GenerationKind,
    /// Prefix mode. Default: the agent's.
    pub prefix: Option<PrefixMode>,
    /// Time of the turn in RFC 3339. The default is the current time.
    pub at: Option<String>,
    /// Time zone. The default is UTC.
    pub tz: Option<String>,
    /// Seed of random values.
    pub seed: u64,
    /// Enabled and disabled processors.
    pub switches: Switches,
    /// Options for `ctx.toml`.
    pub config: ConfigOptions,
}

/// Options of an endpoint. Missing options come from `ctx.toml`.
#[derive(Clone, Default)]
pub struct EndpointOptions {
    /// Base URL.
    pub base_url: Option<String>,
    /// API dialect.
    pub dialect: Option<Dialect>,
    /// Environment variable with the API key.
    pub key_env: Option<String>,
    /// File that contains only the API key.
    pub key_file: Option<PathBuf>,
}

impl fmt::Debug for EndpointOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointOptions")
            .field("base_url", &self.base_url.as_deref().map(redact_url))
            .field("dialect", &self.dialect)
            .field("key_env", &self.key_env)
            .field("key_file", &self.key_file)
            .finish()
    }
}

/// Options of token counting.
#[derive(Clone, Debug, Default)]
pub struct CountingOptions {
    /// Whether to use the tokenizer of the model instead of an estimate.
    pub is_of_model: bool,
    /// Model of the tokenizer.
    pub model: Option<String>,
    /// File with a table of models.
    pub models: Option<PathBuf>,
}

/// Sources of the compaction settings. Missing options come from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// File with the settings of all conversations.
    pub settings: Option<PathBuf>,
    /// Agent file, whose settings override these.
    pub agent: Option<PathBuf>,
    /// Single settings that override all others, as `key=value`.
    pub set: Vec<String>,
}

/// Options of a context budget. Missing options come from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct BudgetOptions {
    /// Conversation file.
    pub session: Option<PathBuf>,
    /// File with tool definitions.
    pub tools: Option<PathBuf>,
    /// File with a table of models.
    pub models: Option<PathBuf>,
    /// Response reserve, in tokens.
    pub reserve: Option<u32>,
    /// Index of the first message in the current tool loop.
    pub loop_start: Option<usize>,
}

/// Options of a summarizer.
#[derive(Clone, Debug)]
pub struct SummarizerOptions {
    /// Type of the summarizer.
    pub by: SummarizerChoice,
    /// Model of the summarizer.
    pub model: Option<String>,
    /// Endpoint of the summarizer.
    pub endpoint: EndpointOptions,
    /// Time limit of a response, in seconds; 0 means no limit.
    pub timeout: Option<u32>,
    /// Token budget of a prompt and its response.
    pub window: Option<u32>,
}

impl SummarizerOptions {
    /// Creates options with the defaults for the model, endpoint, and limits.
    pub fn new(by: SummarizerChoice) -> Self {
        Self { by, model: None, endpoint: EndpointOptions::default(), timeout: None, window: None }
    }
}

/// Type of a summarizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// Sentences from the messages.
    Extractive,
    /// A program with its arguments.
    Program(String),
    /// A model with this API dialect.
    Model(Dialect),
}

impl std::str::FromStr for SummarizerChoice {
    type Err = ProjectError;

    fn from_str(text: &str) -> Result<Self, ProjectError> {
        if let Some(dialect) = Dialect::parse(text) {
            return Ok(Self::Model(dialect));
        }
        match text.split_once(':') {
            None if text == "extractive" => Ok(Self::Extractive),
            Some(("cmd", program)) if !program.trim().is_empty() => {
                Ok(Self::Program(program.trim().to_owned()))
            }
            _ => {
                let dialects = Argument::names(Dialect::ALL.map(Dialect::name), Divider::Comma);
                Err(ProjectError::Usage(phrase!(
                    "expected `extractive`, `cmd:PROGRAM`, or an API dialect: {dialects}",
                    dialects
                )))
            }
        }
    }
}
