//! The files that an import writes: all of them or none, and nothing elsewhere.

mod names;
mod rules;

use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ctx_preset_import::{Import, SourceFile, write_document};
use ctx_types::{Persist, Phrase, phrase};

use crate::Sources;
use crate::digits;
use crate::error::{ProjectError, Result};
use crate::files::{self, Existing};
use crate::schemas;
use names::Names;

pub use rules::report_broken as report_broken_rules;

/// The name of the agent's file.
pub const AGENT: &str = "agent.yaml";

/// The name of the user profile's file.
pub const PROFILE: &str = "profile.yaml";

/// The name of the folder of conversations.
pub const CONVERSATIONS: &str = "conversations";

/// A file that is written.
pub type Output<'a> = (PathBuf, Cow<'a, [u8]>);

/// Refuses a report onto a file that the import itself makes, or onto an agent that another one made or will make.
pub fn refuse_twice(report: &Path, written: &[Output<'_>], out: &Path) -> Result<(), ProjectError> {
    let is_same = |path: &Path| std::path::absolute(path).ok() == std::path::absolute(report).ok();
    let what = match () {
        () if written.iter().any(|(path, _)| is_same(path)) => "a file of this import",
        () if is_same(&out.join(AGENT)) => "the agent file of an import",
        () => return Ok(()),
    };
    let report = files::name(report);
    Err(ProjectError::Usage(phrase!(
        "cannot write the report to `{report}`, {what}; use another file",
        report,
        what = Phrase::from(what)
    )))
}

/// Returns the existing files that an import would change, without generated schemas.
///
/// Ignores links and folders: [`write()`] rejects both.
pub fn changed_files<'a>(written: &'a [Output<'_>]) -> Vec<&'a Path> {
    let is_changed = |path: &Path, bytes: &[u8]| {
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_file && !files::read(path).is_ok_and(|existing| existing == bytes)
    };
    let own = written.iter().filter(|(path, _)| !schemas::is_generated(path));
    own.filter(|(path, bytes)| is_changed(path, bytes)).map(|(path, _)| path.as_path()).collect()
}

/// Writes all files or none, the agent last: where it is, all is there that it asks for.
pub fn write(out: Option<&Path>, written: &[Output<'_>], sources: &Sources) -> Result<()> {
    let mut folders = Vec::new();
    let files: Vec<(PathBuf, &[u8])> =
        written.iter().rev().map(|(path, bytes)| (path.clone(), bytes.as_ref())).collect();
    let make = |out| {
        make_folders(out, written, &mut folders)
            .map(|()| below(out, written).iter().for_each(|folder| files::remove_leftovers(folder)))
    };
    let done =
        out.map_or(Ok(()), make).and_then(|()| files::write(&files, Existing::Replace, &sources.files_read));
    if done.is_err() {
        // Only empty ones go, so that nothing of anybody is lost.
        folders.iter().rev().for_each(|folder| std::fs::remove_dir(folder).unwrap_or_default());
    }
    done
}

/// Returns the folder and those below it in which files are written, each once.
fn below<'a>(out: &Path, written: &'a [Output<'_>]) -> BTreeSet<&'a Path> {
    let folders = written.iter().filter_map(|(path, _)| path.parent());
    folders.filter(|folder| folder.starts_with(out)).collect()
}

/// Returns the files that are written, below a folder; `given` are those of the import.
pub fn of<'a>(made: &'a Import, given: &[SourceFile<'a>], out: &Path) -> Vec<Output<'a>> {
    let mut names = Names::default();
    let mut written = Vec::new();
    let mut add = |path: PathBuf, bytes: Cow<'a, [u8]>| written.push((out.join(path), bytes));
    if let Some(agent) = &made.agent {
        let text = write_document(&agent.write());
        add(names.of(&[AGENT]), schemas::with_line("agent", &text).into_bytes().into());
    }
    if let Some(profile) = &made.profile {
        let text = write_document(&profile.write());
        add(names.of(&[PROFILE]), schemas::with_line("profile", &text).into_bytes().into());
    }
    if let Some(template) = &made.template {
        add(names.of(&["template.yaml"]), write_document(template).into_bytes().into());
    }
    for book in &made.worldbooks {
        let file = format!("{}.json", book.name);
        add(names.of(&["worldbooks", &file]), files::pretty_json(&book.book).into());
    }
    for chat in &made.conversations {
        let file = format!("{}.json", chat.name);
        add(names.of(&[CONVERSATIONS, &file]), files::pretty_json(&chat.session).into());
    }
    for asset in &made.assets {
        let steps: Vec<&str> = std::iter::once("assets").chain(asset.path.split('/')).collect();
        add(names.of(&steps), asset.bytes(given).into());
    }
    let followed = [made.agent.as_ref().map(|_| "agent"), made.profile.as_ref().map(|_| "profile")];
    let followed: Vec<&str> = followed.into_iter().flatten().collect();
    let beside = schemas::beside(&followed);
    written.extend(beside.into_iter().map(|(path, text)| (out.join(path), text.into_bytes().into())));
    written
}

/// Reports the numbers that lose digits where they are written.
pub fn report_lost_digits(made: &mut Import, given: &[SourceFile<'_>]) {
    let agent = made.agent.iter().map(Persist::write);
    let books = made.worldbooks.iter().map(|book| json!(book.book));
    let chats = made.conversations.iter().map(|chat| json!(chat.session));
    let written: Vec<Value> = agent.chain(books).chain(chats).collect();
    for file in &mut made.report.files {
        let read = given.iter().find(|read| read.name == file.path);
        let lost = read.and_then(|read| digits::lost(read.bytes, &written));
        file.diagnostics.extend(lost.map(|lost| lost.in_document(file.path.as_str())));
    }
}

/// Makes the folders of files and notes which were not there; one that is a link could lead elsewhere and is refused.
fn make_folders(out: &Path, written: &[Output<'_>], made: &mut Vec<PathBuf>) -> Result<()> {
    let mut make = |folder: &Path| {
        let failed = |error| ProjectError::Unusable(files::not_created(folder, &error));
        std::fs::create_dir(folder).map_err(failed).map(|()| made.push(folder.to_owned()))
    };
    if !written.iter().any(|(path, _)| path.starts_with(out)) {
        return Ok(());
    }
    let missing: Vec<&Path> =
        out.ancestors().take_while(|folder| *folder != Path::new("") && !folder.is_dir()).collect();
    missing.into_iter().rev().try_for_each(&mut make)?;
    for (path, _) in written {
        let Ok(below) = path.strip_prefix(out) else { continue };
        let mut folder = out.to_owned();
        for step in below.parent().into_iter().flat_map(Path::components) {
            folder.push(step);
            if folder.is_symlink() {
                return Err(schemas::below_link(&folder));
            }
            if !folder.is_dir() {
                make(&folder)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_files_with_other_content() {
        let out = tempfile::tempdir().unwrap();
        let path = |name: &str| out.path().join(name);
        std::fs::create_dir(path(".ctx")).unwrap();
        for name in ["edited.yaml", "same.yaml", ".ctx/agent.schema.json"] {
            std::fs::write(path(name), name).unwrap();
        }
        let output = |name: &str, text: &'static str| (path(name), text.as_bytes().into());
        let written: [Output<'_>; 4] = [
            output("edited.yaml", "imported"),
            output("same.yaml", "same.yaml"),
            output("new.yaml", "new"),
            output(".ctx/agent.schema.json", "newer"),
        ];
        assert_eq!(changed_files(&written), [path("edited.yaml")]);
    }
}
