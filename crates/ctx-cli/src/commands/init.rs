//! `ctx init`: a small project to begin with.

use ctx_language::Language;
use ctx_types::phrase;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use crate::args::InitArguments;
use crate::exit::Exit;
use crate::lang::{self, Told};
use crate::{schemas, show};
use ctx_project::error::ProjectError;
use ctx_project::files::{self, Existing, FilesRead};

/// The files of the project.
const FILES: [(&str, &str); 6] = [
    ("agent.yaml", include_str!("../../templates/agent.yaml")),
    ("profile.yaml", include_str!("../../templates/profile.yaml")),
    ("conversation.json", include_str!("../../templates/conversation.json")),
    ("ctx.toml", include_str!("../../templates/ctx.toml")),
    ("case.yaml", include_str!("../../templates/case.yaml")),
    ("expected.txt", include_str!("../../templates/expected.txt")),
];

/// The files that say which schema they follow.
const SCHEMAS: [(&str, &str); 4] =
    [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("ctx.toml", "config"), ("case.yaml", "case")];

/// Writes the project: all of its files, or none if one of them exists or cannot be written.
pub(crate) fn run(language: Language, arguments: &InitArguments) -> Result<Exit> {
    let folder = &arguments.folder;
    files::refuse_stdin(folder)?;
    let texts = FILES.map(|(name, text)| (folder.join(name), with_schema(name, text)));
    let files = texts.each_ref().map(|(path, text)| (path.clone(), text.as_bytes()));
    let existing = if arguments.force { Existing::Replace } else { Existing::Keep };
    if let (Existing::Keep, Some((path, _))) =
        (existing, files.iter().find(|(path, _)| path.exists() || path.is_symlink()))
    {
        let message =
            phrase!("`{path}` exists; name another folder, or add `--force`", path = files::name(path));
        return Err(ProjectError::Usage(message).into());
    }
    if folder.is_file() {
        return Err(Told(phrase!("`{path}` is a file; name a folder", path = files::name(folder))).into());
    }
    files::make_folder(folder)?;
    let hidden = schemas::folder_beside(folder)?;
    files::write(&files, existing, &FilesRead::default())?;
    let schemas = schemas::write_beside(folder, &SCHEMAS.map(|(_, schema)| schema))?;
    let names = files.map(|(path, _)| path);
    match arguments.json {
        true => {
            let written = names.iter().chain(&schemas).map(|path| files::name(path));
            show::json(&json!({ "written": written.collect::<Vec<_>>() }))?;
        }
        false => show::result(&welcome(language, folder, &names, &hidden))?,
    }
    Ok(Exit::Success)
}

/// Puts the line above a file that names its schema.
fn with_schema(name: &str, text: &str) -> String {
    match SCHEMAS.iter().find(|(file, _)| *file == name) {
        Some((_, schema @ "config")) => schemas::with_line_of_toml(schema, text),
        Some((_, schema)) => schemas::with_line(schema, text),
        None => text.to_owned(),
    }
}

fn welcome(language: Language, folder: &Path, files: &[PathBuf; 6], schemas: &Path) -> String {
    let mut text: String = files.iter().map(|file| show::wrote(language, &quoted(file))).collect();
    let beside = phrase!(
        "wrote {path} (schemas, by which editors complete and check these files)",
        path = quoted(schemas)
    );
    text += &lang::say(language, &beside);
    let enter = match folder == Path::new(".") {
        true => String::new(),
        false => format!("  cd {}\n", quoted(folder)),
    };
    let [see, change] = ["see what a model would receive:", "change it, and see what that does:"];
    let [see, change] = [see, change].map(|line| lang::word(language, line));
    text + &format!("\n\n{see}\n{enter}  ctx assemble\n\n{change}\n  ctx test\n")
}

/// Writes a path so that it can be pasted into a command line.
fn quoted(path: &Path) -> String {
    let path = files::name(path);
    if path.contains(' ') { format!("\"{path}\"") } else { path }
}
