//! What describes a pass of compression.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::ConfigArguments;

/// Fits conversations into a number of tokens
#[derive(Debug, Args)]
pub(crate) struct CompressArguments {
    #[command(subcommand)]
    pub(crate) command: CompressCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CompressCommand {
    /// Shows what would become of each message of a conversation, and why
    Plan(PassArguments),
    /// Prints the messages of a conversation, fitted into a number of tokens
    Run(PassArguments),
}

/// A pass over the messages of a conversation; the file is not touched.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress plan --session chat.json --budget 8000\n  \
    ctx compress run --session chat.json --budget 8000 --json > shorter.json\n  \
    ctx compress run --session chat.json --budget 8000 --strategy sentences\n\n\
    What the user said last stays, and so do leading instructions, summaries and messages marked\n\
    `\"pinned\": true`. What `run --json` prints can be compressed again: its notes know what they stand for.\n\
    Exit codes: 0 the messages fit, 3 a file cannot be read, 5 what must stay is more than the budget.")]
pub(crate) struct PassArguments {
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL)
    #[arg(long, value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// How many tokens the messages may have
    #[arg(long, value_name = "N")]
    pub(crate) budget: u64,
    /// How messages are chosen: `telegraphic`, `sentences`, `key-message` or `last-rounds`
    #[arg(long, value_name = "NAME", default_value = "telegraphic")]
    pub(crate) strategy: String,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Counting::Estimate, value_name = "HOW")]
    pub(crate) counter: Counting,
    /// The model whose tokens are counted
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// The index of the first message that a running tool loop has added; those from it on stay whole
    #[arg(long, value_name = "N")]
    pub(crate) loop_start: Option<usize>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counting {
    /// By the length of the text; needs no model
    Estimate,
    /// As the model counts
    Model,
}
