//! `ctx trust`: which folders' `ctx.toml` may reach outside of their folder.

use std::path::PathBuf;

use clap::Args;

/// Trust the `ctx.toml` of a folder
///
/// A `ctx.toml` that `ctx` finds may be a stranger's. Until you trust it, it cannot choose where requests go, send keys
/// or headers, give tools to a model, choose a store, or name files outside of its folder.
/// Read the file first. When it changes, you have to trust it again.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:\n  \
    ctx trust .\n  \
    ctx trust --list\n  \
    ctx trust --remove ~/old/project\n\n\
    Your own `ctx.toml` in the configuration folder of `ctx` needs no trust: what you set there counts everywhere.")]
pub(crate) struct TrustArguments {
    /// The folder with the `ctx.toml`
    #[arg(value_name = "DIR", required_unless_present_any = ["list"])]
    pub(crate) folder: Option<PathBuf>,
    /// List the folders that you trust
    #[arg(long, conflicts_with_all = ["folder", "remove"])]
    pub(crate) list: bool,
    /// Stop trusting the folder
    #[arg(long)]
    pub(crate) remove: bool,
    /// Trust it also where it reaches outside of its folder in more than 40 places
    #[arg(long, conflicts_with_all = ["list", "remove"])]
    pub(crate) many: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
