use async_trait::async_trait;
use ctx_compress::mask::Language;
use ctx_pipeline::{
    Config, ConfigField, ContextProcessor, Descriptor, PipelineContext, PrepareContext, PreparedData,
    ProcessorError,
};
use ctx_types::{Agent, Message, Place, Role, Source, SourceKind, Trust, count_of};

use crate::transcription_processor::language;

/// Inserts a placeholder between two consecutive messages of the user, or of the assistant.
///
/// Ignores system messages in between. Adds no placeholder next to reasoning that must be replayed or inside
/// a tool call group. With `startWithUser`, also adds one before a leading assistant message. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnsureAlternatingRoles;

#[async_trait]
impl ContextProcessor for EnsureAlternatingRoles {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "ensure-alternating-roles",
            "Ensure alternating roles",
            "Inserts a placeholder between two messages of the same role",
        )
        .with(|descriptor| {
            descriptor.priority = 800;
            descriptor.default_enabled = false;
            descriptor.config_fields = vec![
                ConfigField::text("userPlaceholder", "User placeholder", "").with_description(BY_LANGUAGE),
                ConfigField::text("assistantPlaceholder", "Assistant placeholder", "")
                    .with_description(BY_LANGUAGE),
                ConfigField::boolean("startWithUser", "Start with user", false).with_description(
                    "Inserts a placeholder before a leading assistant message, such as a greeting",
                ),
            ];
        })
    }

    fn prepare(&self, agent: &Agent, config: &Config, _cx: &mut PrepareContext) -> PreparedData {
        PreparedData::new(Placeholders::from_config(config, language(agent)))
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let mut turns = Turns { previous: None, has_begun: !cx.config.is_on("startWithUser") };
        let placeholders = cx.prepared.get::<Placeholders>().cloned();
        let placeholders =
            placeholders.ok_or_else(|| ProcessorError::failed("its settings were not prepared"))?;
        let messages = cx.draft.messages();
        let mut result: Vec<Message> = Vec::with_capacity(messages.len());
        for message in messages {
            match turns.missing_before(message) {
                Some(Role::Assistant) => {
                    result.push(placeholder(Role::Assistant, &placeholders.assistant));
                }
                Some(role) => result.push(placeholder(role, &placeholders.user)),
                None => {}
            }
            result.push(message.clone());
        }
        let count = result.len() - messages.len();
        if count > 0 {
            cx.draft.set_messages(result);
            cx.log(count_of!(count, "placeholder"));
        }
        Ok(())
    }
}

const BY_LANGUAGE: &str = "Empty: text in the agent's language";

#[derive(Clone, Debug)]
struct Placeholders {
    user: String,
    assistant: String,
}

impl Placeholders {
    /// Blank settings use the default in the agent's language: providers reject blank messages.
    fn from_config(config: &Config, language: Language) -> Self {
        let (user, assistant) = match language {
            Language::English => ("Continue.", "OK."),
            // AIO Hub's texts.
            Language::Chinese => ("继续", "好的"),
        };
        let text = |key: &str, built_in: &str| match config.text(key) {
            text if text.trim().is_empty() => built_in.to_owned(),
            text => text.to_owned(),
        };
        Self { user: text("userPlaceholder", user), assistant: text("assistantPlaceholder", assistant) }
    }
}

struct Turns {
    /// Last role, and whether its message has reasoning; `None` after a tool result.
    previous: Option<(Role, bool)>,
    has_begun: bool,
}

impl Turns {
    fn missing_before(&mut self, message: &Message) -> Option<Role> {
        if message.role.is_instruction() {
            return None;
        }
        let is_kept = message.reasoning.is_some();
        let repeats =
            self.previous.is_some_and(|(role, was_kept)| role == message.role && !was_kept && !is_kept);
        let begins = !self.has_begun && message.role == Role::Assistant && !is_kept;
        self.has_begun = true;
        self.previous = (message.role != Role::Tool).then_some((message.role, is_kept));
        match message.role {
            Role::User if repeats => Some(Role::Assistant),
            Role::Assistant if repeats || begins => Some(Role::User),
            _ => None,
        }
    }
}

/// A placeholder is dropped with the conversation around it, like an injection with several depths.
fn placeholder(role: Role, text: &str) -> Message {
    let source = Source::new(SourceKind::Formatter, Trust::Preset).with_id("ensure-alternating-roles");
    Message::new(role, text, source).with(|message| message.place = Place::Gap { multiple: true })
}
