use ctx_types::{Text, Trust};

use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", user)
            .trust(Trust::User)
            .describe("Name of the user [default: `User`].", "{{user}}"),
        Definition::always("char", char)
            .alias("agent")
            .describe("Name of the agent [default: `Assistant`].", "{{char}}"),
        Definition::always("persona", persona)
            .trust(Trust::User)
            .describe("Text of the user profile.", "{{persona}}"),
        Definition::always("description", |call| agent_text(call.env().description.clone(), call))
            .describe("Description of the agent.", "{{description}}"),
        Definition::always("personality", |call| agent_text(call.env().personality.clone(), call))
            .describe("Personality of the agent.", "{{personality}}"),
        Definition::always("scenario", |call| agent_text(call.env().scenario.clone(), call))
            .describe("Scenario of the agent.", "{{scenario}}"),
        Definition::always("mesExamples", |call| agent_text(call.env().card.examples.clone(), call))
            .describe("Example dialogues of the agent's card.", "{{mesExamples}}"),
    ]
}

fn user(call: &mut Call<'_>) -> Value {
    name_or_default(call.env().user.as_ref(), "User")
}

fn char(call: &mut Call<'_>) -> Value {
    call.limit_trust(call.env().agent_trust);
    name_or_default(call.env().char.as_ref(), "Assistant")
}

fn persona(call: &mut Call<'_>) -> Value {
    call.env().persona.clone().into()
}

fn agent_text(text: Option<Text>, call: &mut Call<'_>) -> Value {
    call.limit_trust(call.env().agent_trust);
    text.into()
}

fn name_or_default(name: Option<&Text>, default: &'static str) -> Value {
    match name {
        Some(name) if !name.is_empty() => name.clone().into(),
        _ => default.into(),
    }
}
