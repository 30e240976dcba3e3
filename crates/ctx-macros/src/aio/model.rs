use ctx_types::Text;

use crate::call::{Call, Value};
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    let value = |name: &'static str, of: fn(&Call<'_>) -> Option<Text>| {
        Definition::always(name, move |call| of(call).into())
    };
    vec![
        value("modelId", |call| call.env().model.id.clone()).describe("Id of the model.", "{{modelId}}"),
        value("modelName", |call| first(call.env().model.name.as_ref(), call.env().model.id.as_ref()))
            .describe("Display name of the model, otherwise its id.", "{{modelName}}"),
        value("profileId", |call| call.env().model.profile_id.clone())
            .describe("Id of the connection profile.", "{{profileId}}"),
        value("profileName", |call| {
            first(call.env().model.profile_name.as_ref(), call.env().model.profile_id.as_ref())
        })
        .describe("Name of the connection profile, otherwise its id.", "{{profileName}}"),
        value("provider", |call| call.env().model.provider.clone())
            .describe("Provider of the model.", "{{provider}}"),
        Definition::always("agentVersion", |call| call.env().card.version.clone().into())
            .describe("Version of the agent.", "{{agentVersion}}"),
        Definition::always("visual_guideline", visual_guideline).describe(
            "Layout guidelines for replies: the agent's text, otherwise a short default.",
            "{{visual_guideline}}",
        ),
    ]
}

const VISUAL_GUIDELINE: &str = "\
Write answers in Markdown. Put code into fenced blocks that name their language.
Write formulas in LaTeX, between `$` inside a line and between `$$` on lines of their own.
Draw diagrams as `mermaid` code blocks. Use a table where several things are compared in several ways.
Plain sentences are enough wherever a layout would say nothing more.";

/// Expands the agent's guideline. Empty inside a card text.
fn visual_guideline(call: &mut Call<'_>) -> Value {
    match call.env().card.visual_guideline.clone().filter(|text| !text.trim().is_empty()) {
        Some(_) if call.is_card => Value::EMPTY,
        Some(own) => Value::Template(own),
        None => VISUAL_GUIDELINE.into(),
    }
}

fn first(name: Option<&Text>, id: Option<&Text>) -> Option<Text> {
    name.filter(|name| !name.is_empty()).or(id).cloned()
}
