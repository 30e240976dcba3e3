//! Arguments of `ctx schema`.

use std::path::PathBuf;

use clap::Args;

/// Print JSON Schemas of files and reports, for editors
///
/// Without a name it lists the schemas. A YAML file says in its first line which one it follows, such as
/// `# yaml-language-server: $schema=.ctx/agent.schema.json`: so begin the agents that `ctx init` and `ctx import`
/// write, with the schema beside them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx schema\n  \
    ctx schema agent > agent.schema.json\n  \
    ctx schema --out schemas")]
pub(crate) struct SchemaArguments {
    /// Which schema is printed
    pub(crate) name: Option<String>,
    /// Write the schema, or all of them, to a folder, as `NAME.schema.json`
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the list, or the written files, as JSON; a schema is JSON already
    #[arg(long)]
    pub(crate) json: bool,
}
