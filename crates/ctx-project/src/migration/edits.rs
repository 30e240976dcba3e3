//! The edits that make one value of another.

use ctx_types::pointer_step;
use serde_json::{Map, Value};

use crate::drafts::Edit;

/// Returns edits that make `new` of `old`: whole values where lists differ in length, else as small as they come.
pub(super) fn between(old: &Value, new: &Value) -> Vec<Edit> {
    let mut edits = Vec::new();
    add(old, new, "", &mut edits);
    edits
}

fn add(old: &Value, new: &Value, at: &str, edits: &mut Vec<Edit>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => add_keys(old, new, at, edits),
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                add(old, new, &format!("{at}/{index}"), edits);
            }
        }
        (old, new) if old == new => {}
        (_, new) => edits.push(Edit::Set { pointer: at.to_owned(), value: new.clone() }),
    }
}

fn add_keys(old: &Map<String, Value>, new: &Map<String, Value>, at: &str, edits: &mut Vec<Edit>) {
    let below = |key: &str| format!("{at}/{}", pointer_step(key));
    let mut added: Vec<(&String, &Value)> = new.iter().filter(|(key, _)| !old.contains_key(*key)).collect();
    for (key, value) in old {
        let pointer = below(key);
        match new.get(key) {
            Some(new) => add(value, new, &pointer, edits),
            // The same value under a new key stays where it is written.
            None => match added.iter().position(|(_, new)| *new == value) {
                Some(index) => edits.push(Edit::Rename { pointer, key: added.remove(index).0.clone() }),
                None => edits.push(Edit::Remove { pointer }),
            },
        }
    }
    let set = |(key, value): (&String, &Value)| Edit::Set { pointer: below(key), value: value.clone() };
    edits.extend(added.into_iter().map(set));
}
