//! Items of lists: put in, taken out and moved, with the comments that belong to them.

use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, Item, RawString, Table, Value};

use super::{position, table_of, value};
use ctx_operations::document_edit::{Edit, EditError};

/// A list without its brackets: the values, and what stands between them.
struct Parts {
    /// What follows the opening bracket in its line.
    head: String,
    elements: Vec<Element>,
    /// What stands before the closing bracket.
    tail: String,
}

struct Element {
    /// White space and whole comment lines above the value.
    above: String,
    value: Value,
    /// What follows it in its line, such as a comment.
    behind: String,
}

/// Puts in, takes out or moves an item.
pub(super) fn arrange(list: &mut Array, edit: &Edit, key: &str) -> Result<(), EditError> {
    let mut parts = Parts::of(list);
    let length = parts.elements.len();
    let item = || position(key).and_then(|at| within(at, length));
    match edit {
        Edit::Insert { value, .. } => {
            let gap = if key == "-" { length } else { within(position(key)?, length + 1)? };
            let new = Element { above: parts.indent(), value: value::of(value)?, behind: String::new() };
            parts.elements.insert(gap, new);
        }
        Edit::Move { to, .. } => {
            let moved = parts.elements.remove(item()?);
            parts.elements.insert(within(*to, length)?, moved);
        }
        Edit::Remove { .. } => drop(parts.elements.remove(item()?)),
        Edit::Set { .. } | Edit::Rename { .. } => return Err(EditError::ChangesMore),
    }
    parts.write(list);
    Ok(())
}

impl Parts {
    fn of(list: &Array) -> Self {
        let raw = |raw: Option<&RawString>| raw.and_then(RawString::as_str).map(str::to_owned);
        let (mut head, mut elements) = (String::new(), Vec::<Element>::new());
        let mut before = String::new();
        for value in list {
            let default = if elements.is_empty() { "" } else { " " };
            let gap = before + &raw(value.decor().prefix()).unwrap_or_else(|| default.to_owned());
            let (line, above) = divided(gap);
            match elements.last_mut() {
                Some(last) => last.behind = line,
                None => head = line,
            }
            before = raw(value.decor().suffix()).unwrap_or_default();
            elements.push(Element { above, value: value.clone(), behind: String::new() });
        }
        let (line, tail) = divided(before + list.trailing().as_str().unwrap_or_default());
        match elements.last_mut() {
            Some(last) => last.behind = line,
            None => head = line,
        }
        Self { head, elements, tail }
    }

    fn has_lines(&self) -> bool {
        self.elements.iter().any(|element| element.above.contains('\n'))
    }

    /// What stands above a new value.
    fn indent(&self) -> String {
        let above = self.elements.last().map(|last| last.above.as_str()).unwrap_or_default();
        above.rfind('\n').and_then(|line| above.get(line..)).unwrap_or(" ").to_owned()
    }

    fn write(mut self, list: &mut Array) {
        if !self.has_lines() {
            for (at, element) in self.elements.iter_mut().enumerate() {
                element.above = if at == 0 { String::new() } else { " ".to_owned() };
            }
        }
        let is_open = list.trailing_comma();
        list.clear();
        let mut before = self.head;
        for Element { above, value, behind } in self.elements {
            list.push_formatted(value.decorated(before + &above, ""));
            before = behind;
        }
        list.set_trailing(before + &self.tail);
        list.set_trailing_comma(is_open);
    }
}

/// Divides what stands between two values where the line of the first one ends.
fn divided(gap: String) -> (String, String) {
    match gap.find('\n') {
        Some(end) => {
            let (line, rest) = gap.split_at(end);
            (line.to_owned(), rest.to_owned())
        }
        None => (String::new(), gap),
    }
}

fn within(at: usize, length: usize) -> Result<usize, EditError> {
    if at < length { Ok(at) } else { Err(EditError::ChangesMore) }
}

/// The same for tables that each have a head of their own.
pub(super) fn arrange_tables(tables: &mut ArrayOfTables, edit: &Edit, key: &str) -> Result<(), EditError> {
    let length = tables.len();
    let item = || position(key).and_then(|at| within(at, length));
    match edit {
        Edit::Insert { value: Json::Object(members), .. } => {
            let gap = if key == "-" { length } else { within(position(key)?, length + 1)? };
            let mut new = table_of(members)?;
            new.set_position(place_of_gap(tables, gap));
            tables.insert(gap, new);
        }
        Edit::Move { to, .. } => {
            let mut places = Vec::new();
            tables.iter_mut().for_each(|table| each_place(table, &mut |place| places.push(*place)));
            let moved = tables.remove(item()?);
            tables.insert(within(*to, length)?, moved);
            places.sort_unstable();
            let mut places = places.into_iter();
            for table in tables.iter_mut() {
                each_place(table, &mut |place| *place = places.next().flatten());
            }
        }
        Edit::Remove { .. } => drop(tables.remove(item()?)),
        Edit::Set { .. } | Edit::Insert { .. } | Edit::Rename { .. } => return Err(EditError::ChangesMore),
    }
    Ok(())
}

/// Tables are written in the order of their places, and those of one place in the order of the tree.
fn place_of_gap(tables: &mut ArrayOfTables, gap: usize) -> Option<isize> {
    if let Some(next) = tables.get(gap) {
        return next.position();
    }
    let mut last = None;
    if let Some(table) = tables.iter_mut().last() {
        each_place(table, &mut |place| last = last.max(*place));
    }
    last
}

/// Visits the places of a table and of those in it, in the order of the tree.
fn each_place(table: &mut Table, visit: &mut dyn FnMut(&mut Option<isize>)) {
    let mut place = table.position();
    visit(&mut place);
    table.set_position(place);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => each_place(table, visit),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| each_place(table, visit)),
            Item::Value(_) | Item::None => (),
        }
    }
}
