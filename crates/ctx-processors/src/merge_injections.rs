use std::ops::Range;

use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::Session;
use ctx_types::{
    Message, Order, Place, Placement, Role, Source, SourceKind, Span, Trust, groups, phrase, space,
};

use crate::join::MessageJoiner;
use crate::merge_consecutive_roles::{join_neighbours, may_join};
use crate::rewrite::{Edit, rewrite};
use crate::session_loader::message_at;
use crate::window::{LoadedWindow, unloaded_slot};

/// Joins neighboring injections with the same slot, order, and role.
///
/// Importers of SillyTavern presets enable it: SillyTavern sends prompts of the same depth, order, and role
/// as one message. The exceptions of `merge-consecutive-roles` apply. An
/// injection with several depths is not joined with one that has a single depth, because only the former is
/// dropped with the history. Injections whose slot is not loaded are joined as if it were. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MergeInjections;

impl TypedProcessor for MergeInjections {
    type Prepared = MergeSettings;

    describe!(
        310,
        "merge-injections",
        "Merge injections",
        "Joins adjacent injections with the same slot, order, and role",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> MergeSettings {
        MergeSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &MergeSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let MergeSettings { separator, is_by_depth, trims } = settings;
        let joining = MessageJoiner { separator, reason: || phrase!("joined with neighboring injections") };
        let places = UnloadedPlaces::new(cx);
        places.bring_together(cx);
        if *is_by_depth {
            sort_by_depth(cx);
        }
        let may_join = |left: &Message, right: &Message| {
            matches!(left.place, Place::Gap { .. })
                && left.place == right.place
                && order(left) == order(right)
                && may_join(left, right)
                && places.gap(left) == places.gap(right)
                && (!*is_by_depth || depth(left) == depth(right))
        };
        if *trims {
            trim(cx, may_join);
        }
        join_neighbours(cx, joining, may_join);
        places.sort(cx);
        Ok(())
    }
}

struct UnloadedPlaces<'a> {
    session: &'a Session,
    skipped: usize,
    /// Number of leading system messages, which slot numbers exclude.
    pinned: usize,
}

impl<'a> UnloadedPlaces<'a> {
    fn new(cx: &PipelineContext<'a>) -> Self {
        let session = cx.inputs.session;
        let window = cx.blackboard.get::<LoadedWindow>().copied().unwrap_or_default();
        Self { session, skipped: window.skipped, pinned: window.pinned }
    }

    fn gap(&self, message: &Message) -> Option<usize> {
        let gap = unloaded_slot(message, self.skipped)?;
        Some(out_of_group(self.session, self.pinned + gap))
    }

    /// Sorts the front injections by real slot: neighbors there become neighbors here.
    fn bring_together(&self, cx: &mut PipelineContext<'_>) {
        if let Some(front) = self.front(cx.draft.messages()) {
            front_of(cx, front).sort_by_cached_key(|message| self.gap(message).unwrap_or(usize::MAX));
        }
    }

    fn sort(&self, cx: &mut PipelineContext<'_>) {
        if let Some(front) = self.front(cx.draft.messages()) {
            front_of(cx, front).sort_by_key(Message::slot_key);
        }
    }

    fn front(&self, messages: &[Message]) -> Option<Range<usize>> {
        let is_unloaded = |message: &Message| unloaded_slot(message, self.skipped).is_some();
        let first = messages.iter().position(is_unloaded)?;
        let is_gap = |message: &&Message| matches!(message.place, Place::Gap { .. });
        let before = messages.iter().take(first).rev().take_while(is_gap).count();
        let behind = messages.iter().skip(first).take_while(is_gap).count();
        Some(first - before..first + behind)
    }
}

fn front_of<'d>(cx: &'d mut PipelineContext<'_>, front: Range<usize>) -> &'d mut [Message] {
    cx.draft.messages_mut().get_mut(front).unwrap_or_default()
}

/// Returns the start of the group around a position. Checks at most 1,000 results in each direction.
fn out_of_group(session: &Session, position: usize) -> usize {
    const MAX_RESULTS: usize = 1_000;
    let is_result =
        |at: &usize| session.sent_node(*at).is_some_and(|(_, node)| node.role == Some(Role::Tool));
    let before = (0..position).rev().take(MAX_RESULTS).take_while(is_result).count();
    let behind = (position..).take(MAX_RESULTS).take_while(is_result).count();
    let Some(start) = (position - before).checked_sub(1).filter(|_| behind > 0) else { return position };
    let messages: Vec<Message> =
        (start..position + behind).filter_map(|at| message_at(session, at)).collect();
    let inside = position - start;
    let around = groups(&messages).into_iter().find(|group| group.start < inside && inside < group.end);
    around.map_or(position, |group| start + group.start)
}

settings! {
    pub(crate) MergeSettings {
        separator: String = ConfigField::text("separator", "Separator", "\n"),
        is_by_depth: bool = ConfigField::boolean("deeperFirst", "Keep depths separate", false)
            .with_description("above the conversation, greater depths then come first"),
        trims: bool = ConfigField::boolean("trim", "Trim whitespace", false)
            .with_description("drops injections that contain only whitespace"),
    }
}

/// Trims joined texts. Blank texts between others keep their lines.
///
/// `SillyTavern` joins prompts with the same tie-breaker before it trims them, and adds a line break after
/// blank ones.
fn trim(cx: &mut PipelineContext<'_>, may_join: impl Fn(&Message, &Message) -> bool) {
    let mut messages = cx.draft.take_messages();
    let lane = |message: &Message| message.slot_key().1;
    let is_together = |left: &Message, right: &Message| may_join(left, right) && lane(left) == lane(right);
    let mut is_kept = vec![true; messages.len()];
    let mut is_below_blank = false;
    let mut start = 0;
    while let Some(first) = messages.get(start) {
        if !matches!(first.place, Place::Gap { .. }) {
            start += 1;
            continue;
        }
        let is_new_run = start == 0 || !may_join(&messages[start - 1], first);
        let mut end = start + 1;
        while end < messages.len() && is_together(&messages[end - 1], &messages[end]) {
            end += 1;
        }
        let group = &mut messages[start..end];
        let said = group.iter().position(|message| !message.is_blank());
        let last = group.iter().rposition(|message| !message.is_blank());
        let Some((said, last)) = said.zip(last) else {
            is_kept[start..end].fill(false);
            is_below_blank = true;
            start = end;
            continue;
        };
        is_kept[start..start + said].fill(false);
        is_kept[start + last + 1..end].fill(false);
        let above = if is_below_blank && !is_new_run { "\n" } else { "" };
        rewrite(&mut group[said], |text| start_edit(text, above));
        rewrite(&mut group[last], end_edit);
        (is_below_blank, start) = (false, end);
    }
    let (kept, dropped): (Vec<_>, Vec<_>) =
        messages.into_iter().zip(is_kept).partition(|(_, is_kept)| *is_kept);
    let messages = kept.into_iter().map(|(message, _)| message).collect();
    let reason = || phrase!("only whitespace is left");
    let dropped =
        dropped.iter().map(|(message, _)| Decision::new(Outcome::Dropped, message.source.clone(), reason()));
    let dropped: Vec<Decision> = dropped.collect();
    cx.draft.set_messages(messages);
    cx.draft.decide_all(dropped);
}

/// Replaces leading white space, as JavaScript defines it, with `above`.
fn start_edit(text: &str, above: &str) -> Vec<Edit> {
    edit(Span::new(0, text.len() - space::trim_start(text).len()), above)
}

fn end_edit(text: &str) -> Vec<Edit> {
    edit(Span::new(space::trim_end(text).len(), text.len()), "")
}

fn edit(span: Span, text: &str) -> Vec<Edit> {
    let source = Source::new(SourceKind::Formatter, Trust::Preset);
    let edit = Edit { span, text: text.to_owned(), source };
    if span.is_empty() && text.is_empty() { Vec::new() } else { vec![edit] }
}

fn sort_by_depth(cx: &mut PipelineContext<'_>) {
    let messages = cx.draft.messages_mut();
    let is_gap = |message: &&Message| matches!(message.place, Place::Gap { .. });
    let is_said = |message: &Message| message.place == Place::History && !message.is_continuation_prefix;
    // Without messages, all injections are above the conversation.
    let last_gap = || messages.iter().rposition(|message| is_gap(&message)).map_or(0, |last| last + 1);
    let end = messages.iter().position(is_said).unwrap_or_else(last_gap);
    let count = messages.iter().take(end).rev().take_while(is_gap).count();
    let front = messages.get_mut(end - count..end).unwrap_or_default();
    front.sort_by_key(|message| std::cmp::Reverse(depth(message)));
}

fn depth(message: &Message) -> Option<u64> {
    match message.placement.as_deref()? {
        Placement::Depth { points, .. } => points.as_single(),
        _ => None,
    }
}

fn order(message: &Message) -> Order {
    message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order())
}
