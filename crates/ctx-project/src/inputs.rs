//! The files that verbs take, read and parsed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{ProjectError, Result, unusable};
use ctx_engine::{Engine, ImportError, Imported, Template, read_conversation, read_profile};
pub use ctx_operations::{AgentFile, tool_of};
use ctx_preset_import::Document;
use ctx_tokens::ModelTable;
use ctx_types::internal::{Argument, Divider};
use ctx_types::session::Session;
use ctx_types::{Code, Diagnostic, Phrase, UserProfile, count_of, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::files;
use crate::sources::Sources;
use crate::transcripts;

/// A file that is read, and the name by which results and diagnostics speak of it.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// How results and findings speak of it.
    pub name: String,
    /// What it holds, if it was read already; standard input can be read once only.
    pub bytes: Option<Vec<u8>>,
}

impl<P: AsRef<Path>> From<P> for InputFile {
    fn from(path: P) -> Self {
        let path = path.as_ref().to_owned();
        Self { name: files::name(&path), path, bytes: None }
    }
}

/// Reads an agent.
pub fn agent(file: impl Into<InputFile>, engine: &Engine, sources: &mut Sources) -> Result<AgentFile> {
    load(&file.into(), sources, &|bytes, name| AgentFile::parse(bytes, name, engine))
}

/// Reads a conversation, or a transcript of a coding agent.
pub fn conversation(file: &InputFile, sources: &mut Sources) -> Result<Imported<Session>> {
    load(file, sources, &|bytes, name| match transcripts::read(bytes) {
        Some(transcript) => Ok(transcripts::conversation(transcript, name)),
        None => read_conversation(bytes, name),
    })
}

/// Reads a user profile.
pub fn profile(file: &InputFile, sources: &mut Sources) -> Result<Imported<UserProfile>> {
    load(file, sources, &read_profile)
}

/// Reads tool definitions: a list, passed to the request body as it is.
pub fn tools(file: &InputFile, sources: &mut Sources) -> Result<(Vec<Value>, Vec<Diagnostic>)> {
    let (value, mut found) = document(file, sources)?;
    let Value::Array(tools) = value else { return Err(ProjectError::Unusable(no_tools(&file.name))) };
    found.extend(nameless_tools(&tools).map(|odd| odd.in_document(&*file.name)));
    Ok((tools, found))
}

/// Reports that a file is no list of tools.
pub(crate) fn no_tools(name: &str) -> Phrase {
    phrase!("`{name}` is not a list of tool definitions", name)
}

/// Finds tool definitions without a name, of which the first is the place.
pub(crate) fn nameless_tools(tools: &[Value]) -> Option<Diagnostic> {
    let mut nameless = tools.iter().enumerate().filter(|(_, item)| tool_of(item).name.is_empty());
    let (first, _) = nameless.next()?;
    let message =
        phrase!("{tools} without a name", tools = count_of!(nameless.count() + 1, "tool definition"));
    let help = phrase!("give each definition a `name`, or a `function` with a `name`");
    let odd = Diagnostic::warning(codes::NAMELESS_TOOL, message).with_help(help);
    Some(odd.at_pointer(format!("/{first}")))
}

/// Puts the rows of a file before those of a table of models. Returns the diagnostics of the file.
pub fn add_models(
    models: &mut Arc<ModelTable>,
    file: &InputFile,
    sources: &mut Sources,
) -> Result<Vec<Diagnostic>> {
    let (value, mut found) = document(file, sources)?;
    let (table, odd) = ModelTable::clone(models).with_override(&value.to_string());
    let odd: Vec<Diagnostic> = odd.into_iter().map(|odd| odd.in_document(&*file.name)).collect();
    if let Some(fault) = odd.iter().find(|odd| FATAL.contains(&odd.code)) {
        return Err(sources.failure(fault.clone()));
    }
    found.extend(odd);
    *models = Arc::new(table);
    Ok(found)
}

/// What makes a table of models no table at all.
const FATAL: [Code; 2] = [ctx_tokens::codes::TABLE_SYNTAX, ctx_tokens::codes::TABLE_TOO_LARGE];

/// Reads settings of processors: an object as `parameters` of an agent.
pub fn settings(file: &InputFile, sources: &mut Sources) -> Result<(Value, Vec<Diagnostic>)> {
    let (value, mut found) = document(file, sources)?;
    let Value::Object(settings) = &value else {
        return Err(unusable!(
            "`{file}` is not a settings object (with keys such as `processors`)",
            file = file.name
        ));
    };
    let is_set = |settings: &Map<String, Value>| SETTINGS.iter().any(|key| settings.contains_key(*key));
    if !settings.is_empty() && !is_set(settings) {
        let below = settings.get("parameters").and_then(Value::as_object).is_some_and(is_set);
        let help = if below {
            phrase!("use a file that contains only the value of `parameters`")
        } else {
            phrase!("put settings into {keys}", keys = Argument::names(SETTINGS, Divider::Comma))
        };
        let odd = Diagnostic::warning(codes::NOTHING_SET, phrase!("the file has no processor settings"))
            .with_help(help);
        found.push(odd.in_document(&*file.name));
    }
    Ok((value, found))
}

/// Where settings of processors stand.
const SETTINGS: [&str; 3] = ["processors", "contextManagement", "contextPostProcessing"];

/// Reads a template of text completions.
pub fn template(file: &InputFile, sources: &mut Sources) -> Result<(Template, Vec<Diagnostic>)> {
    let (value, mut found) = document(file, sources)?;
    let (template, odd) = Template::read(&value);
    found.extend(odd.into_iter().map(|odd| odd.in_document(&*file.name)));
    Ok((template, found))
}

/// Reads a document of any shape.
pub fn document(file: &InputFile, sources: &mut Sources) -> Result<(Value, Vec<Diagnostic>)> {
    let document = load(file, sources, &Document::read)?;
    let found = document.diagnostics.into_iter().map(|found| found.in_document(&*file.name));
    Ok((document.value, found.collect()))
}

/// Refuses a command line that names standard input twice: the second reader would find nothing.
pub fn check_stdin(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
    match paths.into_iter().filter(|path| files::is_stdin(path.as_ref())).count() {
        0 | 1 => Ok(()),
        _ => Err(ProjectError::Usage(phrase!("standard input (`-`) can be read only once"))),
    }
}

/// Reads something from the bytes of a file and its name.
pub type Parse<'a, T> = &'a dyn Fn(&[u8], &str) -> Result<T, ImportError>;

/// Reads a file, keeps its text for findings, and parses it.
pub fn load<T>(file: &InputFile, sources: &mut Sources, parse: Parse<'_, T>) -> Result<T> {
    let read = match &file.bytes {
        Some(_) => None,
        None => Some(sources.read(&file.path, &file.name)?),
    };
    let bytes = file.bytes.as_deref().or(read.as_deref()).unwrap_or_default();
    sources.add(&file.name, bytes);
    parse(bytes, &file.name).map_err(|error| sources.explain(&file.name, &error))
}
