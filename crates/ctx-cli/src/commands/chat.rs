//! `ctx chat`: talks with a model.

mod greeting;
mod lines;
mod once;
mod screen;
mod setup;
mod slash;
mod stops;
mod talk;
mod tools;
mod tree;

use ctx_language::Language;
use ctx_project::error::Result;
use ctx_project::store;

use crate::args::ChatArguments;
use crate::exit::Exit;
use crate::show;
use setup::Setup;

/// Talks with a model, once or until the user ends it.
pub(crate) fn run(language: Language, arguments: &ChatArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let mut setup = Setup::read(language, arguments, &mut sources)?;
    let runtime = store::runtime()?;
    let exit = runtime.block_on(async {
        setup.stops.listen()?;
        match &arguments.once {
            Some(text) if arguments.dry_run => once::preview(language, &setup, text).await,
            Some(text) => once::run(language, &setup, text, arguments.json).await,
            None => talk::run(language, &mut setup, arguments.greeting).await,
        }
    });
    // A thread that still reads standard input must not hold the end up.
    runtime.shutdown_background();
    exit
}
