//! Who talks with whom: names, and the texts of the agent and the profile.

use ctx_types::{Text, Trust};

use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", user)
            .trust(Trust::User)
            .describe("The name of the user; `User` if there is none.", "{{user}}"),
        Definition::always("char", char)
            .alias("agent")
            .describe("The name of the agent; `Assistant` if there is none.", "{{char}}"),
        Definition::always("persona", persona)
            .trust(Trust::User)
            .describe("What the user's profile says.", "{{persona}}"),
        Definition::always("description", |call| of_agent(call.env().description.clone(), call))
            .describe("The description of the agent.", "{{description}}"),
        Definition::always("personality", |call| of_agent(call.env().personality.clone(), call))
            .describe("The personality of the agent.", "{{personality}}"),
        Definition::always("scenario", |call| of_agent(call.env().scenario.clone(), call))
            .describe("The scenario that the agent plays in.", "{{scenario}}"),
        Definition::always("mesExamples", |call| of_agent(call.env().card.examples.clone(), call))
            .describe("The examples of dialogue of the agent's card, as it has them.", "{{mesExamples}}"),
    ]
}

fn user(call: &mut Call<'_>) -> Value {
    named(call.env().user.as_ref(), "User")
}

fn char(call: &mut Call<'_>) -> Value {
    call.limit_trust(call.env().agent_trust);
    named(call.env().char.as_ref(), "Assistant")
}

fn persona(call: &mut Call<'_>) -> Value {
    call.env().persona.clone().into()
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
