//! What the file of a book had around its entries, so that it can be written again.

use serde_json::{Map, Value};

use crate::kept::IMPORTED;
use crate::loose::Object;

/// The keys under which an object of entries had them.
pub(super) const KEYS: &str = "keys";
/// What stood where entries should be.
pub(super) const ENTRIES: &str = "entries";
/// A field of the file that is called as ours for the rules that hold.
pub(crate) const DIALECT: &str = "dialect";
/// The object that held the book, but for the book.
pub(super) const ENVELOPE: &str = "envelope";
/// That the file was a card's book by itself.
pub(super) const IS_CARD: &str = "isCard";
/// The fields of another application's book beside its entries.
pub(crate) const FILE: &str = "file";
/// The name that the file gave, and the one that the book got.
const NAME: &str = "name";
const NAMED: &str = "named";

/// One of these tells what was kept from what a file calls so itself.
const OURS: [&str; 7] = [KEYS, ENTRIES, DIALECT, ENVELOPE, IS_CARD, FILE, NAMED];

/// Keeps something beside a book.
pub(super) fn put(book: &mut Value, key: &str, value: Value) {
    let Some(book) = book.as_object_mut() else { return };
    let mut around = take(book);
    around.insert(key.to_owned(), value);
    book.insert(IMPORTED.to_owned(), Value::Object(around));
}

/// Takes what is kept beside a book, with what the file calls so itself as a part of it.
fn take(book: &mut Object) -> Object {
    match book.shift_remove(IMPORTED) {
        Some(Value::Object(around)) if OURS.iter().any(|key| around.contains_key(*key)) => around,
        Some(own) => Map::from_iter([(IMPORTED.to_owned(), own)]),
        None => Map::new(),
    }
}

/// Gives a book another name, and keeps that of its file.
pub(crate) fn rename(book: &mut Value, name: &str) {
    let own = book.get(NAME).cloned();
    put(book, NAMED, name.into());
    if let Some(own) = own {
        put(book, NAME, own);
    }
    book[NAME] = name.into();
}

/// Gives a book the fields of its file back, and returns the other parts of the file.
pub(super) fn restore(book: &mut Object) -> Object {
    let mut around = take(book);
    if let Some(named) = around.shift_remove(NAMED)
        && book.get(NAME) == Some(&named)
    {
        give_back(book, NAME, around.shift_remove(NAME));
    }
    if book.get(DIALECT).and_then(Value::as_str) == Some("ccv3") {
        give_back(book, DIALECT, around.shift_remove(DIALECT));
    }
    if let Some(own) = around.shift_remove(IMPORTED) {
        book.insert(IMPORTED.to_owned(), own);
    }
    around
}

/// Puts entries in the form that the file had them in: a list, or an object by the names of its entries.
pub(super) fn restore_entries(entries: Vec<Value>, around: &Object) -> Value {
    if let Some(other) = around.get(ENTRIES).filter(|_| entries.is_empty()) {
        return other.clone();
    }
    let Some(keys) = around.get(KEYS).and_then(Value::as_array) else { return Value::Array(entries) };
    let name = |index: usize| keys.get(index).and_then(Value::as_str).map(str::to_owned);
    let named = entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| (name(index).unwrap_or_else(|| format!("entry_{index}")), entry));
    Value::Object(named.collect())
}

fn give_back(book: &mut Object, key: &str, value: Option<Value>) {
    match value {
        Some(value) => book.insert(key.to_owned(), value),
        None => book.shift_remove(key),
    };
}
