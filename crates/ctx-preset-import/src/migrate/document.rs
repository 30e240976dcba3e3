//! Documents of AIO Hub with old spellings, brought up to date in the form that they have.

use ctx_anchors::AnchorRegistry;
use ctx_types::{Agent, Diagnostic, Persist as _, Reader, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation;
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::imported::{Moved, relocate};

/// A document that is up to date.
#[derive(Clone, Debug, PartialEq)]
pub struct MigratedDocument {
    /// The document; the one that was given if there is nothing old in it.
    pub value: Value,
    /// What it is.
    pub format: Format,
    /// What was changed, with pointers into the document as it was given.
    pub changes: Vec<Diagnostic>,
}

/// Brings a document of AIO Hub up to date, as [`migrate`](crate::migrate) does.
///
/// An agent, each agent of an export, the entries of a preset (a bare list, or under `messages` with or without
/// `groups`) and a session: two halves become one. What a list cannot hold, such as greetings, stays in it.
/// Anything else is [`ImportError::UnknownShape`]. Pure and idempotent. O(size).
///
/// ```
/// use ctx_anchors::AnchorRegistry;
/// use ctx_preset_import::migrate_document;
///
/// let preset = serde_json::json!([{ "type": "user_profile", "content": "User Profile" }, { "type": "chat_history" }]);
/// let migrated = migrate_document(preset, &AnchorRegistry::system())?;
/// assert_eq!(migrated.changes[0].location.pointer.as_deref(), Some("/0/content"));
/// assert!(migrated.value[0]["content"].as_str().unwrap().contains("{{persona}}"));
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn migrate_document(value: Value, anchors: &AnchorRegistry) -> Result<MigratedDocument, ImportError> {
    let shape = format::shape(&value).filter(|_| format::source_format(&value) == format::shape(&value));
    let Some(format) = shape else { return Err(unknown(&value)) };
    let (value, changes) = match (format, value) {
        (Format::Agent, value) => agent(value, anchors),
        (Format::AgentExport, value) => export(value, anchors),
        (Format::PresetList, value @ Value::Array(_)) => list(value, "", anchors),
        (Format::PresetFile, Value::Object(file)) => preset_file(file, anchors),
        (Format::Session, value) => (value, Vec::new()),
        (Format::SessionHalves, value) => halves(value),
        (_, value) => return Err(unknown(&value)),
    };
    Ok(MigratedDocument { value, format, changes })
}

/// Joins the halves of a session, if they can be read.
fn halves(value: Value) -> (Value, Vec<Diagnostic>) {
    let Some(joined) = conversation::join_halves(&value) else { return (value, Vec::new()) };
    let message = phrase!("`index` and `detail` are joined into one session");
    let mut changes = vec![Diagnostic::info(codes::MIGRATED_HALVES, message).at_pointer("/index")];
    changes.extend(joined.diagnostics);
    (joined.value.write(), changes)
}

fn agent(value: Value, anchors: &AnchorRegistry) -> (Value, Vec<Diagnostic>) {
    let mut agent = Agent::read(value, &mut Reader::new());
    let changes = super::migrate(&mut agent, anchors);
    (agent.write(), changes)
}

fn export(mut value: Value, anchors: &AnchorRegistry) -> (Value, Vec<Diagnostic>) {
    let mut all = Vec::new();
    let agents = value.get_mut("agents").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, slot) in agents.enumerate().filter(|(_, slot)| slot.is_object()) {
        let (migrated, mut changes) = agent(slot.take(), anchors);
        *slot = migrated;
        relocate(&mut changes, &[Moved { ours: "", theirs: &format!("/agents/{index}") }]);
        all.extend(changes);
    }
    (value, all)
}

/// Migrates a list of entries that stands at a place of its document.
fn list(entries: Value, place: &str, anchors: &AnchorRegistry) -> (Value, Vec<Diagnostic>) {
    let file = Value::Object(Map::from_iter([("presetMessages".to_owned(), entries)]));
    let mut agent = Agent::read(file, &mut Reader::new());
    let (mut changes, _) = super::spellings(&mut agent, anchors);
    relocate(&mut changes, &[Moved { ours: "/presetMessages", theirs: place }]);
    let entries = agent.write().get_mut("presetMessages").map(Value::take);
    (entries.unwrap_or_else(|| Value::Array(Vec::new())), changes)
}

/// Migrates a preset file, the parameters that it may have beside its entries too.
fn preset_file(mut file: Map<String, Value>, anchors: &AnchorRegistry) -> (Value, Vec<Diagnostic>) {
    let mut all = Vec::new();
    if let Some(slot) = file.get_mut("messages") {
        let (entries, changes) = list(slot.take(), "/messages", anchors);
        *slot = entries;
        all = changes;
    }
    if let Some(parameters) = file.get_mut("parameters") {
        all.extend(crate::parameters::migrate(parameters).0);
    }
    (Value::Object(file), all)
}

fn unknown(value: &Value) -> ImportError {
    ImportError::UnknownShape {
        expected: "an agent, an export of agents, a preset or a session of AIO Hub",
        found: format::source_format(value)
            .map_or_else(|| format::describe(value), |format| ctx_types::Phrase::from(format.as_str())),
        help: Some(phrase!("use `ctx import` for files of other applications; they cannot be migrated")),
    }
}
