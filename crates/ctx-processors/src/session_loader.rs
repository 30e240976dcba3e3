use ctx_macros::Scope;
use ctx_pipeline::{
    ConfigField, PipelineContext, PrepareInput, ProcessorError, ProcessorResult, TypedProcessor,
};
use ctx_types::internal::{OmissionReason, OmittedMessages};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{LogLine, Node, Session};
use ctx_types::{
    GenerationKind, Message, Note, Place, Role, Source, SourceKind, Text, Trust, TurnInput, count_of, phrase,
};
use serde_json::{Value, json};

use crate::internal::ids;
use crate::loaded_form::LoadedForm;
use crate::message_costs::MessageCosts;
use crate::window::{InstructingInput, LoadedWindow, WindowSize};

/// Loads the active branch: leading system messages, then the newest messages up to a token limit.
///
/// Hidden, disabled, and blank messages are skipped, with a decision. The loaded part starts at the border of
/// a message group and contains the pending turn. Its limit is [`WindowSize`] on the blackboard; without it,
/// everything is loaded. Settings can convert HTML to Markdown, drop reasoning, or send tool calls as text.
/// Leaves [`LoadedWindow`] on the blackboard. Unloaded messages are a decision if the limit is final.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionLoader;

impl TypedProcessor for SessionLoader {
    type Prepared = LoaderSettings;

    describe!(
        100,
        ids::SESSION_LOADER,
        "Session loader",
        "Loads the active branch, as much as the budget needs",
        is_core
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> LoaderSettings {
        let settings = &mut input.settings;
        LoaderSettings { form: LoadedForm::read(settings), places: PlaceSettings::read(settings) }
    }

    async fn run(&self, settings: &LoaderSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let LoaderSettings { form, places } = settings;
        let session = cx.inputs.session;
        set_variables(cx);
        let continued = match cx.inputs.turn.kind {
            GenerationKind::Continue => places.continuation,
            _ => Continuation::Unfinished,
        };
        let pinned = if places.pins_leading { pinned_len(session) } else { 0 };
        let size = cx.blackboard.get::<WindowSize>().copied();
        let limit = size.map(|size| size.tokens);
        let input = pending_input(cx.inputs.turn);
        let LoadedMessages { front, messages: window } = load_window(cx, pinned, limit, &input, continued)?;
        let mut messages: Vec<Message> = Vec::with_capacity(pinned + window.len() + input.len());
        let pin = |message: Message| message.with(|message| message.place = Place::Pinned);
        messages.extend((0..pinned).filter_map(|at| message_at(session, at)).map(pin));
        messages.extend(window.into_iter().rev());
        let reformed = form.apply(&mut messages, pinned);
        messages.extend(input);
        place_last(continued, &mut messages);
        if places.instructs_quietly && cx.inputs.turn.kind == GenerationKind::Quiet {
            instruct(cx, &mut messages);
        }
        cx.draft.decide_all(session.omitted_messages().iter().map(|run| left_out_decision(session, run)));
        let window = LoadedWindow { pinned, skipped: front - pinned };
        let line = LogLine::info(phrase!(
            "{messages} loaded, {older} not loaded",
            messages = count_of!(messages.len(), "message"),
            older = count_of!(window.skipped, "older message")
        ));
        cx.log(match window.unloaded_bytes(session) {
            _ if window.skipped == 0 => line,
            bytes => line.with_details(json!({ "windowTokens": limit, "skippedBytes": bytes })),
        });
        if let Some(line) = reformed.line() {
            cx.log(LogLine::info(line));
        }
        if let Some(WindowSize { tokens, is_final: true }) = size {
            let reason = phrase!("older than the {tokens} tokens that `request-compressor` loads", tokens);
            cx.draft.decide_all(window.decision(session, Outcome::NotLoaded, reason));
        }
        cx.blackboard.insert(window);
        cx.draft.set_messages(messages);
        Ok(())
    }
}

pub(crate) fn message_at(session: &Session, position: usize) -> Option<Message> {
    session.sent_message(position).cloned()
}

/// Excludes summaries and digests.
fn pinned_len(session: &Session) -> usize {
    let is_summary = |node: &Node| node.is_summary() || node.kept.get(Note::KEY).is_some();
    let is_pinned = |at: &usize| {
        session
            .sent_node(*at)
            .is_some_and(|(_, node)| node.role.is_some_and(Role::is_instruction) && !is_summary(node))
    };
    (0..session.sent_len()).take_while(is_pinned).count()
}

struct LoadedMessages {
    /// Position of the oldest loaded message.
    front: usize,
    /// Newest first.
    messages: Vec<Message>,
}

/// Loads messages down to `first`, newest first, until they exceed the limit.
///
/// Counts nothing if the bytes of everything fit, because no text has more tokens than bytes. O(loaded
/// messages).
fn load_window(
    cx: &PipelineContext<'_>,
    first: usize,
    limit: Option<u64>,
    input: &[Message],
    continued: Continuation,
) -> Result<LoadedMessages, ProcessorError> {
    let session = cx.inputs.session;
    let len = session.sent_len();
    let bytes = session.sent_bytes(len) - session.sent_bytes(first);
    let most = bytes.saturating_add((len - first) as u64 * FEWEST_TOKENS);
    let limit = limit.filter(|limit| most > *limit);
    let is_user = input.iter().any(|message| message.role == Role::User);
    let mut turn = TurnSearch { is_complete: false, is_user };
    let mut may_be_last = input.is_empty();
    let costing = MessageCosts::new(cx);
    let mut left = limit;
    let messages = Vec::with_capacity(USUAL.min(len - first));
    let mut loaded = LoadedMessages { front: first, messages };
    for position in (first..len).rev() {
        if position % CHECK_EVERY == 0 {
            cx.checkpoint()?;
        }
        let Some(message) = message_at(session, position) else { continue };
        // A reply to continue does not end the turn: its question is still pending.
        if !std::mem::take(&mut may_be_last) || !is_continued(continued, &message) {
            turn.look_at(&message);
        }
        left = left.and_then(|left| costing.take(&message, left));
        let is_border = turn.is_complete && message.role != Role::Tool;
        loaded.messages.push(message);
        if is_border && limit.is_some() && left.is_none() {
            loaded.front = position;
            break;
        }
    }
    Ok(loaded)
}

/// Assumed tokens of a message besides its text.
const FEWEST_TOKENS: u64 = 8;

/// Initial capacity.
const USUAL: usize = 1_024;

/// Messages between time limit checks.
const CHECK_EVERY: usize = 64;

/// Finds the start of the pending turn, which must be loaded completely. Summaries are ignored, as in
/// [`pending_start`](ctx_types::session::pending_start).
struct TurnSearch {
    is_complete: bool,
    is_user: bool,
}

impl TurnSearch {
    fn look_at(&mut self, message: &Message) {
        let is_history = message.source.kind == SourceKind::History;
        let is_user = message.role == Role::User && is_history;
        let is_answer = message.role == Role::Assistant && message.tool_calls.is_empty() && is_history;
        self.is_complete |= is_answer || (self.is_user && !is_user);
        self.is_user |= is_user;
    }
}

#[derive(Debug)]
pub(crate) struct LoaderSettings {
    form: LoadedForm,
    places: PlaceSettings,
}

settings! {
    pub(crate) PlaceSettings {
        pins_leading: bool = ConfigField::boolean("pinLeading", "Pin leading system messages", true)
            .with_description("keeps them at the front, outside depth counting"),
        continuation: Continuation =
            ConfigField::select("continuation", "Continued reply", Continuation::OPTIONS),
        instructs_quietly: bool = ConfigField::select("quietInput", "Input of a quiet turn", &[
            ("message", "A user message"),
            ("instruction", "An instruction at the end, where a prefill goes"),
        ]),
    }
}

choices! {
    Continuation {
        Answer = ("prefix", "Sent last, as a prefill of the next reply"),
        Message = ("last", "The same, also for other last messages"),
        Unfinished = ("in_place", "Stays in the conversation"),
    }
}

fn instruct(cx: &mut PipelineContext<'_>, messages: &mut [Message]) {
    if let Some(input) = messages.last_mut().filter(|message| message.source.kind == SourceKind::Input) {
        input.role = Role::System;
        input.place = Place::Skeleton;
        cx.blackboard.insert(InstructingInput);
    }
}

/// Sets the variables of a `SillyTavern` chat before a macro reads them.
fn set_variables(cx: &mut PipelineContext<'_>) {
    let metadata = cx.inputs.session.header.kept.get("chat_metadata");
    let stored = metadata.and_then(|metadata| metadata.get("variables")).and_then(Value::as_object);
    for (name, value) in stored.into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => Text::from(text.as_str()),
            other => Text::from(other.to_string()),
        };
        if cx.draft.macros_mut().set_variable(Scope::Local, name, text, Trust::User).is_err() {
            cx.log(LogLine::info(phrase!("too many chat variables; the last ones are ignored")));
            return;
        }
    }
}

/// Moves a continued message out of the conversation: a reply becomes a prefill, another message follows the
/// conversation.
fn place_last(continued: Continuation, messages: &mut [Message]) {
    let Some((last, earlier)) = messages.split_last_mut() else { return };
    for message in earlier.iter_mut().filter(|message| message.is_continuation_prefix) {
        message.is_continuation_prefix = false;
    }
    let is_meant = is_continued(continued, last);
    last.is_continuation_prefix = is_meant && last.role == Role::Assistant;
    if is_meant && !last.is_continuation_prefix {
        last.place = Place::Skeleton;
    }
}

fn is_continued(continued: Continuation, last: &Message) -> bool {
    let is_said = last.role != Role::Tool
        && last.tool_calls.is_empty()
        && last.source.kind == SourceKind::History
        && last.place != Place::Pinned;
    let is_meant = match continued {
        Continuation::Unfinished => last.role == Role::Assistant && last.is_continuation_prefix,
        Continuation::Answer => last.role == Role::Assistant,
        Continuation::Message => true,
    };
    is_said && is_meant
}

fn pending_input(turn: &TurnInput) -> Vec<Message> {
    let input = turn.input.clone().filter(|input| !input.trim().is_empty());
    let source = Source::new(SourceKind::Input, Trust::User);
    let input = input.map(|input| Message::new(Role::User, input, source));
    let further = turn.further.iter().filter(|message| !message.is_blank()).cloned();
    input.into_iter().chain(further).collect()
}

fn left_out_decision(session: &Session, run: &OmittedMessages) -> Decision {
    let (outcome, reason) = match &run.reason {
        OmissionReason::Hidden { by } => {
            (Outcome::Hidden, phrase!("replaced by summary `{summary}`", summary = by.to_string()))
        }
        OmissionReason::Failed => (Outcome::Hidden, phrase!("reports a failed turn")),
        OmissionReason::Disabled => (Outcome::Hidden, phrase!("disabled")),
        OmissionReason::Blank => (Outcome::Dropped, phrase!("blank")),
    };
    let source = match session.node(&run.first) {
        Some(node) => node.to_message(&run.first).source.clone(),
        None => Source::history(run.first.clone(), Role::User),
    };
    let mut decision = Decision::new(outcome, source, reason);
    decision.count = run.count;
    decision.bytes = usize::try_from(run.bytes).ok();
    decision
}
