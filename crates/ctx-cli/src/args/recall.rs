//! Arguments of `ctx recall`.

use std::path::PathBuf;

use clap::Args;
use ctx_compress::recall::RecallQuery;

use crate::args::{ConfigArguments, CountingArguments};

/// Search a conversation for passages about a question
///
/// Searches the words of all messages on the active branch, including hidden messages. Skips disabled messages. Prints
/// the passages as the `recall` processor sends them to the model: one line per message or entry of a tool result.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx recall \"May she eat nuts?\" --session chat.json\n  \
    ctx recall \"room 12\" --session chat.json --budget 200 --json\n  \
    ctx recall - --session chat.json < question.txt\n\n\
    Exit codes: 0 success, even without results, 2 usage error, 3 a file cannot be read.")]
pub(crate) struct RecallArguments {
    /// Question (first 16 KiB); `-` for standard input
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Token budget for the results
    #[arg(long, value_name = "N", default_value_t = RecallQuery::DEFAULT_BUDGET)]
    pub(crate) budget: u64,
    /// Search all branches
    #[arg(long)]
    pub(crate) branches: bool,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}
