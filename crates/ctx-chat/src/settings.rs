//! Settings that hold for chats unless somebody says otherwise.

use ctx_processors::internal::ids;
use serde_json::{Map, Value, json};

/// The processor that keeps requests small; off elsewhere.
const COMPRESSOR: &str = ids::REQUEST_COMPRESSOR;

/// Switches compression of requests on in a user's settings of processors, unless they say something about it.
///
/// ```
/// use serde_json::json;
///
/// let settings = ctx_chat::with_compression(None);
/// assert_eq!(settings, json!({ "processors": [{ "id": "request-compressor", "enabled": true }] }));
/// let off = json!({ "processors": [{ "id": "request-compressor", "enabled": false }] });
/// assert_eq!(ctx_chat::with_compression(Some(off.clone())), off);
/// ```
pub fn with_compression(settings: Option<Value>) -> Value {
    let mut settings = settings.filter(Value::is_object).unwrap_or_else(|| Value::Object(Map::new()));
    let Some(map) = settings.as_object_mut() else { return settings };
    let processors = map.entry("processors").or_insert_with(|| json!([]));
    if let Some(list) = processors.as_array_mut()
        && !list.iter().any(|entry| entry.get("id").and_then(Value::as_str) == Some(COMPRESSOR))
    {
        list.push(json!({ "id": COMPRESSOR, "enabled": true }));
    }
    settings
}
