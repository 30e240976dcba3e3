//! `ctx migrate`: old spellings in files of AIO Hub become today's.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_engine::Engine;
use ctx_types::{Diagnostic, count_of, phrase};
use serde_json::json;

use crate::args::MigrateArguments;
use crate::exit::Exit;
use crate::lang;
use crate::show::{self, Bar};
use ctx_project::Sources;
use ctx_project::error::Result;
use ctx_project::files::{self, Once};
use ctx_project::inputs;
use ctx_project::migration::{self, Migration};
use ctx_project::unusable;

/// Describes what changes, and changes it where that is asked for.
pub(crate) fn run(language: Language, arguments: &MigrateArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    if arguments.files.iter().any(|path| files::is_stdin(path)) {
        return Err(unusable!("cannot change standard input; name a file"));
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
        migration::write(&changed)?;
    }
    if arguments.json {
        show::json(&json!({
            "files": changed.iter().map(|file| json!({
                "path": files::name(&file.path), "format": file.format.id(), "changes": file.changes,
                "isWritten": is_written,
            })).collect::<Vec<_>>(),
            "refused": refused,
        }))?;
    } else {
        show::result(&told(language, &changed, (refused.len(), given.len()), arguments.write))?;
    }
    Ok(if refused.is_empty() { Exit::Success } else { Exit::Unreadable })
}

/// Reads the files, with a bar where there are many; returns those that change, and why others cannot be migrated.
fn read(
    paths: &[&Path],
    engine: &Engine,
    sources: &mut Sources,
) -> Result<(Vec<Migration>, Vec<Diagnostic>)> {
    let bar = Bar::new(paths.len());
    let (mut changed, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        let name = files::name(path);
        bar.show(&name);
        let before = sources.read(path, &name)?;
        match migration::migrate(path, before, engine) {
            Ok(Some(file)) => changed.push(file),
            Ok(None) => {}
            Err(refusal) => refused.push(refusal.in_document(name.as_str())),
        }
        bar.done();
    }
    Ok((changed, refused))
}

/// Describes what was done; of `all` files `refused` ones cannot be migrated, for which nothing is changed.
fn told(language: Language, changed: &[Migration], (refused, all): (usize, usize), is_write: bool) -> String {
    let (count, files) = (changed.len(), count_of!(all, "file"));
    let last = match (refused, is_write) {
        (0, true) => phrase!("changed {count} of {files}", count, files),
        (0, false) => phrase!("would change {count} of {files}", count, files),
        (_, false) => {
            phrase!("would change {count} of {files}; cannot migrate {refused}", count, files, refused)
        }
        (_, true) => phrase!(
            "nothing changed: cannot migrate {refused} of {files}; remove these from the command",
            refused,
            files
        ),
    };
    let line = |path: String| {
        if is_write && refused == 0 {
            phrase!("changed {path}", path)
        } else {
            phrase!("would change {path}", path)
        }
    };
    let lines = changed.iter().map(|file| line(files::name(&file.path))).chain([last]);
    lines.map(|line| lang::say(language, &line) + "\n").collect()
}
