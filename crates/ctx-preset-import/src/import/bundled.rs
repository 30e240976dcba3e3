//! Worldbooks that an agent of AIO Hub brings with it: in its own file, or beside it in one archive.

use ctx_types::Agent;
use serde_json::Value;

use super::NamedBook;
use super::sources::stem;
use crate::loose::{Object, said, text};
use crate::worldbook;

/// Gives the books that an agent brings the ids by which it asks for them, and adds those in its own file.
pub(super) fn name_books(agent: &Agent, books: &mut Vec<NamedBook>) {
    let bundled = agent.kept.get("bundledWorldbooks").and_then(Value::as_array);
    for item in bundled.into_iter().flatten().filter_map(Value::as_object) {
        let Some(id) = said(item, "id").filter(|id| !books.iter().any(|book| book.name == *id)) else {
            continue;
        };
        if let Some(book) = books.iter_mut().find(|book| is_meant(item, &book.name)) {
            id.clone_into(&mut book.name);
        } else if let Some(book) = own(item) {
            books.push(NamedBook { name: id.to_owned(), book });
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

/// Reads a book that stands in the file of the agent.
fn own(item: &Object) -> Option<ctx_types::Worldbook> {
    let book = worldbook::read_value(item.get("content")?.clone()).ok()?.value;
    Some(match said(item, "name") {
        Some(name) if book.name.is_none() => worldbook::renamed(&book, name),
        _ => book,
    })
}
