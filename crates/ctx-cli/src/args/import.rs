//! Arguments of `ctx import`, `ctx export` and `ctx migrate`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use ctx_engine::Format;

/// Import SillyTavern, RisuAI or AIO Hub files as an agent
///
/// Accepts character cards (JSON, PNG, CHARX), chat completion presets, lorebooks, regex scripts, personas, settings
/// and chats, and combines them into one agent. Without `--out`, previews the import and writes nothing. Detects
/// formats by content: warns if unsure, and rejects unknown files with exit code 3. Use `--as` to name the format.
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
    /// Files to import
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output folder; files with other content are kept (exit code 2)
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files in the output folder that have other content
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Format of files that cannot be recognized by content
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,
    /// Character whose prompt order the preset uses [default: 100001, which applies to all characters]
    #[arg(long, value_name = "ID")]
    pub(crate) prompt_order: Option<String>,
    /// Show the fields that are not mapped, grouped by reason
    #[arg(long, conflicts_with = "json")]
    pub(crate) report: bool,
    /// Show the results of all fields
    #[arg(long, conflicts_with_all = ["json", "report"])]
    pub(crate) report_fields: bool,
    /// File for the JSON report
    #[arg(long, value_name = "FILE")]
    pub(crate) report_file: Option<PathBuf>,
    /// Print the report and the written files as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail on errors and unsupported fields (exit code 1), and write only the report
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Returns the names of the formats, as in reports.
fn formats() -> PossibleValuesParser {
    Format::NAMED.map(Format::id).into()
}

/// Export an agent to SillyTavern or AIO Hub
///
/// Restores the imported data, and applies later changes to it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx export ada/agent.yaml --to st-preset --out preset.json\n  \
    ctx export ada/agent.yaml --to st-card --out ada.png\n  \
    ctx export ada/agent.yaml --to st-lorebook --only Moon --out moon.json\n  \
    ctx export ada/agent.yaml --to aio --out ada.agent.yaml")]
pub(crate) struct AgentExportArguments {
    /// Agent file
    #[arg(value_name = "AGENT")]
    pub(crate) agent: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportForm,
    /// Output file (JSON, YAML or PNG), replaced if it exists [default: JSON to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the worldbook or regex list, if the agent has several
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// Print the name of the written file as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of `ctx export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// A SillyTavern chat completion preset
    StPreset,
    /// A SillyTavern character card
    StCard,
    /// A worldbook of the agent, in its original format or as a SillyTavern lorebook
    StLorebook,
    /// SillyTavern regex scripts
    StRegex,
    /// An AIO Hub agent
    Aio,
}

/// Update AIO Hub files to the current format
///
/// Accepts agents, agent exports, presets (version 1 and 2), and sessions with separate index and detail. Shows the
/// changes; `--write` applies them and keeps backups as `.bak`. If one file cannot be migrated, writes none. To read
/// files of other applications, use `ctx import`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctx migrate agent.json\n  ctx migrate agents/*.json --write")]
pub(crate) struct MigrateArguments {
    /// Agents, presets and sessions
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the changes
    #[arg(long)]
    pub(crate) write: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
