//! `ctx init`: a small project to begin with.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::json;

use crate::args::InitArguments;
use crate::exit::{Exit, UsageError};
use crate::files::{self, Existing, FilesRead};
use crate::show;

/// The files of the project.
const FILES: [(&str, &str); 5] = [
    ("agent.yaml", include_str!("../../templates/agent.yaml")),
    ("profile.yaml", include_str!("../../templates/profile.yaml")),
    ("conversation.json", include_str!("../../templates/conversation.json")),
    ("case.yaml", include_str!("../../templates/case.yaml")),
    ("expected.txt", include_str!("../../templates/expected.txt")),
];

/// Writes the project: all of its files, or none if one of them exists or cannot be written.
pub(crate) fn run(arguments: &InitArguments) -> Result<Exit> {
    let folder = &arguments.folder;
    files::refuse_stdin(folder)?;
    let files = FILES.map(|(name, text)| (folder.join(name), text.as_bytes()));
    let existing = if arguments.force { Existing::Replace } else { Existing::Keep };
    if let (Existing::Keep, Some((path, _))) =
        (existing, files.iter().find(|(path, _)| path.exists() || path.is_symlink()))
    {
        let message = format!("`{}` exists; name another folder, or say `--force`", files::name(path));
        return Err(UsageError(message).into());
    }
    if folder.is_file() {
        bail!("`{}` is a file; name a folder", files::name(folder));
    }
    files::make_folder(folder)?;
    files::write(&files, existing, &FilesRead::default())?;
    let names = files.map(|(path, _)| path);
    match arguments.json {
        true => show::json(&json!({ "written": names.map(|path| files::name(&path)) }))?,
        false => show::result(&welcome(folder, &names))?,
    }
    Ok(Exit::Success)
}

fn welcome(folder: &Path, files: &[PathBuf; 5]) -> String {
    let written: Vec<String> = files.iter().map(|file| format!("wrote {}\n", quoted(file))).collect();
    let [agent, profile, conversation, ..] = files.each_ref().map(|file| quoted(file));
    format!(
        "{}\n\
         see what a model would receive:\n  \
         ctx assemble {agent} --session {conversation} --profile {profile}\n\n\
         change it, and see what that does:\n  \
         ctx test {}\n",
        written.concat(),
        quoted(folder)
    )
}

/// Writes a path so that it can be pasted into a command line.
fn quoted(path: &Path) -> String {
    let path = files::name(path);
    if path.contains(' ') { format!("\"{path}\"") } else { path }
}
