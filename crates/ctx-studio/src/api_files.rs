//! JSON types of the project folder and its files.

use ctx_project::drafts::{Draft, Splice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::Finding;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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

/// A file of the project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectFile {
    /// Id for `files/{f}`.
    pub(crate) id: String,
    /// Path relative to the folder, with `/`.
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// Whether it is a conversation in the store. `path` is then its name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_stored: bool,
    pub(crate) bytes: u64,
    /// Whether the draft differs from the file.
    pub(crate) is_dirty: bool,
    /// Whether the file is read-only: because of the folder, its size, or `--read-only`.
    pub(crate) is_read_only: bool,
}

/// Response of GET `project`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Project {
    pub(crate) name: String,
    /// Id of the server run. With `seq`, it is the last notice before this response; later notices are sent
    /// to the window.
    pub(crate) run: String,
    pub(crate) seq: u64,
    pub(crate) files: Vec<ProjectFile>,
    /// Whether `files` is truncated to the limit.
    pub(crate) is_cut: bool,
    pub(crate) is_read_only: bool,
    /// Model in `ctx.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    #[schemars(extend("enum" = ["en", "zh"]))]
    pub(crate) lang: &'static str,
    pub(crate) defaults: Defaults,
    pub(crate) findings: Vec<Finding>,
}

/// Ids of the files that `ctx.toml` sets for every turn.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Defaults {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    pub(crate) worldbooks: Vec<String>,
}

/// Response of GET `files/{f}` and of all changes other than edits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the page asks for each by itself")]
pub(crate) struct FileView {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// SHA-256 of the file's bytes when read; also the `ETag` for `save`.
    pub(crate) hash: String,
    /// Grows with each change of the draft, including undo and redo. Never goes back, even if the file was gone.
    pub(crate) revision: u64,
    pub(crate) is_dirty: bool,
    pub(crate) can_undo: bool,
    pub(crate) can_redo: bool,
    /// Text of the draft.
    pub(crate) text: String,
    /// JSON value of the draft. Missing if the text is invalid; structured editing is then disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_read_only: bool,
    /// Whether `text` is truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    /// Number of list items missing from `value`. Set if the file is too large to edit; only its first part
    /// is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<usize>,
    /// Changes of another program that need a decision: `resolve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outside: Option<Outside>,
    /// Whether the file was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gone: bool,
}

/// The file as another program wrote it, where it changed entries that the draft changes too.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Outside {
    /// SHA-256 of the file's bytes.
    pub(crate) hash: String,
    pub(crate) clashes: Vec<Clash>,
}

/// An entry that the draft and another program changed. A missing version is a removed entry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Clash {
    /// Name for `resolve`: keys and ids, each after `/`. Empty for the whole file; its versions are texts.
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mine: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<Value>,
}

/// Request of POST `files/{f}/resolve`: takes the file as another program wrote it, with the draft's version of each
/// clashing entry that `theirs` does not name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Resolve {
    /// Revision that the page last read.
    pub(crate) base: u64,
    /// `hash` of `outside`.
    pub(crate) hash: String,
    /// Places of clashes whose version in the file is taken.
    pub(crate) theirs: Vec<String>,
}

/// Request of POST `files/{f}/edits`: edits of values, or a replacement of the whole text.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Edits {
    /// Revision that the page last read: 409 if the draft has another one.
    pub(crate) base: u64,
    /// Random id. Edits with the same id are applied only once.
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) edits: Option<Vec<Edit>>,
    /// New text of the whole file, for changes that value edits cannot express.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// Rewrites the part of the file named in the rejection of these edits.
    #[serde(default)]
    pub(crate) rewrite: bool,
}

/// The part of a file to rewrite for edits that cannot keep its formatting.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RewriteView {
    /// JSON pointer of the list or object; empty for the whole file.
    pub(crate) pointer: String,
    /// Number of comments that are lost.
    pub(crate) comments: usize,
}

/// Response of POST `files/{f}/edits`: the change, if the page can apply its value edits itself, or the whole
/// file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Edited {
    Change(FileChange),
    Whole(Box<FileView>),
}

/// The change of the text by value edits. Apply the edits to the previous value to get the new one. GET
/// `files/{f}/findings` returns the diagnostics; request them when the user stops typing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChange {
    /// New revision: `base` of the edits plus 1.
    pub(crate) revision: u64,
    pub(crate) is_dirty: bool,
    pub(crate) can_undo: bool,
    pub(crate) can_redo: bool,
    pub(crate) splice: TextSplice,
}

/// Response of GET `files/{f}/findings`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FileFindings {
    /// Revision of the checked draft.
    pub(crate) revision: u64,
    pub(crate) findings: Vec<Finding>,
}

/// A replacement in a text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TextSplice {
    /// First replaced UTF-16 unit.
    pub(crate) from: usize,
    /// End in UTF-16 units, exclusive.
    pub(crate) to: usize,
    pub(crate) text: String,
}

impl TextSplice {
    /// Returns the latest edit of a draft, in UTF-16 units.
    pub(crate) fn latest(draft: &Draft) -> Option<Self> {
        let units = |text: &str| -> usize {
            text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
        };
        let Splice { range, text: old } = draft.latest()?;
        let from = units(draft.text().get(..range.start)?);
        let text = draft.text().get(range.clone())?.to_owned();
        Some(Self { from, to: from + units(old), text })
    }
}

/// A change at a JSON pointer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Edit {
    Set { pointer: String, value: Value },
    Remove { pointer: String },
    Insert { pointer: String, value: Value },
    Move { pointer: String, to: String },
    Rename { pointer: String, name: String },
}

/// Request of POST `files/{f}/undo`, `redo`, and `discard`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Step {
    /// Expected revision: 409 if the draft has another one.
    #[serde(default)]
    pub(crate) base: Option<u64>,
}

/// Request of POST `files/{f}/fix`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Fix {
    pub(crate) base: u64,
    /// `index` of the diagnostic.
    pub(crate) index: usize,
}

/// Request of POST `files/{f}/save`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Save {
    /// Writes a deleted file again, after a 409 reported that.
    #[serde(default)]
    pub(crate) overwrite: bool,
}

/// Request of POST `files`: a file from a template.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct NewFile {
    pub(crate) kind: FileKind,
    /// File name. The extension may be omitted.
    pub(crate) name: String,
}

/// Request of POST `files/{f}/duplicate` and `rename`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct FileName {
    /// File name in the same folder. The extension stays, and may be omitted.
    pub(crate) name: String,
}

/// A created, copied or renamed file. Response of POST `files`, `files/{f}/duplicate`, and `rename`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedFile {
    pub(crate) id: String,
    pub(crate) path: String,
}

/// Request of POST `files/{f}/delete`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {}

/// Response of GET `files/{f}/export`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ExportedFile {
    /// Suggested file name.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Losses of the format.
    pub(crate) findings: Vec<Finding>,
}
