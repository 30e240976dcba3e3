//! Rows that lead to what was made, when all of it is there.

use std::collections::HashMap;

use ctx_types::{Persist as _, Worldbook, WorldbookEntry, pointer_key};
use serde_json::{Map, Value};

use super::Import;
use crate::kept::IMPORTED;
use crate::report::{Change, FieldReport, FieldStatus, NOWHERE, Target};

/// Leads each row that names a processor or an entry to its number, and each that leads to what is not there, such
/// as an empty text that is not written, to what is around it. O(rows).
pub(super) fn settle(made: &mut Import) {
    let all = All::of(made);
    let Import { report, worldbooks, .. } = made;
    let entries =
        worldbooks.iter().map(|named| named.book.entries.iter().map(|(key, entry)| (&**key, entry)));
    let entries: Vec<Entries<'_>> = entries.map(Iterator::collect).collect();
    let books = all.value.get("worldbooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_displaced =
        books.iter().any(|book| book.get(IMPORTED).and_then(|kept| kept.get("entries")).is_some());
    let places = Places { value: &all.value, entries, is_displaced };
    for report in &mut report.files {
        if report.format.is_some_and(crate::format::Format::is_conversation) {
            continue;
        }
        report.fields.change_unsure(is_displaced, |row| all.settle(row, &places));
    }
}

/// The lists of an agent whose items are named in rows.
const NAMED: [&str; 2] = ["/parameters/processors", "/presetMessages"];

/// The entries of a book, by their keys.
type Entries<'v> = HashMap<&'v str, &'v WorldbookEntry>;

/// Writes a book but for its entries, of which there may be thousands.
fn outline(book: &mut Worldbook) -> Value {
    let entries = std::mem::take(&mut book.entries);
    let written = book.write();
    book.entries = entries;
    written
}

/// All that was made, but for conversations and the entries of books, and where the named items of lists are.
struct All {
    value: Value,
    numbers: [HashMap<String, usize>; 2],
}

impl All {
    fn of(made: &mut Import) -> Self {
        let mut all = match made.agent.as_ref().map(ctx_types::Persist::write) {
            Some(Value::Object(agent)) => agent,
            _ => Map::new(),
        };
        let books = made.worldbooks.iter_mut().map(|named| outline(&mut named.book)).collect();
        all.insert("worldbooks".to_owned(), books);
        all.extend(made.profile.as_ref().map(|profile| ("profile".to_owned(), profile.write())));
        all.extend(made.template.clone().map(|template| ("template".to_owned(), template)));
        let value = Value::Object(all);
        let numbers = NAMED.map(|list| {
            let items = value.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let items = items.iter().enumerate();
            let named =
                items.filter_map(|(number, item)| Some((item.get("id")?.as_str()?.to_owned(), number)));
            // Of several with one id the first is meant.
            named.rev().collect()
        });
        Self { value, numbers }
    }

    fn settle(&self, row: FieldReport<'_>, places: &Places<'_>) -> Option<Change> {
        let to = row.to?;
        if row.status != FieldStatus::Approximated && !places.is_displaced && is_sure(to) {
            return None;
        }
        if row.status == FieldStatus::Kept {
            return places.settle_kept(row, to);
        }
        let numbered = self.numbered(to);
        let nearest = nearest(numbered.as_deref().unwrap_or(to), |to| places.is_there(to));
        let to = (nearest != to).then(|| Target::At(nearest.to_owned()))?;
        Some(Change { status: row.status, to, note: row.note })
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

/// Finds places in all that was made.
struct Places<'v> {
    value: &'v Value,
    /// The entries of each book.
    entries: Vec<Entries<'v>>,
    /// Whether a book has entries of its own elsewhere, since ours took their place.
    is_displaced: bool,
}

impl Places<'_> {
    /// Tells whether something is at a place. O(steps).
    fn is_there(&self, to: &str) -> bool {
        match entry_of(to) {
            None => steps(self.value, to).is_some(),
            Some((number, key, below)) => {
                let key = pointer_key(key);
                let entry = self.entries.get(number).and_then(|entries| entries.get(&*key));
                entry.is_some_and(|entry| is_in_entry(entry, below))
            }
        }
    }

    /// Finds what a book displaced beside it; what is not there at all is kept nowhere.
    fn settle_kept(&self, row: FieldReport<'_>, to: &str) -> Option<Change> {
        if let Some(place) = self.displaced(to) {
            return Some(Change { status: row.status, to: Target::At(place), note: row.note });
        }
        let lost = Change { status: FieldStatus::Unsupported, to: Target::Nowhere, note: Some(NOWHERE) };
        (!self.is_there(to)).then_some(lost)
    }

    /// Returns where a field of a book is if ours took its place.
    fn displaced(&self, to: &str) -> Option<String> {
        let (number, below) = to.strip_prefix("/worldbooks/")?.split_once('/')?;
        let field = below.split('/').next().filter(|field| DISPLACED.contains(field))?;
        let books = self.value.get("worldbooks")?;
        step(step(books, number)?, IMPORTED)?.get(field)?;
        let place = format!("/worldbooks/{number}/{IMPORTED}/{below}");
        steps(self.value, &place).is_some().then_some(place)
    }
}

/// Returns the nearest place around another that is there.
pub(super) fn nearest(mut to: &str, mut is_there: impl FnMut(&str) -> bool) -> &str {
    while let (false, Some((around, _))) = (is_there(to), to.rsplit_once('/')) {
        to = around;
    }
    to
}

/// Tells whether what is mapped to a place or kept there is so in any case: an entry is written with each field that
/// it was made with, and only a switch that says nothing makes none. Most rows of most imports are such.
fn is_sure(to: &str) -> bool {
    to.starts_with("/worldbooks/") && !to.ends_with("/disable") && entry_of(to).is_some()
}

/// Divides a place in the entry of a book: the number of the book, the key of the entry, and what is below it.
fn entry_of(to: &str) -> Option<(usize, &str, &str)> {
    let (number, below) = to.strip_prefix("/worldbooks/")?.split_once('/')?;
    let key = below.strip_prefix("entries/")?;
    let (key, below) = key.find('/').map_or((key, ""), |at| key.split_at(at));
    Some((number.parse().ok()?, key, below))
}

/// Tells whether something is at a place of an entry that was read and not changed since: each key of its file is
/// written again, and the fields that we know have all that they had.
fn is_in_entry(entry: &WorldbookEntry, below: &str) -> bool {
    let Some(below) = below.strip_prefix('/') else { return true };
    let (field, rest) = below.find('/').map_or((below, ""), |at| below.split_at(at));
    let field = pointer_key(field);
    let is_known = || WorldbookEntry::KEYS.contains(&&*field);
    entry.kept.get(&field).is_some_and(|slot| steps(slot, rest).is_some() || is_known())
}

/// Finds what is some steps below a value, as [`Value::pointer`] does, without a copy of each step.
pub(super) fn steps<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    match pointer.strip_prefix('/') {
        Some(below) => below.split('/').try_fold(value, step),
        None => pointer.is_empty().then_some(value),
    }
}

fn step<'v>(around: &'v Value, name: &str) -> Option<&'v Value> {
    match around {
        Value::Object(map) => map.get(&*pointer_key(name)),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// What a book's own fields may displace.
const DISPLACED: [&str; 4] = ["name", "entries", "dialect", IMPORTED];
