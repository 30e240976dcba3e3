//! Arguments of `ctx mcp` and `ctx hook`.

use std::path::PathBuf;

use clap::Args;

/// Serve recall and request reports to an agent, over the Model Context Protocol
///
/// An agent starts this command and talks to it over standard input and output. Its tools search conversations and
/// transcripts, list the parts of a request, explain prompt cache misses, and list the facts that a compaction lost. They
/// change nothing. They read the current folder, the transcripts of Claude Code, Codex, Gemini CLI and opencode, and PATH.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    claude mcp add ctx -- ctx mcp\n  \
    codex mcp add ctx -- ctx mcp\n  \
    ctx mcp ~/logs\n\n\
    Exit codes: 0 the agent closed the connection, 2 usage error, 3 a path cannot be read.")]
pub(crate) struct McpArguments {
    /// More files and folders that the tools may read
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Answer a hook of a coding agent, before and after a compaction
///
/// Reads the event of Claude Code or Codex as JSON from standard input. Before a compaction, lists the facts that the
/// summary should keep. After it, reports the facts that the summary lost, and the name of the tool that finds them again.
///
/// The folder `examples/claude-code-plugin` sets up the hooks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    claude --plugin-dir examples/claude-code-plugin\n  \
    ctx hook < event.json\n\n\
    Exit codes: 0 success, also without output, 3 the event cannot be read.")]
pub(crate) struct HookArguments {}
