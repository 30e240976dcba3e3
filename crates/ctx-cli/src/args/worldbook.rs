//! Arguments of `ctx worldbook`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use ctx_project::TurnOptions;
use ctx_types::GenerationKind;

use crate::args::turn::{self, ConfigArguments, KINDS};
use crate::args::{RARE, choice};

/// Show active worldbook entries, and check worldbooks
#[derive(Debug, Args)]
pub(crate) struct WorldbookArguments {
    #[command(subcommand)]
    pub(crate) command: WorldbookCommand,
}

// Only `scan` has an agent.
const SCAN_MODEL: &str =
    "Model whose context window sets the budget of entries [default: from ctx.toml or the agent]";
const SCAN_TOKENS: &str =
    "Token limit of the context; 0 uses the model's context window [default: from ctx.toml or the agent]";

#[derive(Debug, Subcommand)]
pub(crate) enum WorldbookCommand {
    Scan(WorldbookScanArguments),
    Check(WorldbookCheckArguments),
}

/// Show active entries with the matched key, message and pass
///
/// With `--all`, also shows inactive entries and the reason. Uses the same scan as `ctx assemble`.
#[derive(Debug, Args)]
#[command(mut_arg("model", |option| option.help(SCAN_MODEL)))]
#[command(mut_arg("context_tokens", |option| option.help(SCAN_TOKENS)))]
#[command(after_help = "Examples:\n  \
    ctx worldbook scan sky.json --session chat.json\n  \
    ctx worldbook scan sky.json town.json --session chat.json --all\n  \
    ctx worldbook scan sky.json --input \"Look at the moon\" --context-tokens 8000\n  \
    ctx worldbook scan sky.json --session chat.json --state timed.json --write\n\n\
    Exit codes: 0 success, 2 usage error, 3 a file cannot be read or written.")]
pub(crate) struct WorldbookScanArguments {
    /// Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI) [default: from the agent and ctx.toml]
    #[arg(value_name = "BOOK")]
    pub(crate) books: Vec<PathBuf>,
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Next message of the user
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// Agent for filters, regex rules and settings [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// User profile; entries can search it for keys [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Show inactive entries
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) settings: WorldbookSettingsArguments,
    /// File with timed effects of earlier scans [default: from the conversation]
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Save the timed effects to the `--state` file or the conversation
    #[arg(long)]
    pub(crate) write: bool,
    /// Generation type
    #[arg(long, value_parser = choice(KINDS), default_value = "normal", value_name = "KIND")]
    #[arg(display_order = RARE)]
    pub(crate) kind: GenerationKind,
    /// Seed for random values
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    #[arg(display_order = RARE)]
    pub(crate) seed: u64,
    /// Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check worldbooks without a conversation
///
/// Finds entries that can never activate, recursion that never happens, duplicate uids, keys that match almost any
/// text, invalid regex keys, and entries larger than the budget. Checks all worldbooks together, as one conversation
/// uses them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx worldbook check sky.json\n  \
    ctx worldbook check sky.json town.json --context-tokens 8000 --deny-warnings\n\n\
    Exit codes: 0 no errors, 1 errors found, 2 usage error, 3 a file cannot be read.")]
pub(crate) struct WorldbookCheckArguments {
    /// Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)
    #[arg(required = true, value_name = "BOOK")]
    pub(crate) books: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: WorldbookSettingsArguments,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Settings for all entries.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorldbookSettingsArguments {
    /// Worldbook settings (SillyTavern settings, or an agent's `worldbookSettings`)
    #[arg(long = "settings", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Model whose context window sets the budget of entries [default: from ctx.toml]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Token limit of the context; 0 uses the model's context window [default: from ctx.toml]
    #[arg(long, value_name = "N", value_parser = turn::context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl WorldbookSettingsArguments {
    /// Returns the options of a turn with these books.
    fn options(&self, books: &[PathBuf]) -> TurnOptions {
        TurnOptions {
            worldbooks: books.to_vec(),
            model: self.model.clone(),
            context_tokens: self.context_tokens,
            ..TurnOptions::default()
        }
    }
}

impl WorldbookScanArguments {
    /// Returns the options of the turn to scan.
    pub(crate) fn options(&self) -> TurnOptions {
        TurnOptions {
            agent: self.agent.clone(),
            session: self.session.clone(),
            input: self.input.clone(),
            profile: self.profile.clone(),
            kind: self.kind,
            at: self.at.clone(),
            seed: self.seed,
            ..self.settings.options(&self.books)
        }
    }
}

impl WorldbookCheckArguments {
    /// Returns the options of the turn that uses the books.
    pub(crate) fn options(&self) -> TurnOptions {
        self.settings.options(&self.books)
    }
}
