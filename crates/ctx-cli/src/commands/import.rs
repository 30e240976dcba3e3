//! `ctx import`: files of other applications as an agent.

mod names;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ctx_preset_import::{
    FieldStatus, FileReport, Import, ImportOptions, ImportReport, SourceFile, import, write_document,
};
use ctx_types::{Diagnostic, Persist as _, Severity};
use serde::Serialize;

use crate::args::AgentImportArguments;
use crate::commands::inputs;
use crate::exit::Exit;
use crate::files::{self, Existing};
use crate::schemas;
use crate::show::{self, Bar, Sources};
use names::Names;

/// Imports files, all at once.
pub(crate) fn run(arguments: &AgentImportArguments) -> Result<Exit> {
    inputs::check_stdin(&arguments.files)?;
    files::refuse_stdin(&arguments.out)?;
    let (read, sources) = read(&arguments.files)?;
    let given: Vec<SourceFile<'_>> = read.iter().map(|(name, bytes)| SourceFile { name, bytes }).collect();
    let made = import(&given, &ImportOptions::default());
    let findings: Vec<Diagnostic> = made.diagnostics().cloned().collect();
    if !arguments.json {
        sources.show(&findings);
    }
    let mut written = outputs(&made, &arguments.out);
    if written.is_empty() && made.report.files.iter().all(|file| file.format.is_none()) {
        bail!("nothing can be imported");
    }
    if let Some(path) = &arguments.report {
        written.push((path.clone(), pretty(&made.report)));
    }
    make_folders(&arguments.out, &written)?;
    let files: Vec<(PathBuf, &[u8])> =
        written.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice())).collect();
    files::write(&files, Existing::Replace, &sources.files_read)?;
    let names: Vec<String> = written.iter().map(|(path, _)| files::name(path)).collect();
    match arguments.json {
        true => show::json(&Answer { files: &made.report.files, written: &names })?,
        false => show::result(&summary(&made.report, &names))?,
    }
    Ok(exit(&made.report, &findings, arguments.strict))
}

/// What is printed for programs.
#[derive(Serialize)]
struct Answer<'a> {
    files: &'a [FileReport],
    written: &'a [String],
}

/// A file that was read, with its name.
type NamedBytes = (String, Vec<u8>);

/// Reads the files, with a bar where there are many.
fn read(paths: &[PathBuf]) -> Result<(Vec<NamedBytes>, Sources)> {
    let mut sources = Sources::default();
    let bar = Bar::new(paths.len());
    let mut read = Vec::with_capacity(paths.len());
    for path in paths {
        let name = files::name(path);
        bar.show(&name);
        let bytes = sources.read(path, &name)?;
        read.push((name, bytes));
        bar.done();
    }
    Ok((read, sources))
}

fn exit(report: &ImportReport, findings: &[Diagnostic], is_strict: bool) -> Exit {
    let is_lost = report.count(FieldStatus::Unsupported) > 0
        || findings.iter().any(|finding| finding.severity == Severity::Error);
    let is_unreadable = report.files.iter().any(|file| file.format.is_none() && file.fields.is_empty());
    match () {
        () if is_strict && is_lost => Exit::Findings,
        () if is_unreadable => Exit::Unreadable,
        () => Exit::Success,
    }
}

fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Returns the files that are written, below a folder.
fn outputs(made: &Import, out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut names = Names::default();
    let mut written = Vec::new();
    let mut add = |path: PathBuf, bytes: Vec<u8>| written.push((out.join(path), bytes));
    if let Some(agent) = &made.agent {
        let text = write_document(&agent.write());
        add(names.of(&["agent.yaml"]), schemas::with_line("agent", &text).into_bytes());
    }
    if let Some(profile) = &made.profile {
        let text = write_document(&profile.write());
        add(names.of(&["profile.yaml"]), schemas::with_line("profile", &text).into_bytes());
    }
    if let Some(template) = &made.template {
        add(names.of(&["template.yaml"]), write_document(template).into_bytes());
    }
    for book in &made.worldbooks {
        let file = format!("{}.json", book.name);
        add(names.of(&["worldbooks", &file]), pretty(&book.book.write()));
    }
    for chat in &made.conversations {
        let file = format!("{}.json", chat.name);
        add(names.of(&["conversations", &file]), pretty(&chat.session.write()));
    }
    for asset in &made.assets {
        let steps: Vec<&str> = std::iter::once("assets").chain(asset.path.split('/')).collect();
        add(names.of(&steps), asset.bytes.clone());
    }
    let followed = [made.agent.as_ref().map(|_| "agent"), made.profile.as_ref().map(|_| "profile")];
    let followed: Vec<&str> = followed.into_iter().flatten().collect();
    let beside = schemas::beside(&followed);
    written.extend(beside.into_iter().map(|(path, text)| (out.join(path), text.into_bytes())));
    written
}

/// Makes the folders of files; one that is a link could lead elsewhere and is refused.
fn make_folders(out: &Path, written: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    files::make_folder(out)?;
    for (path, _) in written {
        let Ok(below) = path.strip_prefix(out) else { continue };
        let mut folder = out.to_owned();
        for step in below.parent().into_iter().flat_map(Path::components) {
            folder.push(step);
            if folder.is_symlink() {
                bail!("cannot write below `{}`: it is a link", files::name(&folder));
            }
            if !folder.is_dir() {
                files::make_folder(&folder)?;
            }
        }
    }
    Ok(())
}

/// How many written files are named.
const SHOWN: usize = 20;

fn summary(report: &ImportReport, names: &[String]) -> String {
    let rows = report.files.iter().map(|file| {
        let count = |status| file.count(status).to_string();
        let format = file.format.map_or("unreadable", ctx_engine::Format::id);
        let [mapped, approximated, kept, unsupported] = FieldStatus::ALL.map(count);
        [file.path.clone(), format.to_owned(), mapped, approximated, kept, unsupported]
    });
    let header = ["file", "format", "mapped", "approximated", "kept", "unsupported"];
    let table = show::listing(header, rows);
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("wrote {name}")).collect();
    let shown = shown.join("\n");
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("and {more} more\n"),
    };
    format!("{table}\n\n{shown}\n{more}")
}
