//! What `ctx diff` is told.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::args::{ConfigArguments, TurnArguments};

/// Compare two contexts: what they share, what is billed again
///
/// Providers cache a request by its beginning, byte for byte. The first difference ends what they can use again:
/// it is shown with its owner, the entry, macro or message that wrote it, and what follows it.
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
    /// The conversation that agents are assembled with; that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// The user profile that agents are assembled with; that of `ctx.toml` if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// What the user is about to send, where agents are assembled
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The model whose tokens are counted, where agents are assembled
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// A worldbook that agents are assembled with; may be given several times
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// The time at which agents are assembled, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl DiffArguments {
    /// The turn for which an agent is assembled.
    pub(crate) fn turn(&self, agent: &Path) -> TurnArguments {
        TurnArguments {
            agent: Some(agent.to_owned()),
            session: self.session.clone(),
            profile: self.profile.clone(),
            input: self.input.clone(),
            model: self.model.clone(),
            models: self.models.clone(),
            worldbooks: self.worldbooks.clone(),
            at: self.at.clone(),
            ..TurnArguments::of(&self.config)
        }
    }
}
