//! `ctx migrate`: old spellings of agents become today's.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ctx_engine::Engine;
use ctx_preset_import::{Document, Limits, Syntax, write_document};
use ctx_types::{Diagnostic, Persist as _, plural};
use serde_json::{Value, json};

use crate::args::MigrateArguments;
use crate::commands::inputs::{self, AgentFile};
use crate::exit::Exit;
use crate::files::{self, Existing, FilesRead};
use crate::show::{self, Sources};

/// A file that changes.
struct Migrated {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
    changes: Vec<Diagnostic>,
}

/// Says what changes, and changes it where that is asked for.
pub(crate) fn run(arguments: &MigrateArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    let engine = Engine::new();
    let mut sources = Sources::default();
    let migrated: Vec<Migrated> =
        arguments.files.iter().map(|path| migrate(path, &engine, &mut sources)).collect::<Result<_>>()?;
    let changed: Vec<&Migrated> = migrated.iter().filter(|file| file.before != file.after).collect();
    if !arguments.json {
        for file in &changed {
            sources.show(&file.changes);
        }
    }
    if arguments.write {
        write(&changed)?;
    }
    let names: Vec<String> = changed.iter().map(|file| files::name(&file.path)).collect();
    match arguments.json {
        true => show::json(&json!({
            "files": changed.iter().map(|file| json!({
                "path": files::name(&file.path), "changes": file.changes, "isWritten": arguments.write,
            })).collect::<Vec<_>>(),
        }))?,
        false => show::result(&told(&names, arguments))?,
    }
    Ok(Exit::Success)
}

fn told(names: &[String], arguments: &MigrateArguments) -> String {
    let verb = if arguments.write { "changed" } else { "would change" };
    let all = plural(arguments.files.len(), "file");
    let last = format!("{} of {all} {verb}\n", names.len());
    let lines = names.iter().map(|name| format!("{verb} {name}")).chain([last]);
    lines.collect::<Vec<_>>().join("\n")
}

fn migrate(path: &Path, engine: &Engine, sources: &mut Sources) -> Result<Migrated> {
    if files::is_stdin(path) {
        bail!("standard input cannot be changed; name a file");
    }
    let name = files::name(path);
    let before = sources.read(path, &name)?;
    let file = AgentFile::parse(&before, &name, engine).map_err(|error| sources.explain(&name, &error))?;
    let document = Document::read(&before, &name, &Limits::default())?;
    let is_plain = document.value.get("presetMessages").is_some();
    let written = file.agent.write();
    let after = match () {
        () if !is_plain || written == document.value => before.clone(),
        () if document.syntax == Syntax::Yaml => write_document(&written).into_bytes(),
        () => pretty(&written)?,
    };
    Ok(Migrated { path: path.to_owned(), before, after, changes: file.found })
}

fn pretty(value: &Value) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes what each file was beside it, then the files.
fn write(changed: &[&Migrated]) -> Result<()> {
    let beside = |file: &&Migrated| {
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
