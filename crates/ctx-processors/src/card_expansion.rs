use ctx_macros::{Dialect, Env, Registry, State, Template, VolatileVariables};
use ctx_types::{Source, SourceKind, Text};

/// Templates of the card texts, for macro syntaxes that expand them ([`Dialect::expands_card_texts`]).
#[derive(Clone, Debug)]
pub(crate) struct CardExpansion {
    dialect: Dialect,
    macros: Registry,
    /// In the order of [`SLOTS`]; `None` for a missing text.
    templates: Vec<Option<Template>>,
}

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

/// Macros that insert each of [`SLOTS`].
const SHOWN_BY: [&[&str]; SLOTS.len()] = [
    &["charPrompt", "systemPrompt"],
    &["mesExamples", "mesExamplesRaw"],
    &["charDescription"],
    &["charPersonality"],
    &["charScenario"],
    &[PERSONA],
    &["charInstruction", "charJailbreak"],
    &["charDepthPrompt"],
    &["charCreatorNotes"],
];

const PERSONA: &str = "persona";

impl CardExpansion {
    /// Returns `None` if the macro syntax does not expand card texts.
    pub(crate) fn compile(env: &Env, dialect: Dialect, macros: &Registry) -> Option<Self> {
        if !dialect.expands_card_texts() {
            return None;
        }
        let mut env = env.clone();
        let compile = |text: &Text| Template::parse(&trim_card_text(text), dialect, macros);
        let templates = SLOTS.iter().map(|slot| slot(&mut env).as_ref().map(compile)).collect();
        Some(Self { dialect, macros: macros.clone(), templates })
    }

    pub(crate) fn note_volatile(&self, persona: Option<&Text>, variables: &mut VolatileVariables) {
        let persona = persona.map(|text| Template::parse(&trim_card_text(text), self.dialect, &self.macros));
        for (known, names) in self.templates.iter().zip(SHOWN_BY) {
            let template = if names.contains(&PERSONA) { persona.as_ref() } else { known.as_ref() };
            let differs = template.is_some_and(|template| !template.volatile_macros(variables).is_empty());
            for name in names.iter().filter(|_| differs) {
                variables.add_macro(name);
            }
        }
    }

    pub(crate) fn expand(&self, env: &mut Env, state: &mut State) {
        for (slot, known) in SLOTS.iter().zip(&self.templates) {
            let Some(text) = slot(env).clone() else { continue };
            let template = match known {
                Some(template) => template.clone(),
                None => Template::parse(&trim_card_text(&text), self.dialect, &self.macros),
            };
            let origin = Source::new(SourceKind::Macro, env.agent_trust);
            let expanded = template.expand(env, state, &origin).text;
            *slot(env) = Some(expanded);
        }
    }
}

/// Trims a text and removes carriage returns, as `SillyTavern` does with card fields.
fn trim_card_text(text: &Text) -> Text {
    let trimmed = text.trim();
    match trimmed.contains('\r') {
        true => Text::from(trimmed.replace('\r', "")),
        false if trimmed.len() == text.len() => text.clone(),
        false => Text::from(trimmed),
    }
}
