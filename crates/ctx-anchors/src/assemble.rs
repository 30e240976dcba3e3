//! Combines a preset, a conversation, and injections into messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_types::DepthPoints;
use ctx_types::internal::{Rank, SlotRank, excerpt};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::Window;
use ctx_types::{
    CHAT_HISTORY, Injection, Message, MessageExtras, Phrase, Place, Placement, Role, Side, anchor_id, phrase,
};

use crate::gaps::Gaps;
use crate::model_match::Target;
use crate::preset::{Entry, EntryPart, Preset, Switch};
use crate::render::{self, Render, RenderRequest, RenderedText};
use crate::slots::{SlotContent, SlotPosition, Slots};

/// Result of an assembly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssembledPreset {
    /// Messages in request order.
    pub messages: Vec<Message>,
    /// Number of messages before the conversation.
    pub front: usize,
    /// Decisions about entries and injections that are not at their intended position.
    pub decisions: Vec<Decision>,
}

/// Assembles a preset with a conversation and injections.
///
/// Deterministic. Calls `render` once for each text of each active entry, in list order, so that macro state
/// follows the list regardless of placements. Shares texts. O(n · log n) in the number of entries, messages,
/// injections, and depth points.
///
/// ```
/// use ctx_anchors::{AnchorRegistry, Preset, RenderedText, Target, assemble};
/// use ctx_types::{Agent, Message, Persist, Reader, Role, Source};
/// use ctx_types::session::Window;
///
/// let file = serde_json::json!({ "presetMessages": [
///     { "role": "system", "content": "Be kind." },
///     { "type": "chat_history" },
///     { "role": "system", "content": "Stay short.", "insertionPoint": -1 },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
/// let hello = Message::new(Role::User, "Hello", Source::history("n1", Role::User));
/// let window = Window::from_messages(vec![hello]);
/// let target = Target::default();
/// let assembled = assemble(&preset, window, Vec::new(), target, &mut |request| {
///     RenderedText::unchanged(request.text)
/// });
/// let texts: Vec<_> = assembled.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(texts, ["Be kind.", "Stay short.", "Hello"]);
/// ```
pub fn assemble(
    preset: &Preset,
    window: Window,
    injections: Vec<Injection>,
    target: Target<'_>,
    render: &mut dyn FnMut(RenderRequest<'_>) -> RenderedText,
) -> AssembledPreset {
    let mut assembly = Assembly::new(preset, window, target);
    let anchored = assembly.scan(preset, target, render);
    for anchored in anchored {
        assembly.place_at_anchor(anchored);
    }
    for (position, injection) in injections.into_iter().enumerate() {
        assembly.inject(position, injection);
    }
    assembly.finish()
}

struct Assembly {
    slots: Slots,
    gaps: Gaps,
    history: HistoryState,
    sends_white_space: bool,
    places_world_info: bool,
    /// Entries that set the role and depth of world info, by anchor.
    world_info: BTreeMap<Arc<str>, Entry>,
    /// Anchors of inactive entries, whose injections are dropped.
    silent: BTreeSet<Arc<str>>,
    decisions: Vec<Decision>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HistoryState {
    Sent,
    /// Not for this generation type.
    Omitted,
    Absent,
}

impl HistoryState {
    const fn is_sent(self) -> bool {
        matches!(self, Self::Sent)
    }
}

struct AnchoredMessage {
    target: Arc<str>,
    side: Side,
    message: Message,
}

impl Assembly {
    fn new(preset: &Preset, window: Window, target: Target<'_>) -> Self {
        let is_untriggered = |entry: &Entry| entry.part == EntryPart::History && !entry.is_triggered(target);
        let omits_history = preset.omits_at_switched_off && preset.entries.iter().any(is_untriggered);
        let history = if omits_history {
            HistoryState::Omitted
        } else if preset.sends_history() {
            HistoryState::Sent
        } else {
            HistoryState::Absent
        };
        let gaps = Gaps::new(window);
        Self {
            slots: Slots::default(),
            gaps,
            history,
            sends_white_space: preset.sends_white_space,
            places_world_info: preset.places_world_info,
            world_info: BTreeMap::new(),
            silent: BTreeSet::new(),
            decisions: Vec::new(),
        }
    }

    /// Returns the messages that target anchors.
    fn scan(&mut self, preset: &Preset, target: Target<'_>, render: &mut Render<'_>) -> Vec<AnchoredMessage> {
        // Evaluated once, because a model match runs regular expressions.
        let active: Vec<bool> = preset.entries.iter().map(|entry| entry.is_active(target)).collect();
        let entries = || preset.entries.iter().zip(active.iter().copied());
        let on = entries().filter(|(_, is_active)| *is_active);
        let mut anchors: BTreeSet<&str> = on.filter_map(|(entry, _)| entry.anchor()).collect();
        if self.history.is_sent() {
            anchors.insert(CHAT_HISTORY);
        }
        if preset.omits_at_switched_off {
            let off = entries().filter(|(_, is_active)| !is_active).filter_map(|(entry, _)| entry.anchor());
            self.silent = off.filter(|anchor| !anchors.contains(anchor)).map(Arc::from).collect();
        }
        let mut anchored = Vec::new();
        for (entry, is_active) in entries() {
            if !is_active {
                self.report_inactive(entry, target);
            }
            if is_active || self.history.is_sent() && entry.part == EntryPart::History {
                anchored.extend(self.scan_entry(entry, &anchors, render));
            }
        }
        if !preset.places_history() && self.history.is_sent() {
            self.slots.push(Some(CHAT_HISTORY), SlotContent::History);
        }
        anchored
    }

    fn scan_entry(
        &mut self,
        entry: &Entry,
        anchors: &BTreeSet<&str>,
        render: &mut Render<'_>,
    ) -> Option<AnchoredMessage> {
        match entry.part {
            EntryPart::Nothing => None,
            EntryPart::History => {
                self.slots.push(entry.anchor(), SlotContent::History);
                None
            }
            EntryPart::Placeholder { .. } | EntryPart::Template { .. } => {
                let message = if self.places_world_info && entry.is_world_info() {
                    self.world_info_entry(entry)
                } else {
                    self.render(entry, render)
                };
                let own = message.map_or(SlotContent::Nothing, SlotContent::Message);
                self.slots.push(entry.anchor(), own);
                None
            }
            EntryPart::Message => {
                let message = self.render(entry, render)?;
                self.place_entry(entry, message, anchors)
            }
        }
    }

    /// Returns a silent message if the entry separates system messages.
    fn world_info_entry(&mut self, entry: &Entry) -> Option<Message> {
        let anchor = Arc::from(entry.anchor()?);
        self.world_info.entry(anchor).or_insert_with(|| entry.clone());
        let is_divider = entry.placement == Placement::InOrder && !entry.role.is_instruction();
        is_divider.then(|| silence_message(Message::new(entry.role, "", entry.source.clone())))
    }

    fn render(&mut self, entry: &Entry, render: &mut Render<'_>) -> Option<Message> {
        if !entry.has_own_content() {
            if !entry.content.is_blank() {
                let reason = phrase!("position only; its content is not sent");
                self.decisions.push(Decision::new(Outcome::Hidden, entry.source.clone(), reason));
                if self.sends_white_space {
                    // `SillyTavern` expands it, and later entries can use its variables.
                    drop(render::message(entry, render));
                }
            }
            return None;
        }
        let message = render::message(entry, render);
        let is_empty = message.content.is_empty();
        let is_sent_blank = self.sends_white_space && entry.part == EntryPart::Message && !is_empty;
        if message.is_blank() && !is_sent_blank {
            let reason = if entry.content.is_blank() {
                phrase!("blank content")
            } else {
                phrase!("empty after macro expansion")
            };
            self.decisions.push(Decision::new(Outcome::Dropped, entry.source.clone(), reason));
            let is_divider = entry.placement == Placement::InOrder && !entry.role.is_instruction();
            return (self.sends_white_space && is_empty && is_divider).then(|| silence_message(message));
        }
        Some(message)
    }

    fn report_inactive(&mut self, entry: &Entry, target: Target<'_>) {
        let (outcome, reason) = match (&entry.part, &entry.switch) {
            (EntryPart::Message | EntryPart::Template { .. }, Switch::On | Switch::When(_))
                if !entry.is_triggered(target) =>
            {
                (Outcome::NotActivated, phrase!("not for this generation type"))
            }
            (EntryPart::Message | EntryPart::Template { .. }, Switch::Off(reason)) => {
                (Outcome::Hidden, reason.clone())
            }
            (EntryPart::Message | EntryPart::Template { .. }, Switch::On | Switch::When(_)) => {
                (Outcome::NotActivated, phrase!("`modelMatch` excludes this model"))
            }
            (EntryPart::History, Switch::When(_)) => (
                Outcome::Kept,
                phrase!("`modelMatch` excludes this model; the history is still inserted here"),
            ),
            (EntryPart::History | EntryPart::Placeholder { .. } | EntryPart::Nothing, _) => return,
        };
        self.decisions.push(Decision::new(outcome, entry.source.clone(), reason));
    }

    fn place_entry(
        &mut self,
        entry: &Entry,
        mut message: Message,
        anchors: &BTreeSet<&str>,
    ) -> Option<AnchoredMessage> {
        match &entry.placement {
            Placement::InOrder => self.slots.push(None, SlotContent::Message(message)),
            Placement::Index { .. } | Placement::Depth { .. } => {
                self.place_in_history(&entry.placement, rank_entry(entry, message));
            }
            Placement::Anchor { target, side, .. } if anchors.contains(&**target) => {
                let message = rank_entry(entry, message);
                return Some(AnchoredMessage { target: target.clone(), side: *side, message });
            }
            Placement::Anchor { target, .. } => {
                let reason = phrase!(
                    "the preset has no anchor `{target}`; kept at its list position",
                    target = excerpt(target)
                );
                self.decisions.push(Decision::new(Outcome::Moved, entry.source.clone(), reason));
                message.placement = None;
                self.slots.push(None, SlotContent::Message(message));
            }
        }
        None
    }

    fn place_in_history(&mut self, placement: &Placement, message: Message) {
        if !self.history.is_sent() {
            let reason = phrase!(
                "{placement} is a position in the history, and no history is sent",
                placement = placement.phrase()
            );
            self.decisions.push(Decision::new(Outcome::Dropped, message.source.clone(), reason));
            return;
        }
        match placement {
            Placement::Index { at, .. } => self.gaps.place_at_index(*at, message, &mut self.decisions),
            Placement::Depth { points, .. } => {
                self.gaps.place_at_depths(points, message, &mut self.decisions);
            }
            Placement::InOrder | Placement::Anchor { .. } => {}
        }
    }

    fn place_at_anchor(&mut self, anchored: AnchoredMessage) {
        let position =
            self.slots.at_anchor(&anchored.target, anchored.side).expect("`scan` found the anchor");
        self.slots.place(position, anchored.message);
    }

    fn inject(&mut self, position: usize, injection: Injection) {
        let (injection, entry) = self.as_world_info(injection);
        let placement = injection.placement.clone();
        let mut message = rank_injection(position, injection);
        if let Some((lane, index)) = entry {
            message.slot_rank = Some(SlotRank { lane, rank: Rank::Preset, position: index, front: None });
        }
        if message.is_blank() {
            let source = message.source.clone();
            self.decisions.push(Decision::new(Outcome::Dropped, source, phrase!("blank content")));
            return;
        }
        match &placement {
            Placement::Index { .. } | Placement::Depth { .. } => self.place_in_history(&placement, message),
            Placement::Anchor { target, side, .. } => {
                let target = anchor_id(target);
                let Some(position) = self.slots.at_anchor(target, *side) else {
                    if self.silent.contains(target) {
                        let reason = phrase!("anchor `{target}` is disabled", target = excerpt(target));
                        let source = message.source.clone();
                        return self.decisions.push(Decision::new(Outcome::Dropped, source, reason));
                    }
                    let missing = phrase!("the preset has no anchor `{name}`", name = excerpt(target));
                    return self.inject_elsewhere(target, &missing, message);
                };
                self.slots.place(position, message);
            }
            Placement::InOrder => self.inject_elsewhere("", &phrase!("no target position"), message),
        }
    }

    /// Applies role and depth of the world info entry. In the history, also returns its tie-breaker and
    /// index.
    fn as_world_info(&self, mut injection: Injection) -> (Injection, Option<(i64, usize)>) {
        let entry = match &injection.placement {
            Placement::Anchor { target, .. } => self.world_info.get(anchor_id(target)),
            _ => None,
        };
        let Some(entry) = entry else { return (injection, None) };
        injection.role = entry.role;
        if entry.placement == Placement::InOrder {
            return (injection, None);
        }
        injection.placement = entry.placement.clone();
        (injection, Some((entry.lane, entry.index)))
    }

    /// Fallbacks for missing anchors, in order of preference.
    fn inject_elsewhere(&mut self, target: &str, missing: &Phrase, mut message: Message) {
        let source = message.source.clone();
        let note = |place: Phrase| {
            self.decisions.push(Decision::new(
                Outcome::Moved,
                source,
                phrase!("{missing}; {place}", missing, place),
            ));
        };
        if target == "author_note" && self.history.is_sent() {
            note(phrase!("placed at depth 4 as a system message"));
            message.role = Role::System;
            self.gaps.place_at_depths(&DepthPoints::single(4), message, &mut self.decisions);
            return;
        }
        let (position, place) = fallback(&self.slots, target);
        note(place);
        self.slots.place(position, message);
    }

    fn finish(mut self) -> AssembledPreset {
        if !self.history.is_sent() {
            let window = self.gaps.into_window();
            let reason = if self.history == HistoryState::Omitted {
                phrase!("not for this generation type")
            } else {
                phrase!("the preset has no `chat_history`, and `historyWhenUnplaced` is `omit`")
            };
            self.decisions.extend(omitted_history_decision(&window, reason));
            let (messages, front) = self.slots.fill(Vec::new());
            return AssembledPreset { messages, front, decisions: self.decisions };
        }
        let prefix = self.gaps.take_prefix();
        let (mut messages, front) = self.slots.fill(self.gaps.fill());
        messages.extend(prefix);
        AssembledPreset { messages, front, decisions: self.decisions }
    }
}

/// Keeps a position, but is not sent.
fn silence_message(mut message: Message) -> Message {
    message.place = Place::Skeleton;
    message.is_silent = true;
    message
}

fn fallback(slots: &Slots, target: &str) -> (SlotPosition, Phrase) {
    let description = |side| slots.at_anchor("char_description", side);
    let before_history = || match slots.at_anchor(CHAT_HISTORY, Side::Before) {
        Some(position) => (position, phrase!("placed before the history")),
        None => (SlotPosition::Bottom, phrase!("placed at the end of the list")),
    };
    match target {
        "world_info_before" => {
            let described = (description(Side::Before), phrase!("placed before `char_description`"));
            let system = (slots.before_first_system(), phrase!("placed before the first system entry"));
            first_position([described, system]).unwrap_or((SlotPosition::Top, phrase!("placed at the top")))
        }
        "world_info_after" => {
            let described = (description(Side::After), phrase!("placed after `char_description`"));
            let system = (
                slots.after_last_system_before_history(),
                phrase!("placed after the last system entry before the history"),
            );
            first_position([described, system]).unwrap_or_else(before_history)
        }
        _ => before_history(),
    }
}

fn first_position(choices: [(Option<SlotPosition>, Phrase); 2]) -> Option<(SlotPosition, Phrase)> {
    choices.into_iter().find_map(|(position, place)| Some((position?, place)))
}

fn rank_entry(entry: &Entry, message: Message) -> Message {
    let rank = SlotRank { lane: entry.lane, rank: Rank::Preset, position: entry.index, front: None };
    message.with(|message| message.slot_rank = Some(rank))
}

fn rank_injection(position: usize, injection: Injection) -> Message {
    let rank = SlotRank { lane: injection.lane, rank: injection.rank, position, front: None };
    Message::new(injection.role, injection.text, injection.source).with_extras(MessageExtras::default().with(
        |extras| {
            extras.name = injection.name;
            extras.attachments = injection.attachments;
            extras.placement = Some(Arc::new(injection.placement));
            extras.slot_rank = Some(rank);
            extras.written = injection.written;
        },
    ))
}

fn omitted_history_decision(window: &Window, reason: Phrase) -> Option<Decision> {
    let all = || window.pinned.iter().chain(&window.messages).chain(&window.prefix);
    let source = all().next()?.source.clone();
    let mut decision = Decision::new(Outcome::Dropped, source, reason);
    decision.count = all().count();
    decision.bytes = Some(all().map(|message| message.content.len()).sum());
    Some(decision)
}
