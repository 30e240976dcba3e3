//! What describes a search in a conversation.

use std::path::PathBuf;

use clap::Args;
use ctx_compress::recall::RecallQuery;

use crate::args::{ConfigArguments, CountingArguments};

/// Show what a conversation says about a question
///
/// All messages are searched by their words, those behind summaries too; what is switched off is not. What is found is
/// shown as a model gets it from the processor `recall`: a line for each message or entry of a tool's result.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx recall \"May she eat nuts?\" --session chat.json\n  \
    ctx recall \"room 12\" --session chat.json --budget 200 --json\n  \
    ctx recall - --session chat.json < question.txt\n\n\
    Exit codes: 0 whatever was found, 2 usage, 3 a file cannot be read.")]
pub(crate) struct RecallArguments {
    /// What is looked for; `-` is standard input. Of a longer text the first 16 KiB are looked at
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL); that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// How many tokens what is found may have
    #[arg(long, value_name = "N", default_value_t = RecallQuery::DEFAULT_BUDGET)]
    pub(crate) budget: u64,
    /// Search other branches too
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
