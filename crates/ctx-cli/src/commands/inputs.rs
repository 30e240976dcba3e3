//! The files that verbs take: read, parsed, and their findings shown.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use ctx_engine::{Engine, ImportError, Imported, Limits, read_agent, read_conversation, read_profile};
use ctx_types::{Agent, Session, UserProfile};
use serde_json::Value;

use crate::files;
use crate::show::Sources;

/// A reader of bytes that returns a noun.
type Read<'a, T> = &'a dyn Fn(&[u8], &str) -> Result<Imported<T>, ImportError>;

/// Reads an agent.
pub(crate) fn agent(path: &Path, engine: &Engine, sources: &mut Sources) -> Result<Imported<Agent>> {
    load(path, sources, &|bytes, name| read_agent(bytes, name, &Limits::default(), &engine.anchors))
}

/// Reads a conversation.
pub(crate) fn conversation(path: &Path, sources: &mut Sources) -> Result<Imported<Session>> {
    load(path, sources, &|bytes, name| read_conversation(bytes, name, &Limits::default()))
}

/// Reads a user profile.
pub(crate) fn profile(path: &Path, sources: &mut Sources) -> Result<Imported<UserProfile>> {
    load(path, sources, &|bytes, name| read_profile(bytes, name, &Limits::default()))
}

fn load<T>(path: &Path, sources: &mut Sources, read: Read<'_, T>) -> Result<Imported<T>> {
    let bytes = files::read(path)?;
    let name = files::name(path);
    sources.add(&name, &bytes);
    let mut imported = read(&bytes, &name).map_err(|error| sources.explain(&name, &error))?;
    for diagnostic in &mut imported.diagnostics {
        diagnostic.location.document.get_or_insert_with(|| name.as_str().into());
    }
    Ok(imported)
}

/// Reads tool definitions: a JSON list, passed to the request body as it is.
pub(crate) fn tools(path: &Path) -> Result<Vec<Value>> {
    let name = files::name(path);
    let bytes = files::read(path)?;
    let tools: Value = serde_json::from_slice(&bytes).with_context(|| format!("cannot read `{name}`"))?;
    match tools {
        Value::Array(tools) => Ok(tools),
        _ => bail!("`{name}` is not a JSON list of tool definitions"),
    }
}
