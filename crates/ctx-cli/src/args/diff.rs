//! What `ctx diff` is told.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Shows what two contexts have in common at their beginning, and what a provider bills again
///
/// Providers cache a request by its beginning, byte for byte. The first difference ends what they can use again:
/// it is shown with its owner, the entry, macro or message that wrote it, and what stands below it.
/// A file is an assembly (`ctx assemble --json`), a request body with `messages`, or an agent, which is assembled
/// with the options below.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx assemble agent.yaml --session chat.json --json > before.json\n  \
    ctx assemble agent.yaml --session chat.json --input \"And now?\" --json > after.json\n  \
    ctx diff before.json after.json\n  \
    ctx diff agent.yaml new-agent.yaml --session chat.json")]
pub(crate) struct DiffArguments {
    /// The earlier context: an assembly, a request body, or an agent
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// The later one
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// The conversation that agents are assembled with
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// What the user is about to send, where agents are assembled
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The model whose tokens are counted, where agents are assembled
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// The time at which agents are assembled, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// Prints the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
