//! The `ctx` command: preview, explain and test the messages that a model receives.
//!
//! Results go to standard output. Diagnostics and progress go to standard error.
//!
//! ```console
//! $ cargo install ctx-cli
//! $ ctx init demo
//! $ cd demo
//! $ ctx assemble agent.yaml --session conversation.json --profile profile.yaml
//! ```

mod args;
mod commands;
mod exit;
mod interrupts;
mod lang;
mod page;
mod project;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::{Arguments, Command};
use crate::exit::Exit;
use ctx_language::Language;
use ctx_project::error::{ProjectError, Result};

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    let asked = lang::asked(given.get(1..).unwrap_or_default(), std::env::var_os("CTX_LANG"));
    let is_bare = is_bare(given.get(1..).unwrap_or_default());
    match parse(given.clone(), asked) {
        Ok(arguments) => {
            let counts_errors = counts_errors(&arguments.command);
            match run(asked, arguments.command) {
                Ok(Exit::Success) if counts_errors && show::has_errors() => Exit::Findings.into(),
                Ok(exit) => exit.into(),
                Err(error) => failed(asked, &error),
            }
        }
        Err(error) if is_bare && is_without_verb(&error) => start(asked),
        Err(error) => usage(&error, &given, asked),
    }
}

/// Returns whether a reported error sets the exit code of a command that gave a result. Other commands count errors
/// themselves, or run until they are stopped.
const fn counts_errors(command: &Command) -> bool {
    !matches!(
        command,
        Command::Check(_)
            | Command::Test(_)
            | Command::Chat(_)
            | Command::Serve(_)
            | Command::Studio(_)
            | Command::Tap(_)
            | Command::Mcp(_)
    )
}

/// Returns whether no argument is given, except for `--lang`.
fn is_bare(arguments: &[OsString]) -> bool {
    match arguments {
        [] => true,
        [option] => option.to_string_lossy().starts_with("--lang="),
        [option, _] => option == "--lang",
        _ => false,
    }
}

fn is_without_verb(error: &clap::Error) -> bool {
    use clap::error::ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand)
}

/// Prints the first commands to try.
fn start(language: Language) -> ExitCode {
    let text = match language {
        Language::En => args::START.to_owned(),
        _ => lang::help::laid_out(args::START),
    };
    match show::usage(&text, true) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Exit::Unreadable.into(),
        _ => Exit::Usage.into(),
    }
}

/// Parses the command line. The help is in the given language.
fn parse(given: Vec<OsString>, language: Language) -> Result<Arguments, clap::Error> {
    let mut command = match language {
        Language::En => args::command(),
        _ => lang::help::command(),
    };
    let matches = command.try_get_matches_from_mut(given)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn run(language: Language, command: Command) -> Result<Exit> {
    match command {
        Command::Assemble(arguments) => commands::assemble::run(language, &arguments),
        Command::Explain(arguments) => commands::explain::run(language, &arguments),
        Command::Diff(arguments) => commands::diff::run(language, &arguments),
        Command::Check(arguments) => commands::check::run(language, &arguments),
        Command::Test(arguments) => commands::test::run(language, &arguments),
        Command::Anchors(arguments) => commands::anchors::run(language, &arguments),
        Command::Processors(arguments) => commands::processors::run(language, &arguments),
        Command::Macros(arguments) => commands::macros::run(language, &arguments),
        Command::Worldbook(arguments) => commands::worldbook::run(language, &arguments),
        Command::Compress(arguments) => commands::compress::run(language, &arguments),
        Command::Session(arguments) => commands::session::run(language, &arguments),
        Command::Chat(arguments) => commands::chat::run(language, &arguments),
        Command::Count(arguments) => commands::count::run(language, &arguments),
        Command::Recall(arguments) => commands::recall::run(language, &arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Import(arguments) => commands::import::run(language, &arguments),
        Command::Export(arguments) => commands::export::run(language, &arguments),
        Command::Migrate(arguments) => commands::migrate::run(language, &arguments),
        Command::Init(arguments) => commands::init::run(language, &arguments),
        Command::Serve(arguments) => commands::serve::run(language, &arguments),
        Command::Hook(_) => commands::hook::run(),
        Command::Mcp(arguments) => commands::mcp::run(language, &arguments),
        Command::Tap(arguments) => commands::tap::run(language, &arguments),
        Command::Studio(arguments) => commands::studio::run(language, &arguments),
        Command::Trust(arguments) => commands::trust::run(language, &arguments),
        Command::Schema(arguments) => commands::schema::run(language, &arguments),
    }
}

fn failed(language: Language, error: &ProjectError) -> ExitCode {
    show::failure(language, error);
    Exit::of(error).into()
}

/// Prints a command-line error, the help, or the version.
fn usage(error: &clap::Error, given: &[OsString], language: Language) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    let printed = match language {
        Language::En if error.use_stderr() => {
            show::usage(&lang::usage::rendered(error, given, show::is_coloured()), true)
        }
        Language::En => error.print(),
        _ if error.use_stderr() => show::usage(&lang::usage::told(language, error), true),
        _ => show::usage(&lang::help::laid_out(&error.render().to_string()), false),
    };
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Exit::Unreadable.into(),
        _ => exit.into(),
    }
}
