//! `ctx import`: files of other applications as an agent.

mod names;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use ctx_preset_import::{
    FieldStatus, FileReport, Import, ImportOptions, ImportReport, SourceFile, import, write_document,
};
use ctx_types::{Diagnostic, Persist as _, Severity};
use serde::Serialize;

use crate::args::AgentImportArguments;
use crate::commands::inputs;
use crate::exit::{Exit, UsageError};
use crate::files::{self, Existing};
use crate::lang;
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
        refuse_twice(path, &written)?;
        written.push((path.clone(), pretty(&made.report).into()));
    }
    write(&arguments.out, &written, &sources)?;
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

/// A file that is written.
type Output<'a> = (PathBuf, Cow<'a, [u8]>);

/// Refuses a report onto a file that the import itself makes.
fn refuse_twice(report: &Path, written: &[Output<'_>]) -> Result<(), UsageError> {
    let is_same = |path: &Path| std::path::absolute(path).ok() == std::path::absolute(report).ok();
    match written.iter().any(|(path, _)| is_same(path)) {
        true => Err(UsageError(format!(
            "`{}` is a file that the import makes; name another file for the report",
            files::name(report)
        ))),
        false => Ok(()),
    }
}

/// Writes all files or none, the agent last: where it is, all is there that it asks for.
fn write(out: &Path, written: &[Output<'_>], sources: &Sources) -> Result<()> {
    let mut folders = Vec::new();
    let files: Vec<(PathBuf, &[u8])> =
        written.iter().rev().map(|(path, bytes)| (path.clone(), bytes.as_ref())).collect();
    let done = make_folders(out, written, &mut folders)
        .and_then(|()| files::write(&files, Existing::Replace, &sources.files_read));
    if done.is_err() {
        // Only empty ones go, so that nothing of anybody is lost.
        folders.iter().rev().for_each(|folder| std::fs::remove_dir(folder).unwrap_or_default());
    }
    done
}

/// Returns the files that are written, below a folder.
fn outputs<'a>(made: &'a Import, out: &Path) -> Vec<Output<'a>> {
    let mut names = Names::default();
    let mut written = Vec::new();
    let mut add = |path: PathBuf, bytes: Cow<'a, [u8]>| written.push((out.join(path), bytes));
    if let Some(agent) = &made.agent {
        let text = write_document(&agent.write());
        add(names.of(&["agent.yaml"]), schemas::with_line("agent", &text).into_bytes().into());
    }
    if let Some(profile) = &made.profile {
        let text = write_document(&profile.write());
        add(names.of(&["profile.yaml"]), schemas::with_line("profile", &text).into_bytes().into());
    }
    if let Some(template) = &made.template {
        add(names.of(&["template.yaml"]), write_document(template).into_bytes().into());
    }
    for book in &made.worldbooks {
        let file = format!("{}.json", book.name);
        add(names.of(&["worldbooks", &file]), pretty(&book.book.write()).into());
    }
    for chat in &made.conversations {
        let file = format!("{}.json", chat.name);
        add(names.of(&["conversations", &file]), pretty(&chat.session.write()).into());
    }
    for asset in &made.assets {
        let steps: Vec<&str> = std::iter::once("assets").chain(asset.path.split('/')).collect();
        add(names.of(&steps), asset.bytes.as_slice().into());
    }
    let followed = [made.agent.as_ref().map(|_| "agent"), made.profile.as_ref().map(|_| "profile")];
    let followed: Vec<&str> = followed.into_iter().flatten().collect();
    let beside = schemas::beside(&followed);
    written.extend(beside.into_iter().map(|(path, text)| (out.join(path), text.into_bytes().into())));
    written
}

/// Makes the folders of files and notes which were not there; one that is a link could lead elsewhere and is refused.
fn make_folders(out: &Path, written: &[Output<'_>], made: &mut Vec<PathBuf>) -> Result<()> {
    let mut make = |folder: &Path| {
        let failed = |error: std::io::Error| {
            anyhow!("cannot make the folder `{}`: {}", files::name(folder), files::reason(&error))
        };
        std::fs::create_dir(folder).map_err(failed).map(|()| made.push(folder.to_owned()))
    };
    let missing: Vec<&Path> =
        out.ancestors().take_while(|folder| *folder != Path::new("") && !folder.is_dir()).collect();
    missing.into_iter().rev().try_for_each(&mut make)?;
    for (path, _) in written {
        let Ok(below) = path.strip_prefix(out) else { continue };
        let mut folder = out.to_owned();
        for step in below.parent().into_iter().flat_map(Path::components) {
            folder.push(step);
            if folder.is_symlink() {
                bail!("cannot write below `{}`: it is a link", files::name(&folder));
            }
            if !folder.is_dir() {
                make(&folder)?;
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
        let format = file.format.map_or_else(|| lang::text("unreadable"), |format| format.id().into());
        let [mapped, approximated, kept, unsupported] = FieldStatus::ALL.map(count);
        [file.path.clone(), format.into_owned(), mapped, approximated, kept, unsupported]
    });
    let header = ["file", "format", "mapped", "approximated", "kept", "unsupported"];
    let table = show::listing(header, rows);
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("wrote {name}")).collect();
    let shown = shown.join("\n");
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("and {more} more\n"),
    };
    format!("{table}\n\n{}", lang::lines(&format!("{shown}\n{more}")))
}
