//! The author's note that a chat has in its metadata.

use serde_json::{Value, json};

use super::role_of_number;
use crate::loose::{Object, object, text, whole};

/// The key of a conversation's header that holds its note.
pub(crate) const KEY: &str = "authorNote";

/// Returns the note of a chat's header line as our conversations have it; none if it has none.
///
/// Positions: 0 below the main prompt, 1 at a depth, 2 above the main prompt.
pub(crate) fn of_header(header: &Object) -> Option<Value> {
    let metadata = object(header, "chat_metadata")?;
    if !metadata.keys().any(|key| key.starts_with("note_")) {
        return None;
    }
    let depth = whole(metadata, "note_depth").unwrap_or(4).max(0);
    let strategy = match whole(metadata, "note_position") {
        Some(0) => json!({ "type": "anchor", "anchorTarget": "author_note", "anchorPosition": "after" }),
        Some(2) => json!({ "type": "anchor", "anchorTarget": "before_main", "anchorPosition": "after" }),
        _ => json!({ "type": "depth", "depth": depth }),
    };
    Some(json!({
        "content": text(metadata, "note_prompt").unwrap_or_default(),
        "role": role_of_number(whole(metadata, "note_role")),
        "interval": whole(metadata, "note_interval").unwrap_or(1).max(0),
        "injectionStrategy": strategy,
    }))
}
