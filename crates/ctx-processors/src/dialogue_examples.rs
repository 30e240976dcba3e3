mod dialogue;

use std::sync::Arc;

use ctx_macros::{Env, State, Template};
use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::internal::Rank;
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Injection, Order, Placement, Side, Source, SourceKind, Text, Trust, phrase};

use crate::injection_text::take_injections_at;
use crate::macro_values::{AgentMacros, MacroParts};
use dialogue::{Speaker, blocks, turns};

/// Splits a card's example dialogue, and the worldbook entries around it, into messages at the anchor
/// `dialogue_examples`.
///
/// A block starts at `<START>` in any case. In a block, a line that starts with the name of the user or the
/// agent and a colon starts a turn. Turns are system messages with the speaker in `name`, as `OpenAI` once
/// recommended. The setting `header` starts each block.
#[derive(Clone, Debug)]
pub(crate) struct DialogueExamples(pub(crate) MacroParts);

const ANCHOR: &str = "dialogue_examples";
const HEADER: &str = "example_header";

#[derive(Debug)]
pub(crate) struct CompiledDialogueExamples {
    macros: AgentMacros,
    header: Template,
    settings: ExampleSettings,
}

settings! {
    pub(crate) ExampleSettings {
        header: String = ConfigField::text("header", "Header of each example", ""),
        user_name: String = ConfigField::text("userName", "Name for user turns", "example_user"),
        agent_name: String = ConfigField::text("agentName", "Name for agent turns", "example_assistant"),
        is_prefixed: bool = ConfigField::boolean("prefix", "Prefix names to the text", false)
            .with_description("uses the names of the user and the agent instead of the two above"),
        omits: bool = ConfigField::boolean("omit", "Disable examples", false)
            .with_description("also removes the worldbook entries around them"),
    }
}

impl TypedProcessor for DialogueExamples {
    type Prepared = CompiledDialogueExamples;

    describe!(
        295,
        "dialogue-examples",
        "Example dialogue",
        "Turns a card's example dialogue into messages",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledDialogueExamples {
        let settings = ExampleSettings::read(&mut input.settings);
        let macros = AgentMacros::new(input.agent, &self.0, &mut |_| ());
        let header = macros.parse(&Text::from(settings.header.as_str()));
        CompiledDialogueExamples { macros, header, settings }
    }

    async fn run(
        &self,
        compiled: &CompiledDialogueExamples,
        cx: &mut PipelineContext<'_>,
    ) -> ProcessorResult {
        let around = take_injections_at(cx.draft, ANCHOR);
        if compiled.settings.omits {
            let omitted = |one: Injection| {
                Decision::new(Outcome::Dropped, one.source, phrase!("example dialogue is disabled"))
            };
            cx.draft.decide_all(around.into_iter().map(omitted));
            return Ok(());
        }
        let (env, mut state) = compiled.macros.start(cx);
        for injection in compiled.examples(&env, around, &mut state) {
            cx.draft.inject(injection);
        }
        cx.draft.set_macros(state);
        Ok(())
    }
}

fn card_source(id: &str) -> Source {
    Source::new(SourceKind::Preset, Trust::Preset).with_id(id)
}

impl CompiledDialogueExamples {
    fn examples(&self, env: &Env, around: Vec<Injection>, state: &mut State) -> Vec<Injection> {
        let own = env.card.examples.clone().unwrap_or_default();
        let mut above: Vec<(Source, String)> = Vec::new();
        let mut examples: Vec<(Source, String)> =
            blocks(&own).map(|block| (card_source(ANCHOR), block.to_owned())).collect();
        for injection in around {
            let blocks = blocks(&injection.text).map(|block| (injection.source.clone(), block.to_owned()));
            match injection.placement {
                Placement::Anchor { side: Side::Before, .. } => above.extend(blocks),
                _ => examples.extend(blocks),
            }
        }
        let [user, agent] =
            [env.user.as_deref().unwrap_or("User"), env.char.as_deref().unwrap_or("Assistant")];
        let mut messages = Vec::new();
        // Later insertions above the examples are placed higher, as in SillyTavern.
        for (source, block) in above.into_iter().rev().chain(examples) {
            let header = self.header.expand(env, state, &card_source(HEADER)).text;
            if !header.trim().is_empty() {
                messages.push(message(header, None, card_source(HEADER)));
            }
            for turn in turns(&block, [user, agent]) {
                let (own, name) = match turn.speaker {
                    Speaker::User => (user, &self.settings.user_name),
                    Speaker::Agent => (agent, &self.settings.agent_name),
                };
                let name = Some(name.as_str()).filter(|name| !self.settings.is_prefixed && !name.is_empty());
                let text =
                    if self.settings.is_prefixed { format!("{own}: {}", turn.text) } else { turn.text };
                messages.push(message(Text::from(text), name.map(Arc::from), source.clone()));
            }
        }
        messages
    }
}

fn message(text: Text, name: Option<Arc<str>>, source: Source) -> Injection {
    let placement = Placement::Anchor { target: ANCHOR.into(), side: Side::After, order: Order::DEFAULT };
    Injection { rank: Rank::Preset, name, ..Injection::plugin(text, placement, source) }
}
