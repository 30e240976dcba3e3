//! `ctx worldbook`: which entries a conversation activates, and what is wrong with books.

pub(super) mod check;
mod scan;
mod state;

use anyhow::Result;

use crate::args::{WorldbookArguments, WorldbookCommand};
use crate::exit::Exit;

/// Carries out a verb.
pub(crate) fn run(arguments: &WorldbookArguments) -> Result<Exit> {
    match &arguments.command {
        WorldbookCommand::Scan(arguments) => scan::run(arguments),
        WorldbookCommand::Check(arguments) => check::run(arguments),
    }
}
