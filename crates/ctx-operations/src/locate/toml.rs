//! Places in TOML.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Place;
use super::wanted::{Wanted, step};

/// Finds values in a TOML document; nothing if the text is none.
pub(super) fn find(source: &str, wanted: &Wanted) -> BTreeMap<String, Place> {
    let mut found = BTreeMap::new();
    if let Ok(table) = DeTable::parse(source) {
        found.insert(String::new(), Place { range: 0..source.len(), text: None, key: None });
        search_table(table.get_ref(), wanted, "", &mut found);
    }
    found
}

fn search_table(table: &DeTable<'_>, wanted: &Wanted, pointer: &str, found: &mut BTreeMap<String, Place>) {
    for (key, wanted) in &wanted.below {
        if let Some((known, value)) = table.iter().find(|(known, _)| known.get_ref() == key) {
            let pointer = step(pointer, key);
            search(value, wanted, &pointer, found);
            if let Some(place) = found.get_mut(&pointer) {
                place.key = Some(known.span());
            }
        }
    }
}

/// Notes a value, and searches in it. No deeper than the pointers.
fn search(value: &Spanned<DeValue<'_>>, wanted: &Wanted, pointer: &str, found: &mut BTreeMap<String, Place>) {
    let text = value.get_ref().as_str().filter(|_| wanted.is_leaf()).map(str::to_owned);
    found.insert(pointer.to_owned(), Place { range: value.span(), text, key: None });
    match value.get_ref() {
        DeValue::Table(table) => search_table(table, wanted, pointer, found),
        DeValue::Array(items) => {
            for (index, wanted) in &wanted.below {
                if let Some(item) = index.parse().ok().and_then(|index: usize| items.get(index)) {
                    search(item, wanted, &step(pointer, index), found);
                }
            }
        }
        _ => {}
    }
}
