//! An agent that is compiled once.

use std::sync::Arc;

use ctx_engine::{Compile, CompiledAgent, Engine, Switches, read_profile};
use ctx_preset_import::Document;
use ctx_types::Diagnostic;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agent_file::AgentFile;
use crate::book_file::{BookFile, Books};
use crate::check::finding_json;
use crate::error::OperationError;
use crate::given::{Given, options};
use crate::texts::Texts;

/// An agent that was compiled once and assembles any number of contexts.
#[derive(Debug)]
pub struct Agent {
    pub(crate) compiled: CompiledAgent,
    file: Option<AgentFile>,
    books: Books,
    texts: Texts,
    /// What was found while reading.
    found: Vec<Diagnostic>,
}

/// What an agent is compiled from and with; all of it optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct AgentOptions {
    agent: Option<Value>,
    profile: Option<Value>,
    worldbooks: Vec<Value>,
    /// The ids of worldbooks that hold only where somebody asks for them.
    at_hand: Vec<String>,
    models: Option<Value>,
    user_settings: Option<Value>,
    model_settings: Option<Value>,
    enable: Vec<String>,
    disable: Vec<String>,
}

/// The names of the options of an agent, which those of a turn may stand beside.
pub(crate) const AGENT_OPTIONS: [&str; 9] = [
    "agent",
    "profile",
    "worldbooks",
    "atHand",
    "models",
    "userSettings",
    "modelSettings",
    "enable",
    "disable",
];

/// Reads what is known about models, beside what an engine knows; returns the document, and what is odd about it.
pub(crate) fn add_models(
    engine: &mut Engine,
    document: &Value,
) -> Result<(Given, Vec<Diagnostic>), OperationError> {
    let file = Given::read(document, "models")?;
    let read = Document::read(&file.bytes, &file.name);
    let read = read.map_err(|error| OperationError::of_document(&error, &file.name, &file.bytes))?;
    let (models, odd) = (*engine.models).clone().with_override(&read.value.to_string());
    engine.models = Arc::new(models);
    let odd = odd.into_iter().map(|odd| odd.in_document(file.name.as_str())).collect();
    Ok((file, odd))
}

impl Agent {
    /// Reads the documents of an agent and compiles it on an engine, which may have parts of the host's own.
    ///
    /// Options, each optional: `agent`, `profile`, `models` (documents), `worldbooks` (a list of them), `atHand` (ids of
    /// worldbooks that hold only where somebody asks for them), `userSettings` and `modelSettings` (objects as
    /// `parameters` of an agent), `enable` and `disable` (ids of processors). Errors: an option that does not exist or
    /// is of another type, and a document that cannot be read.
    pub fn compile(mut engine: Engine, given: Map<String, Value>) -> Result<Self, OperationError> {
        let given: AgentOptions = options(given)?;
        let (mut texts, mut found) = (Texts::default(), Vec::new());
        let mut file = None;
        if let Some(document) = &given.agent {
            let Given { name, bytes } = Given::read(document, "agent")?;
            let read = AgentFile::parse(&bytes, &name, &engine);
            let read = read.map_err(|error| OperationError::of_document(&error, &name, &bytes))?;
            texts.add(&name, &bytes);
            found.extend(read.found.iter().cloned());
            file = Some(read);
        }
        let mut with = Compile::default();
        if let Some(document) = &given.profile {
            let Given { name, bytes } = Given::read(document, "profile")?;
            let read = read_profile(&bytes, &name);
            let read = read.map_err(|error| OperationError::of_document(&error, &name, &bytes))?;
            texts.add(&name, &bytes);
            found.extend(read.diagnostics);
            with.profile = Some(read.value);
        }
        let mut books = Books::default();
        for (number, document) in given.worldbooks.iter().enumerate() {
            let kind = if number == 0 { "worldbook".to_owned() } else { format!("worldbook_{}", number + 1) };
            let Given { name, bytes } = Given::read(document, &kind)?;
            let read = BookFile::parse(&bytes, &name);
            let (mut book, odd) = read.map_err(|error| OperationError::of_document(&error, &name, &bytes))?;
            texts.add(&name, &bytes);
            book.book.is_global = !given.at_hand.iter().any(|id| **id == *book.book.id);
            books.push(book);
            found.extend(odd);
        }
        if let Some(document) = &given.models {
            let (file, odd) = add_models(&mut engine, document)?;
            texts.add(&file.name, &file.bytes);
            found.extend(odd);
        }
        with.worldbooks = books.loaded();
        with.user_parameters = given.user_settings;
        with.model_parameters = given.model_settings;
        with.switches = Switches { enable: given.enable, disable: given.disable };
        let agent = file.as_ref().map(|file| file.agent.clone()).unwrap_or_default();
        let compiled = engine.compile(&agent, &with);
        let mut settings = compiled.pipeline().settings().iter();
        if cfg!(not(feature = "html")) && settings.any(|setting| setting.config.is_on("htmlToMarkdown")) {
            return Err(OperationError::absent("does not write HTML as Markdown", "html"));
        }
        Ok(Self { compiled, file, books, texts, found })
    }

    /// Returns everything that is wrong with its documents, each finding with its place.
    pub fn findings(&self) -> Vec<Value> {
        let found = self.lead_back(self.compiled.diagnostics().to_vec());
        let found = [self.found.clone(), found].concat();
        let positions = self.texts.positions(&found);
        found.iter().zip(&positions).map(|(finding, at)| finding_json(finding, at.as_ref())).collect()
    }

    /// Writes its name, what is wrong with it, and the settings of its processors.
    pub fn to_json(&self) -> Value {
        let settings = self.compiled.pipeline().settings().iter();
        let settings = settings.map(|setting| {
            json!({ "id": &*setting.id, "enabled": setting.enabled.value, "priority": setting.priority.value })
        });
        json!({
            "name": self.compiled.agent().name.as_deref(),
            "model": self.compiled.agent().model_id.as_deref(),
            "processors": settings.collect::<Vec<_>>(),
            "findings": self.findings(),
        })
    }

    /// Returns what was found while reading its documents.
    pub(crate) fn found(&self) -> &[Diagnostic] {
        &self.found
    }

    /// Points findings about what was compiled into the documents that it was read from.
    pub(crate) fn lead_back(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.books.lead_back(&mut found);
        match &self.file {
            Some(file) => file.lead_back(found),
            None => found,
        }
    }
}
