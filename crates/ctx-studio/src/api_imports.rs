//! JSON types of imports and of the sample project.

use ctx_preset_import::FieldCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::Finding;

/// A file of another application.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportedFile {
    pub(crate) name: String,
    pub(crate) format: String,
    pub(crate) contents: Vec<ImportedContent>,
    pub(crate) findings: Vec<Finding>,
}

/// The things of one kind in an imported file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportedContent {
    pub(crate) kind: ContentKind,
    /// Name of the character, profile, worldbook, or conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) count: usize,
    /// Number of disabled ones.
    pub(crate) disabled: usize,
}

/// A kind of things in an imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ContentKind {
    Character,
    Prompts,
    Greetings,
    Entries,
    Scripts,
    Messages,
    Profile,
    Template,
    Files,
}

/// The conversion result of the fields at one path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportedField {
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destination: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// Number of values.
    pub(crate) count: usize,
    /// Whether all values are empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_empty: bool,
    /// Whether an approximated field does not change the sent messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_alike: bool,
}

/// A file to write.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportOutput {
    pub(crate) path: String,
    pub(crate) bytes: usize,
    pub(crate) exists: bool,
}

/// Response of POST `import`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportView {
    pub(crate) batch: String,
    pub(crate) files: Vec<ImportedFile>,
    pub(crate) counts: FieldCounts,
    pub(crate) fields: Vec<ImportedField>,
    /// Number of fields that are not listed.
    pub(crate) more_fields: usize,
    /// Files that `import/write` would write below `folder`.
    pub(crate) writes: Vec<ImportOutput>,
    /// Suggested folder, which does not exist yet.
    pub(crate) folder: String,
}

/// Request of POST `import/check`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportTarget {
    pub(crate) batch: String,
    pub(crate) folder: String,
}

/// Response of POST `import/check`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportTargetView {
    /// Reason against the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Files that `import/write` would write below the folder.
    pub(crate) writes: Vec<ImportOutput>,
}

/// Request of POST `import/write`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportWrite {
    pub(crate) batch: String,
    pub(crate) folder: String,
    #[serde(default)]
    pub(crate) overwrite: bool,
}

/// Request of POST `import/discard`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportDiscard {
    pub(crate) batch: String,
}

/// Response of POST `import/write` and `start`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportWritten {
    pub(crate) written: Vec<String>,
    /// Id of the agent file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
}

/// Request of POST `start`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {}

/// Response of POST `import/discard`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Nothing {}
