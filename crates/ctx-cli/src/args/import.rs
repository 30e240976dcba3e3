//! The arguments of `ctx import`, `ctx export` and `ctx migrate`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use ctx_engine::Format;

/// Make an agent from SillyTavern, RisuAI or AIO Hub files
///
/// Character cards (JSON, PNG, CHARX), chat-completion presets, lorebooks, regex scripts, personas, settings and
/// chats become one agent with worldbooks, a profile and conversations. Formats are recognised by
/// content: a likely one is used with a warning, an unknown one is refused with exit code 3; `--as` names it.
/// Without `--out` nothing is written: it shows what an import would make.
/// If one of several files cannot be read, the others are imported, with exit code 3; but then nothing is written where
/// `agent.yaml` is in the folder already. All files are written, or none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx import card.png\n  \
    ctx import card.png preset.json book.json --out ada\n  \
    ctx import card.png --report\n  \
    ctx import card.png --out ada --report-file report.json --strict\n  \
    ctx import Actor.json --as sysprompt --out actor\n  \
    ctx assemble ada/agent.yaml --session chat.jsonl")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct AgentImportArguments {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The format of files whose content does not show it for certain
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,
    /// The folder to write to; files that have the names of new ones are replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Show how fields were imported, grouped by path
    #[arg(long, conflicts_with = "json")]
    pub(crate) report: bool,
    /// Show how each field was imported
    #[arg(long, conflicts_with_all = ["json", "report"])]
    pub(crate) report_fields: bool,
    /// Write how each field was imported to a file (JSON)
    #[arg(long, value_name = "FILE")]
    pub(crate) report_file: Option<PathBuf>,
    /// Print how each field was imported, and the written files, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 1, and write nothing but the report, if there is an error or a field that is unsupported
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The formats that can be named, as reports name them.
fn formats() -> PossibleValuesParser {
    Format::NAMED.map(Format::id).into()
}

/// Write an agent as a file of another application
///
/// What was imported comes back as it was; what was changed since is written over it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx export ada/agent.yaml --to st-preset --out preset.json\n  \
    ctx export ada/agent.yaml --to st-card --out ada.png\n  \
    ctx export ada/agent.yaml --to st-lorebook --only Moon --out moon.json\n  \
    ctx export ada/agent.yaml --to aio --out ada.agent.yaml")]
pub(crate) struct AgentExportArguments {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PathBuf,
    /// What is written
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: ExportForm,
    /// Which worldbook or list of regex rules is written, by its name, if the agent has several
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// The file to write, which is replaced if it exists; its ending decides between JSON, YAML and PNG. Otherwise
    /// JSON is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the written file's name as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `ctx export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// A chat-completion preset of SillyTavern
    StPreset,
    /// A character card of SillyTavern
    StCard,
    /// A worldbook beside the agent: a lorebook of SillyTavern, or of the form in which it came
    StLorebook,
    /// A list of regex rules as scripts of SillyTavern
    StRegex,
    /// An agent of AIO Hub
    Aio,
}

/// Update old spellings in AIO Hub files
///
/// Agents, exports of agents, presets of both versions, and sessions in two halves, each in the form that it has.
/// Shows what would change; `--write` changes the files, or none of them if one cannot be migrated, and keeps the old
/// ones as `.bak`. Files of other applications are not migrated but imported.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctx migrate agent.json\n  ctx migrate agents/*.json --write")]
pub(crate) struct MigrateArguments {
    /// The agents, presets and sessions
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Change the files
    #[arg(long)]
    pub(crate) write: bool,
    /// Print what changes as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
