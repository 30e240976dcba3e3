//! Arguments of `ctx diff`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use ctx_project::TurnOptions;

use crate::args::{ConfigArguments, RARE};

/// Compare two requests, or all requests of a log, and find where the prompt cache breaks
///
/// Providers cache the prefix of a request. With two files, shows the first difference, what wrote it, and what the
/// provider has to read again. Each file is a request body of OpenAI, Anthropic or Gemini, the output of
/// `ctx assemble --json`, or an agent. The options of a turn apply to agents.
///
/// With one file or folder, reads a log: one request per line, as `ctx tap` and `ctx serve --record` write it. Shows what
/// each request could reuse of an earlier one, why it could not, and what that cost. Prices and cache rules are those that
/// the providers publish; `--models` replaces prices.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx assemble agent.yaml --session chat.json --json > before.json\n  \
    ctx assemble agent.yaml --session chat.json --input \"And now?\" --json > after.json\n  \
    ctx diff before.json after.json\n  \
    ctx diff agent.yaml new-agent.yaml --session chat.json\n  \
    ctx diff first-request.json second-request.json\n  \
    ctx diff requests.jsonl")]
pub(crate) struct DiffArguments {
    /// Earlier request or context, or a log
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Later request or context
    #[arg(value_name = "B")]
    pub(crate) second: Option<PathBuf>,
    /// Show all requests of a log, also those that reuse everything
    #[arg(long)]
    pub(crate) all: bool,
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
