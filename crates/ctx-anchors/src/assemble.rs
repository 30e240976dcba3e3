//! The assembler: a preset, a conversation and injections become one list of messages.

use ctx_types::{
    CHAT_HISTORY, Content, ContentPart, Decision, Injection, Message, Order, Outcome, Place, Placement, Rank,
    Role, Segment, Side, Span, Text, UnplacedHistory, Window,
};
use std::sync::Arc;

use crate::gaps::Gaps;
use crate::model_match::Target;
use crate::preset::{Entry, Part, Preset, Switch};
use crate::slots::{Own, Ranked, Slots, Spot};

/// What came of an assembly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembled {
    /// The messages, in the order in which they are sent.
    pub messages: Vec<Message>,
    /// What became of entries and injections that are not simply where they were meant to be.
    pub decisions: Vec<Decision>,
}

/// The text of an entry after its macros were expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The text.
    pub text: Text,
    /// Where each byte of it came from; empty when all of it is the entry's own.
    pub written: Vec<Segment>,
}

impl Rendered {
    /// The text of an entry that has no macros.
    pub fn unchanged(text: &Text) -> Self {
        Self { text: text.clone(), written: Vec::new() }
    }
}

/// One text of an entry that is to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Which of the entry's content parts it is; 0 for plain content.
    pub part: usize,
    /// The text.
    pub text: &'a Text,
}

/// Assembles a preset with a conversation: scan and group, place into the history, fill the skeleton.
///
/// A pure function of its arguments. `render` is called once for each text of each active entry, in list
/// order, so that a macro's state flows down the list whatever the placements. Texts are shared, not copied.
/// O(entries · log entries + messages + injections · log injections).
///
/// ```
/// use ctx_anchors::{AnchorRegistry, Preset, Rendered, Target, assemble};
/// use ctx_types::{Agent, Message, Persist, Reader, Role, Source, Window};
///
/// let file = serde_json::json!({ "presetMessages": [
///     { "role": "system", "content": "Be kind." },
///     { "type": "chat_history" },
///     { "role": "system", "content": "Stay short.", "insertionPoint": -1 },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
/// let hello = Message::new(Role::User, "Hello", Source::history("n1", Role::User));
/// let window = Window::whole(vec![hello]);
/// let target = Target::default();
/// let assembled = assemble(&preset, window, Vec::new(), target, &mut |request| {
///     Rendered::unchanged(request.text)
/// });
/// let texts: Vec<_> = assembled.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(texts, ["Be kind.", "Stay short.", "Hello"]);
/// ```
pub fn assemble(
    preset: &Preset,
    window: Window,
    injections: Vec<Injection>,
    target: Target<'_>,
    render: &mut dyn FnMut(RenderRequest<'_>) -> Rendered,
) -> Assembled {
    let mut assembly = Assembly::new(preset, window);
    let anchored = assembly.scan(preset, target, render);
    for anchored in anchored {
        assembly.place_at_anchor(anchored);
    }
    for (position, injection) in injections.into_iter().enumerate() {
        assembly.inject(position, injection);
    }
    assembly.finish()
}

/// An assembly under way.
struct Assembly {
    slots: Slots,
    gaps: Gaps,
    has_history: bool,
    decisions: Vec<Decision>,
}

/// A message of the preset on its way to an anchor.
struct Anchored {
    target: Arc<str>,
    side: Side,
    ranked: Ranked,
}

impl Assembly {
    fn new(preset: &Preset, window: Window) -> Self {
        let has_history = preset.places_history() || preset.unplaced == UnplacedHistory::Append;
        Self { slots: Slots::default(), gaps: Gaps::new(window), has_history, decisions: Vec::new() }
    }

    /// Builds the slots and places what goes into the history; returns what goes to anchors.
    fn scan(
        &mut self,
        preset: &Preset,
        target: Target<'_>,
        render: &mut dyn FnMut(RenderRequest<'_>) -> Rendered,
    ) -> Vec<Anchored> {
        let anchors = preset.anchors(target);
        let is_anchor = |id: &str| anchors.contains_key(id) || (id == CHAT_HISTORY && self.has_history);
        let is_reachable: Vec<bool> = preset.entries.iter().map(|entry| reaches(entry, &is_anchor)).collect();
        let mut anchored = Vec::new();
        for (entry, is_reachable) in preset.entries.iter().zip(is_reachable) {
            if !entry.marks_place(target) {
                self.note_inactive(entry);
                continue;
            }
            let message = self.render(entry, target, render);
            match (&entry.part, message) {
                (Part::Message, Some(message)) if is_reachable => {
                    anchored.extend(self.place_entry(entry, message));
                }
                (Part::Message, Some(message)) => {
                    let reason =
                        format!("no anchor for {}; it stands where the list has it", entry.placement);
                    self.decisions.push(Decision::new(Outcome::Moved, entry.source.clone(), reason));
                    self.slots.push(None, Own::Message(Box::new(message)));
                }
                (Part::Message | Part::Nothing, _) => {}
                (Part::History, _) => self.slots.push(entry.anchor(), Own::History),
                (Part::Placeholder { .. } | Part::Template { .. }, message) => {
                    let own = message.map_or(Own::Nothing, |message| Own::Message(Box::new(message)));
                    self.slots.push(entry.anchor(), own);
                }
            }
        }
        if !preset.places_history() && self.has_history {
            self.slots.push(Some(CHAT_HISTORY), Own::History);
        }
        anchored
    }

    /// Renders an entry's own content; a blank one is not sent.
    fn render(
        &mut self,
        entry: &Entry,
        target: Target<'_>,
        render: &mut dyn FnMut(RenderRequest<'_>) -> Rendered,
    ) -> Option<Message> {
        if !entry.has_own_content() || !entry.is_active(target) {
            return None;
        }
        let message = render_entry(entry, render);
        if message.is_blank() {
            let reason = match message.content.is_empty() && !entry.content.is_empty() {
                true => "nothing is left after its macros were expanded",
                false => "its content is blank",
            };
            self.decisions.push(Decision::new(Outcome::Dropped, entry.source.clone(), reason));
            return None;
        }
        Some(message)
    }

    fn note_inactive(&mut self, entry: &Entry) {
        if !entry.has_own_content() {
            return;
        }
        let decision = match &entry.switch {
            Switch::Off(reason) => Decision::new(Outcome::Hidden, entry.source.clone(), reason.clone()),
            Switch::On | Switch::When(_) => {
                let reason = "its model match does not admit the target";
                Decision::new(Outcome::NotActivated, entry.source.clone(), reason)
            }
        };
        self.decisions.push(decision);
    }

    /// Places a message of the preset whose place exists; one that goes to an anchor is returned.
    fn place_entry(&mut self, entry: &Entry, message: Message) -> Option<Anchored> {
        let ranked = Ranked {
            order: entry.placement.order(),
            lane: entry.lane,
            rank: Rank::Preset,
            position: entry.index,
            message,
        };
        match &entry.placement {
            Placement::InOrder => {
                self.slots.push(None, Own::Message(Box::new(ranked.message)));
                None
            }
            Placement::Index { .. } | Placement::Depth { .. } => {
                self.place_in_history(&entry.placement, ranked);
                None
            }
            Placement::Anchor { target, side, .. } => {
                Some(Anchored { target: target.clone(), side: *side, ranked })
            }
        }
    }

    fn place_in_history(&mut self, placement: &Placement, ranked: Ranked) {
        if !self.has_history {
            let reason = format!("{placement} is a place in the history, and no history is sent");
            self.decisions.push(Decision::new(Outcome::Dropped, ranked.message.source, reason));
            return;
        }
        match placement {
            Placement::Index { at, .. } => self.gaps.place_at_index(*at, ranked, &mut self.decisions),
            Placement::Depth { points, .. } => {
                self.gaps.place_at_depths(points, ranked, &mut self.decisions);
            }
            Placement::InOrder | Placement::Anchor { .. } => {}
        }
    }

    fn place_at_anchor(&mut self, anchored: Anchored) {
        let Anchored { target, side, ranked } = anchored;
        match self.slots.at_anchor(&target, side) {
            Some(spot) => self.slots.place(spot, ranked),
            // `scan` found its anchor, so that this is never reached; nothing is lost if it is.
            None => self.slots.push(None, Own::Message(Box::new(ranked.message))),
        }
    }

    /// Places an injection, at a stated other place if its anchor does not exist.
    fn inject(&mut self, position: usize, injection: Injection) {
        let placement = injection.placement.clone();
        let mut ranked = rank_injection(position, injection);
        match &placement {
            Placement::Index { .. } | Placement::Depth { .. } => self.place_in_history(&placement, ranked),
            Placement::Anchor { target, side, .. } => match self.slots.at_anchor(target, *side) {
                Some(spot) => self.slots.place(spot, ranked),
                None => self.inject_elsewhere(target, ranked),
            },
            Placement::InOrder => {
                ranked.order = Order::DEFAULT;
                self.inject_elsewhere("", ranked);
            }
        }
    }

    /// The fallbacks of anchors that a preset need not have, in the order of preference of each.
    fn inject_elsewhere(&mut self, target: &str, mut ranked: Ranked) {
        let source = ranked.message.source.clone();
        let missing = match target {
            "" => "it names no place".to_owned(),
            target => format!("no anchor `{target}`"),
        };
        if target == "author_note" && self.has_history {
            let reason = format!("{missing}; it stands at depth 4 as a system message");
            self.decisions.push(Decision::new(Outcome::Moved, source, reason));
            ranked.message.role = Role::System;
            self.gaps.place_at_depths(&ctx_types::DepthPoints::single(4), ranked, &mut self.decisions);
            return;
        }
        let (spot, place) = self.fallback(target);
        self.decisions.push(Decision::new(Outcome::Moved, source, format!("{missing}; it stands {place}")));
        match spot {
            Some(spot) => self.slots.place(spot, ranked),
            None => self.slots.push(None, Own::Message(Box::new(ranked.message))),
        }
    }

    fn fallback(&self, target: &str) -> (Option<Spot>, &'static str) {
        let slots = &self.slots;
        let before_history = || (slots.at_anchor(CHAT_HISTORY, Side::Before), "before the history");
        let choices: [(Option<Spot>, &'static str); 3] = match target {
            "world_info_before" => [
                (slots.at_anchor("char_description", Side::Before), "before `char_description`"),
                (slots.before_first_system(), "before the first system entry"),
                (slots.top(), "at the top"),
            ],
            "world_info_after" => [
                (slots.at_anchor("char_description", Side::After), "after `char_description`"),
                (slots.after_last_system_before_history(), "after the last system entry before the history"),
                before_history(),
            ],
            _ => [before_history(), (None, ""), (None, "")],
        };
        let found = choices.into_iter().find(|(spot, _)| spot.is_some());
        found.unwrap_or((None, "at the end of the list"))
    }

    fn finish(mut self) -> Assembled {
        if !self.has_history {
            let window = self.gaps.into_window();
            self.decisions.extend(omitted_history(&window));
            return Assembled { messages: self.slots.fill(Vec::new()), decisions: self.decisions };
        }
        let prefix = self.gaps.take_prefix();
        let mut messages = self.slots.fill(self.gaps.fill());
        messages.extend(prefix);
        Assembled { messages, decisions: self.decisions }
    }
}

/// Tells whether the place that an entry names exists.
fn reaches(entry: &Entry, is_anchor: &dyn Fn(&str) -> bool) -> bool {
    match &entry.placement {
        Placement::Anchor { target, .. } => is_anchor(target),
        Placement::InOrder | Placement::Index { .. } | Placement::Depth { .. } => true,
    }
}

fn rank_injection(position: usize, injection: Injection) -> Ranked {
    let mut message = Message::new(injection.role, injection.text, injection.source);
    message.written = injection.written;
    message.name = injection.name;
    message.attachments = injection.attachments;
    let order = injection.placement.order();
    message.placement = Some(Arc::new(injection.placement));
    Ranked { order, lane: injection.lane, rank: injection.rank, position, message }
}

/// Renders the texts of an entry; parts that are no texts stay as they are.
fn render_entry(entry: &Entry, render: &mut dyn FnMut(RenderRequest<'_>) -> Rendered) -> Message {
    let mut message = Message::new(entry.role, "", entry.source.clone());
    message.place = Place::Skeleton;
    message.attachments.clone_from(&entry.attachments);
    if entry.placement != Placement::InOrder {
        message.placement = Some(Arc::new(entry.placement.clone()));
    }
    match &entry.content {
        Content::Text(text) => {
            let rendered = render(RenderRequest { entry, part: 0, text });
            message.content = Content::Text(rendered.text);
            message.written = rendered.written;
        }
        Content::Parts(parts) => {
            let mut texts = PartTexts { entry, offset: 0, written: Vec::new() };
            let parts = parts.iter().enumerate().map(|(index, part)| texts.render(index, part, render));
            message.content = Content::Parts(parts.collect());
            message.written = texts.written;
        }
    }
    message
}

/// The texts of an entry with several parts, with the segments of all of them one after the other.
struct PartTexts<'a> {
    entry: &'a Entry,
    offset: usize,
    written: Vec<Segment>,
}

impl PartTexts<'_> {
    fn render(
        &mut self,
        index: usize,
        part: &ContentPart,
        render: &mut dyn FnMut(RenderRequest<'_>) -> Rendered,
    ) -> ContentPart {
        let ContentPart::Text(text) = part else { return part.clone() };
        let rendered = render(RenderRequest { entry: self.entry, part: index, text });
        let len = rendered.text.len();
        if rendered.written.is_empty() && len > 0 {
            self.push(Segment::whole(len, self.entry.source.clone()));
        }
        for segment in rendered.written {
            self.push(segment);
        }
        self.offset += len;
        ContentPart::Text(rendered.text)
    }

    fn push(&mut self, mut segment: Segment) {
        segment.span = Span::new(segment.span.start + self.offset, segment.span.end + self.offset);
        self.written.push(segment);
    }
}

/// One decision for a conversation that the preset does not send.
fn omitted_history(window: &Window) -> Option<Decision> {
    let all = || window.pinned.iter().chain(&window.messages).chain(&window.prefix);
    let source = all().next()?.source.clone();
    let reason = "the preset has no `chat_history` and `historyWhenUnplaced` is `omit`";
    let mut decision = Decision::new(Outcome::Dropped, source, reason);
    decision.count = all().count();
    decision.bytes = Some(all().map(|message| message.content.len()).sum());
    Some(decision)
}
