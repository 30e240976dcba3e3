//! `ensure-alternating-roles`: for models that want user and assistant in turn.

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Message, Place, Role, Source, SourceKind, Trust};

/// Puts a placeholder between two messages of the user, or two of the assistant, that follow each other.
///
/// System messages between them do not count. Nothing is put beside reasoning that must be replayed or inside
/// a tool call's group. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnsureAlternatingRoles;

#[async_trait]
impl ContextProcessor for EnsureAlternatingRoles {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 800,
            default_enabled: false,
            config_fields: vec![
                // AIO Hub's own defaults, so that its presets read the same.
                ConfigField::text("userPlaceholder", "What the user says in between", "继续"),
                ConfigField::text("assistantPlaceholder", "What the assistant says in between", "好的"),
            ],
            ..Descriptor::new(
                "ensure-alternating-roles",
                "User and assistant in turn",
                "Puts a placeholder between two messages of the same speaker",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let user = cx.config.text("userPlaceholder").to_owned();
        let assistant = cx.config.text("assistantPlaceholder").to_owned();
        let mut result: Vec<Message> = Vec::with_capacity(cx.draft.messages().len());
        let mut previous: Option<(Role, bool)> = None;
        let mut count = 0;
        for message in cx.draft.messages() {
            let keeps_reasoning = message.reasoning.is_some();
            let repeats =
                previous.is_some_and(|(role, kept)| role == message.role && !kept && !keeps_reasoning);
            match message.role {
                Role::User if repeats => result.push(placeholder(Role::Assistant, &assistant)),
                Role::Assistant if repeats => result.push(placeholder(Role::User, &user)),
                _ => {}
            }
            count += usize::from(repeats);
            if !message.role.is_instruction() {
                previous = (message.role != Role::Tool).then_some((message.role, keeps_reasoning));
            }
            result.push(message.clone());
        }
        if count > 0 {
            cx.draft.set_messages(result);
            cx.log(format!("{count} placeholders"));
        }
        Ok(())
    }
}

fn placeholder(role: Role, text: &str) -> Message {
    let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("ensure-alternating-roles");
    Message { place: Place::Skeleton, ..Message::new(role, text, source) }
}
