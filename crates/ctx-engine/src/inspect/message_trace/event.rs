use std::collections::BTreeSet;

use ctx_types::{Message, Phrase, Role, Source, SourceKind, words};
use serde::Serialize;

use crate::inspect::message_trace::links::Links;
use crate::trace::TracedStage;

/// A change of a message by a processor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Kind of change.
    pub kind: EventKind,
    /// Source of the message after the processor. For a removed message: before the processor.
    pub source: Source,
    /// Message role.
    pub role: Role,
    /// Index before the processor, from 0. A merged message has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<usize>,
    /// Index after the processor, from 0. Missing if the message is removed or not placed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<usize>,
    /// Placement of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Phrase>,
    /// Whether the processor changed its position among the other messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
    /// Changed fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<&'static str>,
    /// Sources of the merged messages, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Source>,
    /// Text before the processor, if changed or removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Text after the processor, if changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

words! {
    /// The kind of change of a message.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum EventKind: [as_str] {
        /// Created, or loaded from the conversation.
        Made = "made",
        /// Passed to the assembler; not placed yet.
        HandedOver = "handed_over",
        /// Placed by the assembler.
        Placed = "placed",
        /// Merged with other messages.
        Joined = "joined",
        /// Changed in text, role, or another field.
        Changed = "changed",
        /// Moved to another position.
        Moved = "moved",
        /// Removed.
        Gone = "gone",
    }
}

/// `before` and `after` are the indexes of the messages.
pub(crate) fn stage_events(
    stage: TracedStage<'_>,
    links: &Links,
    before: &BTreeSet<usize>,
    after: &BTreeSet<usize>,
    sources: &BTreeSet<String>,
) -> Vec<Event> {
    let old = stage.before.map_or(&[][..], |draft| draft.messages());
    let mut events = handover_events(stage, sources);
    let new = after.iter().filter_map(|at| Some((*at, stage.after.messages().get(*at)?)));
    events.extend(new.filter_map(|(at, message)| message_event(stage, links, old, at, message)));
    let gone = before.iter().filter(|at| links.is_gone(**at));
    events.extend(gone.filter_map(|at| {
        let message = old.get(*at)?;
        let text = Some(message.text().into_owned());
        Some(Event {
            from: vec![*at],
            before: text,
            ..Event::new(EventKind::Gone, &message.source, message.role)
        })
    }));
    events
}

/// Returns `None` if the message is unchanged.
fn message_event(
    stage: TracedStage<'_>,
    links: &Links,
    old: &[Message],
    at: usize,
    message: &Message,
) -> Option<Event> {
    let parents: Vec<&Message> = links.parents(at).iter().filter_map(|at| old.get(*at)).collect();
    let is_moved = links.is_moved(at);
    let event = |kind| Event {
        from: links.parents(at).to_vec(),
        to: Some(at),
        is_moved,
        ..Event::new(kind, &message.source, message.role)
    };
    let text = || Some(message.text().into_owned());
    match parents.as_slice() {
        [] => {
            let waited = stage.before.is_some_and(|draft| {
                draft.injections().iter().any(|injection| injection.source == message.source)
            });
            let kind = if waited { EventKind::Placed } else { EventKind::Made };
            let placement = message.placement.as_ref().map(|placement| placement.phrase());
            Some(Event { placement, after: text(), ..event(kind) })
        }
        [one] if one.source == message.source || message.source.kind != SourceKind::Merged => {
            let changes = changes(one, message);
            let is_text = changes.contains(&"text");
            let kind = match changes.is_empty() {
                false => EventKind::Changed,
                true if is_moved => EventKind::Moved,
                true => return None,
            };
            let before = is_text.then(|| one.text().into_owned());
            Some(Event { changes, before, after: text().filter(|_| is_text), ..event(kind) })
        }
        several => {
            let joined = several.iter().map(|message| message.source.clone()).collect();
            Some(Event { joined, after: text(), ..event(EventKind::Joined) })
        }
    }
}

fn handover_events(stage: TracedStage<'_>, sources: &BTreeSet<String>) -> Vec<Event> {
    let known = stage.before.map_or(&[][..], |draft| draft.injections());
    let new = stage.after.injections().iter().filter(|injection| {
        sources.contains(&injection.source.to_string())
            && !known.iter().any(|earlier| earlier.source == injection.source)
    });
    let event = |injection: &ctx_types::Injection| Event {
        placement: Some(injection.placement.phrase()),
        after: Some(injection.text.as_str().to_owned()),
        ..Event::new(EventKind::HandedOver, &injection.source, injection.role)
    };
    new.map(event).collect()
}

fn changes(old: &Message, new: &Message) -> Vec<&'static str> {
    if old.is_shared_with(new) {
        return Vec::new();
    }
    let is_text = old.text() != new.text();
    let differing = [
        ("text", is_text),
        ("parts", !is_text && old.content != new.content),
        ("role", old.role != new.role),
        ("name", old.name != new.name),
        ("calls", old.tool_calls != new.tool_calls || old.tool_call_id != new.tool_call_id),
        ("reasoning", old.reasoning != new.reasoning),
        ("files", old.attachments != new.attachments),
    ];
    differing.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

impl Event {
    fn new(kind: EventKind, source: &Source, role: Role) -> Self {
        Self {
            kind,
            source: source.clone(),
            role,
            from: Vec::new(),
            to: None,
            placement: None,
            is_moved: false,
            changes: Vec::new(),
            joined: Vec::new(),
            before: None,
            after: None,
        }
    }
}
