//! Files that travel with messages, as references until something loads their bytes.

use std::sync::Arc;

use serde_json::Value;

/// A reference to a file that belongs to a message.
///
/// The fields are what every stage may need; all else that the file said about it stays in `kept`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// The id by which placeholders and reports name it.
    pub id: Arc<str>,
    /// The file name shown to people and models.
    pub name: Arc<str>,
    /// The media type, if known, for example `image/png`.
    pub mime_type: Option<Arc<str>>,
    /// Where the bytes are, in the host's own terms.
    pub path: Option<Arc<str>>,
    /// The reference as its file had it.
    pub kept: Arc<Value>,
}

impl Attachment {
    /// Reads an attachment as AIO Hub stores it; missing names are empty.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Arc::from);
        Self {
            id: text("id").or_else(|| text("assetId")).unwrap_or_default(),
            name: text("name").or_else(|| text("filename")).unwrap_or_default(),
            mime_type: text("mimeType"),
            path: text("path"),
            kept: Arc::new(value.clone()),
        }
    }
}
