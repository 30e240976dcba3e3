//! Arguments of `ctx macros`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use ctx_macros::Dialect;

use super::RARE;
use super::turn::seed;

/// List macros, and expand them in a text
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

/// List macros with their arguments and effects
///
/// The value of a volatile macro can change between turns, which breaks the prompt cache.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx macros list\n  \
    ctx macros list --dialect sillytavern --json")]
pub(crate) struct MacrosListArguments {
    /// Macro syntax to list [default: all]
    #[arg(long, value_name = "DIALECT", value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Expand the macros in a text
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx macros expand '{{setvar::a::1}}[{{getvar::a}}]'\n  \
    ctx macros expand 'Hi {{user}}, I am {{char}}.' --dialect sillytavern --env env.json --json\n\n\
    The environment file is an object with any of these keys: user, char, persona, card (the fields of\n\
    a character card), variables, globalVariables, now, tz, messages (role and content), input, model, contextTokens,\n\
    responseTokens, outlets, texts, group, extensions, generation, seed, chatId, chatIdHash, pickAgain.")]
pub(crate) struct MacrosExpandArguments {
    /// Text; `-` for standard input
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
    /// Macro syntax
    #[arg(long, value_name = "DIALECT", default_value = Dialect::default().as_str(), value_parser = dialects())]
    pub(crate) dialect: Dialect,
    /// Environment file with macro values (JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub(crate) env: Option<PathBuf>,
    /// Time, such as 2026-01-31T12:00:00Z [default: from the environment, or now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Time zone, such as Asia/Shanghai [default: from the environment, or UTC]
    #[arg(long, value_name = "ZONE", display_order = RARE)]
    pub(crate) tz: Option<String>,
    /// Seed for random values [default: from the environment, or 0]
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true, display_order = RARE)]
    pub(crate) seed: Option<u64>,
    /// Print JSON: text, sources, diagnostics, variables
    #[arg(long)]
    pub(crate) json: bool,
}

fn dialects() -> impl clap::builder::TypedValueParser<Value = Dialect> {
    let names = PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str));
    names.map(|name| Dialect::parse(&name).unwrap_or_default())
}
