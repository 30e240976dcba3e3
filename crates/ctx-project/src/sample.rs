//! A small project to begin with.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::{self, Existing, FilesRead};
use crate::schemas;

/// The files of the project.
const FILES: [(&str, &str); 6] = [
    ("agent.yaml", include_str!("../templates/agent.yaml")),
    ("profile.yaml", include_str!("../templates/profile.yaml")),
    ("conversation.json", include_str!("../templates/conversation.json")),
    ("ctx.toml", include_str!("../templates/ctx.toml")),
    ("case.yaml", include_str!("../templates/case.yaml")),
    ("expected.txt", include_str!("../templates/expected.txt")),
];

/// The files that say which schema they follow.
const SCHEMAS: [(&str, &str); 4] =
    [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("ctx.toml", "config"), ("case.yaml", "case")];

/// Stands at the end of the agent that remembers long conversations.
const LONG: &str = "
# For long conversations: compress older messages, and recall the relevant ones.
parameters:
  processors:
    - id: request-compressor
      enabled: true
    - id: recall
      enabled: true
";

/// What the agent of the project is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Conversations that fit the window.
    Short,
    /// Conversations that outgrow it: compression and recall are on.
    Long,
}

/// What was written beside the files of the project.
#[derive(Debug)]
pub struct Written {
    /// The schemas that the files follow.
    pub schemas: Vec<PathBuf>,
    /// The folder in which they are.
    pub schema_folder: PathBuf,
}

/// Returns where the files of the project stand in a folder.
pub fn paths(folder: &Path) -> [PathBuf; 6] {
    FILES.map(|(name, _)| folder.join(name))
}

/// Writes the project: all of its files, or none if one of them exists (and is to be kept) or cannot be written.
pub fn write(folder: &Path, sample: Sample, existing: Existing) -> Result<Written> {
    files::make_folder(folder)?;
    let schema_folder = schemas::folder_beside(folder)?;
    let end = |name| if name == "agent.yaml" && sample == Sample::Long { LONG } else { "" };
    let texts = FILES.map(|(name, text)| (folder.join(name), with_schema(name, text) + end(name)));
    let files = texts.each_ref().map(|(path, text)| (path.clone(), text.as_bytes()));
    files::write(&files, existing, &FilesRead::default())?;
    let schemas = schemas::write_beside(folder, &SCHEMAS.map(|(_, schema)| schema))?;
    Ok(Written { schemas, schema_folder })
}

/// Puts the line above a file that names its schema.
fn with_schema(name: &str, text: &str) -> String {
    match SCHEMAS.iter().find(|(file, _)| *file == name) {
        Some((_, schema @ "config")) => schemas::with_line_of_toml(schema, text),
        Some((_, schema)) => schemas::with_line(schema, text),
        None => text.to_owned(),
    }
}
