//! Rows that lead to what was made, when all of it is there.

mod places;

use std::collections::HashMap;

use serde_json::Value;

use super::Import;
use crate::report::{Change, FieldReport, FieldStatus, NOWHERE};
use places::{Outline, Places, steps};

/// Leads each row that names a processor or an entry to its number, and each that leads to what is not there, such
/// as an empty text that is not written, to what is around it. O(rows).
pub(super) fn settle(made: &mut Import) {
    let outline = Outline::of(made);
    let Import { report, worldbooks, agent, .. } = made;
    let settling = Settling {
        numbers: NAMED.map(|list| numbers(&outline, list)),
        places: Places::new(&outline, worldbooks, agent.as_ref()),
    };
    let is_displaced = outline.has_displaced_entries();
    for report in &mut report.files {
        if report.format.is_some_and(crate::format::Format::is_conversation) {
            continue;
        }
        report.fields.change_unsure(is_displaced, |row| settling.row(row));
    }
}

/// The lists of an agent whose items are named in rows.
const NAMED: [&str; 2] = ["/parameters/processors", "/presetMessages"];

/// Returns the numbers of the items of a list by their names; of several with one name the first is meant.
fn numbers(outline: &Outline, list: &str) -> HashMap<String, usize> {
    let items = steps(&outline.value, list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named = |(number, item): (usize, &Value)| Some((item.get("id")?.as_str()?.to_owned(), number));
    items.iter().enumerate().rev().filter_map(named).collect()
}

/// What rows are settled by.
struct Settling<'v> {
    numbers: [HashMap<String, usize>; 2],
    places: Places<'v>,
}

impl Settling<'_> {
    fn row(&self, row: FieldReport<'_>) -> Option<Change> {
        let to = row.to?;
        if row.status == FieldStatus::Kept {
            return self.kept_row(row, to);
        }
        let numbered = self.numbered(to);
        let nearest = nearest(numbered.as_deref().unwrap_or(to), |to| self.places.has(to));
        let to = (nearest != to).then(|| Some(nearest.to_owned()))?;
        Some(Change { status: row.status, to, note: row.note })
    }

    /// Finds what a book displaced beside it; what is not there at all is kept nowhere.
    fn kept_row(&self, row: FieldReport<'_>, to: &str) -> Option<Change> {
        if let Some(place) = self.places.displaced(to) {
            return Some(Change { status: row.status, to: Some(place), note: row.note });
        }
        let lost = Change { status: FieldStatus::Unsupported, to: None, note: Some(NOWHERE) };
        (!self.places.has(to)).then_some(lost)
    }

    /// Returns a place with the number of an item in the place of its name.
    fn numbered(&self, to: &str) -> Option<String> {
        NAMED.iter().zip(&self.numbers).find_map(|(list, numbers)| {
            let rest = to.strip_prefix(list)?.strip_prefix('/')?;
            let (name, below) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
            Some(format!("{list}/{}{below}", numbers.get(name)?)).filter(|_| name.parse::<usize>().is_err())
        })
    }
}

/// Returns the nearest place around another that is there.
fn nearest(mut to: &str, mut is_there: impl FnMut(&str) -> bool) -> &str {
    while let (false, Some((around, _))) = (is_there(to), to.rsplit_once('/')) {
        to = around;
    }
    to
}
