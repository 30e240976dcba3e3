mod dialogue;

use std::sync::Arc;

use async_trait::async_trait;
use ctx_macros::{Dialect, MacroPorts, Registry as MacroRegistry, State, Template};
use ctx_pipeline::{
    Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData,
    ProcessorError,
};
use ctx_types::{
    Agent, Decision, Injection, Order, Outcome, Placement, Rank, Role, Side, Source, SourceKind, Text, Trust,
    phrase,
};

use crate::macro_values::{MacroValues, macro_dialect};
use crate::worldbooks::Outlets;
use dialogue::{Speaker, blocks, turns};

/// Splits a card's example dialogue, and the worldbook entries around it, into messages at the anchor
/// `dialogue_examples`.
///
/// A block starts at `<START>` in any case. In a block, a line that starts with the name of the user or the
/// agent and a colon starts a turn. Turns are system messages with the speaker in `name`, as `OpenAI` once
/// recommended. The setting `header` starts each block.
#[derive(Clone, Debug)]
pub struct DialogueExamples {
    macros: MacroRegistry,
    ports: MacroPorts,
}

impl DialogueExamples {
    /// Creates the processor with macros and macro ports.
    pub fn new(macros: MacroRegistry, ports: MacroPorts) -> Self {
        Self { macros, ports }
    }
}

const ANCHOR: &str = "dialogue_examples";
const PREFIX: &str = "prefix";
const HEADER: &str = "example_header";

struct CompiledDialogueExamples {
    values: MacroValues,
    header: Template,
}

#[async_trait]
impl ContextProcessor for DialogueExamples {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "dialogue-examples",
            "Example dialogue",
            "Turns a card's example dialogue into messages",
        )
        .with(|descriptor| {
            descriptor.priority = 295;
            descriptor.default_enabled = false;
            descriptor.config_fields = vec![
                ConfigField::text("header", "Header of each example", ""),
                ConfigField::text("userName", "Name for user turns", "example_user"),
                ConfigField::text("agentName", "Name for agent turns", "example_assistant"),
                ConfigField::boolean(PREFIX, "Prefix names to the text", false)
                    .with_description("uses the names of the user and the agent instead of the two above"),
                ConfigField::boolean("omit", "Disable examples", false)
                    .with_description("also removes the worldbook entries around them"),
            ];
        })
    }

    fn prepare(&self, agent: &Agent, config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        let (dialect, _): (Dialect, _) = macro_dialect(agent);
        let values = MacroValues::from_agent(agent, self.ports.clone(), &mut |_| {});
        let values = values.with_card_templates(dialect, &self.macros);
        let header = Template::parse(&Text::from(config.text("header")), dialect, &self.macros);
        PreparedData::new(CompiledDialogueExamples { values, header })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let Some(compiled) = cx.prepared.get::<CompiledDialogueExamples>() else {
            return Err(ProcessorError::failed("the examples were not prepared"));
        };
        let (around, others): (Vec<_>, Vec<_>) = cx.draft.take_injections().into_iter().partition(is_around);
        for injection in others {
            cx.draft.inject(injection);
        }
        if cx.config.is_on("omit") {
            let omitted = |one: Injection| {
                Decision::new(Outcome::Dropped, one.source, phrase!("example dialogue is disabled"))
            };
            cx.draft.decide_all(around.into_iter().map(omitted));
            return Ok(());
        }
        let mut state = cx.draft.macros_mut().clone();
        for injection in compiled.examples(cx, around, &mut state) {
            cx.draft.inject(injection);
        }
        cx.draft.set_macros(state);
        Ok(())
    }
}

fn is_around(injection: &Injection) -> bool {
    matches!(&injection.placement, Placement::Anchor { target, .. } if &**target == ANCHOR)
}

fn card_source(id: &str) -> Source {
    Source::new(SourceKind::Preset, Trust::Preset).with_id(id)
}

impl CompiledDialogueExamples {
    fn examples(
        &self,
        cx: &PipelineContext<'_>,
        around: Vec<Injection>,
        state: &mut State,
    ) -> Vec<Injection> {
        let mut env = self.values.run_env(cx, &mut state.clone());
        env.outlets = Outlets::texts(cx.blackboard);
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
            let header = self.header.expand(&env, state, &card_source(HEADER)).text;
            if !header.trim().is_empty() {
                messages.push(message(header, None, card_source(HEADER)));
            }
            for turn in turns(&block, [user, agent]) {
                let (own, field) = match turn.speaker {
                    Speaker::User => (user, "userName"),
                    Speaker::Agent => (agent, "agentName"),
                };
                let is_prefixed = cx.config.is_on(PREFIX);
                let name = Some(cx.config.text(field)).filter(|name| !is_prefixed && !name.is_empty());
                let text = if is_prefixed { format!("{own}: {}", turn.text) } else { turn.text };
                messages.push(message(Text::from(text), name.map(Arc::from), source.clone()));
            }
        }
        messages
    }
}

fn message(text: Text, name: Option<Arc<str>>, source: Source) -> Injection {
    Injection {
        rank: Rank::Preset,
        lane: 0,
        placement: Placement::Anchor { target: ANCHOR.into(), side: Side::After, order: Order::DEFAULT },
        role: Role::System,
        text,
        written: Vec::new(),
        source,
        name,
        attachments: Vec::new(),
    }
}
