//! The author's note that a chat has in its metadata.

use serde_json::{Value, json};

use super::role_of_number;
use crate::loose::Object;
use crate::source::{Source, SourceNode};

/// The key of a conversation's header that holds its note.
pub(crate) const KEY: &str = "authorNote";

/// Returns the note of a chat's header line as our conversations have it; none if it has none.
pub(crate) fn of_header(header: &Object) -> Option<Value> {
    take(SourceNode::new(header.get("chat_metadata")?).source())
}

/// Takes the note in the metadata of a chat.
///
/// Positions: 0 below the main prompt, 1 at a depth, 2 above the main prompt.
pub(crate) fn take(metadata: Source<'_>) -> Option<Value> {
    let content = metadata.at("note_prompt").text().into("/authorNote/content");
    let [interval, position, depth, role] =
        ["note_interval", "note_position", "note_depth", "note_role"].map(|key| metadata.at(key));
    interval.whole(0).into("/authorNote/interval");
    position.among(&[0, 1, 2]).into("/authorNote/injectionStrategy");
    role.among(&[0, 1, 2]).into("/authorNote/role");
    let anchor = match position.as_whole() {
        Some(0) => Some("author_note"),
        Some(2) => Some("before_main"),
        _ => None,
    };
    let strategy = if let Some(anchor) = anchor {
        depth.keep("the author's note has no depth");
        json!({ "type": "anchor", "anchorTarget": anchor, "anchorPosition": "after" })
    } else {
        depth.whole(0).into("/authorNote/injectionStrategy/depth");
        json!({ "type": "depth", "depth": depth.as_whole().unwrap_or(4).max(0) })
    };
    let note = json!({
        "content": content.unwrap_or_default(),
        "role": role_of_number(role.as_whole()),
        "interval": interval.as_whole().unwrap_or(1).max(0),
        "injectionStrategy": strategy,
    });
    metadata.fields().any(|(key, _)| key.starts_with("note_")).then_some(note)
}
