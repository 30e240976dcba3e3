//! `ctx migrate`: old spellings in files of AIO Hub become today's.

mod comments;

use ctx_language::Language;
use std::path::{Path, PathBuf};

use anyhow::Result;
use ctx_engine::{Engine, Format};
use ctx_preset_import::{Document, ImportError, Limits, Syntax, decode, migrate_document, write_document};
use ctx_types::{Diagnostic, count_of, phrase};
use serde_json::json;

use crate::args::MigrateArguments;
use crate::exit::Exit;
use crate::lang::{self, Told};
use crate::show::{self, Bar};
use ctx_project::Sources;
use ctx_project::codes;
use ctx_project::files::{self, Existing, FilesRead, Once};
use ctx_project::inputs;
use ctx_project::schemas;

/// A file that changes.
struct Migrated {
    path: PathBuf,
    format: Format,
    before: Vec<u8>,
    after: Vec<u8>,
    changes: Vec<Diagnostic>,
}

/// Describes what changes, and changes it where that is asked for.
pub(crate) fn run(language: Language, arguments: &MigrateArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    if arguments.files.iter().any(|path| files::is_stdin(path)) {
        return Err(Told(phrase!("standard input cannot be changed; name a file")).into());
    }
    let engine = Engine::new();
    let mut sources = show::sources(language);
    let mut seen = Once::default();
    let given: Vec<&Path> =
        arguments.files.iter().map(PathBuf::as_path).filter(|path| seen.is_new(path)).collect();
    let (changed, refused) = read(&given, &engine, &mut sources)?;
    if !arguments.json {
        for file in &changed {
            show::findings(language, &sources, &file.changes);
        }
        show::findings(language, &sources, &refused);
    }
    let is_written = arguments.write && refused.is_empty();
    if is_written {
        write(&changed)?;
    }
    match arguments.json {
        true => show::json(&json!({
            "files": changed.iter().map(|file| json!({
                "path": files::name(&file.path), "format": file.format.id(), "changes": file.changes,
                "isWritten": is_written,
            })).collect::<Vec<_>>(),
            "refused": refused,
        }))?,
        false => show::result(&told(language, &changed, (refused.len(), given.len()), arguments.write))?,
    }
    Ok(if refused.is_empty() { Exit::Success } else { Exit::Unreadable })
}

/// Reads the files, with a bar where there are many; returns those that change, and why others cannot be migrated.
fn read(paths: &[&Path], engine: &Engine, sources: &mut Sources) -> Result<(Vec<Migrated>, Vec<Diagnostic>)> {
    let bar = Bar::new(paths.len());
    let (mut changed, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        let name = files::name(path);
        bar.show(&name);
        let before = sources.read(path, &name)?;
        match migrate(path, before, engine) {
            Ok(Some(file)) => changed.push(file),
            Ok(None) => {}
            Err(refusal) => refused.push(refusal.in_document(name.as_str())),
        }
        bar.done();
    }
    Ok((changed, refused))
}

/// Describes what was done; of `all` files `refused` ones cannot be migrated, for which nothing is changed.
fn told(language: Language, changed: &[Migrated], (refused, all): (usize, usize), is_write: bool) -> String {
    let (count, files) = (changed.len(), count_of!(all, "file"));
    let last = match (refused, is_write) {
        (0, true) => phrase!("{count} of {files} changed", count, files),
        (0, false) => phrase!("{count} of {files} would change", count, files),
        (_, false) => {
            phrase!("{count} of {files} would change, {refused} not migrated", count, files, refused)
        }
        (_, true) => phrase!(
            "nothing was changed: {refused} of {files} cannot be migrated; leave out what cannot",
            refused,
            files
        ),
    };
    let line = |path: String| match is_write && refused == 0 {
        true => phrase!("changed {path}", path),
        false => phrase!("would change {path}", path),
    };
    let lines = changed.iter().map(|file| line(files::name(&file.path))).chain([last]);
    lines.map(|line| lang::say(language, &line) + "\n").collect()
}

/// Migrates a file; none for one in which nothing is old, and why if it cannot be.
fn migrate(path: &Path, before: Vec<u8>, engine: &Engine) -> Result<Option<Migrated>, Box<Diagnostic>> {
    let name = files::name(path);
    let refused = |error: ImportError| Box::new(error.to_diagnostic());
    let document = Document::read(&before, &name, &Limits::default()).map_err(refused)?;
    let migrated = migrate_document(document.value.clone(), &engine.anchors).map_err(refused)?;
    // Whatever changes is told.
    if migrated.value == document.value || migrated.changes.is_empty() {
        return Ok(None);
    }
    let text = decode(&before, &Limits::default()).map_err(refused)?;
    let is_named_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let is_json =
        document.syntax != Syntax::Yaml || (!is_named_yaml && text.trim_start().starts_with(['{', '[']));
    let after = match is_json {
        true => files::edited(&before, &migrated.value).map_err(no_edit)?,
        false => schemas::with_line_of(&before, &write_document(&migrated.value)).into_bytes(),
    };
    let lost = if is_json { [None, None] } else { [comments::lost(&text), comments::lost_digits(&text)] };
    let changes = migrated.changes.into_iter().chain(lost.into_iter().flatten());
    let changes = changes.map(|change| change.in_document(name.as_str())).collect();
    Ok(Some(Migrated { path: path.to_owned(), format: migrated.format, before, after, changes }))
}

fn no_edit(reason: &str) -> Box<Diagnostic> {
    let found = Diagnostic::error(
        codes::NO_EDIT,
        phrase!("the file would not be restored exactly: {reason}", reason),
    );
    Box::new(found.with_help(phrase!(
        "save it as plain JSON in UTF-8, or write long numbers as strings, and migrate it again"
    )))
}

/// Writes what each file was beside it, then the files.
fn write(changed: &[Migrated]) -> Result<()> {
    let backups: Vec<PathBuf> = changed.iter().map(backup).collect();
    if let Some(taken) = backups.iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Told(phrase!(
            "nothing was changed: `{path}` is there already; move it away, and migrate again",
            path = files::name(taken)
        ))
        .into());
    }
    for file in changed {
        files::refuse_changed(&file.path, &file.before)?;
    }
    let all = backups.iter().zip(changed).map(|(path, file)| (path.clone(), file.before.as_slice()));
    files::write(&all.collect::<Vec<_>>(), Existing::Keep, &FilesRead::default())?;
    let all = changed.iter().map(|file| (file.path.clone(), file.after.as_slice()));
    let done = files::write(&all.collect::<Vec<_>>(), Existing::Named, &FilesRead::default());
    if done.is_err() {
        backups.iter().zip(changed).for_each(|(path, file)| take_back(path, file));
    }
    Ok(done?)
}

/// Returns where what a file was is kept.
fn backup(file: &Migrated) -> PathBuf {
    let mut name = file.path.clone().into_os_string();
    name.push(".bak");
    PathBuf::from(name)
}

/// Takes away the backup of a file that is as it was.
fn take_back(backup: &Path, file: &Migrated) {
    if files::read(&file.path).is_ok_and(|bytes| bytes == file.before) {
        // A backup that stays harms nobody, and the next run names it.
        std::fs::remove_file(backup).unwrap_or_default();
    }
}
