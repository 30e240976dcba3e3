//! Conversations on their way into the store and out of it.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_chat::{Conversation, SpillFolder, SqliteStore, StoreError};
use ctx_preset_import::write_conversation;
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Phrase, count_of, phrase};
use serde_json::{Value, json};

use crate::args::{ExportArguments, ImportArguments, KeptArguments};
use crate::commands::session::kept;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::codes;
use ctx_project::digits;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing, FilesRead};
use ctx_project::inputs::{self, InputFile};
use ctx_project::store;
use ctx_project::unusable;

/// Writes a conversation of the store to a file, or to standard output.
pub(super) fn export(language: Language, arguments: &ExportArguments) -> Result<Exit> {
    let kept =
        KeptArguments { store: arguments.store.clone(), json: false, config: arguments.config.clone() };
    let Some((store, spill)) = kept::open(language, &kept)? else { return Err(kept::missing(&arguments.id)) };
    let loaded = store::wait(Conversation::load(&store, &arguments.id))?.map_err(kept::told)?;
    let written = write_conversation(&loaded.to_file(), arguments.to);
    let found = written.diagnostics.into_iter().chain(spilled(&spill, &arguments.id));
    let found: Vec<Diagnostic> = found.map(|finding| finding.in_document(&*arguments.id)).collect();
    show::findings(language, &show::sources(language), &found);
    match &arguments.out {
        Some(path) => {
            files::write(&[(path.clone(), &written.bytes)], Existing::Named, &FilesRead::default())?;
        }
        None => show::bytes(&written.bytes)?,
    }
    Ok(Exit::Success)
}

/// Reports that large results are elsewhere.
fn spilled(spill: &SpillFolder, id: &str) -> Option<Diagnostic> {
    let count = spill.count(id).ok().filter(|count| *count > 0)?;
    let message = phrase!(
        "not exported: {results} in files next to the store",
        results = count_of!(count, "large result")
    );
    let help = phrase!("each exported message contains a preview and the path of its file");
    Some(Diagnostic::info(codes::RESULTS_ELSEWHERE, message).with_help(help))
}

/// Puts the conversations of files into the store; one that fails does not stop the others.
pub(super) fn import(language: Language, arguments: &ImportArguments) -> Result<Exit> {
    if arguments.id.is_some() && arguments.files.len() > 1 {
        return Err(ProjectError::Usage(phrase!("`--id` requires exactly one file")));
    }
    inputs::check_stdin(&arguments.files)?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.kept.config, &mut sources)?;
    show::findings(language, &sources, &config.found);
    let (store, _) = store::open(arguments.kept.store.store.as_deref(), &config)?;
    let (mut rows, mut exit) = (Vec::new(), Exit::Success);
    for path in &arguments.files {
        match take(language, &store, path, arguments.id.as_deref(), &mut sources) {
            Ok(taken) => rows.push(taken),
            Err(error) => {
                show::failure(language, &error);
                exit = if exit == Exit::Success { Exit::of(&error) } else { exit };
            }
        }
    }
    tell(language, &rows, arguments.kept.json)?;
    Ok(exit)
}

/// A conversation that is in the store now.
struct StoredConversation {
    path: PathBuf,
    id: String,
    format: &'static str,
    messages: usize,
}

fn take(
    language: Language,
    store: &SqliteStore,
    path: &Path,
    id: Option<&str>,
    sources: &mut Sources,
) -> Result<StoredConversation> {
    let name = files::name(path);
    let bytes = sources.read(path, &name)?;
    let file = InputFile { bytes: Some(bytes.clone()), ..InputFile::from(path) };
    let imported = inputs::conversation(&file, sources)?;
    show::findings(language, sources, &imported.diagnostics);
    let mut session = imported.value;
    let id = id.or(session.header.id.as_deref()).unwrap_or_default().to_owned();
    if id.is_empty() {
        return Err(ProjectError::Usage(phrase!("`{name}` has no id; set one with `--id`", name)));
    }
    session.header.id = Some(id.as_str().into());
    let lost = digits::lost(&bytes, [&json!(session)]);
    show::findings(language, sources, &lost.map(|lost| vec![lost.in_document(&*name)]).unwrap_or_default());
    let messages = count(&session);
    let now = jiff::Timestamp::now().as_millisecond();
    let stored = store::wait(Conversation::import(store, &id, session, Some(now)))?;
    match stored {
        Ok(_) => {
            Ok(StoredConversation { path: path.to_owned(), id, format: imported.format.as_str(), messages })
        }
        Err(error @ StoreError::Exists { .. }) => Err(ProjectError::Usage(phrase!(
            "`{name}`: {error}; set another id with `--id`",
            name,
            error = error.phrase()
        ))),
        Err(error) => Err(unusable!("cannot import `{name}`: {error}", name, error = error.phrase())),
    }
}

/// How many messages all branches have together.
fn count(session: &Session) -> usize {
    session.nodes().count().saturating_sub(1)
}

fn tell(language: Language, rows: &[StoredConversation], is_json: bool) -> Result<()> {
    if is_json {
        let row = |taken: &StoredConversation| {
            json!({ "file": files::name(&taken.path), "id": taken.id, "form": taken.format,
                "messages": taken.messages })
        };
        return show::json(&json!({ "imported": rows.iter().map(row).collect::<Value>() }));
    }
    let line = |taken: &StoredConversation| {
        let told = phrase!(
            "imported: `{id}` ({messages}, {name}: {format})",
            id = taken.id,
            messages = count_of!(taken.messages, "message"),
            name = files::name(&taken.path),
            format = Phrase::from(taken.format)
        );
        lang::say(language, &told) + "\n"
    };
    show::result(&rows.iter().map(line).collect::<String>())
}
