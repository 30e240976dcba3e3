//! `ctx migrate`: old spellings in files of AIO Hub become today's.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ctx_engine::{Engine, Format};
use ctx_preset_import::{Document, ImportError, Limits, Syntax, migrate_document, write_document};
use ctx_types::{Diagnostic, plural};
use serde_json::{Value, json};

use crate::args::MigrateArguments;
use crate::commands::inputs;
use crate::exit::Exit;
use crate::files::{self, Existing, FilesRead};
use crate::lang;
use crate::schemas;
use crate::show::{self, Bar, Sources};

/// A file that changes.
struct Migrated {
    path: PathBuf,
    format: Format,
    before: Vec<u8>,
    after: Vec<u8>,
    changes: Vec<Diagnostic>,
}

/// Says what changes, and changes it where that is asked for.
pub(crate) fn run(arguments: &MigrateArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    if arguments.files.iter().any(|path| files::is_stdin(path)) {
        bail!("standard input cannot be changed; name a file");
    }
    let engine = Engine::new();
    let mut sources = Sources::default();
    let (changed, refused) = read(&arguments.files, &engine, &mut sources)?;
    if !arguments.json {
        for file in &changed {
            sources.show(&file.changes);
        }
        sources.show(&refused);
    }
    if arguments.write {
        write(&changed)?;
    }
    match arguments.json {
        true => show::json(&json!({
            "files": changed.iter().map(|file| json!({
                "path": files::name(&file.path), "format": file.format.id(), "changes": file.changes,
                "isWritten": arguments.write,
            })).collect::<Vec<_>>(),
            "refused": refused,
        }))?,
        false => show::result(&lang::lines(&told(&changed, &refused, arguments)))?,
    }
    Ok(if refused.is_empty() { Exit::Success } else { Exit::Unreadable })
}

/// Reads the files, with a bar where there are many; returns those that change, and why others cannot be migrated.
fn read(
    paths: &[PathBuf],
    engine: &Engine,
    sources: &mut Sources,
) -> Result<(Vec<Migrated>, Vec<Diagnostic>)> {
    let bar = Bar::new(paths.len());
    let (mut changed, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        let name = files::name(path);
        bar.show(&name);
        let before = sources.read(path, &name)?;
        match migrate(path, before, engine) {
            Ok(Some(file)) => changed.push(file),
            Ok(None) => {}
            Err(error) => refused.push(error.to_diagnostic().in_document(name.as_str())),
        }
        bar.done();
    }
    Ok((changed, refused))
}

fn told(changed: &[Migrated], refused: &[Diagnostic], arguments: &MigrateArguments) -> String {
    let verb = if arguments.write { "changed" } else { "would change" };
    let all = plural(arguments.files.len(), "file");
    let refused = match refused.len() {
        0 => String::new(),
        count => format!(", {count} not migrated"),
    };
    let last = format!("{} of {all} {verb}{refused}\n", changed.len());
    let lines = changed.iter().map(|file| format!("{verb} {}", files::name(&file.path)));
    lines.chain([last]).collect::<Vec<_>>().join("\n")
}

/// Migrates a file; none for one in which nothing is old.
fn migrate(path: &Path, before: Vec<u8>, engine: &Engine) -> Result<Option<Migrated>, ImportError> {
    let name = files::name(path);
    let document = Document::read(&before, &name, &Limits::default())?;
    let migrated = migrate_document(document.value.clone(), &engine.anchors)?;
    if migrated.value == document.value {
        return Ok(None);
    }
    let after = match document.syntax {
        Syntax::Yaml => schemas::with_line_of(&before, &write_document(&migrated.value)).into_bytes(),
        _ => pretty(&migrated.value),
    };
    let changes = migrated.changes.into_iter().map(|change| change.in_document(name.as_str())).collect();
    Ok(Some(Migrated { path: path.to_owned(), format: migrated.format, before, after, changes }))
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Writes what each file was beside it, then the files.
fn write(changed: &[Migrated]) -> Result<()> {
    let beside = |file: &Migrated| {
        let mut name = file.path.clone().into_os_string();
        name.push(".bak");
        (PathBuf::from(name), file.before.clone())
    };
    let backups: Vec<(PathBuf, Vec<u8>)> = changed.iter().map(beside).collect();
    let all = backups.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice()));
    files::write(&all.collect::<Vec<_>>(), Existing::Keep, &FilesRead::default())?;
    let all = changed.iter().map(|file| (file.path.clone(), file.after.as_slice()));
    files::write(&all.collect::<Vec<_>>(), Existing::Named, &FilesRead::default())
}
