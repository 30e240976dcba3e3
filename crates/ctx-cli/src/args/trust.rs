//! Arguments of `ctx trust`.

use std::path::PathBuf;

use clap::Args;

/// Trust the `ctx.toml` of a folder
///
/// An untrusted `ctx.toml` cannot set endpoints, API keys, headers, tools or a store, or name files outside its folder.
/// Read the file before you trust it. After each change, trust it again.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(override_usage = "ctx trust [OPTIONS] <DIR>\n       ctx trust --list [--json]")]
#[command(after_help = "Examples:\n  \
    ctx trust .\n  \
    ctx trust --list\n  \
    ctx trust --remove ~/old/project\n\n\
    Your own `ctx.toml` in the configuration folder of `ctx` is always trusted.")]
pub(crate) struct TrustArguments {
    /// Folder with the `ctx.toml`
    #[arg(value_name = "DIR", required_unless_present_any = ["list"])]
    pub(crate) folder: Option<PathBuf>,
    /// List the trusted folders
    #[arg(long, conflicts_with_all = ["folder", "remove"])]
    pub(crate) list: bool,
    /// Stop trusting the folder
    #[arg(long)]
    pub(crate) remove: bool,
    /// Allow more than 40 settings that reach outside the folder
    #[arg(long, conflicts_with_all = ["list", "remove"])]
    pub(crate) many: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
