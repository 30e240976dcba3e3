//! `ctx diff`: what two contexts have in common at their beginning.

use std::path::Path;

use anyhow::Result;
use ctx_engine::{Comparison, Compile, SavedContext};
use ctx_preset_import::{Document, Limits};
use ctx_types::TurnInput;
use serde_json::json;

use crate::args::DiffArguments;
use crate::commands::inputs::{self, InputFile};
use crate::commands::turn::{self, Turn, TurnFiles};
use crate::exit::Exit;
use crate::show::{self, Sources};

/// Compares two contexts and prints the result.
pub(crate) fn run(arguments: &DiffArguments) -> Result<Exit> {
    let DiffArguments { first, second, session, .. } = arguments;
    inputs::check_stdin([Some(first), Some(second), session.as_ref()].into_iter().flatten())?;
    let input = TurnInput {
        at_millis: Some(turn::time(arguments.at.as_deref())?.as_millisecond()),
        zone: Some("UTC".into()),
        input: arguments.input.as_deref().map(Into::into),
        model: arguments.model.as_deref().map(Into::into),
        preview: true,
        ..TurnInput::default()
    };
    let mut sources = Sources::default();
    let mut read = |path: &Path| context(path, arguments, &input, &mut sources);
    let comparison = Comparison::of(&read(first)?, &read(second)?);
    match arguments.json {
        true => show::json(&json!(comparison))?,
        false => show::result(&show::comparison(&comparison))?,
    }
    Ok(Exit::Success)
}

/// Reads a context that was saved, or assembles an agent.
fn context(
    path: &Path,
    arguments: &DiffArguments,
    input: &TurnInput,
    sources: &mut Sources,
) -> Result<SavedContext> {
    let file = InputFile::from(path);
    let bytes = sources.read(&file.path, &file.name)?;
    let document = Document::read(&bytes, &file.name, &Limits::default());
    let saved = document.ok().and_then(|document| SavedContext::read(&document.value));
    if let Some(saved) = saved {
        return Ok(saved);
    }
    let files = TurnFiles {
        agent: Some(InputFile { bytes: Some(bytes), ..file }),
        session: arguments.session.as_ref().map(InputFile::from),
        ..TurnFiles::default()
    };
    let turn = Turn::read(&files, input.clone(), Compile::default(), sources)?;
    let context = turn.assemble_or_explain(sources, false)?;
    sources.show(&context.report.diagnostics);
    Ok(SavedContext::of(&context))
}
