//! Conversations on their way into the store and out of it.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use ctx_chat::{Conversation, SpillFolder, SqliteStore, StoreError};
use ctx_preset_import::write_conversation;
use ctx_types::{Diagnostic, Session, count_of, phrase, plural};
use serde_json::{Value, json};

use crate::args::{ExportArguments, ImportArguments, KeptArguments};
use crate::commands::session::kept;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::codes;
use ctx_project::error::ProjectError;
use ctx_project::files::{self, Existing, FilesRead};
use ctx_project::inputs::{self, InputFile};
use ctx_project::store;

/// Writes a conversation of the store to a file, or to standard output.
pub(super) fn export(arguments: &ExportArguments) -> Result<Exit> {
    let kept =
        KeptArguments { store: arguments.store.clone(), json: false, config: arguments.config.clone() };
    let Some((store, spill)) = kept::open(&kept)? else { return Err(kept::missing(&arguments.id)) };
    let loaded = store::wait(Conversation::load(&store, &arguments.id))?.map_err(kept::told)?;
    let written = write_conversation(&loaded.to_file(), arguments.to.into());
    let found = written.diagnostics.into_iter().chain(spilled(&spill, &arguments.id));
    let found: Vec<Diagnostic> = found.map(|finding| finding.in_document(&*arguments.id)).collect();
    show::findings(&show::sources(), &found);
    match &arguments.out {
        Some(path) => {
            files::write(&[(path.clone(), &written.bytes)], Existing::Named, &FilesRead::default())?;
        }
        None => show::bytes(&written.bytes)?,
    }
    Ok(Exit::Success)
}

/// Says that large results are elsewhere.
fn spilled(spill: &SpillFolder, id: &str) -> Option<Diagnostic> {
    let count = spill.count(id).ok().filter(|count| *count > 0)?;
    let message = phrase!(
        "{results} are in files beside the store, which are not exported",
        results = count_of!(count, "large result")
    );
    let help = phrase!("the messages keep a preview, and the path");
    Some(Diagnostic::info(codes::RESULTS_ELSEWHERE, message).with_help(help))
}

/// Puts the conversations of files into the store; one that fails does not stop the others.
pub(super) fn import(arguments: &ImportArguments) -> Result<Exit> {
    if arguments.id.is_some() && arguments.files.len() > 1 {
        return Err(ProjectError::Usage(phrase!(
            "`--id` names one conversation, and there are several files"
        ))
        .into());
    }
    inputs::check_stdin(&arguments.files)?;
    let mut sources = show::sources();
    let config = project::config(&arguments.kept.config, &mut sources)?;
    show::findings(&sources, &config.found);
    let (store, _) = store::open(arguments.kept.store.store.as_deref(), &config)?;
    let (mut rows, mut exit) = (Vec::new(), Exit::Success);
    for path in &arguments.files {
        match take(&store, path, arguments.id.as_deref(), &mut sources) {
            Ok(taken) => rows.push(taken),
            Err(error) => {
                show::failure(&error);
                exit = if exit == Exit::Success { Exit::of(&error) } else { exit };
            }
        }
    }
    tell(&rows, arguments.kept.json)?;
    Ok(exit)
}

/// A conversation that is in the store now.
struct StoredConversation {
    path: PathBuf,
    id: String,
    format: String,
    messages: usize,
}

fn take(
    store: &SqliteStore,
    path: &Path,
    id: Option<&str>,
    sources: &mut Sources,
) -> Result<StoredConversation> {
    let file = InputFile::from(path);
    let name = file.name.clone();
    let imported = inputs::conversation(&file, sources)?;
    show::findings(sources, &imported.diagnostics);
    let mut session = imported.value;
    let id = id.or(session.header.id.as_deref()).unwrap_or_default().to_owned();
    if id.is_empty() {
        return Err(ProjectError::Usage(phrase!("`{name}` names no id; name one with `--id`", name)).into());
    }
    session.header.id = Some(id.as_str().into());
    let messages = count(&session);
    let now = jiff::Timestamp::now().as_millisecond();
    let stored = store::wait(Conversation::import(store, &id, session, Some(now)))?;
    match stored {
        Ok(_) => Ok(StoredConversation {
            path: path.to_owned(),
            id,
            format: imported.format.to_string(),
            messages,
        }),
        Err(error @ StoreError::Exists { .. }) => Err(ProjectError::Usage(phrase!(
            "`{name}`: {error}; name another with `--id`",
            name,
            error = error.to_string()
        ))
        .into()),
        Err(error) => Err(anyhow!("`{name}` is not imported: {error}")),
    }
}

/// How many messages all branches have together.
fn count(session: &Session) -> usize {
    session.nodes().count().saturating_sub(1)
}

fn tell(rows: &[StoredConversation], is_json: bool) -> Result<()> {
    if is_json {
        let row = |taken: &StoredConversation| {
            json!({ "file": files::name(&taken.path), "id": taken.id, "form": taken.format,
                "messages": taken.messages })
        };
        return show::json(&json!({ "imported": rows.iter().map(row).collect::<Value>() }));
    }
    let line = |taken: &StoredConversation| {
        let (name, messages) = (files::name(&taken.path), plural(taken.messages, "message"));
        format!("imported: {} ({messages}, {name}: {})\n", taken.id, taken.format)
    };
    show::result(&lang::lines(&rows.iter().map(line).collect::<String>()))
}
