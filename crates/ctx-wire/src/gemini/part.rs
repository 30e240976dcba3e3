//! Media as parts.

use ctx_types::MediaKind;
use serde_json::{Value, json};

use crate::Dialect;
use crate::json::object;
use crate::media::{Data, Media, takes};

/// Tells whether a part is written as this dialect has it already.
pub(super) fn is_own(part: &Value) -> bool {
    const KEYS: &[&str] = &["inlineData", "fileData", "executableCode", "codeExecutionResult"];
    part.get("type").is_none() && KEYS.iter().any(|key| part.get(key).is_some())
}

/// Writes a medium; `None` if the provider does not read its type.
pub(super) fn of_media(media: &Media<'_>) -> Option<Value> {
    if !takes(Dialect::Gemini, &media.mime_type) {
        return None;
    }
    let mime_type = Value::from(&*media.mime_type);
    let mut part = match media.data {
        Data::Url(url) => json!({ "fileData": { "mimeType": mime_type, "fileUri": url } }),
        Data::FileId(_) => return None,
        Data::Bytes(_) | Data::Base64(_) | Data::Text(_) => {
            let data = object([("mimeType", mime_type), ("data", Value::from(media.base64()?))]);
            object([("inlineData", data)])
        }
    };
    if media.kind == MediaKind::Video
        && let Some(metadata) = media.kept.get("videoMetadata").filter(|metadata| metadata.is_object())
    {
        part["videoMetadata"] = metadata.clone();
    }
    Some(part)
}
