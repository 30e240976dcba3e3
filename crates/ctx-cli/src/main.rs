//! The `ctx` command: see, test and trust what a model is sent.
//!
//! Layer 6: files, the clock and the terminal are here and nowhere below. Results go to standard output,
//! diagnostics and progress to standard error.
//!
//! ```console
//! $ cargo install ctx-cli
//! $ ctx init demo
//! $ cd demo
//! $ ctx assemble agent.yaml --session conversation.json --profile profile.yaml
//! ```

mod args;
mod codes;
mod commands;
mod config;
mod edits;
mod exit;
mod explanations;
mod files;
mod keyed;
mod keys;
mod locate;
mod page;
mod schemas;
mod secrets;
mod show;
mod toml_document;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Arguments, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let result = match arguments.command {
        Command::Assemble(arguments) => commands::assemble::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Test(arguments) => commands::test::run(&arguments),
        Command::Anchors(arguments) => commands::anchors::run(&arguments),
        Command::Processors(arguments) => commands::processors::run(&arguments),
        Command::Macros(arguments) => commands::macros::run(&arguments),
        Command::Worldbook(arguments) => commands::worldbook::run(&arguments),
        Command::Compress(arguments) => commands::compress::run(&arguments),
        Command::Session(arguments) => commands::session::run(&arguments),
        Command::Chat(arguments) => commands::chat::run(&arguments),
        Command::Count(arguments) => commands::count::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Migrate(arguments) => commands::migrate::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Schema(arguments) => commands::schema::run(&arguments),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            show::failure(&error);
            Exit::of(&error).into()
        }
    }
}

/// Prints what clap says; help and version are no errors.
fn usage(error: &clap::Error) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Exit::Unreadable.into(),
        _ => exit.into(),
    }
}
