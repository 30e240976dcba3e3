//! Worldbooks that an agent of AIO Hub brings with it: in its own file, or beside it in one archive.

use ctx_types::{Agent, Diagnostic};
use serde_json::Value;

use super::NamedBook;
use crate::format::stem;
use crate::formats::aio_hub::BUNDLED;
use crate::imported::{Imported, Moved, relocate};
use crate::loose::{Object, said, text};
use crate::worldbook;

/// The books in the file of an agent.
pub(super) struct BundledBooks {
    /// The number of the book that each item held.
    pub(super) taken: Vec<Option<usize>>,
    /// Diagnostics about the books, with pointers into the agent.
    pub(super) found: Vec<Diagnostic>,
}

/// Gives the books that an agent brings the ids by which it asks for them, and takes those out of its own file.
pub(super) fn name_books(agent: &mut Agent, books: &mut Vec<NamedBook>) -> BundledBooks {
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
        relocate(&mut wrong, &[Moved { ours: "", theirs: &format!("/{BUNDLED}/{index}/content") }]);
        books.push(book);
        found.extend(wrong);
        Some(books.len() - 1)
    };
    let taken = bundled.into_iter().flatten().enumerate().map(&mut name).collect();
    BundledBooks { taken, found }
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
    let Imported { value: book, diagnostics, .. } = worldbook::read_value(item.get("content")?).ok()?;
    item.shift_remove("content");
    let book = match said(item, "name") {
        Some(name) if book.name.is_none() => worldbook::renamed(&book, name),
        _ => book,
    };
    Some((NamedBook { name: id, book }, diagnostics))
}
