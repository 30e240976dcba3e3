//! Edits that turn one value into another.

use ctx_types::internal::pointer_step;
use serde_json::{Map, Value};

use super::Edit;

/// Treatment of lists that differ in length, and of keys with the value of a removed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Set the whole list. Rename the removed key.
    Whole,
    /// Change items, and insert or remove items at the end. Rename no key.
    Items,
}

/// Returns edits at a pointer that turn one value into another. The edits are as small as possible.
pub fn difference(old: &Value, new: &Value, pointer: &str, lists: Lists) -> Vec<Edit> {
    let mut edits = Vec::new();
    add(old, new, pointer, lists, &mut edits);
    edits
}

fn add(old: &Value, new: &Value, at: &str, lists: Lists, edits: &mut Vec<Edit>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => add_keys(old, new, at, lists, edits),
        (Value::Array(old), Value::Array(new))
            if match lists {
                Lists::Whole => old.len() == new.len(),
                Lists::Items => is_of_items(old, new),
            } =>
        {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                add(old, new, &format!("{at}/{index}"), lists, edits);
            }
            let surplus = (new.len()..old.len()).rev();
            edits.extend(surplus.map(|index| Edit::Remove { pointer: format!("{at}/{index}") }));
            let added = new.iter().skip(old.len());
            let insert = |value: &Value| Edit::Insert { pointer: format!("{at}/-"), value: value.clone() };
            edits.extend(added.map(insert));
        }
        (old, new) if old == new => {}
        (_, new) => edits.push(Edit::Set { pointer: at.to_owned(), value: new.clone() }),
    }
}

/// Returns whether a list can become another one item by item. TOML writes a list of objects as tables, which cannot
/// have other items.
fn is_of_items(old: &[Value], new: &[Value]) -> bool {
    let is_of_objects = |list: &[Value]| list.iter().all(Value::is_object);
    old.is_empty() || !is_of_objects(old) || is_of_objects(new)
}

fn add_keys(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    at: &str,
    lists: Lists,
    edits: &mut Vec<Edit>,
) {
    let below = |key: &str| format!("{at}/{}", pointer_step(key));
    let mut added: Vec<(&String, &Value)> = new.iter().filter(|(key, _)| !old.contains_key(*key)).collect();
    for (key, value) in old {
        let pointer = below(key);
        match new.get(key) {
            Some(new) => add(value, new, &pointer, lists, edits),
            // A migration renames keys. Elsewhere, an equal value under another key means something else.
            None if lists == Lists::Items => edits.push(Edit::Remove { pointer }),
            None => match added.iter().position(|(_, new)| *new == value) {
                Some(index) => edits.push(Edit::Rename { pointer, key: added.remove(index).0.clone() }),
                None => edits.push(Edit::Remove { pointer }),
            },
        }
    }
    let set = |(key, value): (&String, &Value)| Edit::Set { pointer: below(key), value: value.clone() };
    edits.extend(added.into_iter().map(set));
}
