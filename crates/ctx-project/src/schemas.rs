//! The schemas of all files and reports, and the line by which a file of YAML says which it follows.

use std::path::{Path, PathBuf};

use ctx_engine::Engine;
use ctx_engine::internal::file_schema;
use ctx_engine::schema::FILE_SCHEMAS;
pub use ctx_engine::schema::FileSchema;
use ctx_preset_import::Limits;

use crate::case::CaseFile;
use crate::config::ConfigFile;
use crate::error::{ProjectError, Result, unusable};
use crate::files::{self, Existing, FilesRead};

/// The folder beside agents in which their schemas are; it is hidden, so that verbs pass it over.
const FOLDER: &str = ".ctx";

/// How the line begins; editors know it by these words.
const LINE: &str = "# yaml-language-server:";

/// The schemas of files that only the command reads.
const OWN: [FileSchema; 2] = [
    FileSchema {
        name: "case",
        about: "`case.yaml`: the turn of a case of `ctx test`",
        write: file_schema::<CaseFile>,
    },
    FileSchema {
        name: "config",
        about: "`ctx.toml`: defaults for the command line",
        write: file_schema::<ConfigFile>,
    },
];

/// The names of those that are written and never read.
const REPORTS: [&str; 3] = ["report", "life", "import-report"];

/// Returns the schemas, in the order in which they are listed.
pub fn all() -> Vec<FileSchema> {
    let (files, reports): (Vec<FileSchema>, Vec<FileSchema>) =
        FILE_SCHEMAS.into_iter().partition(|schema| !REPORTS.contains(&schema.name));
    [files, OWN.to_vec(), reports].concat()
}

/// Returns the schema of a name.
pub fn named(name: &str) -> Option<FileSchema> {
    all().into_iter().find(|schema| schema.name == name)
}

/// Returns the name of the file that holds a schema.
pub fn file_name(schema: &FileSchema) -> String {
    format!("{}.schema.json", schema.name)
}

/// Writes a schema as people read it, with a line break at its end.
pub fn text(schema: &FileSchema, engine: &Engine) -> String {
    format!("{:#}\n", (schema.write)(engine))
}

/// Returns the files with schemas of these names that stand beside other files, and what they hold.
pub fn beside(names: &[&str]) -> Vec<(PathBuf, String)> {
    let engine = Engine::new();
    let schemas = names.iter().filter_map(|name| named(name));
    schemas.map(|schema| (Path::new(FOLDER).join(file_name(&schema)), text(&schema, &engine))).collect()
}

/// Returns whether a path is a schema that [`beside`] generates.
pub(crate) fn is_generated(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(FOLDER))
}

/// Returns where schemas stand below a folder; a link could lead elsewhere and is refused.
pub(crate) fn folder_beside(folder: &Path) -> Result<PathBuf> {
    let hidden = folder.join(FOLDER);
    if hidden.is_symlink() { Err(below_link(&hidden)) } else { Ok(hidden) }
}

/// The error of a folder through which files could be written elsewhere.
pub(crate) fn below_link(folder: &Path) -> ProjectError {
    unusable!("cannot write into `{folder}`: it is a link", folder = files::name(folder))
}

/// Writes the schemas of these names below a folder, and returns where they are.
pub(crate) fn write_beside(folder: &Path, names: &[&str]) -> Result<Vec<PathBuf>> {
    files::make_folder(&folder_beside(folder)?)?;
    let texts = beside(names);
    let written: Vec<(PathBuf, &[u8])> =
        texts.iter().map(|(path, text)| (folder.join(path), text.as_bytes())).collect();
    files::write(&written, Existing::Replace, &FilesRead::default())?;
    Ok(written.into_iter().map(|(path, _)| path).collect())
}

/// Puts the line above a file of YAML that names the schema beside it.
pub(crate) fn with_line(name: &str, text: &str) -> String {
    put_above(&format!("{LINE} $schema={FOLDER}/{name}.schema.json"), text)
}

/// The same in TOML, as the extension Even Better TOML knows it.
pub(crate) fn with_line_of_toml(name: &str, text: &str) -> String {
    format!("#:schema {FOLDER}/{name}.schema.json\n{text}")
}

/// The same where the schema is beside a path; otherwise the text stays as it is.
pub fn with_line_beside(path: &Path, name: &str, text: &str) -> String {
    let schema = path.parent().unwrap_or(Path::new("")).join(FOLDER).join(format!("{name}.schema.json"));
    if schema.is_file() { with_line(name, text) } else { text.to_owned() }
}

/// Puts the line that a file had among the comments at its beginning above what is written instead of it.
pub(crate) fn with_line_of(before: &[u8], text: &str) -> String {
    let before = String::from_utf8_lossy(before);
    let is_head = |line: &&str| line.is_empty() || line.starts_with(['#', '\u{feff}']);
    let mut head = before.lines().map(str::trim).take_while(is_head);
    match head.find_map(|line| line.trim_start_matches('\u{feff}').strip_prefix(LINE)) {
        Some(schema) => put_above(&format!("{LINE}{schema}"), text),
        None => text.to_owned(),
    }
}

/// Returns whether a comment is the line that names the schema of its file.
pub fn is_line(comment: &str) -> bool {
    comment.starts_with(LINE)
}

/// What is JSON has no comments, and no file becomes too large to be read.
fn put_above(line: &str, text: &str) -> String {
    let is_json = text.starts_with(['{', '[']);
    let is_large = line.len() + 1 + text.len() > Limits::default().yaml_bytes;
    if is_json || is_large { text.to_owned() } else { format!("{line}\n{text}") }
}

#[cfg(test)]
mod tests;
