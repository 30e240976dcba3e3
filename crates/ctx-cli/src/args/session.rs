//! What describes a conversation's file that is looked at or stepped through.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{ConfigArguments, CountingArguments};

/// Shows the tree of a conversation's file, and takes steps back
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Show(ShowArguments),
    Tree(TreeArguments),
    /// Takes the latest step back, and writes the file
    Undo(StepArguments),
    /// Does again what was taken back last, and writes the file
    Redo(StepArguments),
}

/// Shows what is sent of a conversation, and which summaries hide the rest
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session show chat.json\n  \
    ctx session show chat.json --all\n  \
    ctx session show chat.json --json")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    /// Lists hidden messages too
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
}

/// Draws the whole tree of a conversation: branches, summaries, switches, where it goes on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session tree chat.json\n  \
    ctx session tree chat.json --json")]
pub(crate) struct TreeArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
}

/// Steps through the log of a conversation's file: what `ctx compress` and applications note in it
///
/// What came after a step stays as it is; if that is not possible, nothing changes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session undo chat.json\n  \
    ctx session redo chat.json\n\n\
    Exit codes: 0 done, 1 there is no such step, or it does not fit any more, 3 the file cannot be\n\
    read or written.")]
pub(crate) struct StepArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    /// Tells what would be done, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The file of a conversation.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionFileArguments {
    /// The conversation; that of `ctx.toml` if absent
    #[arg(value_name = "FILE", conflicts_with = "session")]
    pub(crate) file: Option<PathBuf>,
    /// The same, as other verbs take it
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}
