//! `ctx worldbook`: which entries a conversation activates, and what is wrong with books.

pub(super) mod check;
mod scan;

use ctx_language::Language;

use crate::args::{WorldbookArguments, WorldbookCommand};
use crate::exit::Exit;
use ctx_project::error::Result;

/// Carries out a verb.
pub(crate) fn run(language: Language, arguments: &WorldbookArguments) -> Result<Exit> {
    match &arguments.command {
        WorldbookCommand::Scan(arguments) => scan::run(language, arguments),
        WorldbookCommand::Check(arguments) => check::run(language, arguments),
    }
}
