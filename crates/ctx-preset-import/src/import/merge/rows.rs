//! What became of fields whose file met others: which file won is not known where a field is read.

use crate::report::{Change, FieldReport, FieldReports, FieldStatus, FileReport, NOWHERE};

/// Marks those fields of a file as kept that are meant, since something else says the same.
pub(in crate::import) fn supersede(
    report: &mut FileReport,
    kept_at: &str,
    note: &'static str,
    is_meant: impl Fn(FieldReport<'_>) -> bool,
) {
    let counts = |status| matches!(status, FieldStatus::Mapped | FieldStatus::Approximated);
    report.fields.change(|row| {
        (counts(row.status) && is_meant(row)).then(|| Change {
            status: FieldStatus::Kept,
            to: Some(format!("{kept_at}{}", row.pointer)),
            note: Some(note),
        })
    });
}

/// Returns whether a row leads to a place or below it.
pub(in crate::import) fn leads_to(row: FieldReport<'_>, place: &str) -> bool {
    let below = row.to.and_then(|to| to.strip_prefix(place));
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Records for the fields below a pointer what the rows of the document that stands there say, which has as many. O(rows).
pub(in crate::import) fn replace_below(report: &mut FileReport, at: &str, rows: &FieldReports) {
    let mut rows = rows.iter();
    report.fields.change(|row| {
        row.pointer.strip_prefix(at).filter(|below| below.starts_with('/'))?;
        let FieldReport { status, to, note, .. } = rows.next()?;
        let to = to.map(str::to_owned);
        Some(Change { status, to, note })
    });
}

/// Records for the fields that are kept at a place that they are no more: something else stands there.
pub(in crate::import) fn replace(report: &mut FileReport, place: &str) {
    report.fields.change(|row| {
        (row.status == FieldStatus::Kept && leads_to(row, place)).then_some(Change {
            status: FieldStatus::Unsupported,
            to: None,
            note: Some(NOWHERE),
        })
    });
}

/// Records for what an agent kept from earlier that it stands below what is kept now.
pub(in crate::import) fn move_imported(report: &mut FileReport) {
    report.fields.change(|row| {
        let below = row.to.filter(|_| leads_to(row, "/imported"))?.strip_prefix("/imported")?;
        let to = Some(format!("/imported/imported{below}"));
        Some(Change { status: row.status, to, note: row.note })
    });
}

/// Records for all fields of a file that nothing was made of them.
pub(in crate::import) fn refuse(report: &mut FileReport, note: &'static str) {
    refuse_where(report, note, |_| true);
}

/// Records for those fields of a file that are meant that nothing was made of them.
pub(in crate::import) fn refuse_where(
    report: &mut FileReport,
    note: &'static str,
    is_meant: impl Fn(FieldReport<'_>) -> bool,
) {
    report.fields.change(|row| {
        let refused = Change { status: FieldStatus::Unsupported, to: None, note: Some(note) };
        is_meant(row).then_some(refused)
    });
}
