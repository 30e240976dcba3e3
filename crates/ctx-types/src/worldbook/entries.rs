use std::sync::Arc;

use serde_json::{Map, Value};

use super::WorldbookEntry;
use crate::persist::{Field, Persist, Reader, put_value};

/// Worldbook entries by key; in a list, by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldbookEntries {
    entries: Vec<(Arc<str>, WorldbookEntry)>,
    is_list: bool,
}

impl WorldbookEntries {
    /// Creates a list.
    pub fn list(entries: impl IntoIterator<Item = WorldbookEntry>) -> Self {
        let keyed = |(position, entry): (usize, _)| (Arc::from(position.to_string()), entry);
        Self { entries: entries.into_iter().enumerate().map(keyed).collect(), is_list: true }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether the file has a list.
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns keys and entries in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &WorldbookEntry)> {
        self.entries.iter().map(|(key, entry)| (key, entry))
    }

    /// Returns the mutable entries.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut WorldbookEntry> {
        self.entries.iter_mut().map(|(_, entry)| entry)
    }

    /// Returns keys and entries in JavaScript's order, as in applications: integer keys first, ascending. O(n
    /// log n).
    pub fn in_order(&self) -> impl Iterator<Item = (&Arc<str>, &WorldbookEntry)> {
        let mut order: Vec<&(Arc<str>, WorldbookEntry)> = self.entries.iter().collect();
        if !self.is_list {
            order.sort_by_key(|(key, _)| array_index(key).map_or(u64::MAX, u64::from));
        }
        order.into_iter().map(|(key, entry)| (key, entry))
    }
}

/// Parses a JavaScript array index; objects list such keys first.
pub fn array_index(key: &str) -> Option<u32> {
    let index = key.parse::<u32>().ok().filter(|index| *index < u32::MAX)?;
    (index.to_string() == key).then_some(index)
}

impl Field for WorldbookEntries {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self {
        match slot {
            None | Some(Value::Null) => Self::default(),
            Some(Value::Object(map)) => {
                let read = |(key, value): (String, Value)| {
                    let entry = reader.at_key(&key, |reader| WorldbookEntry::read(value, reader));
                    (Arc::from(key), entry)
                };
                Self { entries: std::mem::take(map).into_iter().map(read).collect(), is_list: false }
            }
            Some(Value::Array(items)) => {
                let items = std::mem::take(items).into_iter().enumerate();
                let read =
                    |(index, value)| reader.at_index(index, |reader| WorldbookEntry::read(value, reader));
                Self::list(items.map(read))
            }
            Some(other) => {
                reader.wrong_type("an object or a list of entries", other);
                Self::default()
            }
        }
    }

    fn put(&self, map: &mut Map<String, Value>, key: &str) {
        let is_there = map.get(key).is_some_and(|slot| slot.is_object() || slot.is_array());
        if self.is_empty() && !is_there {
            return;
        }
        let entries = self.entries.iter();
        let value = if self.is_list {
            Value::Array(entries.map(|(_, entry)| entry.write()).collect())
        } else {
            Value::Object(entries.map(|(key, entry)| (key.to_string(), entry.write())).collect())
        };
        put_value(map, key, Some(value));
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let entry = generator.subschema_for::<WorldbookEntry>();
        schemars::json_schema!({
            "type": ["object", "array", "null"], "items": entry, "additionalProperties": entry,
        })
    }
}
