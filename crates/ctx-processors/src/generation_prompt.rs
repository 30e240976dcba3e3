use ctx_macros::Template;
use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::report::{Decision, Outcome};
use ctx_types::{
    GenerationKind, Message, MessageExtras, Place, Role, Source, SourceKind, Text, Trust, phrase,
};

use crate::macro_values::{AgentMacros, MacroParts};
use crate::window::is_after_conversation;

/// Adds the prompts that an application sends last: to impersonate the user, to continue a reply, or to
/// prefill it.
///
/// A reply to continue moves to the end, followed by the text of `continue`, unless it is sent as a prefill
/// (`session-loader` decides). In a quiet turn, the input becomes a system message at
/// the end.
#[derive(Clone, Debug)]
pub(crate) struct GenerationPrompt(pub(crate) MacroParts);

const TEXTS: [(&str, &str); 5] = [
    ("impersonate", "Impersonation prompt"),
    ("continue", "Continue prompt; `{{lastChatMessage}}` inserts the reply"),
    ("prefill", "Reply prefill"),
    ("impersonatePrefill", "Impersonation prefill"),
    ("sendIfEmpty", "User message after an assistant message"),
];

#[derive(Debug)]
pub(crate) struct CompiledGenerationPrompt {
    macros: AgentMacros,
    templates: [Template; TEXTS.len()],
}

impl TypedProcessor for GenerationPrompt {
    type Prepared = CompiledGenerationPrompt;

    describe!(
        320,
        "generation-prompt",
        "Generation prompt",
        "Adds the generation instruction at the end",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> CompiledGenerationPrompt {
        let macros = AgentMacros::new(input.agent, &self.0, &mut |_| ());
        let templates = TEXTS.map(|(key, label)| {
            let text: String = input.settings.read(ConfigField::text(key, label, ""));
            macros.parse(&text.into())
        });
        CompiledGenerationPrompt { macros, templates }
    }

    async fn run(
        &self,
        compiled: &CompiledGenerationPrompt,
        cx: &mut PipelineContext<'_>,
    ) -> ProcessorResult {
        let goes_on = cx.draft.messages().iter().any(is_after_conversation);
        match cx.inputs.turn.kind {
            // The reply to continue is already last.
            GenerationKind::Continue if goes_on => {}
            GenerationKind::Continue => ask_to_continue(cx, compiled),
            GenerationKind::Impersonate => {
                let message = compiled.message(cx, "impersonate", Role::System, None);
                append(cx, message);
            }
            GenerationKind::Quiet => {
                move_to_end(cx, is_input, |message| message.role = Role::System);
            }
            _ => {}
        }
        answer_assistant(cx, compiled);
        let prefill = match cx.inputs.turn.kind {
            GenerationKind::Impersonate => "impersonatePrefill",
            _ => "prefill",
        };
        if !goes_on && cx.inputs.turn.kind != GenerationKind::Quiet {
            let begin = compiled.message(cx, prefill, Role::Assistant, None);
            append(cx, begin.map(|message| message.with(|message| message.is_continuation_prefix = true)));
        }
        Ok(())
    }
}

impl CompiledGenerationPrompt {
    fn message(
        &self,
        cx: &mut PipelineContext<'_>,
        key: &str,
        role: Role,
        said: Option<Text>,
    ) -> Option<Message> {
        let at = TEXTS.iter().position(|(known, _)| *known == key)?;
        let template = self.templates.get(at).filter(|template| !template.text().is_empty())?;
        let (mut env, mut state) = self.macros.start(cx);
        env.texts.extend(said.map(|said| ("lastChatMessage".into(), said)));
        let source = Source::new(SourceKind::Preset, Trust::Preset).with_id(format!("{key}_prompt"));
        let expansion = template.expand(&env, &mut state, &source);
        let written = expansion.segments();
        let mut message = Message::new(role, expansion.text, source)
            .with_extras(MessageExtras::default().with(|extras| extras.written = written));
        message.place = Place::Skeleton;
        Some(message).filter(|message| !message.is_blank())
    }
}

fn append(cx: &mut PipelineContext<'_>, message: Option<Message>) {
    cx.draft.messages_mut().extend(message);
}

fn is_input(message: &Message) -> bool {
    message.source.kind == SourceKind::Input
}

fn is_said(message: &Message) -> bool {
    message.source.kind.is_history() && message.place == Place::History && !message.is_continuation_prefix
}

fn move_to_end(
    cx: &mut PipelineContext<'_>,
    is_meant: impl Fn(&Message) -> bool,
    set: impl FnOnce(&mut Message),
) -> Option<Text> {
    let at = cx.draft.messages().iter().rposition(is_meant)?;
    let mut message = cx.draft.messages_mut().remove(at);
    let text = Text::from(own_text(&message));
    message.place = Place::Skeleton;
    set(&mut message);
    let reason = phrase!("moved to the end, where the reply continues");
    cx.draft.decide(Decision::new(Outcome::Moved, message.source.clone(), reason));
    append(cx, Some(message));
    Some(text)
}

/// Returns the text without additions by formatters, such as names.
fn own_text(message: &Message) -> String {
    let text = message.text();
    let segments = message.segments();
    let own = segments.iter().filter(|segment| segment.source.kind != SourceKind::Formatter);
    own.filter_map(|segment| text.get(segment.span.start..segment.span.end)).collect()
}

fn ask_to_continue(cx: &mut PipelineContext<'_>, compiled: &CompiledGenerationPrompt) {
    let Some(said) = move_to_end(cx, is_said, |_| {}) else { return };
    let message = compiled.message(cx, "continue", Role::System, Some(Text::from(said.trim())));
    append(cx, message);
}

/// Adds the text of `sendIfEmpty` if the assistant is last. Injections count as messages, as in `SillyTavern`.
fn answer_assistant(cx: &mut PipelineContext<'_>, compiled: &CompiledGenerationPrompt) {
    let is_in_history = |message: &Message| is_said(message) || matches!(message.place, Place::Gap { .. });
    let Some(last) = cx.draft.messages().iter().rposition(is_in_history) else { return };
    let is_agent = cx.draft.messages().get(last).is_some_and(|message| message.role == Role::Assistant);
    let Some(message) = compiled.message(cx, "sendIfEmpty", Role::User, None).filter(|_| is_agent) else {
        return;
    };
    cx.draft.messages_mut().insert(last + 1, message);
}
