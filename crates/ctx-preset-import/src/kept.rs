//! Where the parts of a foreign form go that have no place in the unified one.

use ctx_types::Kept;
use serde_json::{Map, Value};

/// The key under which such parts are kept.
pub(crate) const IMPORTED: &str = "imported";

/// Keeps parts of a foreign form beside a noun, with whatever stands there already.
pub(crate) fn set(kept: &mut Kept, mut parts: Value) {
    if let (Some(earlier), Value::Object(parts)) = (kept.get(IMPORTED), &mut parts) {
        parts.insert(IMPORTED.to_owned(), earlier.clone());
    }
    kept.set(IMPORTED, parts);
}

/// Moves a key of a foreign object aside, for [`add`].
pub(crate) fn displace(map: &mut Map<String, Value>, key: &str, aside: &mut Map<String, Value>) {
    if let Some(value) = map.shift_remove(key) {
        aside.insert(key.to_owned(), value);
    }
}

/// Keeps displaced parts in the object that they came from.
pub(crate) fn add(map: &mut Map<String, Value>, mut aside: Map<String, Value>) {
    if aside.is_empty() {
        return;
    }
    displace(map, IMPORTED, &mut aside);
    map.insert(IMPORTED.to_owned(), Value::Object(aside));
}
