//! Arguments of `ctx studio`.

use std::path::PathBuf;

use clap::Args;

use crate::args::turn;

/// Edit a folder in the browser, with a live preview
///
/// Shows the exact request as you edit, and explains each message. Needs no API key or network. The page is available
/// only on this machine, through the printed link. Each link works once; press Enter for a new link. Files change only
/// when you save.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx studio\n  \
    ctx studio demo --port 5000 --no-open\n\n\
    To open the page on another machine, forward the port: ssh -L 4179:127.0.0.1:4179 HOST")]
pub(crate) struct StudioArguments {
    /// Folder to edit
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Port [default: 4179, or the next free port]
    #[arg(long, value_name = "N", value_parser = turn::port)]
    pub(crate) port: Option<u16>,
    /// Print the link without opening a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Allow no changes to files
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Conversation store [default: from ctx.toml, or your own store]
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}
