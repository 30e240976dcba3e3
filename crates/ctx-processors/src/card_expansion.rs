//! Card texts with macros, for macro syntaxes that expand them ([`Dialect::expands_card_texts`]).

use ctx_macros::{Dialect, Env, Registry, State, Template};
use ctx_types::{Source, SourceKind, Text, Trust};

type Slot = fn(&mut Env) -> &mut Option<Text>;

/// In order of expansion: a text can read variables that an earlier text sets.
const SLOTS: [Slot; 9] = [
    |env| &mut env.card.system_prompt,
    |env| &mut env.card.examples,
    |env| &mut env.description,
    |env| &mut env.personality,
    |env| &mut env.scenario,
    |env| &mut env.persona,
    |env| &mut env.card.post_history,
    |env| &mut env.card.depth_prompt,
    |env| &mut env.card.creator_notes,
];

/// Templates in the order of [`SLOTS`]; `None` for a missing text.
pub(crate) fn compile_card(env: &Env, dialect: Dialect, macros: &Registry) -> Vec<Option<Template>> {
    let mut env = env.clone();
    let compile = |text: &Text| Template::parse(&trim_card_text(text), dialect, macros);
    SLOTS.iter().map(|slot| slot(&mut env).as_ref().map(compile)).collect()
}

pub(crate) fn expand_card(
    templates: &[Option<Template>],
    dialect: Dialect,
    macros: &Registry,
    env: &mut Env,
    state: &mut State,
) {
    for (slot, known) in SLOTS.iter().zip(templates) {
        let Some(text) = slot(env).clone() else { continue };
        // The user profile differs between turns.
        let parse = || Template::parse(&trim_card_text(&text), dialect, macros);
        let template = known.clone().unwrap_or_else(parse);
        let origin = Source::new(SourceKind::Macro, Trust::Preset);
        let expanded = template.expand(env, state, &origin).text;
        *slot(env) = Some(expanded);
    }
}

/// Trims a text and removes carriage returns, as `SillyTavern` does with card fields.
fn trim_card_text(text: &Text) -> Text {
    let trimmed = text.trim();
    if trimmed.contains('\r') {
        Text::from(trimmed.replace('\r', ""))
    } else if trimmed.len() == text.len() {
        text.clone()
    } else {
        Text::from(trimmed)
    }
}
