//! JSON types of worldbook scans: the entries that a turn activates, with reasons. The request is that for a
//! preview.

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Finding, TextSpan};

/// Response of POST `worldbooks/scan`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScanView {
    pub(crate) books: Vec<ScannedBook>,
    /// Active entries in order of activation, then the others.
    pub(crate) entries: Vec<ScannedEntry>,
    /// Texts with matched keys.
    pub(crate) texts: Vec<ScannedText>,
    /// Reason for each pass: `initial`, `recursion`, or `min_activations`.
    pub(crate) passes: Vec<&'static str>,
    /// Token limit of all entries. Missing if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<u64>,
    /// Tokens of the active entries.
    pub(crate) tokens: u64,
    pub(crate) is_exact: bool,
    /// Stored timed effects of the conversation at the start of the scan.
    pub(crate) kept: Vec<String>,
    /// Timed effects after the scan. Only a turn stores them.
    pub(crate) timed: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

/// A scanned worldbook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScannedBook {
    pub(crate) name: String,
    /// Id of its file. Missing if the file is not in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) entries: usize,
}

/// The scan result of an entry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScannedEntry {
    /// Id in reports.
    pub(crate) id: String,
    pub(crate) book: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// JSON pointer in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// `active`, or the reason for being inactive, as in `ctx worldbook scan --json`.
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// Place of the text.
    pub(crate) place: String,
    /// Pass that activated the entry, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pass: Option<usize>,
    /// Tokens of the inserted text, or of the content if it is inactive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u32>,
    /// Matched keys: the first primary key, and the secondary key that decided.
    pub(crate) hits: Vec<ScannedKey>,
}

/// A matched key.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScannedKey {
    pub(crate) key: String,
    /// Index in `texts`. Missing if the text is neither a message nor an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<usize>,
    /// Ranges in the text.
    pub(crate) spans: Vec<TextSpan>,
}

/// A text with matched keys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScannedText {
    /// Name of the message or entry.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether `text` is truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}
