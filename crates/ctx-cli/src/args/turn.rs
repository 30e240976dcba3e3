//! What describes a turn: the files, the model, the budget, the moment.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use ctx_tokens::{MAX_TOKENS, read_tokens};
use ctx_types::phrase;

use crate::lang::Told;

/// One turn of a conversation.
#[derive(Clone, Debug, Args)]
pub(crate) struct TurnArguments {
    /// The agent or preset (JSON or YAML); that of `ctx.toml` if absent; without one the conversation alone is
    /// looked at
    pub(crate) agent: Option<PathBuf>,
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL); that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// What the user is about to send
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The user profile (JSON, YAML, or a plain text that is the persona)
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// A worldbook (SillyTavern, AIO Hub, character card), which holds for this turn; may be given several times
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// The model that the request goes to
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// The model's own settings of processors: an object like an agent's `parameters`
    #[arg(long, value_name = "FILE")]
    pub(crate) model_settings: Option<PathBuf>,
    /// Tool definitions: a list, copied into the request body unchanged
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// The folder of attached files; by default those of the conversation and of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) assets: Option<PathBuf>,
    /// How many tokens the context may have in place of the model's window; 0 means the window
    #[arg(long, value_name = "N", value_parser = context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    /// How many tokens are kept free for the answer; by default what the agent or the model needs
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub(crate) reserve: Option<u32>,
    /// What is to be generated
    #[arg(long, value_enum, default_value_t = Kind::Normal, value_name = "KIND")]
    pub(crate) kind: Kind,
    /// The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai; UTC if absent
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    /// Show how long each stage took
    #[arg(long)]
    pub(crate) timings: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl TurnArguments {
    /// A turn of which nothing else is said.
    pub(super) fn of(config: &ConfigArguments) -> Self {
        Self {
            agent: None,
            session: None,
            input: None,
            profile: None,
            worldbooks: Vec::new(),
            model: None,
            models: None,
            model_settings: None,
            tools: None,
            assets: None,
            context_tokens: None,
            reserve: None,
            kind: Kind::Normal,
            at: None,
            tz: None,
            seed: 0,
            switches: SwitchArguments { enable: Vec::new(), disable: Vec::new() },
            timings: false,
            config: config.clone(),
        }
    }
}

pub(super) fn seed(text: &str) -> Result<u64, Told> {
    let expected = || phrase!("expected a whole number from 0 to {last}", last = u64::MAX.to_string());
    text.parse().map_err(|_| Told(expected()))
}

pub(super) fn context_tokens(text: &str) -> Result<u32, Told> {
    tokens(text).map_err(|Told(error)| Told(phrase!("{error}; use 0 for the model's context window", error)))
}

/// Reads a number of tokens by the rule that holds in files too.
pub(super) fn tokens(text: &str) -> Result<u32, Told> {
    let value = serde_json::from_str(text).ok();
    let expected = || phrase!("expected a whole number from 0 to {last}", last = MAX_TOKENS);
    value.as_ref().and_then(read_tokens).ok_or_else(|| Told(expected()))
}

/// Which processors run.
#[derive(Clone, Debug, Args)]
pub(crate) struct SwitchArguments {
    /// Switch processors on; `ctx processors list` names them
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) enable: Vec<String>,
    /// Switch processors off
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) disable: Vec<String>,
}

/// Where defaults come from.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Ignore `ctx.toml`, which in this folder or one above gives defaults
    #[arg(long)]
    pub(crate) no_config: bool,
}

/// What is to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// An answer
    Normal,
    /// The rest of an unfinished answer
    Continue,
    /// What the user might say
    Impersonate,
    /// Something that the user does not see
    Quiet,
}
