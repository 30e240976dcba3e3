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
    pub(crate) findings: Vec<Finding>,
}

/// The conversion result of the fields at one path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    /// Output lines of `ctx import`.
    pub(crate) lines: Vec<String>,
    pub(crate) counts: FieldCounts,
    pub(crate) fields: Vec<ImportedField>,
    /// Number of fields that are not listed.
    pub(crate) more_fields: usize,
    /// Files that `import/write` would write below `folder`.
    pub(crate) writes: Vec<ImportOutput>,
    pub(crate) folder: String,
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
