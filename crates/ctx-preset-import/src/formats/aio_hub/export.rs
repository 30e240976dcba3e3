//! An agent as AIO Hub exports it.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist as _};
use serde_json::{Map, Value};

use crate::formats::aio_hub::{BUNDLED, EXPORT_TYPE, EXPORT_VERSION};
use crate::kept;
use crate::loose::Object;

/// Returns an agent as AIO Hub writes it, which is our own form; what it was imported from stays beside.
///
/// Each of `books` has the name by which the agent asks for it, and becomes one of its `bundledWorldbooks`: world
/// info. Of an agent that was imported from an export, the further agents and fields of that stand where they stood.
///
/// ```
/// use ctx_preset_import::export_agent;
/// use ctx_types::Agent;
///
/// let agent = Agent { name: Some("Ada".into()), ..Agent::default() };
/// assert_eq!(export_agent(&agent, &[])["type"], "AIO_Agent_Export");
/// ```
pub fn export_agent(agent: &Agent, books: &[(&str, &Worldbook)]) -> Value {
    let mut file = agent.write();
    let mut export = Map::new();
    export.insert("version".to_owned(), EXPORT_VERSION.into());
    export.insert("type".to_owned(), EXPORT_TYPE.into());
    let mut envelope = file.as_object_mut().and_then(kept::take_envelope).unwrap_or_default();
    let others = envelope.shift_remove("agents");
    export.extend(envelope);
    if let Some(file) = file.as_object_mut() {
        bundle(file, books);
    }
    let mut agents = vec![file];
    if let Some(Value::Array(others)) = others {
        agents.extend(others);
    }
    export.insert("agents".to_owned(), Value::Array(agents));
    Value::Object(export)
}

/// Puts the books that an agent uses into its file, each where the file has its name already.
fn bundle(agent: &mut Object, books: &[(&str, &Worldbook)]) {
    if books.is_empty() {
        return;
    }
    let mut bundled = match agent.get_mut(BUNDLED).map(Value::take) {
        Some(Value::Array(bundled)) => bundled,
        _ => Vec::new(),
    };
    for (id, book) in books {
        let has_id = |item: &Value| item.get("id").is_some_and(|own| own == id);
        // Where a book was taken out of the file there is no content.
        let own = bundled.iter().position(|item| has_id(item) && item.get("content").is_none());
        let own = own.or_else(|| bundled.iter().position(has_id));
        match own.and_then(|own| bundled.get_mut(own)?.as_object_mut()) {
            Some(item) => {
                // There are no files beside the export.
                item.shift_remove("fileName");
                item.insert("content".to_owned(), book.write());
            }
            None => bundled.push(item(id, book)),
        }
    }
    agent.insert(BUNDLED.to_owned(), Value::Array(bundled));
}

fn item(id: &str, book: &Worldbook) -> Value {
    let name = book.name.as_deref().unwrap_or(id);
    serde_json::json!({ "id": id, "name": name, "content": book.write() })
}
