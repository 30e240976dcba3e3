//! `ctx serve`: the agents of a folder behind the addresses of providers.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::turn::{self, ConfigArguments};
use crate::args::{EndpointArguments, StoreArguments};

/// Serve the agents of a folder to programs that speak to OpenAI, Anthropic or Gemini
///
/// A program uses an agent by changing its base URL and naming the agent as its model. Conversations are kept in the
/// store; each request is a turn of one, as `ctx chat` carries turns out. Without keys of clients, only programs on
/// this machine may send requests.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    ctx serve\n  \
    ctx serve demo --port 8080 --model gpt-5-mini\n  \
    ctx serve key add phone\n\n\
    The endpoint and its key can be set in `ctx.toml`; see docs/guide/serve.md.\n\
    Exit codes: 0 ended by a signal, 2 usage, 3 the folder, the store or the keys cannot be used."
)]
pub(crate) struct ServeArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
    /// The folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The port
    #[arg(long, value_name = "N", default_value_t = 4180)]
    pub(crate) port: u16,
    /// The address to listen on; one that other machines reach needs keys
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Key file of clients, which must exist [default: an existing `serve-keys.json` in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Largest body of a request, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) max_body: u64,
    /// The model that is asked where the client names only an agent
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArguments,
    /// How many messages the conversations in memory may have together; others are read from the store at their next turn
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) loaded_messages: u64,
    /// How many threads take requests; one for each processor if absent. Gateways of one machine should share its
    /// processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// The time of every turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai; UTC if absent
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// How much is logged to standard error, a JSON object a line; never texts of messages, never keys
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Info)]
    pub(crate) log: LogLevel,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What failed
    Error,
    /// What is odd too
    Warn,
    /// Each turn too
    Info,
    /// Each finding too
    Debug,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    Key(KeyArguments),
}

/// Make, list and revoke the keys of clients
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

/// The file with the keys of clients.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeyFileArguments {
    /// The folder that is served
    #[arg(long = "dir", value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Key file of clients [default: `serve-keys.json` in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
}

/// Make a key for a client, and print it once
///
/// The file keeps its hash alone. A running gateway reloads the file within 2 seconds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx serve key add phone\n  \
    ctx serve key add guests --agents helper --requests-per-minute 20 --tokens-per-minute 50000")]
pub(crate) struct KeyAddArguments {
    /// What the key is called; conversations belong to this name
    pub(crate) name: String,
    /// The agents that it may use; all if absent
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) agents: Option<Vec<String>>,
    /// How many requests it may send a minute
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<u64>,
    /// How many tokens it may use a minute, as providers count
    #[arg(long, value_name = "N")]
    pub(crate) tokens_per_minute: Option<u64>,
    /// How many of its turns may be under way at the same time
    #[arg(long, value_name = "N")]
    pub(crate) turns: Option<u64>,
    /// Maximum bytes of a request, up to `--max-body` of the gateway
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,
    /// How many conversations it may have in the store
    #[arg(long, value_name = "N")]
    pub(crate) conversations: Option<u64>,
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}

/// List the names of the keys, and what they may do
#[derive(Debug, Args)]
pub(crate) struct KeyListArguments {
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}

/// Take a key away; its conversations stay
///
/// A running gateway reloads the file within 2 seconds.
#[derive(Debug, Args)]
pub(crate) struct KeyRevokeArguments {
    /// What the key is called
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: KeyFileArguments,
}
