//! Worldbooks that an agent of AIO Hub brings with it: in its own file, or beside it in one archive.

use ctx_types::{Agent, Worldbook};
use serde_json::Value;

use super::NamedBook;
use super::sources::stem;
use crate::loose::{Object, said, text};
use crate::worldbook;

/// The field of an agent for such books: `[{id, name, fileName?, content?}]`.
pub(crate) const BUNDLED: &str = "bundledWorldbooks";

/// Gives the books that an agent brings the ids by which it asks for them, and takes those out of its own file.
pub(super) fn name_books(agent: &mut Agent, books: &mut Vec<NamedBook>) {
    let bundled = agent.kept.get_mut(BUNDLED).and_then(Value::as_array_mut);
    for item in bundled.into_iter().flatten().filter_map(Value::as_object_mut) {
        let id = said(item, "id").filter(|id| !books.iter().any(|book| book.name == *id));
        let Some(id) = id.map(str::to_owned) else { continue };
        if let Some(book) = books.iter_mut().find(|book| is_meant(item, &book.name)) {
            book.name = id;
        } else if let Some(book) = take(item) {
            books.push(NamedBook { name: id, book });
        }
    }
}

/// Tells whether a book has the name of the file that an agent names, or else that of the book.
fn is_meant(item: &Object, name: &str) -> bool {
    match text(item, "fileName") {
        Some(file) => stem(file) == name || text(item, "name") == Some(name),
        None => !item.contains_key("content") && text(item, "name") == Some(name),
    }
}

/// Takes a book out of the file of the agent.
fn take(item: &mut Object) -> Option<Worldbook> {
    let book = worldbook::read_value(item.get("content")?.clone()).ok()?.value;
    item.shift_remove("content");
    Some(match said(item, "name") {
        Some(name) if book.name.is_none() => worldbook::renamed(&book, name),
        _ => book,
    })
}
