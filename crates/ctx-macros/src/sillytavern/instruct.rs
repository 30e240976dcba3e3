use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all: Vec<Definition> =
        TEXTS.iter().map(|(name, aliases, what)| text(name, aliases, what)).collect();
    all.extend(REASONING.map(|(name, default, what)| {
        let expand = move |call: &mut Call<'_>| {
            let text = call.env().texts.get(name).cloned();
            Value::from(text.unwrap_or_else(|| default.into()))
        };
        Definition::always(name, expand).describe(what, format!("{{{{{name}}}}}"))
    }));
    all.push(
        Definition::always("systemPrompt", system_prompt)
            .describe("System prompt of the card, otherwise of the host.", "{{systemPrompt}}"),
    );
    all
}

/// Name, aliases, and description.
const TEXTS: [(&str, &[&str], &str); 18] = [
    ("instructStoryStringPrefix", &[], "Text before the story string."),
    ("instructStoryStringSuffix", &[], "Text after the story string."),
    ("instructUserPrefix", &["instructInput"], "Text before a user message."),
    ("instructUserSuffix", &[], "Text after a user message."),
    ("instructAssistantPrefix", &["instructOutput"], "Text before an agent message."),
    ("instructAssistantSuffix", &["instructSeparator"], "Text after an agent message."),
    ("instructSystemPrefix", &[], "Text before a system message."),
    ("instructSystemSuffix", &[], "Text after a system message."),
    ("instructFirstAssistantPrefix", &["instructFirstOutputPrefix"], "Text before the first agent message."),
    ("instructLastAssistantPrefix", &["instructLastOutputPrefix"], "Text before the last agent message."),
    ("instructFirstUserPrefix", &["instructFirstInput"], "Text before the first user message."),
    ("instructLastUserPrefix", &["instructLastInput"], "Text before the last user message."),
    ("instructStop", &[], "Stop sequence of a response."),
    ("instructUserFiller", &[], "User message if the agent speaks first."),
    ("instructSystemInstructionPrefix", &[], "Text before the last system message."),
    (
        "defaultSystemPrompt",
        &["instructSystem", "instructSystemPrompt"],
        "System prompt of the host, even if the card has its own.",
    ),
    ("chatStart", &[], "Text at the start of the conversation."),
    ("exampleSeparator", &["chatSeparator"], "Separator of example dialogues."),
];

/// Name, text in `SillyTavern`'s default template, and description.
const REASONING: [(&str, &str, &str); 3] = [
    ("reasoningPrefix", "<think>", "Text before reasoning."),
    ("reasoningSuffix", "</think>", "Text after reasoning."),
    ("reasoningSeparator", "\n", "Text between reasoning and the reply."),
];

fn text(name: &'static str, aliases: &[&'static str], description: &str) -> Definition {
    let expand = move |call: &mut Call<'_>| Value::from(call.host_text(name));
    let definition = Definition::always(name, expand).describe(description, format!("{{{{{name}}}}}"));
    aliases.iter().fold(definition, |definition, alias| definition.alias(*alias))
}

fn system_prompt(call: &mut Call<'_>) -> Value {
    let env = call.env();
    if let Some(own) = env.card.system_prompt.as_ref().filter(|own| !own.trim().is_empty()) {
        return call.card_text(Some(own));
    }
    match env.texts.get("systemPrompt") {
        Some(text) => text.clone().into(),
        None => call.host_text("defaultSystemPrompt").into(),
    }
}
