//! What is asked for: as arguments on a command line, or as a form on a page.

use std::fmt;
use std::path::PathBuf;

use ctx_chat::redact_url;
use ctx_engine::Switches;
use ctx_types::{Argument, Divider, GenerationKind, phrase};
use ctx_wire::Dialect;

use crate::config::Ask;
use crate::error::ProjectError;

/// Whether `ctx.toml` gives defaults, and who is asked whether one that was found is trusted.
#[derive(Clone, Debug, Default)]
pub struct ConfigOptions {
    /// Reads no `ctx.toml`.
    pub is_ignored: bool,
    /// Asks the user; nobody is asked without it.
    pub ask: Option<Ask>,
}

/// One turn of a conversation. What is absent is taken from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct TurnOptions {
    /// The file of the agent or preset; without one the conversation alone is looked at.
    pub agent: Option<PathBuf>,
    /// The file of the conversation.
    pub session: Option<PathBuf>,
    /// What the user is about to send.
    pub input: Option<String>,
    /// The file of the user profile.
    pub profile: Option<PathBuf>,
    /// Files of worldbooks.
    pub worldbooks: Vec<PathBuf>,
    /// The model that the request goes to.
    pub model: Option<String>,
    /// The file of a table of models, whose rows are tried before the built-in ones.
    pub models: Option<PathBuf>,
    /// The file of the model's own settings of processors.
    pub model_settings: Option<PathBuf>,
    /// The file of tool definitions.
    pub tools: Option<PathBuf>,
    /// The folder of attached files; by default those of the conversation and of the agent.
    pub assets: Option<PathBuf>,
    /// How many tokens the context may have; 0 means the model's window.
    pub context_tokens: Option<u32>,
    /// How many tokens are kept free for the answer.
    pub reserve: Option<u32>,
    /// What is to be generated.
    pub kind: GenerationKind,
    /// The time of the turn in RFC 3339; now if absent.
    pub at: Option<String>,
    /// The time zone; UTC if absent.
    pub tz: Option<String>,
    /// The seed of random draws.
    pub seed: u64,
    /// Which processors are switched on and off.
    pub switches: Switches,
    /// Where defaults come from.
    pub config: ConfigOptions,
}

/// Where a model is reached. What is absent is taken from `ctx.toml`.
#[derive(Clone, Default)]
pub struct EndpointOptions {
    /// The address of the API.
    pub base_url: Option<String>,
    /// The dialect that it speaks.
    pub dialect: Option<Dialect>,
    /// The variable of the environment that holds the key.
    pub key_env: Option<String>,
    /// The file that holds the key and nothing else.
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

/// How tokens are counted.
#[derive(Clone, Debug, Default)]
pub struct CountingOptions {
    /// As the model counts, and not by the length of the text.
    pub is_of_model: bool,
    /// The model whose tokens are counted.
    pub model: Option<String>,
    /// The file of a table of models.
    pub models: Option<PathBuf>,
}

/// Which settings summaries are made by. What is absent is taken from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// The file of the settings for all conversations.
    pub settings: Option<PathBuf>,
    /// The file of the agent whose settings count over them.
    pub agent: Option<PathBuf>,
    /// Single settings that count over all, as `key=value`.
    pub set: Vec<String>,
}

/// What the windows of models are used for. What is absent is taken from `ctx.toml`.
#[derive(Clone, Debug, Default)]
pub struct BudgetOptions {
    /// The file of the conversation.
    pub session: Option<PathBuf>,
    /// The file of tool definitions.
    pub tools: Option<PathBuf>,
    /// The file of a table of models.
    pub models: Option<PathBuf>,
    /// How many tokens are kept free for the answer.
    pub reserve: Option<u32>,
    /// The index of the first message that a running tool loop has added.
    pub loop_start: Option<usize>,
}

/// Who writes summaries, and within which limits.
#[derive(Clone, Debug)]
pub struct SummarizerOptions {
    /// Who writes them.
    pub by: SummarizerChoice,
    /// The model that is asked.
    pub model: Option<String>,
    /// Where it is reached.
    pub endpoint: EndpointOptions,
    /// How many seconds one answer may take; 0 sets no limit.
    pub timeout: Option<u32>,
    /// How many tokens a prompt and its answer may have.
    pub window: Option<u32>,
}

impl SummarizerOptions {
    /// Options without a model, an endpoint and limits of their own.
    pub fn new(by: SummarizerChoice) -> Self {
        Self { by, model: None, endpoint: EndpointOptions::default(), timeout: None, window: None }
    }
}

/// Who writes a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// The messages' own sentences.
    Extractive,
    /// A program with its arguments.
    Program(String),
    /// A model, asked in this dialect.
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
                    "expected `extractive`, `cmd:PROGRAM`, or a dialect: {dialects}",
                    dialects
                )))
            }
        }
    }
}
