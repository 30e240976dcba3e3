//! Arguments of `ctx tap`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Record the requests of another program
///
/// Starts a proxy on this machine and sets the base URLs of OpenAI, Anthropic and Gemini for COMMAND. Requests and
/// responses pass unchanged and are written to a file, without API keys. Base URLs in the environment select other
/// providers. Without COMMAND, prints the variables to set and runs until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx tap -- claude\n  \
    ctx tap --record logs -- codex exec \"Hello\"\n  \
    ctx tap --listen 127.0.0.1:4181 --upstream https://openrouter.ai/api/v1\n\n\
    Exit codes: the code of COMMAND, or 128 and the number of its signal; without COMMAND, 0. 2 usage error, 3 the folder, address or COMMAND cannot be used.")]
pub(crate) struct TapArguments {
    /// Address to listen on [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Folder for the log [default: `requests` in your data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Base URL of the provider of all requests [default: the provider of each request]
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Command to run, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
