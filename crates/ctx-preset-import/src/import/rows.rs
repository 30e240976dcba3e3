//! The rows of a document.

use std::collections::BTreeSet;

use ctx_types::Diagnostic;
use ctx_types::codes::WRONG_TYPE;
use serde_json::Value;

use crate::codes;
use crate::record::Record;
use crate::report::{
    Change, Extent, FieldReport, FieldReports, FieldStatus, FileReport, NOT_READ, NOWHERE, Target,
};

/// Returns a row for each leaf of a document that could not be read; that nothing was made of it is said later.
pub(super) fn unread(document: &Value) -> FieldReports {
    Record::default().rows(document, "", Extent::default())
}

/// Records for what was brought up to date what it became; what moved is told by the rules already.
pub(super) fn migrate(report: &mut FileReport) {
    let migrated = |code| {
        let found = report.diagnostics.iter().filter(move |found| found.code == code);
        found.filter_map(|found| found.location.pointer.as_deref())
    };
    let templates: BTreeSet<&str> = migrated(codes::MIGRATED_TEMPLATE).collect();
    let strategies: BTreeSet<&str> = migrated(codes::MIGRATED_STRATEGY).collect();
    let custom = migrated(codes::MIGRATED_PARAMETERS).next();
    let has_greetings = migrated(codes::MIGRATED_GREETINGS).next().is_some();
    if templates.is_empty() && strategies.is_empty() && custom.is_none() && !has_greetings {
        return;
    }
    let approximated =
        |note| Some(Change { status: FieldStatus::Approximated, to: Target::Same, note: Some(note) });
    report.fields.change(|row| {
        let strategy = row.pointer.strip_suffix("/type").unwrap_or(row.pointer);
        match row.pointer {
            at if templates.contains(at) => approximated("the default template of the anchor stands for it"),
            _ if strategies.contains(strategy) => approximated("the type that the other fields say"),
            at if has_greetings && at.ends_with("/displayPresetCount") => {
                approximated("less by the greetings")
            }
            at => {
                let below =
                    at.strip_prefix(custom?).filter(|below| below.is_empty() || below.starts_with('/'))?;
                let to = Target::At(format!("/parameters/custom/params{below}"));
                Some(Change { status: FieldStatus::Approximated, to, note: Some("stands under `params`") })
            }
        }
    });
}

/// Marks fields as kept whose values were reported as of a wrong type.
pub(super) fn mark_as_kept(report: &mut FileReport) {
    let wrong = |found: &&Diagnostic| found.code == WRONG_TYPE;
    let pointers =
        report.diagnostics.iter().filter(wrong).filter_map(|found| found.location.pointer.as_deref());
    let pointers: BTreeSet<&str> = pointers.collect();
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

/// Marks those fields of a file as kept that are meant, since something else says the same.
pub(super) fn supersede(
    report: &mut FileReport,
    kept_at: &str,
    note: &'static str,
    is_meant: impl Fn(FieldReport<'_>) -> bool,
) {
    let counts = |status| matches!(status, FieldStatus::Mapped | FieldStatus::Approximated);
    report.fields.change(|row| {
        (counts(row.status) && is_meant(row)).then(|| Change {
            status: FieldStatus::Kept,
            to: Target::At(format!("{kept_at}{}", row.pointer)),
            note: Some(note),
        })
    });
}

/// Returns whether a row leads to a place or below it.
pub(super) fn leads_to(row: FieldReport<'_>, place: &str) -> bool {
    let below = row.to.and_then(|to| to.strip_prefix(place));
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Records for the fields below a pointer what the rows of the document that stands there say, which has as many. O(rows).
pub(super) fn replace_below(report: &mut FileReport, at: &str, rows: &FieldReports) {
    let mut rows = rows.iter();
    report.fields.change(|row| {
        row.pointer.strip_prefix(at).filter(|below| below.starts_with('/'))?;
        let FieldReport { status, to, note, .. } = rows.next()?;
        let to = to.map_or(Target::Nowhere, |to| Target::At(to.to_owned()));
        Some(Change { status, to, note })
    });
}

/// Records for the fields that are kept at a place that they are no more: something else stands there.
pub(super) fn replace(report: &mut FileReport, place: &str) {
    report.fields.change(|row| {
        (row.status == FieldStatus::Kept && leads_to(row, place)).then_some(Change {
            status: FieldStatus::Unsupported,
            to: Target::Nowhere,
            note: Some(NOWHERE),
        })
    });
}

/// Records for what an agent kept from earlier that it stands below what is kept now.
pub(super) fn move_imported(report: &mut FileReport) {
    report.fields.change(|row| {
        let below = row.to.filter(|_| leads_to(row, "/imported"))?.strip_prefix("/imported")?;
        let to = Target::At(format!("/imported/imported{below}"));
        Some(Change { status: row.status, to, note: row.note })
    });
}

/// Records for all fields of a file that nothing was made of them.
pub(super) fn refuse(report: &mut FileReport, note: &'static str) {
    refuse_where(report, note, |_| true);
}

/// Records for those fields of a file that are meant that nothing was made of them.
pub(super) fn refuse_where(
    report: &mut FileReport,
    note: &'static str,
    is_meant: impl Fn(FieldReport<'_>) -> bool,
) {
    report.fields.change(|row| {
        let refused = Change { status: FieldStatus::Unsupported, to: Target::Nowhere, note: Some(note) };
        is_meant(row).then_some(refused)
    });
}
