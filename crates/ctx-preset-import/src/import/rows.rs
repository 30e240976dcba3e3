//! The rows of a document.

use serde_json::Value;

use crate::format::Format;
use crate::report::{Expect, FieldReport, RuleSet, mapped};
use crate::sillytavern::tables;

/// Returns what became of each leaf of a document.
pub(super) fn of(format: Option<Format>, document: &Value) -> Vec<FieldReport> {
    match format {
        Some(Format::Agent | Format::AgentExport | Format::PresetFile | Format::PresetList) => {
            own(document, "/imported")
        }
        Some(
            Format::Session
            | Format::SessionHalves
            | Format::ChatMessages
            | Format::StoredMessages
            | Format::Profile
            | Format::PlainText,
        ) => own(document, "/imported"),
        Some(format) => tables::rules(format).rows(document, &format!("/imported/{}", format.id())),
        None => RuleSet::default().rows(document, "/imported/unknown"),
    }
}

/// The rows of a document in our own form, which is AIO Hub's: each field is the same in ours.
fn own(document: &Value, kept_at: &str) -> Vec<FieldReport> {
    RuleSet::new([mapped("/**", Expect::Any, "/**")]).rows(document, kept_at)
}
