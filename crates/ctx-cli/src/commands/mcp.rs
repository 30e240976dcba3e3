//! `ctx mcp`: recall and request reports for agents, over the Model Context Protocol.

mod allowed_paths;
mod report;
mod server;

use std::io;
use std::path::PathBuf;

use ctx_language::Language;
use ctx_project::error::{ProjectError, Result, not_started};
use ctx_project::transcript_folders::transcript_folders;
use ctx_project::{files, unusable};
use ctx_types::phrase;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use crate::args::McpArguments;
use crate::exit::Exit;
use crate::show;
use allowed_paths::AllowedPaths;
use server::McpServer;

/// Serves requests from standard input until the client closes it.
pub(crate) fn run(language: Language, arguments: &McpArguments) -> Result<Exit> {
    let resolve = |path: &PathBuf| {
        path.canonicalize().map_err(|error| {
            unusable!(
                "cannot read {path}: {reason}",
                path = files::name(path),
                reason = files::reason(&error)
            )
        })
    };
    let named = arguments.paths.iter().map(resolve).collect::<Result<Vec<PathBuf>>>()?;
    let folder = resolve(&PathBuf::from("."))?;
    if io::IsTerminal::is_terminal(&io::stdin()) {
        show::remark(
            language,
            &phrase!("waiting for an MCP client on standard input; agents start this command themselves"),
        );
    }
    let allowed = AllowedPaths::new([folder.clone()].into_iter().chain(named).chain(transcript_folders()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| not_started(&error))?;
    let served = runtime.block_on(serve(McpServer::new(folder, allowed)));
    // Does not wait for tools whose client is gone.
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}

async fn serve(server: McpServer) -> Result<()> {
    let failed = |reason: String| {
        ProjectError::Unusable(phrase!("the connection to the MCP client failed: {reason}", reason))
    };
    let running = server.serve(stdio()).await.map_err(|error| failed(error.to_string()))?;
    running.waiting().await.map_err(|error| failed(error.to_string()))?;
    Ok(())
}
