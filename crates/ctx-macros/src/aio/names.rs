use ctx_types::Trust;

use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", |call| call.env().user_name().into())
            .trust(Trust::User)
            .describe("Name of the user [default: `User`].", "{{user}}"),
        Definition::always("char", |call| call.agent_text(Some(call.env().agent_name())))
            .alias("agent")
            .describe("Name of the agent [default: `Assistant`].", "{{char}}"),
        Definition::always("persona", |call| call.env().persona.clone().into())
            .trust(Trust::User)
            .describe("Text of the user profile.", "{{persona}}"),
        Definition::always("description", |call| call.agent_text(call.env().description.clone()))
            .describe("Description of the agent.", "{{description}}"),
        Definition::always("personality", |call| call.agent_text(call.env().personality.clone()))
            .describe("Personality of the agent.", "{{personality}}"),
        Definition::always("scenario", |call| call.agent_text(call.env().scenario.clone()))
            .describe("Scenario of the agent.", "{{scenario}}"),
        Definition::always("mesExamples", |call| call.agent_text(call.env().card.examples.clone()))
            .describe("Example dialogues of the agent's card.", "{{mesExamples}}"),
    ]
}
