//! `ctx diff`: what two contexts have in common at their beginning.

use ctx_language::Language;
use std::path::Path;

use ctx_engine::inspect::{Comparison, SavedContext};
use ctx_engine::{Compile, Engine};
use ctx_preset_import::Document;
use serde_json::json;

use crate::args::DiffArguments;
use crate::exit::Exit;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::Result;
use ctx_project::inputs::{self, InputFile};
use ctx_project::turn::{self, Turn, TurnFiles};

/// Compares two contexts and prints the result.
pub(crate) fn run(language: Language, arguments: &DiffArguments) -> Result<Exit> {
    let DiffArguments { first, second, session, profile, models, worldbooks, .. } = arguments;
    let files = [Some(first), Some(second), session.as_ref(), profile.as_ref(), models.as_ref()];
    inputs::check_stdin(files.into_iter().flatten().chain(worldbooks))?;
    let mut sources = show::sources(language);
    let sides = [Side::read(first, &mut sources)?, Side::read(second, &mut sources)?];
    let [first, second] = match sides {
        [Side::Saved(first), Side::Saved(second)] => [first, second],
        sides => assembled(language, sides, arguments, &mut sources)?,
    };
    let comparison = Comparison::new(&first, &second);
    show::output(arguments.json, || json!(comparison), || show::comparison(language, &comparison))
}

/// What one of the two files holds.
enum Side {
    /// A context that was saved.
    Saved(SavedContext),
    /// An agent, or nothing that is known.
    Agent(InputFile),
}

impl Side {
    fn read(path: &Path, sources: &mut Sources) -> Result<Self> {
        let file = InputFile::from(path);
        let bytes = sources.read(&file.path, &file.name)?;
        let document = Document::read(&bytes, &file.name);
        let saved = document.ok().and_then(|document| SavedContext::read(&document.value));
        Ok(saved.map_or_else(|| Self::Agent(InputFile { bytes: Some(bytes), ..file }), Self::Saved))
    }
}

/// Assembles the agents: with the command line and the defaults below it, which are the same for both, and at one time.
fn assembled(
    language: Language,
    [first, second]: [Side; 2],
    arguments: &DiffArguments,
    sources: &mut Sources,
) -> Result<[SavedContext; 2]> {
    let mut config = project::config(language, &arguments.config, sources)?;
    let mut given = arguments.options();
    project::report_added_files(language, config.complete(&mut given, sources)?.as_ref());
    let (files, input) = (TurnFiles::of(&given)?, turn::input(&given)?);
    let mut assemble = |side| -> Result<SavedContext> {
        let file = match side {
            Side::Saved(context) => return Ok(context),
            Side::Agent(file) => file,
        };
        let files = TurnFiles { agent: Some(file), ..files.clone() };
        let with = (Engine::new(), Compile::default());
        let turn = Turn::read_with(with, config.clone(), &files, input.clone(), sources)?;
        // What is odd about the defaults is told once.
        config.found.clear();
        let context = project::assemble(language, &turn, sources, false)?;
        show::findings(language, sources, &context.report.diagnostics);
        Ok(SavedContext::from_context(&context))
    };
    Ok([assemble(first)?, assemble(second)?])
}
