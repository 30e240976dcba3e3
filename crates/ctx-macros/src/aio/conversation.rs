use ctx_types::Trust;

use crate::call::{Call, Value};
use crate::definition::Definition;
use crate::env::SpokenText;

pub(super) fn definitions() -> Vec<Definition> {
    let definition = |name: &'static str, read: fn(&Call<'_>) -> Option<SpokenText>| {
        Definition::always(name, move |call| spoken_value(read(call), call)).volatile()
    };
    vec![
        definition("lastMessage", |call| call.env().conversation.last.clone())
            .describe("Newest complete message, or empty.", "{{lastMessage}}"),
        definition("lastUserMessage", |call| call.env().conversation.last_user.clone())
            .describe("Newest message of the user.", "{{lastUserMessage}}"),
        definition("lastCharMessage", |call| call.env().conversation.last_agent.clone())
            .describe("Newest complete message of the agent.", "{{lastCharMessage}}"),
        Definition::always("input", |call| call.env().input.clone().into())
            .volatile()
            .trust(Trust::User)
            .describe("Pending input of the user, as typed.", "{{input}}"),
    ]
}

fn spoken_value(spoken: Option<SpokenText>, call: &mut Call<'_>) -> Value {
    let Some(SpokenText { text, trust }) = spoken else { return Value::EMPTY };
    call.limit_trust(trust);
    text.into()
}
