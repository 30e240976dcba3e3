//! Files that `case.yaml` and `ctx.toml` name: whether each is what its key asks for.

use std::path::Path;

use ctx_engine::{Engine, ImportError, Limits, read_conversation, read_profile};
use ctx_preset_import::Document;
use ctx_types::Diagnostic;
use serde_json::Value;

use crate::codes;
use crate::commands::books::Books;
use crate::commands::inputs::{self, AgentFile};
use crate::files;

/// What a key asks a file to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Agent,
    Session,
    Profile,
    Models,
    Tools,
    Worldbook,
}

/// Reads a file as what its key asks for; returns why that cannot be done, in the words of the verbs that read it.
///
/// What is odd within a file that can be read is told where that file is checked itself; tables of models and tool
/// definitions are not, so that the first oddity of those is told here. A file that is not there is told by whoever
/// looks for it.
pub(crate) fn fault(wanted: Wanted, path: &Path, name: &str, engine: &Engine) -> Option<Diagnostic> {
    let bytes = files::read(path).ok()?;
    let limits = Limits::default();
    let found = match wanted {
        Wanted::Agent => AgentFile::parse(&bytes, name, engine).map(|_| None),
        Wanted::Session => read_conversation(&bytes, name, &limits).map(|_| None),
        Wanted::Profile => read_profile(&bytes, name, &limits).map(|_| None),
        Wanted::Worldbook => Books::parse(&bytes, name).map(|_| None),
        Wanted::Models => of_models(&bytes, name, engine),
        Wanted::Tools => of_tools(&bytes, name),
    };
    let mut fault = found.unwrap_or_else(|error| Some(error.to_diagnostic()))?;
    // Places and edits are those of the other file.
    fault.location = ctx_types::Location::default();
    fault.fix = None;
    Some(fault)
}

fn of_models(bytes: &[u8], name: &str, engine: &Engine) -> Result<Option<Diagnostic>, ImportError> {
    let document = Document::read(bytes, name, &Limits::default())?;
    let (_, odd) = (*engine.models).clone().with_override(&document.value.to_string());
    Ok(odd.into_iter().next())
}

fn of_tools(bytes: &[u8], name: &str) -> Result<Option<Diagnostic>, ImportError> {
    let document = Document::read(bytes, name, &Limits::default())?;
    Ok(match document.value {
        Value::Array(tools) => inputs::nameless_tools(&tools),
        _ => Some(Diagnostic::error(codes::BAD_VALUE, inputs::no_tools(name))),
    })
}
