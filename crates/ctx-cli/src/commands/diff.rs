//! `ctx diff`: what two contexts have in common at their beginning.

use std::path::Path;

use anyhow::Result;
use ctx_engine::{Comparison, Engine, SavedContext};
use ctx_preset_import::{Document, Limits};
use serde_json::json;

use crate::args::{DiffArguments, TurnArguments};
use crate::commands::inputs::{self, InputFile};
use crate::commands::turn::{self, TurnFiles};
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{self, Sources};

/// Compares two contexts and prints the result.
pub(crate) fn run(arguments: &DiffArguments) -> Result<Exit> {
    let DiffArguments { first, second, session, profile, .. } = arguments;
    let files = [Some(first), Some(second), session.as_ref(), profile.as_ref()];
    inputs::check_stdin(files.into_iter().flatten())?;
    let mut sources = Sources::default();
    let mut given = None;
    let mut read = |path: &Path| context(path, arguments, &mut given, &mut sources);
    let comparison = Comparison::of(&read(first)?, &read(second)?);
    match arguments.json {
        true => show::json(&json!(comparison))?,
        false => show::result(&show::comparison(&comparison))?,
    }
    Ok(Exit::Success)
}

/// Reads a context that was saved, or assembles an agent with what is given for all.
fn context(
    path: &Path,
    arguments: &DiffArguments,
    given: &mut Option<Given>,
    sources: &mut Sources,
) -> Result<SavedContext> {
    let file = InputFile::from(path);
    let bytes = sources.read(&file.path, &file.name)?;
    let document = Document::read(&bytes, &file.name, &Limits::default());
    let saved = document.ok().and_then(|document| SavedContext::read(&document.value));
    if let Some(saved) = saved {
        return Ok(saved);
    }
    let Given { config, turn } = match given.take() {
        Some(given) => given,
        None => Given::read(path, arguments, sources)?,
    };
    // What is odd about the defaults is told once.
    let mut rest = config.clone();
    rest.found.clear();
    *given = Some(Given { config: rest, turn: turn.clone() });
    let change = |files: &mut TurnFiles| files.agent = Some(InputFile { bytes: Some(bytes), ..file });
    let turn = TurnArguments { agent: Some(path.to_owned()), ..turn };
    let turn = turn::of_arguments_on(Engine::new(), &turn, config, change, sources)?;
    let context = turn.assemble_or_explain(sources, false)?;
    sources.show(&context.report.diagnostics);
    Ok(SavedContext::of(&context))
}

/// What agents are assembled with: the command line, and the defaults below it.
struct Given {
    config: Config,
    turn: TurnArguments,
}

impl Given {
    /// Reads the defaults, and fixes the moment, which is one for both contexts.
    fn read(path: &Path, arguments: &DiffArguments, sources: &mut Sources) -> Result<Self> {
        let config = Config::read(&arguments.config, sources)?;
        let mut turn = arguments.turn(path);
        config.complete(&mut turn, sources)?;
        turn.at = Some(turn::time(arguments.at.as_deref())?.to_string());
        Ok(Self { config, turn })
    }
}
