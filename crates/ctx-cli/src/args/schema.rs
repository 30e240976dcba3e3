//! Arguments of `ctx schema`.

use std::path::PathBuf;

use clap::Args;

/// Print JSON Schemas for editors
///
/// Without NAME, lists the schemas. To use a schema in a YAML file, name it in the first line: `# yaml-language-server:
/// $schema=.ctx/agent.schema.json`. Agents from `ctx init` and `ctx import` already have this line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx schema\n  \
    ctx schema agent > agent.schema.json\n  \
    ctx schema --out schemas")]
pub(crate) struct SchemaArguments {
    /// Schema to print
    pub(crate) name: Option<String>,
    /// Output folder for `NAME.schema.json` files
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the list or the written files as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
