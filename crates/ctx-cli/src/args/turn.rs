//! What describes a turn: the files, the model, the budget, the moment.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use ctx_project::TurnOptions;
use ctx_project::error::{ProjectError, Result};
use ctx_project::unusable;
use ctx_tokens::internal::{MAX_TOKENS, read_tokens};
use ctx_types::{GenerationKind, PrefixMode, phrase};

use crate::args::{RARE, choice};

/// Files and settings of a turn.
#[derive(Clone, Debug, Args)]
pub(crate) struct TurnArguments {
    /// Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Next message of the user
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    /// Tool definitions, a list copied unchanged to the request body
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) tools: Option<PathBuf>,
    /// Attachment folder [default: from ctx.toml, or next to the conversation and agent]
    #[arg(long, value_name = "DIR", display_order = RARE)]
    pub(crate) assets: Option<PathBuf>,
    /// Generation type
    #[arg(long, value_parser = choice(KINDS), default_value = "normal", value_name = "KIND")]
    #[arg(display_order = RARE)]
    pub(crate) kind: GenerationKind,
    /// Show the run time of each processor
    #[arg(long, display_order = RARE)]
    pub(crate) timings: bool,
}

impl TurnArguments {
    /// Returns the options of the turn.
    pub(crate) fn options(&self) -> TurnOptions {
        let given = self.clone();
        TurnOptions {
            session: given.session,
            input: given.input,
            tools: given.tools,
            assets: given.assets,
            kind: given.kind,
            ..given.setup.options()
        }
    }
}

/// Agent with its files and settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetupArguments {
    /// Agent or preset file [default: from ctx.toml]
    pub(crate) agent: Option<PathBuf>,
    /// User profile (JSON, YAML or plain text) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Worldbook file, repeatable [default: from ctx.toml]
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// Model name [default: from ctx.toml or the agent]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Token limit of the context; 0 uses the model's context window [default: from ctx.toml or the agent]
    #[arg(long, value_name = "N", value_parser = context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
    /// Processor settings of the model, in the format of an agent's `parameters`
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) model_settings: Option<PathBuf>,
    /// Tokens reserved for the response [default: from ctx.toml, the agent or model]
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true, display_order = RARE)]
    pub(crate) reserve: Option<u32>,
    /// Prefix mode: whether text of earlier requests may change [default: from the agent]
    #[arg(long, value_parser = choice(PREFIXES), value_name = "MODE", display_order = RARE)]
    pub(crate) prefix: Option<PrefixMode>,
    /// Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Time zone, such as Asia/Shanghai [default: from ctx.toml, or UTC]
    #[arg(long, value_name = "ZONE", display_order = RARE)]
    pub(crate) tz: Option<String>,
    /// Seed for random values
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    #[arg(display_order = RARE)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl SetupArguments {
    /// Returns the options of a turn without a message.
    pub(crate) fn options(&self) -> TurnOptions {
        let given = self.clone();
        TurnOptions {
            agent: given.agent,
            profile: given.profile,
            worldbooks: given.worldbooks,
            model: given.model,
            models: given.models,
            model_settings: given.model_settings,
            context_tokens: given.context_tokens,
            reserve: given.reserve,
            prefix: given.prefix,
            at: given.at,
            tz: given.tz,
            seed: given.seed,
            switches: given.switches.into(),
            ..TurnOptions::default()
        }
    }
}

pub(super) fn seed(text: &str) -> Result<u64> {
    let expected = || phrase!("expected a whole number from 0 to {last}", last = u64::MAX.to_string());
    text.parse().map_err(|_| ProjectError::Unusable(expected()))
}

pub(super) fn port(text: &str) -> Result<u16> {
    let expected = || phrase!("expected a whole number from 0 to {last}", last = u64::from(u16::MAX));
    text.parse().map_err(|_| ProjectError::Unusable(expected()))
}

pub(super) fn context_tokens(text: &str) -> Result<u32> {
    tokens(text)
        .map_err(|error| unusable!("{error}; use 0 for the model's context window", error = error.phrase()))
}

/// Parses a number of tokens by the same rule as in files.
pub(super) fn tokens(text: &str) -> Result<u32> {
    let value = serde_json::from_str(text).ok();
    let expected = || phrase!("expected a whole number from 0 to {last}", last = MAX_TOKENS);
    value.as_ref().and_then(read_tokens).ok_or_else(|| ProjectError::Unusable(expected()))
}

/// Processors to enable and disable.
#[derive(Clone, Debug, Args)]
pub(crate) struct SwitchArguments {
    /// Processors to enable; `ctx processors list` shows the ids
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    #[arg(display_order = RARE)]
    pub(crate) enable: Vec<String>,
    /// Processors to disable
    #[arg(long, value_name = "ID,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    #[arg(display_order = RARE)]
    pub(crate) disable: Vec<String>,
}

/// Use of `ctx.toml`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Ignore all `ctx.toml` files
    #[arg(long, display_order = RARE)]
    pub(crate) no_config: bool,
}

/// Prefix modes.
const PREFIXES: &[(&str, &str, PrefixMode)] = &[
    ("moving", "Place all texts again in each request", PrefixMode::Moving),
    ("append-only", "Repeat the previous request and append to it", PrefixMode::AppendOnly),
    ("auto", "Append-only if the model's cache makes it cheaper", PrefixMode::Auto),
];

/// Generation types.
pub(super) const KINDS: &[(&str, &str, GenerationKind)] = &[
    ("normal", "A reply", GenerationKind::Normal),
    ("continue", "The rest of an unfinished reply", GenerationKind::Continue),
    ("impersonate", "A message in the user's voice", GenerationKind::Impersonate),
    ("quiet", "Text that is hidden from the user", GenerationKind::Quiet),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_range_of_ports() {
        assert_eq!(port("65535").unwrap(), 65535);
        for text in ["65536", "-1", "abc"] {
            let error = port(text).unwrap_err();
            assert_eq!(error.to_string(), "expected a whole number from 0 to 65535");
        }
    }
}
