//! What describes a compression: of one request, or by a summary in the conversation's file.

use ctx_project::options::SummarizerChoice;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::{ConfigArguments, EndpointArguments};

/// The heading of the options that are about summaries in conversations.
const SUMMARIES: &str = "Summaries in the conversation";

/// Shorten conversations: fit a budget, or summarize
#[derive(Debug, Args)]
pub(crate) struct CompressArguments {
    #[command(subcommand)]
    pub(crate) command: CompressCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CompressCommand {
    Plan(PlanArguments),
    Run(RunArguments),
    Budget(BudgetArguments),
    /// Switch a summary on: it hides the messages it covers
    Enable(SwitchSummaryArguments),
    /// Switch a summary off: the messages it covers are visible again
    Disable(SwitchSummaryArguments),
    /// Delete a summary: the messages it covers are visible again
    Delete(DeleteSummaryArguments),
    Edit(EditArguments),
    Regenerate(RegenerateArguments),
    Report(ReportArguments),
}

/// Show what would become of each message of a conversation, and why; no file is touched
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress plan --session chat.json --budget 8000\n  \
    ctx compress plan --session chat.json --mask\n  \
    ctx compress plan --session chats/ --mask --auto\n\n\
    Exit codes: 0 the messages fit, 2 usage, 3 a file cannot be read, 5 what must stay is more than\n\
    the budget.")]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) pass: PassArguments,
}

/// Conversations, and how they are compressed.
#[derive(Clone, Debug, Args)]
pub(crate) struct PassArguments {
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL), that of `ctx.toml` if absent;
    /// several files, patterns with `*`, or folders are done one after the other
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) session: Vec<PathBuf>,
    /// How many tokens the messages may have
    #[arg(long, value_name = "N", conflicts_with = "mask")]
    pub(crate) budget: Option<u64>,
    /// How messages are chosen: `telegraphic`, `sentences`, `key-message` or `last-rounds`
    #[arg(long, value_name = "NAME", default_value = "telegraphic", conflicts_with = "mask")]
    pub(crate) strategy: String,
    /// The index of the first message that a running tool loop has added; those from it on stay whole
    #[arg(long, value_name = "N", conflicts_with = "mask")]
    pub(crate) loop_start: Option<usize>,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
    #[command(flatten)]
    pub(crate) mask: MaskArguments,
    /// Print JSON; of several conversations one line each
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Fit conversations into a number of tokens, or hide older messages behind a summary
///
/// With `--budget` the messages that fit are printed, and the file is not touched.
/// With `--mask` a summary is put into the conversation's tree, behind the messages it covers; these stay
/// in the file, and show again when the summary is switched off. Nothing is written without `--write` or `--out`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress run --session chat.json --budget 8000 --json > shorter.json\n  \
    ctx compress run --session chat.json --budget 8000 --input \"When does her train leave?\"\n  \
    ctx compress run --session chat.json --mask\n  \
    ctx compress run --session chat.json --mask --from 1 --to 20 --write\n  \
    ctx compress run --session chat.json --mask --summarizer \"cmd:llm -m gpt-5-mini\" --write\n  \
    ctx compress run --session chat.json --mask --summarizer openai --summarizer-model gpt-5-mini --write\n  \
    ctx compress run --session 'chats/*.json' --mask --auto --write\n\n\
    The last user message is kept, and so are leading instructions, summaries and messages marked\n\
    `\"pinned\": true`. What `run --json` prints can be compressed again: its notes know what they\n\
    stand for.\n\n\
    Exit codes: 0 the messages fit, or are hidden, or need no compression; 2 usage, 3 a file cannot\n\
    be read or written, 4 there is no summary, 5 what must stay is more than the budget.")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) pass: PassArguments,
    /// Fit the messages for what the user says next: what it asks about is brought back, as the last message
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["mask", "loop_start"])]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Show what a model's window is used for, and what that leaves for the conversation
///
/// What is left is the window without the answer, tools, instructions, pins, summaries and what is being answered.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress budget --session chat.json --model gpt-4o\n  \
    ctx compress budget --session chat.json --model gpt-4o --tools tools.json --reserve 2000\n  \
    ctx compress budget --session chat.json --what-if gpt-4,gpt-4o,claude-sonnet-4\n  \
    ctx compress budget --session chat.json --what-if all\n\n\
    Exit codes: 0 the conversation can go on, 2 usage, 3 a file cannot be read, 5 what must stay is\n\
    more than the window of the model that is asked for with `--model`.")]
pub(crate) struct BudgetArguments {
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL); that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// The model whose window it is
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Compare these models in a table; `all` is every model of the table of models
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', num_args = 1..)]
    pub(crate) what_if: Vec<String>,
    /// The definitions of tools that are sent too
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// How many tokens are kept free for the answer [default: the longest answer, at most a quarter of the window]
    #[arg(long, value_name = "N")]
    pub(crate) reserve: Option<u32>,
    /// The index of the first message that a running tool loop has added; those from it on stay whole
    #[arg(long, value_name = "N")]
    pub(crate) loop_start: Option<usize>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Which messages a summary stands for.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaskArguments {
    /// Put a summary into the conversation that hides older messages while it is switched on
    #[arg(help_heading = SUMMARIES, long)]
    pub(crate) mask: bool,
    /// The first message that is hidden: its id, or its place on the path from 1
    #[arg(help_heading = SUMMARIES, long, value_name = "NODE", requires = "mask", conflicts_with_all = ["auto", "roll_up"])]
    pub(crate) from: Option<String>,
    /// The last message that is hidden
    #[arg(help_heading = SUMMARIES, long, value_name = "NODE", requires = "mask", conflicts_with_all = ["auto", "roll_up"])]
    pub(crate) to: Option<String>,
    /// Only where the settings would compress by themselves, and only as much as they would
    #[arg(help_heading = SUMMARIES, long, requires = "mask", conflicts_with = "roll_up")]
    pub(crate) auto: bool,
    /// Join the summaries that are there
    #[arg(help_heading = SUMMARIES, long, requires = "mask")]
    pub(crate) roll_up: bool,
    #[command(flatten)]
    pub(crate) settings: MaskSettingArguments,
}

/// The settings of summaries, in layers.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaskSettingArguments {
    /// The settings for all conversations: an object as `contextCompression`, or a file that has one
    #[arg(help_heading = SUMMARIES, long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// The agent whose `parameters.contextCompression` counts over them; that of `ctx.toml` if absent
    #[arg(help_heading = SUMMARIES, long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// One setting that counts over all, such as `protectRecentCount=4`
    #[arg(help_heading = SUMMARIES, long, value_name = "KEY=VALUE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) set: Vec<String>,
}

/// Who writes summaries.
#[derive(Clone, Debug, Args)]
pub(crate) struct SummarizerArguments {
    /// Who writes it: `extractive` (the messages' own sentences, no model), `cmd:PROGRAM`, which reads the prompt
    /// from standard input and writes the summary to standard output, or a model that is asked over the network in
    /// a dialect: `openai`, `openai-responses`, `anthropic`, `gemini`, `completion`
    #[arg(help_heading = SUMMARIES, long, value_name = "WHO", default_value = "extractive")]
    pub(crate) summarizer: SummarizerChoice,
    /// The model that is asked; that of the settings or of the endpoint in `ctx.toml` if absent
    #[arg(help_heading = SUMMARIES, long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) summarizer_model: Option<String>,
    /// The address of the model's API; by default that of the provider whose dialect it is
    #[arg(help_heading = SUMMARIES, long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The variable of the environment that holds the key
    #[arg(help_heading = SUMMARIES, long, value_name = "NAME", conflicts_with = "key_file")]
    pub(crate) key_env: Option<String>,
    /// The file that holds the key and nothing else
    #[arg(help_heading = SUMMARIES, long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// How many seconds the program or the model may take for one answer; 0 sets no limit
    /// [default: that of the settings, 120]
    #[arg(help_heading = SUMMARIES, long, value_name = "SECONDS")]
    pub(crate) summarizer_timeout: Option<u32>,
    /// How many tokens a prompt and its answer may have; longer ranges are summarised in parts
    #[arg(help_heading = SUMMARIES, long, value_name = "N")]
    pub(crate) summarizer_window: Option<u32>,
}

impl SummarizerArguments {
    /// Returns where the model is reached that writes summaries.
    pub(crate) fn endpoint(&self) -> EndpointArguments {
        EndpointArguments {
            base_url: self.base_url.clone(),
            dialect: None,
            key_env: self.key_env.clone(),
            key_file: self.key_file.clone(),
        }
    }
}

/// Where a changed conversation goes.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write the changed conversation over its file: whole or not at all
    #[arg(long)]
    pub(crate) write: bool,
    /// Write the changed conversation to another file
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub(crate) out: Option<PathBuf>,
    /// The time that is noted, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
}

/// Switch a summary, or only the facts that are kept beside it; the messages it covers stay in the file
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress disable compression_4f1c --session chat.json\n  \
    ctx compress disable compression_4f1c --session chat.json --write\n  \
    ctx compress disable compression_4f1c --session chat.json --appendix --write\n\n\
    `ctx session show chat.json` names the summaries; `ctx session undo chat.json` takes the step\n\
    back.\n\n\
    Exit codes: 0 done, 2 there is no such summary, 3 a file cannot be read or written.")]
pub(crate) struct SwitchSummaryArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
    /// Only the facts that the summary lost and that are sent below it (`appendixTokens`)
    #[arg(long)]
    pub(crate) appendix: bool,
}

/// Delete a summary; the messages it covers stay in the file
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress delete compression_4f1c --session chat.json\n  \
    ctx compress delete compression_4f1c --session chat.json --write\n\n\
    `ctx session show chat.json` names the summaries; `ctx session undo chat.json` takes the step\n\
    back.\n\n\
    Exit codes: 0 done, 2 there is no such summary, 3 a file cannot be read or written.")]
pub(crate) struct DeleteSummaryArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
}

/// A summary of a conversation.
#[derive(Clone, Debug, Args)]
pub(crate) struct SummaryArguments {
    /// The id of the summary, or the beginning of it
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// The conversation; that of `ctx.toml` if absent
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

/// Edit the text of a summary; the messages it covers are unchanged
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress edit compression_4f1c --session chat.json --text \"They agreed on room 12.\" --write\n  \
    ctx compress edit compression_4f1c --session chat.json --write < summary.txt")]
pub(crate) struct EditArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
    /// The new words; standard input if absent
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// Write a summary again, from the messages it covers
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress regenerate compression_4f1c --session chat.json --write \\\n    \
      --summarizer \"cmd:llm -m gpt-5-mini\"\n\n\
    Exit codes: 0 done, 2 there is no such summary, 3 a file cannot be read or written, 4 there is no\n\
    new summary.")]
pub(crate) struct RegenerateArguments {
    #[command(flatten)]
    pub(crate) summary: SummaryArguments,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArguments,
    #[command(flatten)]
    pub(crate) settings: MaskSettingArguments,
}

/// Show which facts summaries, or a pass, kept, lost and made up
///
/// The original messages are compared with what is left of them, by rules and without a model; no file is touched.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx compress report --session chat.json\n  \
    ctx compress report compression_4f1c --session chat.json --json\n  \
    ctx compress report --session chat.json --budget 8000 --strategy sentences\n  \
    ctx compress report --session chat.json --budget 8000 --input \"When does her train leave?\"\n\n\
    Facts are rules, denials, open questions, dates, numbers, names, identifiers, paths and quotes, in\n\
    English and Chinese. Each is shown with its message and the byte where it begins.\n\n\
    Exit codes: 0 whatever was lost, 2 there is no such summary, 3 a file cannot be read, 5 what must\n\
    stay is more than the budget.")]
pub(crate) struct ReportArguments {
    /// The id of a summary, or the beginning of it; all summaries if absent
    #[arg(value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL); that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Report on a pass too, which fits the messages into so many tokens
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
    /// What the user says next: the pass brings back what it asks about, and the report says what that was
    #[arg(long, value_name = "TEXT", requires = "budget")]
    pub(crate) input: Option<String>,
    /// How the pass chooses messages: `telegraphic`, `sentences`, `key-message` or `last-rounds`
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

/// How tokens are counted.
#[derive(Clone, Debug, Args)]
pub(crate) struct CountingArguments {
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Counting::Estimate, value_name = "HOW")]
    pub(crate) counter: Counting,
    /// The model whose tokens are counted
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counting {
    /// By the length of the text; needs no model
    Estimate,
    /// As the model counts
    Model,
}
