use ctx_types::Trust;

use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", |call| call.env().user_name().into())
            .trust(Trust::User)
            .describe("Name of the user [default: `User`].", "{{user}}"),
        Definition::always("char", |call| call.env().agent_name().into())
            .alias("agent")
            .describe("Name of the agent [default: `Assistant`].", "{{char}}"),
        Definition::always("persona", |call| call.env().persona.clone().into())
            .trust(Trust::User)
            .describe("Text of the user profile.", "{{persona}}"),
        Definition::always("description", |call| call.env().description.clone().into())
            .describe("Description of the agent.", "{{description}}"),
        Definition::always("personality", |call| call.env().personality.clone().into())
            .describe("Personality of the agent.", "{{personality}}"),
        Definition::always("scenario", |call| call.env().scenario.clone().into())
            .describe("Scenario of the agent.", "{{scenario}}"),
        Definition::always("mesExamples", |call| call.env().card.examples.clone().into())
            .describe("Example dialogues of the agent's card.", "{{mesExamples}}"),
    ]
}
