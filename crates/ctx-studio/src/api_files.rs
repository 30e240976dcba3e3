//! The JSON of the folder and of its files.

use ctx_project::drafts::Splice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{Finding, TextSpan};

/// What a file is to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectFile {
    /// The id for `files/{f}`.
    pub(crate) id: String,
    /// The path below the folder, with `/`.
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// Whether it is a conversation of the store: its path is its name then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_stored: bool,
    pub(crate) bytes: u64,
    /// Whether the draft differs from the file.
    pub(crate) is_dirty: bool,
    /// Whether it cannot be written: a read-only folder, too long, or `--read-only`.
    pub(crate) is_read_only: bool,
}

/// GET `project`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Project {
    pub(crate) name: String,
    /// The run of the server, and the last notice before this answer: a window hears of what comes after it.
    pub(crate) run: String,
    pub(crate) seq: u64,
    pub(crate) files: Vec<ProjectFile>,
    /// Whether there are more files than the limit: these are the first.
    pub(crate) is_cut: bool,
    pub(crate) is_read_only: bool,
    /// The model that `ctx.toml` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    #[schemars(extend("enum" = ["en", "zh"]))]
    pub(crate) lang: &'static str,
    pub(crate) defaults: Defaults,
    pub(crate) findings: Vec<Finding>,
}

/// The files that `ctx.toml` names for every turn, by their ids.
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

/// GET `files/{f}`, and the answer to what changes it otherwise than by edits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the page asks for each by itself")]
pub(crate) struct FileView {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// SHA-256 of the file's bytes as they were read; also the `ETag`, for `save`.
    pub(crate) hash: String,
    /// Counts the edits of the draft, undo and redo included.
    pub(crate) revision: u64,
    pub(crate) is_dirty: bool,
    pub(crate) can_undo: bool,
    pub(crate) can_redo: bool,
    /// The text of the draft.
    pub(crate) text: String,
    /// The value of the draft; absent if the text cannot be read, and then structured editing is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_read_only: bool,
    /// Whether the text is longer than this answer shows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    /// How many items of its lists are not in `value`: the file is too large to be edited, and its beginning is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<usize>,
    /// Whether the file was deleted; then it has no hash.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gone: bool,
}

/// POST `files/{f}/edits`: edits of values, or another text in place of the whole.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "it is how the page spells it")]
pub(crate) struct Edits {
    /// The revision that the page saw.
    pub(crate) base: u64,
    /// Random, so that edits sent twice count once.
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) edits: Option<Vec<Edit>>,
    /// The whole text instead, for what edits of values cannot do.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// Writes the part of the file anew that a refusal of these edits has named.
    #[serde(default)]
    pub(crate) rewrite: bool,
}

/// The part of a file that has to be written anew for edits that its text cannot express.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RewriteView {
    /// Of the list or object; empty for the whole file.
    pub(crate) pointer: String,
    /// How many comments are lost by that.
    pub(crate) comments: usize,
}

/// The answer to it: what has changed, where the page can tell the rest by the edits of values that it sent; else the
/// file as it is now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Edited {
    Change(FileChange),
    Whole(FileView),
}

/// What edits of values have changed; the value is what they make of the one before. What is wrong with the file now is
/// for GET `files/{f}/findings` to say, once somebody who types rests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChange {
    /// One more than the revision that the edits were made for.
    pub(crate) revision: u64,
    pub(crate) is_dirty: bool,
    pub(crate) can_undo: bool,
    pub(crate) can_redo: bool,
    pub(crate) splice: TextSplice,
}

/// GET `files/{f}/findings`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FileFindings {
    /// The revision of the draft in which they were found.
    pub(crate) revision: u64,
    pub(crate) findings: Vec<Finding>,
}

/// A part of a text that another takes the place of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TextSplice {
    /// The first unit of UTF-16 that goes.
    pub(crate) from: usize,
    /// The unit behind the last.
    pub(crate) to: usize,
    pub(crate) text: String,
}

impl TextSplice {
    /// Returns what makes one text of another.
    pub(crate) fn between(before: &str, now: &str) -> Self {
        let Splice { range, text } = Splice::between(before, now);
        let TextSpan { from, to, .. } = TextSpan::of(before, range.start, range.end);
        Self { from, to, text }
    }
}

/// One change at a JSON pointer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Edit {
    Set { pointer: String, value: Value },
    Remove { pointer: String },
    Insert { pointer: String, value: Value },
    Move { pointer: String, to: String },
    Rename { pointer: String, name: String },
}

/// POST `files/{f}/undo`, `redo` and `discard`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Step {
    /// With it, 409 where the draft has changed since.
    #[serde(default)]
    pub(crate) base: Option<u64>,
}

/// POST `files/{f}/fix`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Fix {
    pub(crate) base: u64,
    /// The `index` of the finding.
    pub(crate) index: usize,
}

/// POST `files/{f}/save`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Save {
    /// Writes over what another program wrote, after a 409 has told it.
    #[serde(default)]
    pub(crate) overwrite: bool,
}
