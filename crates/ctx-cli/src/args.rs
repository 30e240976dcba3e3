//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Turns a preset with named anchors and a conversation into exactly the messages that a model receives,
/// and explains every one of them.
#[derive(Debug, Parser)]
#[command(
    name = "ctx",
    bin_name = "ctx",
    version,
    after_help = "Begin with a small project, and look at what its model would receive:\n  \
                  ctx init demo\n  \
                  ctx assemble demo/agent.yaml --session demo/conversation.json\n\n\
                  Results go to standard output, all else to standard error. `-` is standard input.\n\
                  Exit codes: 0 ok (warnings too), 1 findings, 2 usage, 3 unreadable input, 5 no context fits."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Assemble(Box<AssembleArguments>),
    Check(CheckArguments),
    Anchors(AnchorsArguments),
    Init(InitArguments),
}

/// Shows the messages that a model receives, and why
///
/// Each message is shown with its source; below stands what was moved or left out, and why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx assemble agent.yaml --session chat.json --profile me.yaml\n  \
    ctx assemble agent.yaml --input \"Hello\" --format openai\n  \
    ctx assemble --session chat.jsonl --at 2026-01-31T12:00:00Z --format snapshot")]
pub(crate) struct AssembleArguments {
    /// The agent or preset (JSON or YAML); without it the conversation alone is shown
    pub(crate) agent: Option<PathBuf>,
    /// The conversation (AIO Hub session, OpenAI messages, SillyTavern chat JSONL)
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// What the user is about to send
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The user profile (JSON, YAML, or a plain text that is the persona)
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// The model that the request goes to
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Tool definitions: a list, which stands in the request body as it is
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// How many tokens the context may have in place of the model's window; 0 means the window
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..), allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<i64>,
    /// How many tokens are kept free for the answer; by default what the model needs
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) reserve: Option<u32>,
    /// What is to be generated
    #[arg(long, value_enum, default_value_t = Kind::Normal, value_name = "KIND")]
    pub(crate) kind: Kind,
    /// The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) tz: String,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Switches processors on
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) enable: Vec<String>,
    /// Switches processors off
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) disable: Vec<String>,
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Prints JSON: short for `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Writes the report (JSON) to a file too
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
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

/// What `ctx assemble` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table to read: role, tokens, source, first line; then what was moved, merged or left out
    Table,
    /// Messages, report and effects
    Json,
    /// The whole messages
    Text,
    /// A stable text to compare: messages, sources, decisions, diagnostics
    Snapshot,
    /// The request body of OpenAI's chat completions
    Openai,
}

/// Reports what is wrong with agents, presets, conversations and profiles
///
/// Unknown anchors and macros, targets that no entry declares, values of wrong types, broken links, and
/// whatever else is not what its author meant.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Files, or folders whose JSON, JSON Lines and YAML files are checked
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Lets warnings fail the check too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Prints the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the anchors that presets may use, and what goes to each
#[derive(Debug, Args)]
pub(crate) struct AnchorsArguments {
    #[command(subcommand)]
    pub(crate) command: AnchorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorsCommand {
    List(AnchorsListArguments),
}

/// Lists the built-in anchors; with an agent also those that it declares, and what goes to each
#[derive(Debug, Args)]
pub(crate) struct AnchorsListArguments {
    /// The agent or preset (JSON or YAML)
    pub(crate) agent: Option<PathBuf>,
    /// Prints the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a small project to begin with: agent, profile, conversation
///
/// No key and no network is needed to look at its context.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The folder to write to
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Replaces files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints the written files as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
