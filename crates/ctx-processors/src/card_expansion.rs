//! Texts of a card that are templates themselves.

use ctx_macros::{Dialect, Env, Registry, State, Template, VolatileVariables};
use ctx_types::{Source, SourceKind, Text};

/// The texts of a card as templates, for dialects in which they are ([`Dialect::expands_card_texts`]).
#[derive(Clone, Debug)]
pub(crate) struct CardExpansion {
    dialect: Dialect,
    macros: Registry,
    /// The template of each of [`SLOTS`] that the agent fills.
    templates: Vec<Option<Template>>,
}

/// Where a text of the card, or of the person who chats, stands among the values of macros.
type Slot = fn(&mut Env) -> &mut Option<Text>;

/// The texts, in the order in which they are expanded: what one sets, those behind it read.
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

/// The macros that show each of [`SLOTS`].
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

/// The macro that shows what the person who chats says, which no agent brings.
const PERSONA: &str = "persona";

impl CardExpansion {
    /// Compiles the texts that an agent brings; none for a dialect in which they are no templates.
    pub(crate) fn of(env: &Env, dialect: Dialect, macros: &Registry) -> Option<Self> {
        if !dialect.expands_card_texts() {
            return None;
        }
        let mut env = env.clone();
        let compile = |text: &Text| Template::parse(&settled(text), dialect, macros);
        let templates = SLOTS.iter().map(|slot| slot(&mut env).as_ref().map(compile)).collect();
        Some(Self { dialect, macros: macros.clone(), templates })
    }

    /// Takes note of the macros that show a text which differs from turn to turn, and of what the texts write into
    /// variables.
    pub(crate) fn note_volatile(&self, persona: Option<&Text>, variables: &mut VolatileVariables) {
        let persona = persona.map(|text| Template::parse(&settled(text), self.dialect, &self.macros));
        for (known, names) in self.templates.iter().zip(SHOWN_BY) {
            let template = if names.contains(&PERSONA) { persona.as_ref() } else { known.as_ref() };
            let differs = template.is_some_and(|template| !template.volatile_macros(variables).is_empty());
            for name in names.iter().filter(|_| differs) {
                variables.add_macro(name);
            }
        }
    }

    /// Expands the texts in place. O(bytes of them).
    pub(crate) fn expand(&self, env: &mut Env, state: &mut State) {
        for (slot, known) in SLOTS.iter().zip(&self.templates) {
            let Some(text) = slot(env).clone() else { continue };
            let template = match known {
                Some(template) => template.clone(),
                None => Template::parse(&settled(&text), self.dialect, &self.macros),
            };
            let origin = Source::new(SourceKind::Macro, env.agent_trust);
            let expanded = template.expand(env, state, &origin).text;
            *slot(env) = Some(expanded);
        }
    }
}

/// Takes white space around a text away, and carriage returns, as `SillyTavern` does with the fields of a card.
fn settled(text: &Text) -> Text {
    let trimmed = text.trim();
    match trimmed.contains('\r') {
        true => Text::from(trimmed.replace('\r', "")),
        false if trimmed.len() == text.len() => text.clone(),
        false => Text::from(trimmed),
    }
}
