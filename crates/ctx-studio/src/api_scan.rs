//! The JSON of scans of worldbooks: which entries a turn activates, and why. What is asked is a preview's request.

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Finding, TextSpan};

/// The answer to POST `worldbooks/scan`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScanView {
    pub(crate) books: Vec<ScannedBook>,
    /// Active entries as they became active, then the others.
    pub(crate) entries: Vec<ScannedEntry>,
    /// The texts in which keys were found.
    pub(crate) texts: Vec<ScannedText>,
    /// Why entries were considered, for each pass: `initial`, `recursion`, `min_activations`.
    pub(crate) passes: Vec<&'static str>,
    /// How many tokens entries may have; absent where that is not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<u64>,
    /// How many the active ones have.
    pub(crate) tokens: u64,
    pub(crate) is_exact: bool,
    /// The timed effects that the conversation keeps, with which the scan begins.
    pub(crate) kept: Vec<String>,
    /// The timed effects that hold from then on. A scan does not keep them; a turn does.
    pub(crate) timed: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

/// A book that was searched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScannedBook {
    pub(crate) name: String,
    /// The id of its file; absent where that is not in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) entries: usize,
}

/// An entry as the scan left it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScannedEntry {
    /// The id by which reports name it.
    pub(crate) id: String,
    pub(crate) book: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// In its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// `active`, or a word for what kept it out, as `ctx worldbook scan --json` has it.
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// Where its text goes.
    pub(crate) place: String,
    /// In which pass it became active, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pass: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u32>,
    /// The keys that were found: the first, and a secondary one that decided.
    pub(crate) hits: Vec<ScannedKey>,
}

/// A key that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScannedKey {
    pub(crate) key: String,
    /// Which of the texts; absent where that is neither a message nor an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<usize>,
    /// Where in it.
    pub(crate) spans: Vec<TextSpan>,
}

/// A text in which a key was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScannedText {
    /// The message or the entry.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether it is longer than that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}
