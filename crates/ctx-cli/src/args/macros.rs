//! The arguments of `ctx macros`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use ctx_macros::Dialect;

use super::turn::seed;

/// List the macros, and expand a text
#[derive(Debug, Args)]
pub(crate) struct MacrosArguments {
    #[command(subcommand)]
    pub(crate) command: MacrosCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MacrosCommand {
    List(MacrosListArguments),
    Expand(MacrosExpandArguments),
}

/// List all macros: their dialects, what they take, whether they change variables, whether they are volatile
///
/// The value of a volatile macro may differ between two turns of one conversation; a provider's prompt cache
/// ends there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx macros list\n  \
    ctx macros list --dialect sillytavern --json")]
pub(crate) struct MacrosListArguments {
    /// Only the macros of a dialect
    #[arg(long, value_name = "DIALECT", value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Expand the macros of a text
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx macros expand '{{setvar::a::1}}[{{getvar::a}}]'\n  \
    ctx macros expand 'Hi {{user}}, I am {{char}}.' --dialect sillytavern --env env.json --json\n\n\
    The environment is an object with any of these: user, char, persona, card (the fields of a character\n\
    card), variables, globalVariables, now, tz, messages (role and content), input, model, contextTokens,\n\
    responseTokens, outlets, texts, group, extensions, generation, seed, chatId, chatIdHash, pickAgain.")]
pub(crate) struct MacrosExpandArguments {
    /// The text; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
    /// How macros are written
    #[arg(long, value_name = "DIALECT", default_value = Dialect::default().as_str(), value_parser = dialects())]
    pub(crate) dialect: Dialect,
    /// What macros may read (JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub(crate) env: Option<PathBuf>,
    /// The time, such as 2026-01-31T12:00:00Z; that of the environment if absent, or else now
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai; that of the environment if absent, or else UTC
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// The seed of random draws; that of the environment if absent, or else 0
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Print JSON: the text, who wrote which bytes of it, findings, variables
    #[arg(long)]
    pub(crate) json: bool,
}

fn dialects() -> impl clap::builder::TypedValueParser<Value = Dialect> {
    let names = PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str));
    names.map(|name| Dialect::from_name(&name).unwrap_or_default())
}
