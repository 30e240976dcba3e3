//! The JSON of the folder and of its files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::Finding;

/// What a file is to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileKind {
    Agent,
    Preset,
    Profile,
    Worldbook,
    Conversation,
    Settings,
    Config,
    Other,
}

/// A file of the folder.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectFile {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    pub(crate) is_dirty: bool,
    pub(crate) is_read_only: bool,
}

/// GET `project`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) files: Vec<ProjectFile>,
    pub(crate) is_cut: bool,
    pub(crate) is_read_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    pub(crate) lang: &'static str,
    pub(crate) defaults: Defaults,
    pub(crate) findings: Vec<Finding>,
}

/// The files that `ctx.toml` names for every turn, by their ids.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Defaults {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    pub(crate) worldbooks: Vec<String>,
}

/// GET `files/{f}`, and the answer to everything that changes it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the page asks for each by itself")]
pub(crate) struct FileView {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    pub(crate) hash: String,
    pub(crate) revision: u64,
    pub(crate) is_dirty: bool,
    pub(crate) can_undo: bool,
    pub(crate) can_redo: bool,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_read_only: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    /// Whether the file was deleted; then it has no hash.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gone: bool,
}

/// POST `files/{f}/edits`: edits of values, or another text in place of the whole.
#[derive(Clone, Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Edits {
    pub(crate) base: u64,
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) edits: Option<Vec<Edit>>,
    #[serde(default)]
    pub(crate) text: Option<String>,
}

/// One change at a JSON pointer.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Edit {
    Set { pointer: String, value: Value },
    Remove { pointer: String },
    Insert { pointer: String, value: Value },
    Move { pointer: String, to: String },
    Rename { pointer: String, name: String },
}

/// POST `files/{f}/undo`, `redo` and `discard`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Step {
    #[serde(default)]
    pub(crate) base: Option<u64>,
}

/// POST `files/{f}/fix`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fix {
    pub(crate) base: u64,
    pub(crate) index: usize,
}

/// POST `files/{f}/save`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Save {
    #[serde(default)]
    pub(crate) overwrite: bool,
}
