//! `ctx check`: what is wrong with files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ctx_engine::{Compile, Engine, Format, ImportError, Limits, read_agent, read_conversation};
use ctx_types::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::exit::Exit;
use crate::files;
use crate::show::{self, Sources};

/// How many files a folder may have.
const MAX_FILES: usize = 10_000;

/// How deep folders may be nested.
const MAX_DEPTH: usize = 32;

/// Checks files and folders.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit> {
    let engine = Engine::new();
    let mut checked = Vec::new();
    for path in &arguments.paths {
        for file in files_of(path)? {
            checked.extend(check(&file, path.is_dir(), &engine)?);
        }
    }
    let count = |severity| checked.iter().map(|file: &Checked| file.count(severity)).sum::<usize>();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if arguments.json {
        let findings: Vec<Value> = checked.iter().flat_map(Checked::to_json).collect();
        let files: Vec<&str> = checked.iter().map(|file| file.name.as_str()).collect();
        show::json(&json!({ "files": files, "errors": errors, "warnings": warnings, "findings": findings }))?;
    } else {
        for file in &checked {
            file.sources.show(&file.findings, file.format);
        }
        show::result(&format!("{} checked: {errors} errors, {warnings} warnings\n", plural(checked.len())))?;
    }
    let unreadable = checked.iter().any(|file| file.format.is_none());
    Ok(match (unreadable, errors, warnings) {
        (true, ..) => Exit::Unreadable,
        (false, 0, 0) => Exit::Success,
        (false, 0, _) if !arguments.deny_warnings => Exit::Success,
        _ => Exit::Findings,
    })
}

/// A file that was looked at.
struct Checked {
    name: String,
    sources: Sources,
    /// None if the file is unreadable.
    format: Option<Format>,
    findings: Vec<Diagnostic>,
}

impl Checked {
    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    fn to_json(&self) -> Vec<Value> {
        let finding = |finding: &Diagnostic| {
            let mut value = json!(finding);
            if let (Value::Object(map), Some(position)) =
                (&mut value, self.sources.position(finding, self.format))
            {
                map.insert("position".to_owned(), json!(position));
            }
            value
        };
        self.findings.iter().map(finding).collect()
    }
}

/// Checks one file; of a folder, files that are nothing of ours are passed over.
fn check(path: &Path, is_of_folder: bool, engine: &Engine) -> Result<Option<Checked>> {
    let name = files::name(path);
    let bytes = files::read(path)?;
    let mut sources = Sources::default();
    sources.add(&name, &bytes);
    let (format, mut findings) = match read(&bytes, &name, engine) {
        Ok((format, findings)) => (Some(format), findings),
        Err(ImportError::UnknownShape { .. }) if is_of_folder => return Ok(None),
        Err(error) => (None, vec![sources.explained(&name, &error)]),
    };
    for finding in &mut findings {
        finding.location.document.get_or_insert_with(|| name.as_str().into());
    }
    Ok(Some(Checked { name, sources, format, findings }))
}

/// Reads a file as an agent, or else as a conversation.
fn read(bytes: &[u8], name: &str, engine: &Engine) -> Result<(Format, Vec<Diagnostic>), ImportError> {
    let limits = Limits::default();
    match read_agent(bytes, name, &limits, &engine.anchors) {
        Ok(imported) => {
            let compiled = engine.compile(&imported.value, &Compile::default());
            let compiled = compiled.diagnostics().iter().cloned();
            Ok((imported.format, imported.diagnostics.into_iter().chain(compiled).collect()))
        }
        Err(not_agent @ ImportError::UnknownShape { .. }) => match read_conversation(bytes, name, &limits) {
            Ok(imported) => Ok((imported.format, imported.diagnostics)),
            Err(_) => Err(not_agent),
        },
        Err(error) => match read_conversation(bytes, name, &limits) {
            // JSONL is neither JSON nor YAML.
            Ok(imported) => Ok((imported.format, imported.diagnostics)),
            Err(_) => Err(error),
        },
    }
}

/// The file itself, or the JSON and YAML files of a folder in the order of their names.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, 0, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let name = folder.display();
    if depth > MAX_DEPTH {
        bail!("`{name}` is nested more than {MAX_DEPTH} folders deep");
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read the folder `{name}`"))?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read the folder `{name}`"))?;
        // Links are not followed: they may lead out of the folder or round in a circle.
        let kind = entry.file_type().with_context(|| format!("cannot read `{}`", entry.path().display()))?;
        paths.push((entry.path(), kind));
    }
    paths.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in paths {
        let is_ours = path.extension().is_some_and(|end| end == "json" || end == "yaml" || end == "yml");
        if kind.is_dir() {
            walk(&path, depth + 1, found)?;
        } else if kind.is_file() && is_ours {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            bail!("more than {MAX_FILES} files; check smaller folders");
        }
    }
    Ok(())
}

fn plural(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}
