//! The conversations of the store: what there is, and what is to be gone.

use ctx_chat::{ConversationEntry, ConversationStore as _, SpillFolder, SqliteStore, StoreError};
use ctx_language::Language;
use ctx_types::phrase;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::{DeleteArguments, KeptArguments};
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::store;
use ctx_project::unusable;

/// The titles of the list.
const HEADER: [&str; 4] = ["conversation", "changed", "operations", "title"];

/// Lists what there is.
pub(super) fn list(language: Language, arguments: &KeptArguments) -> Result<Exit> {
    let entries = match open(language, arguments)? {
        Some((store, _)) => store::wait(store.list())??,
        None => Vec::new(),
    };
    if arguments.json {
        show::json(&Value::from(entries.iter().map(to_json).collect::<Vec<_>>()))?;
        return Ok(Exit::Success);
    }
    if entries.is_empty() {
        show::note(language, &phrase!("no conversations yet"));
        return Ok(Exit::Success);
    }
    let rows = entries.into_iter().map(|entry| {
        let title = entry.name.clone().unwrap_or_default();
        [entry.id, moment(entry.changed_millis), entry.revision.to_string(), title]
    });
    show::result(&show::fitted(language, HEADER, rows.collect(), &[2]))?;
    Ok(Exit::Success)
}

/// Removes conversations, with what was spilled for them.
pub(super) fn delete(language: Language, arguments: &DeleteArguments) -> Result<Exit> {
    let opened = open(language, &arguments.kept)?;
    let (mut deleted, mut exit) = (Vec::new(), Exit::Success);
    for id in &arguments.ids {
        match opened.as_ref().map_or_else(|| Err(missing(id)), |(store, spill)| remove(store, spill, id)) {
            Ok(()) => deleted.push(id.as_str()),
            Err(error) => {
                show::failure(language, &error);
                exit = if exit == Exit::Success { Exit::of(&error) } else { exit };
            }
        }
    }
    let line = |id: &&str| lang::say(language, &phrase!("deleted: `{id}`", id)) + "\n";
    if arguments.kept.json {
        show::json(&json!({ "deleted": deleted }))?;
    } else {
        show::result(&deleted.iter().map(line).collect::<String>())?;
    }
    Ok(exit)
}

/// Removes the files first: what is in the store can then be deleted again if that fails.
fn remove(store: &SqliteStore, spill: &SpillFolder, id: &str) -> Result<()> {
    spill.delete(id).map_err(|error| {
        let reason = files::reason(&error);
        unusable!("nothing deleted: cannot delete the tool results of `{id}`: {reason}", id, reason)
    })?;
    store::wait(store.delete(id))?.map_err(told)
}

/// Opens the store if there is one.
pub(super) fn open(
    language: Language,
    arguments: &KeptArguments,
) -> Result<Option<(SqliteStore, SpillFolder)>> {
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    show::findings(language, &sources, &config.found);
    store::open_existing(arguments.store.store.as_deref(), &config)
}

/// The error of a conversation that is not there.
pub(super) fn missing(id: &str) -> ProjectError {
    told(StoreError::NotFound { id: id.to_owned() })
}

/// A new id that is in use is an error of the command line.
pub(super) fn told(error: StoreError) -> ProjectError {
    match error {
        StoreError::Exists { .. } => ProjectError::Usage(error.phrase()),
        error => error.into(),
    }
}

fn to_json(entry: &ConversationEntry) -> Value {
    let at = |millis| Some(moment(millis)).filter(|at| !at.is_empty());
    json!({
        "id": entry.id,
        "name": entry.name,
        "steps": entry.revision,
        "createdAt": at(entry.created_millis),
        "changedAt": at(entry.changed_millis),
    })
}

/// A moment as people and programs read it; nothing where none is known.
fn moment(millis: Option<i64>) -> String {
    let at = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    at.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}
