use ctx_compress::mask::Language;
use ctx_pipeline::{
    ConfigField, PipelineContext, PrepareInput, ProcessorResult, SettingsReader, TypedProcessor,
};
use ctx_types::{Message, Place, Role, Source, SourceKind, Trust, count_of};

use crate::append_only::AppendOnly;
use crate::transcription_processor::language;

/// Inserts a placeholder between two consecutive messages of the user, or of the assistant.
///
/// Ignores system messages in between. Adds no placeholder next to reasoning that must be replayed or inside
/// a tool call group. With `startWithUser`, also adds one before a leading assistant message. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnsureAlternatingRoles;

impl TypedProcessor for EnsureAlternatingRoles {
    type Prepared = Placeholders;

    describe!(
        800,
        "ensure-alternating-roles",
        "Ensure alternating roles",
        "Inserts a placeholder between two messages of the same role",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> Placeholders {
        Placeholders::read(&mut input.settings, language(input.agent))
    }

    async fn run(&self, placeholders: &Placeholders, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let mut turns = Turns { previous: None, has_begun: !placeholders.start_with_user };
        for sent in cx.blackboard.get::<AppendOnly>().map(AppendOnly::sent_messages).unwrap_or_default() {
            turns.add(sent);
        }
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
            turns.add(message);
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

#[derive(Debug)]
pub(crate) struct Placeholders {
    user: String,
    assistant: String,
    start_with_user: bool,
}

impl Placeholders {
    /// Blank settings use the default in the agent's language: providers reject blank messages.
    fn read(settings: &mut SettingsReader<'_>, language: Language) -> Self {
        let (user, assistant) = match language {
            Language::English => ("Continue.", "OK."),
            // AIO Hub's texts.
            Language::Chinese => ("继续", "好的"),
        };
        let mut text = |key: &str, label: &str, built_in: &str| {
            let field = ConfigField::text(key, label, "");
            let text: String = settings.read(field.with_description("Empty: text in the agent's language"));
            if text.trim().is_empty() { built_in.to_owned() } else { text }
        };
        Self {
            user: text("userPlaceholder", "User placeholder", user),
            assistant: text("assistantPlaceholder", "Assistant placeholder", assistant),
            start_with_user: settings.read(
                ConfigField::boolean("startWithUser", "Start with user", false).with_description(
                    "Inserts a placeholder before a leading assistant message, such as a greeting",
                ),
            ),
        }
    }
}

struct Turns {
    /// Last role, and whether its message has reasoning; `None` after a tool result.
    previous: Option<(Role, bool)>,
    has_begun: bool,
}

impl Turns {
    fn add(&mut self, message: &Message) {
        if !message.role.is_instruction() {
            self.has_begun = true;
            let is_kept = message.reasoning.is_some();
            self.previous = (message.role != Role::Tool).then_some((message.role, is_kept));
        }
    }

    fn missing_before(&self, message: &Message) -> Option<Role> {
        let is_kept = message.reasoning.is_some();
        let repeats =
            self.previous.is_some_and(|(role, was_kept)| role == message.role && !was_kept && !is_kept);
        let begins = !self.has_begun && message.role == Role::Assistant && !is_kept;
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
