//! Worldbooks that an agent of AIO Hub brings with it: in its own file, or beside it in one archive.

use ctx_types::{Agent, Diagnostic};
use serde_json::Value;

use super::NamedBook;
use crate::format::Format;
use crate::format::stem;
use crate::formats::aio_hub::{BUNDLED, BUNDLED_PLACE};
use crate::imported::{Imported, Moved, relocate};
use crate::loose::{Object, said, text};
use crate::report::{Change, FieldStatus, FileReport};
use crate::worldbook;

/// What the items of an agent's books came to.
pub(super) struct Brought {
    /// Of each item, which of the books it held.
    taken: Vec<Option<usize>>,
    /// What is wrong with those books, with pointers into the agent.
    found: Vec<Diagnostic>,
}

/// Gives the books that an agent brings the ids by which it asks for them, and takes those out of its own file.
pub(super) fn name_books(agent: &mut Agent, books: &mut Vec<NamedBook>) -> Brought {
    let bundled = agent.kept.get_mut(BUNDLED).and_then(Value::as_array_mut);
    let mut found = Vec::new();
    let mut name = |(index, item): (usize, &mut Value)| {
        let item = item.as_object_mut()?;
        let id = said(item, "id").filter(|id| !books.iter().any(|book| book.name == *id))?.to_owned();
        if let Some(book) = books.iter_mut().find(|book| is_meant(item, &book.name)) {
            book.name = id;
            return None;
        }
        let (book, mut wrong) = take(item, id)?;
        relocate(&mut wrong, &[Moved { ours: "", theirs: &format!("{BUNDLED_PLACE}{index}/content") }]);
        books.push(book);
        found.extend(wrong);
        Some(books.len() - 1)
    };
    let taken = bundled.into_iter().flatten().enumerate().map(&mut name).collect();
    Brought { taken, found }
}

/// Writes in the report of an agent where the books of its items went, and what is wrong with them.
pub(super) fn place_books(report: &mut FileReport, brought: Brought) {
    let Brought { taken, mut found } = brought;
    let is_export = report.format == Some(Format::AgentExport);
    report.fields.change(|row| {
        let (item, rest) = row.to?.strip_prefix(BUNDLED_PLACE)?.split_once('/')?;
        let below =
            rest.strip_prefix("content").filter(|below| below.is_empty() || below.starts_with('/'))?;
        if let Some(number) = taken.get(item.parse::<usize>().ok()?)? {
            let to = Some(format!("/worldbooks/{number}{below}"));
            return Some(Change { status: row.status, to, note: row.note });
        }
        let own = row.pointer.strip_prefix("/agents/0").filter(|_| is_export).unwrap_or(row.pointer);
        Some(Change { status: FieldStatus::Kept, to: Some(own.to_owned()), note: None })
    });
    if is_export {
        relocate(&mut found, &[Moved { ours: "", theirs: "/agents/0" }]);
    }
    let path = report.path.clone();
    report.diagnostics.extend(found.into_iter().map(|finding| finding.in_document(path.as_str())));
    report.diagnostics.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// Returns whether a book has the name of the file that an agent names, or else that of the book.
fn is_meant(item: &Object, name: &str) -> bool {
    match text(item, "fileName") {
        Some(file) => stem(file) == name || text(item, "name") == Some(name),
        None => !item.contains_key("content") && text(item, "name") == Some(name),
    }
}

/// Takes a book out of the file of the agent; also returns what is wrong with it.
fn take(item: &mut Object, id: String) -> Option<(NamedBook, Vec<Diagnostic>)> {
    let Imported { value: book, diagnostics, .. } =
        worldbook::read_value(item.get("content")?.clone()).ok()?;
    item.shift_remove("content");
    let book = match said(item, "name") {
        Some(name) if book.name.is_none() => worldbook::renamed(&book, name),
        _ => book,
    };
    Some((NamedBook { name: id, book }, diagnostics))
}
