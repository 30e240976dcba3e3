//! `ctx studio`: the web page of a folder.

use std::path::PathBuf;

use clap::Args;

/// Edit and look at a folder on a local web page
///
/// The page shows what a model would be sent while you edit, and why. It needs no key and no network, and is reached from
/// this machine alone, by the link that is printed; each link counts once, and Enter prints a new one. Files change only
/// when you save; what is not saved is kept for the next time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx studio\n  \
    ctx studio demo --port 5000 --no-open\n\n\
    From another machine, forward the same port: ssh -L 4179:127.0.0.1:4179 HOST")]
pub(crate) struct StudioArguments {
    /// The folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The port; by default 4179, or the next one that is free
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// The store of conversations, beside which unsaved edits are kept; by default that of `ctx.toml`, or your own
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Print the link, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Show files, and change none
    #[arg(long)]
    pub(crate) read_only: bool,
}
