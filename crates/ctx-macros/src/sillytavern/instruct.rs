//! The templates of text completion, and system prompts.

use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all: Vec<Definition> =
        TEXTS.iter().map(|(name, aliases, what)| text(name, aliases, what)).collect();
    all.push(
        Definition::always("systemPrompt", system_prompt)
            .describe("The system prompt: the card's own, or else the host's.", "{{systemPrompt}}"),
    );
    all
}

/// Texts that a host gives: the name of the macro, other names, what it is.
const TEXTS: [(&str, &[&str], &str); 18] = [
    ("instructStoryStringPrefix", &[], "What stands before the story string."),
    ("instructStoryStringSuffix", &[], "What stands behind the story string."),
    ("instructUserPrefix", &["instructInput"], "What stands before a message of the user."),
    ("instructUserSuffix", &[], "What stands behind a message of the user."),
    ("instructAssistantPrefix", &["instructOutput"], "What stands before a message of the agent."),
    ("instructAssistantSuffix", &["instructSeparator"], "What stands behind a message of the agent."),
    ("instructSystemPrefix", &[], "What stands before a system message."),
    ("instructSystemSuffix", &[], "What stands behind a system message."),
    (
        "instructFirstAssistantPrefix",
        &["instructFirstOutputPrefix"],
        "What stands before the first message of the agent.",
    ),
    (
        "instructLastAssistantPrefix",
        &["instructLastOutputPrefix"],
        "What stands before the last message of the agent.",
    ),
    ("instructFirstUserPrefix", &["instructFirstInput"], "What stands before the first message of the user."),
    ("instructLastUserPrefix", &["instructLastInput"], "What stands before the last message of the user."),
    ("instructStop", &[], "What ends an answer."),
    ("instructUserFiller", &[], "What the user says where the agent begins."),
    ("instructSystemInstructionPrefix", &[], "What stands before the last system message."),
    (
        "defaultSystemPrompt",
        &["instructSystem", "instructSystemPrompt"],
        "The system prompt of the host, whatever the card says.",
    ),
    ("chatStart", &[], "What stands where the conversation begins."),
    ("exampleSeparator", &["chatSeparator"], "What stands between examples of dialogue."),
];

fn text(name: &'static str, aliases: &[&'static str], description: &str) -> Definition {
    let expand = move |call: &mut Call<'_>| Value::from(call.text_of_host(name));
    let definition = Definition::always(name, expand).describe(description, format!("{{{{{name}}}}}"));
    aliases.iter().fold(definition, |definition, alias| definition.alias(*alias))
}

fn system_prompt(call: &mut Call<'_>) -> Value {
    let env = call.env();
    if let Some(own) = env.card.system_prompt.as_ref().filter(|own| !own.trim().is_empty()) {
        call.limit_trust(env.agent_trust);
        return call.card_text(Some(own));
    }
    match env.texts.get("systemPrompt") {
        Some(text) => text.clone().into(),
        None => call.text_of_host("defaultSystemPrompt").into(),
    }
}
