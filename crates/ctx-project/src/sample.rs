//! A small project to begin with.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::{self, Existing, FilesRead};
use crate::schemas;

/// Returns the names and texts of the files of a project in the folder with templates.
macro_rules! templates {
    ($folder:literal) => {
        [
            ("agent.yaml", include_str!(concat!("../", $folder, "/agent.yaml"))),
            ("profile.yaml", include_str!(concat!("../", $folder, "/profile.yaml"))),
            ("conversation.json", include_str!(concat!("../", $folder, "/conversation.json"))),
            ("ctx.toml", include_str!(concat!("../", $folder, "/ctx.toml"))),
            ("case.yaml", include_str!(concat!("../", $folder, "/case.yaml"))),
            ("expected.txt", include_str!(concat!("../", $folder, "/expected.txt"))),
        ]
    };
}

const ENGLISH: [(&str, &str); 6] = templates!("templates");

const CHINESE: [(&str, &str); 6] = templates!("templates-zh");

/// The files that name their schema.
const SCHEMAS: [(&str, &str); 4] =
    [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("ctx.toml", "config"), ("case.yaml", "case")];

/// The end of the agent for long conversations, after a comment.
const LONG: &str = "parameters:
  processors:
    - id: request-compressor
      enabled: true
    - id: recall
      enabled: true
";

/// Purpose of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Conversations that fit the context window.
    Short,
    /// Longer conversations: request compression and recall are enabled.
    Long,
}

/// Language of the texts and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleLanguage {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

/// The written schemas.
#[derive(Debug)]
pub struct Written {
    /// The files.
    pub schemas: Vec<PathBuf>,
    /// Their folder.
    pub schema_folder: PathBuf,
}

/// Returns the paths of the project's files in a folder.
pub fn paths(folder: &Path) -> [PathBuf; 6] {
    ENGLISH.map(|(name, _)| folder.join(name))
}

/// Writes the project: all of its files, or none if one of them exists (and is to be kept) or cannot be written.
pub fn write(folder: &Path, sample: Sample, language: SampleLanguage, existing: Existing) -> Result<Written> {
    files::make_folder(folder)?;
    let schema_folder = schemas::folder_beside(folder)?;
    let (templates, comment) = match language {
        SampleLanguage::English => {
            (ENGLISH, "# For long conversations: compress older messages, and recall the relevant ones.")
        }
        SampleLanguage::Chinese => (CHINESE, "# 用于长对话：较早的消息变成摘录，并召回相关片段。"),
    };
    let end = match sample {
        Sample::Short => String::new(),
        Sample::Long => format!("\n{comment}\n{LONG}"),
    };
    let end = |name| if name == "agent.yaml" { &*end } else { "" };
    let texts = templates.map(|(name, text)| (folder.join(name), with_schema(name, text) + end(name)));
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
