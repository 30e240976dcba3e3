//! The JSON of imports and of the sample.

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

/// What became of a field.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportedField {
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destination: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// A file that would be written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportOutput {
    pub(crate) path: String,
    pub(crate) bytes: usize,
    pub(crate) exists: bool,
}

/// The answer to POST `import`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportView {
    pub(crate) batch: String,
    pub(crate) files: Vec<ImportedFile>,
    /// What `ctx import` prints, line by line.
    pub(crate) lines: Vec<String>,
    pub(crate) counts: FieldCounts,
    pub(crate) fields: Vec<ImportedField>,
    /// How many fields there are beside those that are listed.
    pub(crate) more_fields: usize,
    /// The files that `write` would make, below `folder`.
    pub(crate) writes: Vec<ImportOutput>,
    pub(crate) folder: String,
}

/// POST `import/write`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportWrite {
    pub(crate) batch: String,
    pub(crate) folder: String,
    #[serde(default)]
    pub(crate) overwrite: bool,
}

/// POST `import/discard`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportDiscard {
    pub(crate) batch: String,
}

/// The answer to POST `import/write` and `start`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImportWritten {
    pub(crate) written: Vec<String>,
    /// The id of the agent's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
}

/// POST `start`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {}

/// The answer to POST `import/discard`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Nothing {}
