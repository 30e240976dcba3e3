//! Documents with a part of the agent.

use serde_json::Value;

use crate::formats::sillytavern::regex_scripts::TakenScripts;

/// A document with a used part.
#[derive(Clone)]
pub(super) struct UsedDocument {
    pub(super) report: usize,
    /// The place of the part in the document.
    pub(super) at: &'static str,
    /// The place of the document in the agent.
    pub(super) kept_at: String,
    pub(super) document: Value,
}

/// Regex rules of a file.
pub(super) struct FileScripts {
    pub(super) report: usize,
    pub(super) scripts: TakenScripts,
}
