//! What describes a conversation that is looked at, stepped through, or moved into and out of the store.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use ctx_preset_import::ConversationForm;

use crate::args::{ConfigArguments, CountingArguments, StoreArguments};

/// Show conversations, undo steps, move them to and from the store
#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Show(ShowArguments),
    Tree(TreeArguments),
    /// Undo the latest step, and write the file
    Undo(StepArguments),
    /// Redo what was undone last, and write the file
    Redo(StepArguments),
    List(ListArguments),
    Export(ExportArguments),
    Import(ImportArguments),
    Delete(DeleteArguments),
}

/// Show what is sent of a conversation, and which summaries hide the rest
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session show chat.json\n  \
    ctx session show chat.json --all\n  \
    ctx session show chat.json --json")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) file: SessionFileArguments,
    /// List hidden messages too
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) counting: CountingArguments,
}

/// Draw the whole tree of a conversation: branches, summaries, switches, where it goes on
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

/// Step through the log of a conversation's file: what `ctx compress` and applications note in it
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
    /// Show what would be done, and write nothing
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
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List the conversations of the store, the latest changed first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session list\n  \
    ctx session list --store chats.db --json")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// Write a conversation of the store to a file, or to standard output
///
/// Lists of messages hold the active path; what a format cannot hold is reported.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session export notes --out notes.json\n  \
    ctx session export notes --to messages --out messages.json\n  \
    ctx session export notes --to st-chat > notes.jsonl\n\n\
    Exit codes: 0 written, 2 there is no such conversation, 3 the store cannot be read or the file not\n\
    be written.")]
pub(crate) struct ExportArguments {
    /// The conversation, by its id
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// The form
    #[arg(long, value_enum, default_value_t = FormName::Aio, value_name = "FORM")]
    pub(crate) to: FormName,
    /// The file to write; standard output if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Put conversations into the store, so that `ctx chat` can go on with them
///
/// Each keeps the id that its file names, else it is named after the file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session import chat.json\n  \
    ctx session import messages.json --id notes\n\n\
    Exit codes: 0 all are in the store, 2 there is a conversation with this id already, 3 a file or the\n\
    store cannot be read or written.")]
pub(crate) struct ImportArguments {
    /// The conversations (AIO Hub session, OpenAI messages, messages.json, JSON Lines, SillyTavern chat)
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The id in the store, for a single file
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// Remove conversations from the store, with their large results; that cannot be undone
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx session delete notes\n  \
    ctx session delete notes 20260131-120000-000 --json\n\n\
    Exit codes: 0 all are gone, 2 there is no such conversation, 3 the store cannot be written.")]
pub(crate) struct DeleteArguments {
    /// The conversations, by their ids
    #[arg(value_name = "ID", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArguments,
}

/// The store, and how results are printed.
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

/// A form of conversations on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormName {
    /// A session of AIO Hub: the whole tree, with what can be undone
    Aio,
    /// A list of messages: OpenAI's, with all that is noted beside them
    Messages,
    /// The same, one message a line
    Jsonl,
    /// A chat of SillyTavern, one message a line; without tools
    StChat,
}

impl From<FormName> for ConversationForm {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Aio => Self::Session,
            FormName::Messages => Self::Messages,
            FormName::Jsonl => Self::MessageLines,
            FormName::StChat => Self::SillyTavernChat,
        }
    }
}
