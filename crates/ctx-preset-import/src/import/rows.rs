//! The rows of a document.

use ctx_types::{Diagnostic, codes};
use serde_json::Value;

use crate::format::Format;
use crate::loose::Object;
use crate::report::{
    Change, Expect, Extent, FieldReports, FieldStatus, FileReport, NOT_READ, RuleSet, SAME, Target, mapped,
};
use crate::sillytavern::rows::{card, chat, person, scripts, templates};
use crate::{risu, worldbook};

/// Returns what became of each leaf of a document that is kept at a place; `book` is where its worldbook goes.
///
/// Those of a preset are known when all files are there.
pub(super) fn of(
    format: Option<Format>,
    document: &Value,
    kept_at: &str,
    book: &str,
    extent: Extent,
) -> FieldReports {
    let none = Object::new();
    let file = document.as_object().unwrap_or(&none);
    let (rules, to, kept_at) = match format {
        Some(format) if format.is_card() => (card::of(file, book, format == Format::CardV3), "", kept_at),
        Some(Format::RegexScripts) => {
            let rules = scripts::of(document, scripts::LIST);
            let one = format!("{}/rules/0", scripts::LIST);
            return match document.is_array() {
                true => rules.rows(document, scripts::LIST, scripts::LIST, extent),
                false => rules.rows(document, &one, &format!("{one}/imported"), extent),
            };
        }
        Some(Format::Personas) => (person::of_personas(file), "", kept_at),
        Some(Format::Settings) => (person::of_settings(file), "", kept_at),
        Some(Format::Worldbook) => (worldbook::of_world_info(), book, book),
        Some(Format::CardBook) => match worldbook::of_envelope(file, book) {
            Some(rules) => (rules, book, kept_at),
            None => (worldbook::of_card_book(file, book, false), book, book),
        },
        Some(Format::OtherLorebook) => (worldbook::of_other(file, book), book, kept_at),
        Some(Format::SillyTavernChat) => (RuleSet::new(chat::CHAT), "", kept_at),
        Some(
            Format::Agent
            | Format::AgentExport
            | Format::PresetFile
            | Format::PresetList
            | Format::Session
            | Format::SessionHalves
            | Format::ChatMessages
            | Format::StoredMessages
            | Format::Profile
            | Format::PlainText,
        ) => (own(), "", ""),
        Some(Format::InstructTemplate) => (templates::of_instruct(), "", kept_at),
        Some(Format::ContextTemplate) => (templates::of_context(), "", kept_at),
        Some(Format::SystemPrompt) => (templates::of_system_prompt(), "", kept_at),
        Some(Format::ReasoningTemplate) => (templates::of_reasoning(), "", kept_at),
        Some(Format::TextPreset) => (templates::of_text_preset(), "", kept_at),
        Some(Format::MasterExport) => (templates::of_master(file), "", kept_at),
        Some(Format::RisuPreset) => (risu::rows::of_preset(), "", kept_at),
        Some(Format::RisuModule) => {
            (risu::rows::of_module(file.get("module").is_some_and(Value::is_object)), "", kept_at)
        }
        _ => (RuleSet::default(), "", kept_at),
    };
    rules.rows(document, to, kept_at, extent)
}

/// A document in our own form, which is AIO Hub's: each field is the same in ours.
fn own() -> RuleSet {
    RuleSet::new([mapped("/**", Expect::Any, SAME), mapped("", Expect::Any, "")])
}

/// Says of fields whose values were reported as of a wrong type that they are kept.
pub(super) fn demote(report: &mut FileReport) {
    let wrong = |found: &&Diagnostic| found.code == codes::WRONG_TYPE;
    let pointers =
        report.diagnostics.iter().filter(wrong).filter_map(|found| found.location.pointer.as_deref());
    let pointers: std::collections::BTreeSet<&str> = pointers.collect();
    if pointers.is_empty() {
        return;
    }
    let is_wrong = |pointer: &str| {
        let ends = pointer.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at);
        ends.chain([pointer.len()]).any(|end| pointers.contains(pointer.get(..end).unwrap_or_default()))
    };
    report.fields.change(|row| {
        let is_meant = row.status == FieldStatus::Mapped && is_wrong(row.pointer);
        is_meant.then_some(Change { status: FieldStatus::Kept, to: Target::Same, note: Some(NOT_READ) })
    });
}

/// Says of all fields of a file that they are no more than kept, since another file says the same.
pub(super) fn outdo(report: &mut FileReport, kept_at: &str, note: &'static str) {
    report.fields.change(|row| {
        (row.status != FieldStatus::Kept).then(|| Change {
            status: FieldStatus::Kept,
            to: Target::At(format!("{kept_at}{}", row.pointer)),
            note: Some(note),
        })
    });
}

/// Says of all fields of a file that nothing was made of them.
pub(super) fn refuse(report: &mut FileReport, note: &'static str) {
    report
        .fields
        .change(|_| Some(Change { status: FieldStatus::Unsupported, to: Target::Nowhere, note: Some(note) }));
}
