use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Message, Place, SourceKind, count_of, phrase};

use crate::append_only::AppendOnly;
use crate::internal::ids;
use crate::join::{MessageJoiner, is_joinable};
use crate::separator;

/// Joins the preset's system messages and moves them to the front, even a single one.
///
/// The setting `scope` selects the messages; developer messages are treated as system messages. Leading
/// system messages of the conversation never move: if they come first, the joined message follows them.
/// Messages with different names stay separate. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MergeSystemToHead;

impl TypedProcessor for MergeSystemToHead {
    type Prepared = HeadSettings;

    describe!(
        500,
        ids::MERGE_SYSTEM_TO_HEAD,
        "Merge system messages to head",
        "Joins system messages into one and moves it to the front"
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> HeadSettings {
        HeadSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &HeadSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let HeadSettings { separator, scope } = settings;
        let scope = match cx.blackboard.get::<AppendOnly>() {
            Some(sent) if sent.has_prefix() => return Ok(()),
            // A text in the conversation stays where it is inserted.
            Some(_) => Scope::Leading,
            None => *scope,
        };
        let messages = cx.draft.messages();
        let chosen = scope.choose(messages);
        if is_at_head(messages, &chosen) {
            return Ok(());
        }
        let reason = || phrase!("joined with the other system messages at the front");
        let joining = MessageJoiner { separator, reason };
        let pinned = pinned_len(messages);
        let (mut head, mut lifted) = (Vec::new(), Vec::new());
        let mut rest = Vec::with_capacity(messages.len());
        for (message, is_chosen) in cx.draft.take_messages().into_iter().zip(chosen) {
            if is_chosen {
                lifted.push(rest.len() > pinned);
                head.push(message);
            } else {
                rest.push(message);
            }
        }
        let count = head.len();
        let mut decisions = moved_decisions(&head, &lifted);
        let head = joining.runs(head, may_join, &mut decisions);
        rest.splice(pinned..pinned, head);
        cx.draft.set_messages(rest);
        cx.draft.decide_all(decisions);
        cx.log(phrase!("{messages} at the front", messages = count_of!(count, "system message")));
        Ok(())
    }
}

settings! {
    pub(crate) HeadSettings {
        separator: String = separator(),
        scope: Scope = ConfigField::select("scope", "System messages to merge", Scope::OPTIONS)
            .with_description("Messages not from the preset are moved only with `all`"),
    }
}

choices! {
    Scope {
        Preset = ("preset", "Preset entries and messages anchored to them"),
        Leading = ("leading", "Only before the conversation"),
        All = ("all", "All system messages"),
    }
}

impl Scope {
    fn choose(self, messages: &[Message]) -> Vec<bool> {
        let history = messages.iter().position(is_of_history).unwrap_or(messages.len());
        let is_chosen = |(index, message): (usize, &Message)| {
            let is_movable =
                message.role.is_instruction() && is_joinable(message) && message.place != Place::Pinned;
            is_movable
                && match self {
                    Self::All => true,
                    Self::Preset => is_of_preset(message),
                    Self::Leading => is_of_preset(message) && index < history,
                }
        };
        messages.iter().enumerate().map(is_chosen).collect()
    }
}

/// Checks for a preset message in the skeleton or at an anchor.
fn is_of_preset(message: &Message) -> bool {
    let is_own = match message.source.kind {
        SourceKind::Preset => true,
        // A joined message, if all its parts come from the preset.
        SourceKind::Merged => message.written.iter().all(|segment| {
            std::iter::once(&segment.source).chain(&segment.via).all(|source| {
                !source.kind.is_history()
                    && !matches!(source.kind, SourceKind::Worldbook | SourceKind::Plugin)
            })
        }),
        _ => false,
    };
    is_own && matches!(message.place, Place::Skeleton | Place::Anchored)
}

fn is_of_history(message: &Message) -> bool {
    matches!(message.place, Place::History | Place::Pinned | Place::Gap { .. } | Place::AroundHistory)
}

fn may_join(left: &Message, right: &Message) -> bool {
    left.name == right.name
}

fn pinned_len(messages: &[Message]) -> usize {
    messages.iter().take_while(|message| message.place == Place::Pinned).count()
}

fn is_at_head(messages: &[Message], chosen: &[bool]) -> bool {
    let pinned = pinned_len(messages);
    let count = chosen.iter().filter(|is_chosen| **is_chosen).count();
    let head = messages.get(pinned..pinned + count).unwrap_or_default();
    let is_there = chosen.iter().skip(pinned).take(count).all(|is_chosen| *is_chosen);
    is_there && !head.iter().zip(head.iter().skip(1)).any(|(left, right)| may_join(left, right))
}

fn moved_decisions(head: &[Message], lifted: &[bool]) -> Vec<Decision> {
    let joins = |left: Option<usize>| {
        let left = left?;
        Some(may_join(head.get(left)?, head.get(left + 1)?))
    };
    let is_alone = |at: usize| joins(at.checked_sub(1)) != Some(true) && joins(Some(at)) != Some(true);
    let lifted =
        head.iter().zip(lifted).enumerate().filter(|(at, (_, is_lifted))| **is_lifted && is_alone(*at));
    let reason = phrase!("system messages go to the front");
    lifted
        .map(|(_, (message, _))| Decision::new(Outcome::Moved, message.source.clone(), reason.clone()))
        .collect()
}
