//! Media of messages whose role has none: they are sent in a user's message of their own.

use ctx_types::{Message, Role};

use crate::json::{Json, object};

/// What waits for a message of its own.
#[derive(Default)]
pub(super) struct Homeless<'a>(Vec<Json<'a>>);

impl<'a> Homeless<'a> {
    /// Takes the media of a message, with a line that says whose they are.
    pub(super) fn add(&mut self, message: &Message, media: Vec<Json<'a>>) {
        if media.is_empty() {
            return;
        }
        let line = match (message.role, &message.tool_call_id) {
            (Role::Tool, Some(id)) => format!("[Attached to the result of the call {id}]"),
            (Role::Tool, None) => "[Attached to the result of the tool]".to_owned(),
            (Role::Assistant, _) => "[Attached to the assistant's message]".to_owned(),
            _ => "[Attached to the instructions]".to_owned(),
        };
        self.0.push(object([("type", "text".into()), ("text", line.into())]));
        self.0.extend(media);
    }

    /// Returns the message, if anything waits for one.
    pub(super) fn take(&mut self) -> Option<Json<'a>> {
        let parts = std::mem::take(&mut self.0);
        (!parts.is_empty()).then(|| object([("role", "user".into()), ("content", parts.into())]))
    }
}
