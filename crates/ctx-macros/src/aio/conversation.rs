use ctx_types::Trust;

use crate::definition::Definition;
use crate::env::{Conversation, SpokenText};

pub(super) fn definitions() -> Vec<Definition> {
    let definition = |name: &'static str, read: fn(&Conversation) -> Option<&SpokenText>| {
        Definition::always(name, move |call| call.spoken_text(read(&call.env().conversation))).volatile()
    };
    vec![
        definition("lastMessage", |chat| chat.last.as_ref())
            .describe("Newest complete message, or empty.", "{{lastMessage}}"),
        definition("lastUserMessage", |chat| chat.last_user.as_ref())
            .describe("Newest message of the user.", "{{lastUserMessage}}"),
        definition("lastCharMessage", |chat| chat.last_agent.as_ref())
            .describe("Newest complete message of the agent.", "{{lastCharMessage}}"),
        Definition::always("input", |call| call.env().input.clone().into())
            .volatile()
            .trust(Trust::User)
            .describe("Pending input of the user, as typed.", "{{input}}"),
    ]
}
