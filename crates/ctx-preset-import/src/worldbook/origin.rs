//! From the unified form of a worldbook back into the document that it was read from.

use std::collections::BTreeMap;

use super::fields::{EntryField, theirs};

/// Where a document has what the unified form of its worldbook says.
///
/// ```
/// use ctx_preset_import::{Document, worldbook_of};
///
/// let card = br#"{ "spec": "chara_card_v2", "data": { "character_book": { "entries": [
///     { "id": 7, "keys": ["moon"], "content": "It is hollow.", "insertion_order": 5 }
/// ] } } }"#;
/// let (_, origin) = worldbook_of(Document::read(card, "ada.json")?, "ada.json")?;
/// assert_eq!(origin.pointer("/entries/7/key/0"), "/data/character_book/entries/0/keys/0");
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorldbookOrigin {
    /// Where the document has the book.
    book: String,
    /// Where it has the entries.
    entries: String,
    /// The entries that stand under another key there: the keys here, and those there, as pointers have them.
    keys: BTreeMap<String, String>,
    /// The fields of an entry that have other names there.
    fields: &'static [EntryField],
}

impl WorldbookOrigin {
    pub(crate) fn new(book: &str, entries: &str) -> Self {
        Self { book: book.to_owned(), entries: entries.to_owned(), keys: BTreeMap::new(), fields: &[] }
    }

    /// The same for a document whose entries have other keys and fields.
    pub(crate) fn with_names(self, keys: BTreeMap<String, String>, fields: &'static [EntryField]) -> Self {
        Self { keys, fields, ..self }
    }

    /// Leads a JSON pointer into the unified form to the same place of the document. O(log entries).
    pub fn pointer(&self, pointer: &str) -> String {
        let Some(below) =
            pointer.strip_prefix("/entries").filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return format!("{}{pointer}", self.book);
        };
        let mut parts = below.splitn(4, '/').skip(1);
        let Some(key) = parts.next() else { return self.entries.clone() };
        let key = self.keys.get(key).map_or(key, String::as_str);
        let mut pointer = format!("{}/{key}", self.entries);
        if let Some(field) = parts.next() {
            pointer.push('/');
            pointer.push_str(theirs(self.fields, field).unwrap_or(field));
        }
        if let Some(rest) = parts.next() {
            pointer.push('/');
            pointer.push_str(rest);
        }
        pointer
    }
}
