//! Where the parts of a foreign form go that have no place in the unified one.

use ctx_types::internal::UnknownKeys;
use serde_json::{Map, Value};

use crate::loose::get;

/// The key under which such parts are kept.
pub(crate) const IMPORTED: &str = "imported";

/// Under which of these keys stands what an export of AIO Hub had around an agent.
pub(crate) const ENVELOPE: &str = "envelope";

/// Keeps parts of a foreign form beside an agent, among those that stand there already where they are told apart.
///
/// Returns whether these stand below the new ones now.
pub(crate) fn join(kept: &mut UnknownKeys, mut parts: Map<String, Value>) -> bool {
    let mut is_moved = false;
    match kept.get_mut(IMPORTED).map(Value::take) {
        Some(Value::Object(mut earlier)) if has_room(&earlier, parts.keys()) => {
            earlier.append(&mut parts);
            parts = earlier;
        }
        Some(earlier) => {
            parts.insert(IMPORTED.to_owned(), earlier);
            is_moved = true;
        }
        None => {}
    }
    kept.set(IMPORTED, Value::Object(parts));
    is_moved
}

/// Returns whether parts can stand beside earlier ones, so that it is known later which were which.
pub(crate) fn has_room<'k>(
    earlier: &Map<String, Value>,
    parts: impl IntoIterator<Item = &'k String>,
) -> bool {
    let is_free = |key: &str| !earlier.contains_key(key);
    let mut parts = parts.into_iter();
    !earlier.is_empty() && is_free(IMPORTED) && is_free(ENVELOPE) && parts.all(|key| is_free(key))
}

/// Returns a part that is kept beside a noun, or beside what was kept earlier.
pub(crate) fn find<'k>(kept: &'k UnknownKeys, part: &str) -> Option<&'k Value> {
    let mut parts = kept.get(IMPORTED)?;
    loop {
        match parts.get(part) {
            Some(found) => return Some(found),
            None => parts = parts.get(IMPORTED)?,
        }
    }
}

/// Takes out of the file of an agent what an export had around it.
pub(crate) fn take_envelope(agent: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let Some(Value::Object(parts)) = agent.get_mut(IMPORTED) else { return None };
    let Some(Value::Object(envelope)) = parts.shift_remove(ENVELOPE) else { return take_envelope(parts) };
    match parts.shift_remove(IMPORTED) {
        Some(earlier) => drop(agent.insert(IMPORTED.to_owned(), earlier)),
        None if parts.is_empty() => drop(agent.shift_remove(IMPORTED)),
        None => {}
    }
    Some(envelope)
}

/// Moves a key of a foreign object aside, for [`add`].
pub(crate) fn displace(map: &mut Map<String, Value>, key: &str, aside: &mut Map<String, Value>) {
    if get(map, key).is_none() {
        return;
    }
    if let Some(value) = map.shift_remove(key) {
        aside.insert(key.to_owned(), value);
    }
}

/// Keeps displaced parts in the object that they came from; returns whether what was kept there stands below them now.
pub(crate) fn add(map: &mut Map<String, Value>, mut aside: Map<String, Value>) -> bool {
    if aside.is_empty() {
        return false;
    }
    displace(map, IMPORTED, &mut aside);
    let is_moved = aside.contains_key(IMPORTED);
    map.insert(IMPORTED.to_owned(), Value::Object(aside));
    is_moved
}
