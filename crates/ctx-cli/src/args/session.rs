//! Arguments of `ctx session`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use ctx_preset_import::ConversationForm;

use crate::args::{ConfigArguments, CountingArguments, StoreArguments, choice};

/// Show, undo, export and import conversations
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Show(ShowArguments),
    Tree(TreeArguments),
    /// Undo the last change and write the file
    Undo(StepArguments),
    /// Redo the last undone change and write the file
    Redo(StepArguments),
    List(ListArguments),
    Export(ExportArguments),
    Import(ImportArguments),
    Delete(DeleteArguments),
}

/// Show the active branch, with the hidden messages and summaries
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session show chat.json\n  \
    ctx session show chat.json --all\n  \
    ctx session show chat.json --json")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    /// Show hidden messages one by one
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
}

/// Show the conversation as a tree of branches and summaries
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

/// Arguments of `undo` and `redo`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session undo chat.json\n  \
    ctx session redo chat.json\n\n\
    Exit codes: 0 success, 1 nothing to undo or redo, or a conflict with later changes, 2 the file is\n\
    not a session in plain JSON, 3 it cannot be read or written.")]
pub(crate) struct StepArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    /// Show the change without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Conversation file.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionFileArguments {
    /// Conversation file [default: from ctx.toml]
    #[arg(value_name = "FILE", conflicts_with = "session")]
    pub(crate) file: Option<PathBuf>,
    /// Same as FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List stored conversations, most recent first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session list\n  \
    ctx session list --store chats.db --json")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// Export a stored conversation
///
/// All formats except `aio` contain only the active branch. Reports the data that a format cannot store.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session export notes --out notes.json\n  \
    ctx session export notes --to messages --out messages.json\n  \
    ctx session export notes --to st-chat > notes.jsonl\n\n\
    Exit codes: 0 success, 2 usage error, 3 no such conversation, the store cannot be read, or the file\n\
    cannot be written.")]
pub(crate) struct ExportArguments {
    /// Conversation id
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Output format
    #[arg(long, value_parser = choice(FORMS), default_value = "aio", value_name = "FORMAT")]
    pub(crate) to: ConversationForm,
    /// Output file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Import conversations into the store, for use with `ctx chat`
///
/// Uses the id in the file, or the file name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session import chat.json\n  \
    ctx session import messages.json --id notes\n\n\
    Exit codes: 0 success, 2 the id already exists, 3 a file or the store cannot be read or written.")]
pub(crate) struct ImportArguments {
    /// Conversation files (AIO Hub, OpenAI, JSON Lines, SillyTavern) or transcripts of agents
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Id in the store, for a single file
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// Delete stored conversations permanently
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session delete notes\n  \
    ctx session delete notes 20260131-120000-000 --json\n\n\
    Exit codes: 0 success, 2 usage error, 3 no such conversation, or the store cannot be written.")]
pub(crate) struct DeleteArguments {
    /// Conversation ids
    #[arg(value_name = "ID", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// Store and output options.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeptArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Formats of conversations.
const FORMS: &[(&str, &str, ConversationForm)] = &[
    ("aio", "An AIO Hub session with all branches and the undo history", ConversationForm::Session),
    ("messages", "A list of OpenAI messages with metadata", ConversationForm::Messages),
    ("jsonl", "OpenAI messages with metadata, one per line", ConversationForm::MessageLines),
    ("st-chat", "A SillyTavern chat, without tool calls", ConversationForm::SillyTavernChat),
];
