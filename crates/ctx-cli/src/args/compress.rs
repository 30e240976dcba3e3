//! Arguments of `ctx compress`.

use ctx_project::options::SummarizerChoice;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::{ConfigArguments, EndpointArguments, RARE};

/// Fit conversations to a token budget, or summarize them
#[derive(Debug, Args)]
pub(crate) struct CompressArguments {
    #[command(subcommand)]
    pub(crate) command: CompressCommand,
}

/// Text below the examples of `enable` and `disable`.
macro_rules! switch_help {
    () => {
        "`ctx session show chat.json` lists the summaries. `ctx session undo chat.json` undoes the change.\n\n\
        Exit codes: 0 success, 2 no such summary, 3 a file cannot be read or written."
    };
}

#[derive(Debug, Subcommand)]
pub(crate) enum CompressCommand {
    Plan(PlanArguments),
    Run(RunArguments),
    Budget(BudgetArguments),
    /// Enable a summary and hide its messages
    #[command(after_help = concat!("Examples:\n  \
        ctx compress enable compression_4f1c --session chat.json\n  \
        ctx compress enable compression_4f1c --session chat.json --write\n\n", switch_help!()))]
    Enable(SwitchSummaryArguments),
    /// Disable a summary and restore its messages
    #[command(after_help = concat!("Examples:\n  \
        ctx compress disable compression_4f1c --session chat.json\n  \
        ctx compress disable compression_4f1c --session chat.json --write\n  \
        ctx compress disable compression_4f1c --session chat.json --appendix --write\n\n", switch_help!()))]
    Disable(SwitchSummaryArguments),
    /// Delete a summary and restore its messages
    Delete(DeleteSummaryArguments),
    Edit(EditArguments),
    Regenerate(RegenerateArguments),
    Report(ReportArguments),
}

/// Preview how each message would be compressed
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress plan --session chat.json --budget 8000\n  \
    ctx compress plan --session chat.json --mask\n  \
    ctx compress plan --session chats/ --mask --auto\n\n\
    Exit codes: 0 success, 2 usage error, 3 a file cannot be read, 5 the budget is too small.")]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) pass: PassArguments,
}

/// Conversations and the options to compress them.
#[derive(Clone, Debug, Args)]
pub(crate) struct PassArguments {
    /// Conversation files, patterns or folders [default: from ctx.toml]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) session: Vec<PathBuf>,
    /// Token budget of the messages
    #[arg(long, value_name = "N", conflicts_with = "mask")]
    pub(crate) budget: Option<u64>,
    /// Strategy: `telegraphic`, `sentences`, `key-message` or `last-rounds`
    #[arg(long, value_name = "NAME", default_value = "telegraphic", conflicts_with = "mask")]
    pub(crate) strategy: String,
    /// Index of the first message to keep unchanged, in a running tool loop
    #[arg(long, value_name = "N", conflicts_with = "mask", display_order = RARE)]
    pub(crate) loop_start: Option<usize>,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
    #[command(flatten)]
    pub(crate) mask: MaskArguments,
    /// Print JSON, one line per conversation
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Fit messages to a token budget, or replace old ones with a summary
///
/// With `--budget`, prints the shortened messages and leaves the file unchanged. With `--mask`, adds a summary to the
/// conversation and hides the original messages. They stay in the file, and disabling the summary restores them. Use
/// `--write` or `--out` to save the result.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress run --session chat.json --budget 8000 --json > shorter.json\n  \
    ctx compress run --session chat.json --budget 8000 --input \"When does her train leave?\"\n  \
    ctx compress run --session chat.json --mask\n  \
    ctx compress run --session chat.json --mask --from 1 --to 20 --write\n  \
    ctx compress run --session chat.json --mask --summarizer \"cmd:llm -m gpt-5-mini\" --write\n  \
    ctx compress run --session chat.json --mask --summarizer openai --summarizer-model gpt-5 --write\n  \
    ctx compress run --session 'chats/*.json' --mask --auto --write\n\n\
    Keeps the last user message, leading system messages, summaries and messages with\n\
    `\"pinned\": true`. The output of `run --json` can be compressed again.\n\n\
    Exit codes: 0 success, 2 usage error, 3 a file cannot be read or written, 4 no summary was\n\
    written, 5 the budget is too small.")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) pass: PassArguments,
    /// Next message of the user, used to recall related passages
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["mask", "loop_start"])]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Show how much of a context window is left for history
///
/// Subtracts the response reserve, tools, leading system messages, pinned messages, summaries and the current turn from
/// the context window.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress budget --session chat.json --model gpt-4o\n  \
    ctx compress budget --session chat.json --model gpt-4o --tools tools.json --reserve 2000\n  \
    ctx compress budget --session chat.json --what-if gpt-4,gpt-4o,claude-sonnet-4\n  \
    ctx compress budget --session chat.json --what-if all\n\n\
    Exit codes: 0 success, 2 usage error, 3 a file cannot be read, 5 the context window of `--model`\n\
    is too small.")]
pub(crate) struct BudgetArguments {
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Model name [default: from ctx.toml]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Models to compare in a table, or `all`
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', num_args = 1..)]
    pub(crate) what_if: Vec<String>,
    /// Tool definitions sent with the request
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Tokens reserved for the response [default: the model's maximum, up to 25% of its context window]
    #[arg(long, value_name = "N")]
    pub(crate) reserve: Option<u32>,
    /// Index of the first message to keep unchanged, in a running tool loop
    #[arg(long, value_name = "N", display_order = RARE)]
    pub(crate) loop_start: Option<usize>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Messages that a summary covers.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaskArguments {
    /// Add a summary that hides older messages
    #[arg(long)]
    pub(crate) mask: bool,
    /// First message to hide, by id or position from 1
    #[arg(long, value_name = "NODE", requires = "mask", conflicts_with_all = ["auto", "roll_up"])]
    pub(crate) from: Option<String>,
    /// Last message to hide
    #[arg(long, value_name = "NODE", requires = "mask", conflicts_with_all = ["auto", "roll_up"])]
    pub(crate) to: Option<String>,
    /// Compress only as much as automatic compression would
    #[arg(long, requires = "mask", conflicts_with = "roll_up")]
    pub(crate) auto: bool,
    /// Merge the existing summaries
    #[arg(long, requires = "mask")]
    pub(crate) roll_up: bool,
    #[command(flatten)]
    pub(crate) settings: MaskSettingArguments,
}

/// Settings of summaries, in layers.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaskSettingArguments {
    /// File with `contextCompression` settings for all conversations
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Agent whose `contextCompression` overrides these settings [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// Setting for this run, such as `protectRecentCount=4`, repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) set: Vec<String>,
}

/// Writer of summaries.
#[derive(Clone, Debug, Args)]
pub(crate) struct SummarizerArguments {
    /// Summarizer: `extractive`, `cmd:PROGRAM`, or an API dialect
    ///
    /// `extractive` selects sentences from the messages, without a model. `cmd:PROGRAM` runs a program that reads the
    /// prompt from standard input and prints the summary. An API dialect calls a model: `openai`, `openai-responses`,
    /// `anthropic`, `gemini` or `completion`.
    #[arg(long, value_name = "WHO", default_value = "extractive")]
    pub(crate) summarizer: SummarizerChoice,
    /// Model of the summarizer [default: from the settings or ctx.toml]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) summarizer_model: Option<String>,
    /// Base URL of the API [default: from ctx.toml, or the provider's]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Environment variable with the API key, such as `OPENAI_API_KEY`
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub(crate) key_env: Option<String>,
    /// File with the API key
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Time limit per summary in seconds; 0 for no limit [default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) summarizer_timeout: Option<u32>,
    /// Context window of the summarizer in tokens; longer ranges are split [default: from the model]
    #[arg(long, value_name = "N")]
    pub(crate) summarizer_window: Option<u32>,
}

impl SummarizerArguments {
    /// Returns the endpoint of the model that writes summaries.
    pub(crate) fn endpoint(&self) -> EndpointArguments {
        EndpointArguments {
            base_url: self.base_url.clone(),
            dialect: None,
            key_env: self.key_env.clone(),
            key_file: self.key_file.clone(),
        }
    }
}

/// Output of a changed conversation.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write the changes to the conversation file
    #[arg(long)]
    pub(crate) write: bool,
    /// Other file for the changed conversation
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub(crate) out: Option<PathBuf>,
    /// Time to record, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
}

/// Arguments of `enable` and `disable`
#[derive(Clone, Debug, Args)]
pub(crate) struct SwitchSummaryArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
    /// Change only the appendix of lost facts (`appendixTokens`)
    #[arg(long)]
    pub(crate) appendix: bool,
}

/// Arguments of `delete`
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress delete compression_4f1c --session chat.json\n  \
    ctx compress delete compression_4f1c --session chat.json --write\n\n\
    `ctx session show chat.json` lists the summaries. `ctx session undo chat.json` undoes the change.\n\n\
    Exit codes: 0 success, 2 no such summary, 3 a file cannot be read or written.")]
pub(crate) struct DeleteSummaryArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
}

/// Summary to change, and the output.
#[derive(Clone, Debug, Args)]
pub(crate) struct SummaryArguments {
    /// Summary id, or its first characters
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// Conversation file [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Replace the text of a summary
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress edit compression_4f1c --session chat.json --text \"They agreed on room 12.\" --write\n  \
    ctx compress edit compression_4f1c --session chat.json --write < summary.txt")]
pub(crate) struct EditArguments {
    /// New text [default: standard input]
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
}

/// Regenerate a summary from its messages
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress regenerate compression_4f1c --session chat.json --write \\\n    \
      --summarizer \"cmd:llm -m gpt-5-mini\"\n\n\
    Exit codes: 0 success, 2 no such summary, 3 a file cannot be read or written, 4 no summary was\n\
    written.")]
pub(crate) struct RegenerateArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArguments,
    #[command(flatten)]
    pub(crate) settings: MaskSettingArguments,
}

/// Show which facts a summary kept, lost or invented
///
/// Compares summaries with the original messages by rules, without a model. With `--budget`, also checks the messages
/// that `ctx compress run --budget` would print. For a transcript of a coding agent or a log of requests, lists the facts
/// that each compaction lost, the most used first. Changes no files.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress report --session chat.json\n  \
    ctx compress report compression_4f1c --session chat.json --json\n  \
    ctx compress report --session chat.json --budget 8000 --strategy sentences\n  \
    ctx compress report --session chat.json --budget 8000 --input \"When does her train leave?\"\n  \
    ctx compress report ~/.claude/projects/-work/5f0c.jsonl\n\n\
    Facts are rules, denials, open questions, dates, numbers, names, identifiers, paths and quotes, in\n\
    English and Chinese. Each fact is shown with its message and byte offset.\n\n\
    Exit codes: 0 success, 2 no such summary, 3 a file cannot be read, 5 the budget is too small.")]
pub(crate) struct ReportArguments {
    /// Summary id, or its first characters [default: all summaries]; or a transcript or log
    #[arg(value_name = "NODE|LOG")]
    pub(crate) node: Option<String>,
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Also check a compression to this number of tokens
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
    /// Next message of the user, used to recall related passages
    #[arg(long, value_name = "TEXT", requires = "budget")]
    pub(crate) input: Option<String>,
    /// Strategy: `telegraphic`, `sentences`, `key-message` or `last-rounds`
    #[arg(long, value_name = "NAME", default_value = "telegraphic", requires = "budget")]
    pub(crate) strategy: String,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Methods to count tokens.
#[derive(Clone, Debug, Args)]
pub(crate) struct CountingArguments {
    /// Method to count tokens
    #[arg(long, value_enum, default_value_t = Counting::Estimate, value_name = "METHOD")]
    pub(crate) counter: Counting,
    /// Model to count tokens for [default: from ctx.toml]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
}

/// Methods to count tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counting {
    /// Estimate from the length of the text
    Estimate,
    /// Count with the encoding of the model
    Model,
}
