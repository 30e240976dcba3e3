//! `merge-system-to-head`: one system message, above everything else.

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Decision, Message, Outcome, Place, Role, SourceKind};

use crate::join::join;
use crate::separator_field;

/// Joins the preset's system messages into one and puts it above everything else; a single one moves too.
///
/// Which ones is the setting `scope`. Tool groups and leading instructions of the conversation never move.
/// Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeSystemToHead;

#[async_trait]
impl ContextProcessor for MergeSystemToHead {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 500,
            config_fields: vec![
                separator_field(),
                ConfigField::select("scope", "Which system messages", &SCOPES)
                    .with_description("Messages of the conversation move only under `all`"),
            ],
            ..Descriptor::new(
                "merge-system-to-head",
                "System messages first",
                "Joins system messages into one and puts it above everything else",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let scope = Scope::of(cx.config.text("scope"));
        let messages = cx.draft.messages();
        let history = messages.iter().position(is_of_history).unwrap_or(messages.len());
        let chosen: Vec<bool> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| scope.takes(message, index < history))
            .collect();
        let count = chosen.iter().filter(|is_chosen| **is_chosen).count();
        if count == 0 || (count == 1 && chosen.first() == Some(&true)) {
            return Ok(());
        }
        let separator = cx.config.text("separator").to_owned();
        let (mut system, mut rest) = (Vec::with_capacity(count), Vec::new());
        for (message, is_chosen) in cx.draft.take_messages().into_iter().zip(chosen) {
            if is_chosen { system.push(message) } else { rest.push(message) }
        }
        let mut decisions = Vec::new();
        if let [only] = system.as_slice() {
            decisions.push(Decision::new(
                Outcome::Moved,
                only.source.clone(),
                "system messages stand at the head",
            ));
        }
        let head = join(system, &separator, &mut decisions);
        cx.draft.set_messages(head.into_iter().chain(rest).collect());
        cx.draft.decide_all(decisions);
        cx.log(format!("{count} system messages at the head"));
        Ok(())
    }
}

const SCOPES: [(&str, &str); 3] = [
    ("preset", "Entries of the preset and what is anchored to them"),
    ("leading", "Only what precedes the conversation"),
    ("all", "Every system message"),
];

/// Which system messages go to the head.
#[derive(Clone, Copy)]
enum Scope {
    Preset,
    Leading,
    All,
}

impl Scope {
    fn of(name: &str) -> Self {
        match name {
            "leading" => Self::Leading,
            "all" => Self::All,
            _ => Self::Preset,
        }
    }

    fn takes(self, message: &Message, precedes_history: bool) -> bool {
        if message.role != Role::System || message.reasoning.is_some() || message.place == Place::Pinned {
            return false;
        }
        let is_of_preset = matches!(message.source.kind, SourceKind::Preset | SourceKind::Merged)
            && matches!(message.place, Place::Skeleton | Place::Anchored);
        match self {
            Self::All => true,
            Self::Preset => is_of_preset,
            Self::Leading => is_of_preset && precedes_history,
        }
    }
}

fn is_of_history(message: &Message) -> bool {
    matches!(message.place, Place::History | Place::Pinned | Place::Gap { .. } | Place::AroundHistory)
}
