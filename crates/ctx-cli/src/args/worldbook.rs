//! The arguments of `ctx worldbook`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::args::turn::{self, ConfigArguments, Kind, TurnArguments};

/// Show which worldbook entries a conversation activates
#[derive(Debug, Args)]
pub(crate) struct WorldbookArguments {
    #[command(subcommand)]
    pub(crate) command: WorldbookCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorldbookCommand {
    Scan(WorldbookScanArguments),
    Check(WorldbookCheckArguments),
}

/// Show which entries a conversation activates: by which key, in which message, in which pass
///
/// With `--all` the others are listed too, each with the rule that kept it out. It is the scan that `ctx assemble`
/// makes: the same files give the same entries.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx worldbook scan sky.json --session chat.json\n  \
    ctx worldbook scan sky.json town.json --session chat.json --all\n  \
    ctx worldbook scan sky.json --input \"Look at the moon\" --context-tokens 8000\n  \
    ctx worldbook scan sky.json --session chat.json --state timed.json --write\n\n\
    Exit codes: 0 done, 2 usage, 3 a file cannot be read or written.")]
pub(crate) struct WorldbookScanArguments {
    /// Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)
    #[arg(required = true, value_name = "BOOK")]
    pub(crate) books: Vec<PathBuf>,
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL); that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// What the user is about to send
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The agent, for which entries may be filtered, and whose rules and settings hold; that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// The user profile, in which entries may look for keys
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: WorldbookSettingsArguments,
    /// The timed effects of earlier scans, as `--write` or SillyTavern (`timedWorldInfo`) wrote them; by default
    /// those that the conversation keeps
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Write the timed effects back: to the file of `--state`, else beside the newest message of the conversation
    #[arg(long)]
    pub(crate) write: bool,
    /// List the entries that are not active, too
    #[arg(long)]
    pub(crate) all: bool,
    /// What is to be generated
    #[arg(long, value_enum, default_value_t = Kind::Normal, value_name = "KIND")]
    pub(crate) kind: Kind,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// Print the entries, the timed effects and the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find what is wrong with worldbooks, whatever the conversation
///
/// Entries that can never become active, recursion that never comes, uids that are used twice, keys that are found
/// in nearly every text or cannot run, texts that are larger than the budget. The books are looked at together, as
/// one conversation would use them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx worldbook check sky.json\n  \
    ctx worldbook check sky.json town.json --context-tokens 8000 --deny-warnings\n\n\
    Exit codes: 0 nothing is wrong (warnings pass unless denied), 1 findings, 3 a file cannot be read.")]
pub(crate) struct WorldbookCheckArguments {
    /// Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)
    #[arg(required = true, value_name = "BOOK")]
    pub(crate) books: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: WorldbookSettingsArguments,
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What holds for all entries.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorldbookSettingsArguments {
    /// Settings of worldbooks (SillyTavern's settings, or an object as an agent's `worldbookSettings`)
    #[arg(long = "settings", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The model, whose window entries may have a part of
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// How many tokens the context may have in place of the model's window; 0 means the window
    #[arg(long, value_name = "N", value_parser = turn::context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl WorldbookSettingsArguments {
    /// The same as the arguments of a turn in which nothing else is said.
    fn turn(&self, books: &[PathBuf]) -> TurnArguments {
        TurnArguments {
            worldbooks: books.to_vec(),
            model: self.model.clone(),
            context_tokens: self.context_tokens,
            ..TurnArguments::of(&self.config)
        }
    }
}

impl WorldbookScanArguments {
    /// The turn whose scan is shown.
    pub(crate) fn turn(&self) -> TurnArguments {
        TurnArguments {
            agent: self.agent.clone(),
            session: self.session.clone(),
            input: self.input.clone(),
            profile: self.profile.clone(),
            kind: self.kind,
            at: self.at.clone(),
            seed: self.seed,
            ..self.settings.turn(&self.books)
        }
    }
}

impl WorldbookCheckArguments {
    /// The turn that would use the books.
    pub(crate) fn turn(&self) -> TurnArguments {
        self.settings.turn(&self.books)
    }
}
