//! `ctx completions`: what teaches a shell the command line.

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::{Arguments, CompletionsArguments};
use crate::exit::Exit;
use crate::show;
use ctx_project::error::Result;

/// Prints the script for a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "ctx", &mut script);
    let script = String::from_utf8_lossy(&script);
    let json = || json!({ "shell": arguments.shell.to_string(), "script": script });
    show::output(arguments.json, json, || script.to_string())
}
