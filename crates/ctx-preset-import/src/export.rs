//! Agents and worldbooks as files of other applications.
//!
//! What was imported comes back from the file that it was imported from: a field that nobody changed is as it
//! was there, and one that was changed is written over it.

mod book;
mod card;
mod picture;
mod preset;
mod scripts;

pub use book::{export_card_book, export_lorebook, export_worldbook};
pub(crate) use card::CARD_RULES;
pub use card::export_card;
pub use picture::export_card_picture;
pub use preset::export_preset;
pub use scripts::export_regex_scripts;

use ctx_types::{Agent, Persist as _};
use serde_json::{Map, Value};

use crate::kept::IMPORTED;
use crate::loose::Object;

/// Returns an agent as AIO Hub writes it, which is our own form; what it was imported from stays beside.
///
/// ```
/// use ctx_preset_import::export_agent;
/// use ctx_types::Agent;
///
/// let agent = Agent { name: Some("Ada".into()), ..Agent::default() };
/// assert_eq!(export_agent(&agent)["type"], "AIO_Agent_Export");
/// ```
pub fn export_agent(agent: &Agent) -> Value {
    let mut export = Map::new();
    export.insert("version".to_owned(), 1.into());
    export.insert("type".to_owned(), "AIO_Agent_Export".into());
    export.insert("agents".to_owned(), Value::Array(vec![agent.write()]));
    Value::Object(export)
}

/// Returns the file of a kind that an agent was imported from.
fn imported(agent: &Agent, kind: &str) -> Option<Object> {
    agent.kept.get(IMPORTED)?.get(kind)?.as_object().cloned()
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
