//! Media of messages whose role has none: they are sent in a user's message of their own.

use ctx_types::{Message, Role};
use serde_json::{Value, json};

/// What waits for a message of its own.
#[derive(Default)]
pub(super) struct Homeless(Vec<Value>);

impl Homeless {
    /// Takes the media of a message, with a line that says whose they are.
    pub(super) fn add(&mut self, message: &Message, media: Vec<Value>) {
        if media.is_empty() {
            return;
        }
        let line = match (message.role, &message.tool_call_id) {
            (Role::Tool, Some(id)) => format!("[Attached to the result of the call {id}]"),
            (Role::Tool, None) => "[Attached to the result of the tool]".to_owned(),
            (Role::Assistant, _) => "[Attached to the assistant's message]".to_owned(),
            _ => "[Attached to the instructions]".to_owned(),
        };
        self.0.push(json!({ "type": "text", "text": line }));
        self.0.extend(media);
    }

    /// Returns the message, if anything waits for one.
    pub(super) fn take(&mut self) -> Option<Value> {
        let parts = std::mem::take(&mut self.0);
        (!parts.is_empty()).then(|| json!({ "role": "user", "content": parts }))
    }
}
