//! Worldbooks that an agent of AIO Hub brings with it: in its own file, or beside it in one archive.

use std::rc::Rc;

use ctx_types::{Agent, Worldbook};
use serde_json::Value;

use super::NamedBook;
use super::sources::stem;
use crate::format::{self, Format};
use crate::loose::{Object, said, text};
use crate::report::{
    Change, Expect, FieldStatus, FileReport, Link, RuleSet, SAME, Target, approximated, mapped,
};
use crate::worldbook;

/// The field of an agent for such books: `[{id, name, fileName?, content?}]`.
pub(crate) const BUNDLED: &str = "bundledWorldbooks";

/// Gives the books that an agent brings the ids by which it asks for them, and takes those out of its own file.
///
/// Returns of each item which of the books it held.
pub(super) fn name_books(agent: &mut Agent, books: &mut Vec<NamedBook>) -> Vec<Option<usize>> {
    let bundled = agent.kept.get_mut(BUNDLED).and_then(Value::as_array_mut);
    let mut name = |item: &mut Value| {
        let item = item.as_object_mut()?;
        let id = said(item, "id").filter(|id| !books.iter().any(|book| book.name == *id))?.to_owned();
        if let Some(book) = books.iter_mut().find(|book| is_meant(item, &book.name)) {
            book.name = id;
            return None;
        }
        books.push(NamedBook { name: id, book: take(item)? });
        Some(books.len() - 1)
    };
    bundled.into_iter().flatten().map(&mut name).collect()
}

const FILE: &str = "the name by which its book is looked for";

/// Returns the rules for the books in the file of an agent, as if they stayed there.
pub(super) fn rules(agent: &Object) -> RuleSet {
    let mut set = RuleSet::new([mapped("", Expect::Any, SAME)]);
    let items = agent.get(BUNDLED).and_then(Value::as_array).into_iter().flatten();
    for (index, item) in items.enumerate().filter(|(_, item)| item.is_object()) {
        let mut rules = RuleSet::new([
            mapped("/id", Expect::Text, SAME),
            mapped("/name", Expect::Text, SAME),
            approximated("/fileName", "/worldbookIds", FILE).of(Expect::Text),
        ]);
        let place = format!("{PLACE}{index}");
        if let Some((book, content)) = item.get("content").and_then(|content| of_book(content, &place)) {
            rules.link("", "content", Link::new(&Rc::new(book), content.as_str()).keeping_at(content));
        }
        set.link("", index.to_string(), Link::here(rules));
    }
    set
}

/// Where the books are said to be until it is known where they go.
const PLACE: &str = "/bundledWorldbooks/";

/// Returns the rules for a book, and the place that they lead to.
fn of_book(content: &Value, item: &str) -> Option<(RuleSet, String)> {
    let place = format!("{item}/content");
    let none = Object::new();
    let rules = super::rows::of_book(format::shape(content)?, content.as_object().unwrap_or(&none), &place)?;
    Some((rules, place))
}

/// Says in the rows of an agent where the books of its items went.
pub(super) fn place_books(report: &mut FileReport, taken: &[Option<usize>]) {
    let is_export = report.format == Some(Format::AgentExport);
    report.fields.change(|row| {
        let (item, rest) = row.to?.strip_prefix(PLACE)?.split_once('/')?;
        let below =
            rest.strip_prefix("content").filter(|below| below.is_empty() || below.starts_with('/'))?;
        if let Some(number) = taken.get(item.parse::<usize>().ok()?)? {
            let to = Target::At(format!("/worldbooks/{number}{below}"));
            return Some(Change { status: row.status, to, note: row.note });
        }
        let own = row.pointer.strip_prefix("/agents/0").filter(|_| is_export).unwrap_or(row.pointer);
        Some(Change { status: FieldStatus::Kept, to: Target::At(own.to_owned()), note: None })
    });
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
