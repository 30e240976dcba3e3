use ctx_types::Trust;

use crate::call::{Call, Value};
use crate::definition::Definition;
use crate::env::SpokenText;

pub(super) fn definitions() -> Vec<Definition> {
    let said = |name: &'static str, of: fn(&Call<'_>) -> Option<SpokenText>| {
        Definition::always(name, move |call| said(of(call), call)).volatile()
    };
    vec![
        said("lastMessage", |call| call.env().conversation.last.clone())
            .describe("Newest complete message, or empty.", "{{lastMessage}}"),
        said("lastUserMessage", |call| call.env().conversation.last_user.clone())
            .describe("Newest message of the user.", "{{lastUserMessage}}"),
        said("lastCharMessage", |call| call.env().conversation.last_agent.clone())
            .describe("Newest complete message of the agent.", "{{lastCharMessage}}"),
        Definition::always("input", |call| call.env().input.clone().into())
            .volatile()
            .trust(Trust::User)
            .describe("Pending input of the user, as typed.", "{{input}}"),
    ]
}

fn said(said: Option<SpokenText>, call: &mut Call<'_>) -> Value {
    let Some(SpokenText { text, trust }) = said else { return Value::EMPTY };
    call.limit_trust(trust);
    text.into()
}
