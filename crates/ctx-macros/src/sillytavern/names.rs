//! Who talks with whom, and the texts of the card.

use ctx_types::{Text, Trust};

use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", user)
            .trust(Trust::User)
            .describe("The name of the user; `User` if there is none.", "{{user}}"),
        Definition::always("char", char)
            .describe("The name of the agent; `Assistant` if there is none.", "{{char}}"),
        Definition::always("persona", |call| call.env().persona.clone().into())
            .trust(Trust::User)
            .describe("What the user's profile says.", "{{persona}}"),
        Definition::always("charDescription", |call| of_agent(call.env().description.clone(), call))
            .alias("description")
            .describe("The description of the agent.", "{{charDescription}}"),
        Definition::always("charPersonality", |call| of_agent(call.env().personality.clone(), call))
            .alias("personality")
            .describe("The personality of the agent.", "{{charPersonality}}"),
        Definition::always("charScenario", |call| of_agent(call.env().scenario.clone(), call))
            .alias("scenario")
            .describe("The scenario that the agent plays in.", "{{charScenario}}"),
    ]
}

fn user(call: &mut Call<'_>) -> Value {
    named(call.env().user.as_ref(), "User")
}

fn char(call: &mut Call<'_>) -> Value {
    call.limit_trust(call.env().agent_trust);
    named(call.env().char.as_ref(), "Assistant")
}

fn of_agent(text: Option<Text>, call: &mut Call<'_>) -> Value {
    call.limit_trust(call.env().agent_trust);
    text.into()
}

fn named(name: Option<&Text>, default: &'static str) -> Value {
    match name {
        Some(name) if !name.is_empty() => name.clone().into(),
        _ => default.into(),
    }
}
