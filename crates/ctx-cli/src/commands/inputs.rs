//! The files that verbs take, read and parsed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use ctx_engine::{
    CompiledAgent, Engine, ImportError, Imported, Limits, read_agent, read_conversation, read_profile,
};
use ctx_preset_import::Document;
use ctx_types::{Agent, Diagnostic, Session, Text, ToolDefinition, UserProfile};
use serde_json::Value;

use crate::commands::origin::Origin;
use crate::exit::UsageError;
use crate::files;
use crate::show::Sources;

/// An agent, and the way back to its file.
#[derive(Debug)]
pub(super) struct AgentFile {
    pub(super) agent: Agent,
    /// What was found while reading.
    pub(super) found: Vec<Diagnostic>,
    origin: Origin,
}

impl AgentFile {
    /// Reads an agent from bytes.
    pub(super) fn parse(bytes: &[u8], name: &str, engine: &Engine) -> Result<Self, ImportError> {
        let imported = read_agent(bytes, name, &Limits::default(), &engine.anchors)?;
        let origin = Origin::of(&imported, name, bytes);
        Ok(Self { agent: imported.value, found: imported.diagnostics, origin })
    }

    /// Reads an agent from a file.
    pub(super) fn read(path: &Path, engine: &Engine, sources: &mut Sources) -> Result<Self> {
        load(path, sources, &|bytes, name| Self::parse(bytes, name, engine))
    }

    /// Returns what reading and compiling found, with pointers into the file.
    pub(super) fn all_findings(&self, compiled: &CompiledAgent) -> Vec<Diagnostic> {
        [self.found.clone(), self.lead_back(compiled.diagnostics().to_vec())].concat()
    }

    /// Points findings about the agent's unified form into its file.
    pub(super) fn lead_back(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.origin.lead_back(&mut findings);
        findings
    }
}

/// Reads a conversation.
pub(super) fn conversation(path: &Path, sources: &mut Sources) -> Result<Imported<Session>> {
    load(path, sources, &|bytes, name| read_conversation(bytes, name, &Limits::default()))
}

/// Reads a user profile.
pub(super) fn profile(path: &Path, sources: &mut Sources) -> Result<Imported<UserProfile>> {
    load(path, sources, &|bytes, name| read_profile(bytes, name, &Limits::default()))
}

/// Reads tool definitions: a list, passed to the request body as it is.
pub(super) fn tools(path: &Path, sources: &mut Sources) -> Result<(Vec<Value>, Vec<Diagnostic>)> {
    let document = load(path, sources, &|bytes, name| Document::read(bytes, name, &Limits::default()))?;
    let name = files::name(path);
    let Value::Array(tools) = document.value else { bail!("`{name}` is not a list of tool definitions") };
    let found = document.diagnostics.into_iter().map(|found| found.in_document(name.as_str()));
    Ok((tools, found.collect()))
}

/// Reads a tool definition for the budget: that of chat completions, or the same without its envelope.
pub(super) fn tool(definition: &Value) -> ToolDefinition {
    let body = definition.get("function").unwrap_or(definition);
    let text = |key| body.get(key).and_then(Value::as_str);
    ToolDefinition {
        name: text("name").unwrap_or_default().into(),
        description: text("description").map(Text::from),
        parameters: Arc::new(body.get("parameters").cloned().unwrap_or_default()),
    }
}

/// Refuses a command line that names standard input twice: the second reader would find nothing.
pub(super) fn check_stdin<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    match paths.into_iter().filter(|path| files::is_stdin(path)).count() {
        0 | 1 => Ok(()),
        _ => Err(UsageError("`-` is standard input, which can be read once only".to_owned()).into()),
    }
}

/// Reads something from the bytes of a file and its name.
type Parse<'a, T> = &'a dyn Fn(&[u8], &str) -> Result<T, ImportError>;

fn load<T>(path: &Path, sources: &mut Sources, parse: Parse<'_, T>) -> Result<T> {
    let bytes = files::read(path)?;
    let name = files::name(path);
    sources.add(&name, &bytes);
    parse(&bytes, &name).map_err(|error| sources.explain(&name, &error))
}
