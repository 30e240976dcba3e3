//! Arguments of `ctx diff`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use ctx_project::TurnOptions;

use crate::args::{ConfigArguments, RARE};

/// Compare two contexts, and find where the prompt cache breaks
///
/// Providers cache the prefix of a request byte for byte. Shows the first difference, the entry, macro or message that
/// wrote it, and the messages after it. Each file is the output of `ctx assemble --json`, a request body with
/// `messages`, or an agent. The options apply to agents.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx assemble agent.yaml --session chat.json --json > before.json\n  \
    ctx assemble agent.yaml --session chat.json --input \"And now?\" --json > after.json\n  \
    ctx diff before.json after.json\n  \
    ctx diff agent.yaml new-agent.yaml --session chat.json")]
pub(crate) struct DiffArguments {
    /// Earlier context
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Later context
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// User profile (JSON, YAML or plain text) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Worldbook file, repeatable [default: from ctx.toml]
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// Next message of the user
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// Model name [default: from ctx.toml or the agent]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
    /// Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl DiffArguments {
    /// Returns the options of the turn that assembles the first agent.
    pub(crate) fn options(&self) -> TurnOptions {
        TurnOptions {
            agent: Some(self.first.clone()),
            session: self.session.clone(),
            profile: self.profile.clone(),
            input: self.input.clone(),
            model: self.model.clone(),
            models: self.models.clone(),
            worldbooks: self.worldbooks.clone(),
            at: self.at.clone(),
            ..TurnOptions::default()
        }
    }
}
