//! Edits of a TOML text, in the lossless tree of `toml_edit`.
//!
//! The tree cannot keep dotted keys of one table apart, or line ends of both kinds: a text that it would not write as
//! it is, before any edit, is edited as a whole only.

mod list;
mod value;

use serde_json::{Map, Value as Json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Entry, Item, Key, Table, TableLike, Value};

use ctx_operations::document_edit::{Edit, EditError, Lists, difference, index, unescaped};

/// Returns the text after edits, one after the other. The caller checks the result.
///
/// `old` is the value of the text. Writes only the different parts of tables and lists.
pub(super) fn edited(text: &str, edits: &[Edit], old: &Json) -> Result<String, EditError> {
    let is_crlf = text.contains("\r\n") && text.matches("\r\n").count() == text.matches('\n').count();
    let lines = if is_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    let mut document: DocumentMut = lines.parse().map_err(|_| EditError::ChangesMore)?;
    let written = document.to_string();
    let is_open = written.strip_suffix('\n') == Some(&lines);
    if written != lines && !is_open {
        return Err(EditError::ChangesMore);
    }
    let mut held = old.clone();
    for edit in edits {
        let smaller = match edit {
            Edit::Set { pointer, value } => {
                held.pointer(pointer).map(|old| difference(old, value, pointer, Lists::Items))
            }
            _ => None,
        };
        for edit in smaller.unwrap_or_else(|| vec![edit.clone()]) {
            make(document.as_table_mut(), &edit)?;
        }
        edit.apply(&mut held)?;
    }
    let mut text = document.to_string();
    if is_open && text.ends_with('\n') {
        text.pop();
    }
    Ok(if is_crlf { text.replace('\n', "\r\n") } else { text })
}

fn make(root: &mut Table, edit: &Edit) -> Result<(), EditError> {
    let (above, key) = edit.pointer().rsplit_once('/').ok_or(EditError::ChangesMore)?;
    let key = unescaped(key);
    let node = at(root, above)?;
    // There is no way to write a list of tables that has none.
    if let (Edit::Remove { .. }, Node::Tables(tables)) = (edit, &node)
        && tables.len() == 1
    {
        return make(root, &Edit::Set { pointer: above.to_owned(), value: Json::Array(Vec::new()) });
    }
    match (node, edit) {
        (Node::Table(table), Edit::Set { value, .. }) => set(table, &key, value),
        (Node::Table(table), Edit::Remove { .. }) => remove(table, &key),
        (Node::Table(table), Edit::Rename { key: new, .. }) => rename(table, &key, new),
        (Node::Table(_), Edit::Insert { .. } | Edit::Move { .. }) => Err(EditError::ChangesMore),
        (Node::List(items), Edit::Set { value, .. }) => {
            value::replace(items.get_mut(position(&key)?).ok_or(EditError::ChangesMore)?, value)
        }
        (Node::List(items), edit) => list::arrange(items, edit, &key),
        (Node::Tables(tables), edit) => list::arrange_tables(tables, edit, &key),
    }
}

/// What a pointer leads into.
enum Node<'t> {
    Table(&'t mut dyn TableLike),
    List(&'t mut Array),
    Tables(&'t mut ArrayOfTables),
}

impl<'t> Node<'t> {
    fn of(item: &'t mut Item) -> Option<Self> {
        match item {
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(value) => Self::of_value(value),
            Item::None => None,
        }
    }

    fn of_value(value: &'t mut Value) -> Option<Self> {
        match value {
            Value::InlineTable(table) => Some(Self::Table(table)),
            Value::Array(items) => Some(Self::List(items)),
            _ => None,
        }
    }
}

fn at<'t>(root: &'t mut Table, pointer: &str) -> Result<Node<'t>, EditError> {
    let step = |node: Node<'t>, step: String| match node {
        Node::Table(table) => table.get_mut(&step).and_then(Node::of),
        Node::List(items) => items.get_mut(index(&step)?).and_then(Node::of_value),
        Node::Tables(tables) => tables.get_mut(index(&step)?).map(|table| Node::Table(table)),
    };
    let steps = pointer.split('/').skip(1).map(unescaped);
    let mut steps = steps.into_iter();
    steps.try_fold(Node::Table(root), step).ok_or(EditError::ChangesMore)
}

fn position(key: &str) -> Result<usize, EditError> {
    index(key).ok_or(EditError::ChangesMore)
}

/// Gives a key a value.
fn set(table: &mut dyn TableLike, key: &str, new: &Json) -> Result<(), EditError> {
    if let Some(Item::Value(old)) = table.get_mut(key) {
        return value::replace(old, new);
    }
    let is_new = table.get(key).is_none();
    let item = if is_new && !table.is_dotted() { item_of(new)? } else { Item::Value(value::of(new)?) };
    table.insert(key, item);
    Ok(())
}

/// Removes a key with the comment lines directly above it; those above a blank line stay.
fn remove(table: &mut dyn TableLike, key: &str) -> Result<(), EditError> {
    let next = table.iter().map(|(key, _)| key).skip_while(|other| *other != key).nth(1).map(str::to_owned);
    let above = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
    let kept = above.and_then(|above| above.get(..above.rfind("\n\n")? + 2)).map(str::to_owned);
    table.remove(key).ok_or(EditError::ChangesMore)?;
    let (Some(kept), Some(next)) = (kept, next) else { return Ok(()) };
    let Some((mut key, item)) = table.get_key_value_mut(&next) else { return Ok(()) };
    let decor = match item {
        Item::Table(table) => table.decor_mut(),
        Item::ArrayOfTables(tables) => match tables.get_mut(0) {
            Some(first) => first.decor_mut(),
            None => return Ok(()),
        },
        Item::Value(_) | Item::None => key.leaf_decor_mut(),
    };
    let below = decor.prefix().and_then(|below| below.as_str()).unwrap_or_default();
    decor.set_prefix(kept + below);
    Ok(())
}

/// Gives a key another name, where it is: all entries are put in again, in their order.
fn rename(table: &mut dyn TableLike, old: &str, new: &str) -> Result<(), EditError> {
    let keys: Vec<Key> = table.iter().filter_map(|(key, _)| table.key(key)).cloned().collect();
    for key in keys {
        let item = table.remove(key.get()).ok_or(EditError::ChangesMore)?;
        let renamed = || {
            let (leaf, dotted) = (key.leaf_decor().clone(), key.dotted_decor().clone());
            Key::new(new).with_leaf_decor(leaf).with_dotted_decor(dotted)
        };
        let named = if key.get() == old { renamed() } else { key };
        let Entry::Vacant(place) = table.entry_format(&named) else { return Err(EditError::ChangesMore) };
        place.insert(item);
    }
    Ok(())
}

/// A value under a new key: objects get a head of their own, as people write them.
fn item_of(new: &Json) -> Result<Item, EditError> {
    Ok(match new {
        Json::Object(members) => Item::Table(table_of(members)?),
        Json::Array(items) if is_of_tables(items) => {
            let tables = items.iter().filter_map(Json::as_object).map(table_of);
            Item::ArrayOfTables(tables.collect::<Result<_, _>>()?)
        }
        _ => Item::Value(value::of(new)?),
    })
}

fn table_of(members: &Map<String, Json>) -> Result<Table, EditError> {
    members.iter().map(|(key, value)| Ok((key.as_str(), value::of(value)?))).collect()
}

fn is_of_tables(items: &[Json]) -> bool {
    !items.is_empty() && items.iter().all(Json::is_object)
}

#[cfg(test)]
mod tests;
