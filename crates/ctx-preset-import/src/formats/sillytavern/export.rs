//! Agents and worldbooks as files of other applications.
//!
//! What was imported comes back from the file that it was imported from: a field that nobody changed is as it
//! was there, and one that was changed is written over it.

mod card;
mod order;
mod preset;
mod prompts;
mod scripts;
mod settings;

pub use card::{card_book, export_card, export_card_picture};
pub use preset::export_preset;
pub use scripts::export_regex_scripts;

use ctx_types::Agent;
use serde_json::Value;

use crate::kept;
use crate::loose::Object;

/// Returns the file of a kind that an agent was imported from.
fn imported(agent: &Agent, kind: &str) -> Option<Object> {
    kept::find(&agent.kept, kind)?.as_object().cloned()
}

/// Sets a key of an object, unless it has that value.
fn put(map: &mut Object, key: &str, value: Value) {
    if map.get(key) != Some(&value) {
        map.insert(key.to_owned(), value);
    }
}

/// Returns a text, empty if there is none.
fn text_at(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
