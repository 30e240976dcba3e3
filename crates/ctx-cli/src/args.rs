//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Turns a preset with named anchors and a conversation into exactly the messages that a model receives,
/// and explains every one of them.
#[derive(Debug, Parser)]
#[command(
    name = "ctx",
    version,
    about,
    after_help = "Exit codes: 0 ok (warnings too), 1 findings, 2 usage, 3 unreadable input.\n\
                  Start with `ctx init demo`, then `ctx assemble demo/agent.yaml --session demo/conversation.json --profile demo/profile.yaml`."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows the messages that a model receives
    Assemble(Box<AssembleArguments>),
    /// Reports what is wrong with agents, presets and conversations
    Check(CheckArguments),
    /// Lists the anchors that presets may use
    Anchors(AnchorsArguments),
    /// Writes a small project to begin with: agent, profile, conversation
    Init(InitArguments),
}

/// Shows the messages that a model receives, each with its source; below, what was moved or left out and why.
#[derive(Debug, Args)]
pub(crate) struct AssembleArguments {
    /// The agent or preset (JSON or YAML); without it the conversation alone is shown. `-` is standard input
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
    /// Tool definitions for the request body: a JSON list
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) tz: String,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
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
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Writes the report (JSON) to a file too
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// What `ctx assemble` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table to read: role, source, first line; then what was moved or left out
    Table,
    /// Messages, report and effects as JSON
    Json,
    /// The whole messages as text
    Text,
    /// A stable text to compare: messages, sources, decisions, diagnostics
    Snapshot,
    /// The OpenAI chat-completions request body
    Openai,
}

/// Reports what is wrong with files: unknown anchors and macros, orphan targets, values of wrong types.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Files, or folders whose JSON and YAML files are checked
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Lets warnings fail the check too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Prints the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AnchorsArguments {
    #[command(subcommand)]
    pub(crate) command: AnchorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorsCommand {
    /// Lists the built-in anchors; with an agent, those that it declares and what goes to each
    List {
        /// The agent or preset (JSON or YAML)
        agent: Option<PathBuf>,
        /// Prints the list as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Writes a small project to begin with; no key and no network is needed to look at its context.
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
