//! Arguments of `ctx serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use ctx_project::OnLoss;
use tracing_subscriber::filter::LevelFilter;

use crate::args::turn::{self, ConfigArguments};
use crate::args::{EndpointArguments, RARE, StoreArguments, choice};

/// Serve agents over the OpenAI, Anthropic and Gemini APIs
///
/// In the client, set the base URL to this server and the model to the name of an agent. Each request is a turn, as in
/// `ctx chat`; only requests that name a conversation are stored. Without client keys, only programs on this machine can
/// send requests.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    ctx serve\n  \
    ctx serve demo --port 8080 --model gpt-5-mini\n  \
    ctx serve key add phone\n\n\
    Set the endpoint and the API key in `ctx.toml`; see docs/guide/serve.md.\n\n\
    Exit codes: 0 stopped by a signal, 2 usage error, 3 the folder, store or key file cannot be used."
)]
pub(crate) struct ServeArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
    /// Folder with the agents
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Port
    #[arg(long, value_name = "N", default_value_t = 4180, value_parser = turn::port)]
    pub(crate) port: u16,
    /// Address to listen on; a public address requires client keys
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Model name [default: from ctx.toml or the agent]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Token limit of the context; 0 uses the model's context window [default: from ctx.toml or the agent]
    #[arg(long, value_name = "N", value_parser = turn::context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArguments,
    /// Client key file, which must exist [default: `serve-keys.json` in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Folder for a log of the requests to providers, with all texts [default: no log]
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Parts of a request that the API of the provider cannot express [default: from ctx.toml, or refuse]
    #[arg(long, value_parser = choice(LOSS_RULES), value_name = "WORD", display_order = RARE)]
    pub(crate) on_loss: Option<OnLoss>,
    /// Size limit of a request body in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    #[arg(display_order = RARE)]
    pub(crate) max_body: u64,
    /// Maximum number of messages cached in memory
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(display_order = RARE)]
    pub(crate) loaded_messages: u64,
    /// Worker threads [default: one per CPU core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(display_order = RARE)]
    pub(crate) threads: Option<u16>,
    /// Fixed time of all turns, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Time zone, such as Asia/Shanghai [default: from ctx.toml, or UTC]
    #[arg(long, value_name = "ZONE", display_order = RARE)]
    pub(crate) tz: Option<String>,
    /// Seed for random values
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    #[arg(display_order = RARE)]
    pub(crate) seed: u64,
    /// Log level; logs are JSON lines on standard error
    ///
    /// Logs never contain message texts or keys.
    #[arg(long, value_parser = choice(LOG_LEVELS), value_name = "LEVEL", default_value = "info")]
    pub(crate) log: LevelFilter,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

const LOSS_RULES: &[(&str, &str, OnLoss)] = &[
    ("refuse", "Reject the request", OnLoss::Refuse),
    ("drop", "Drop the parts and list them in `x-ctx-lost`", OnLoss::Drop),
];

const LOG_LEVELS: &[(&str, &str, LevelFilter)] = &[
    ("off", "No logs", LevelFilter::OFF),
    ("error", "Errors", LevelFilter::ERROR),
    ("warn", "Errors and warnings", LevelFilter::WARN),
    ("info", "Also each turn", LevelFilter::INFO),
    ("debug", "Also each diagnostic", LevelFilter::DEBUG),
];

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    Key(KeyArguments),
}

/// Add, list and revoke client keys
#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    Add(KeyAddArguments),
    List(KeyListArguments),
    Revoke(KeyRevokeArguments),
}

/// File with the client keys.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeyFileArguments {
    /// Folder with the agents
    #[arg(long = "dir", value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Client key file [default: `serve-keys.json` in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
}

/// Create a client key and print it once
///
/// The key file stores only the hash. A running gateway reloads it within 2 seconds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx serve key add phone\n  \
    ctx serve key add guests --agents helper --requests-per-minute 20 --tokens-per-minute 50000")]
pub(crate) struct KeyAddArguments {
    /// Name of the key, and owner of its conversations
    pub(crate) name: String,
    /// Agents that the key can use [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) agents: Option<Vec<String>>,
    /// Requests per minute [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<u64>,
    /// Tokens per minute, as counted by the provider [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) tokens_per_minute: Option<u64>,
    /// Concurrent turns [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) turns: Option<u64>,
    /// Bytes per request, within the limit of `ctx serve --max-body`
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,
    /// Conversations in the store [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) conversations: Option<u64>,
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}

/// List client keys and their permissions
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx serve key list --dir demo")]
pub(crate) struct KeyListArguments {
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}

/// Revoke a client key, but keep its conversations
///
/// A running gateway reloads the key file within 2 seconds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx serve key revoke phone --dir demo")]
pub(crate) struct KeyRevokeArguments {
    /// Name of the key
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}
