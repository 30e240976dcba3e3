use std::collections::{BTreeMap, BTreeSet};

use ctx_types::{Message, Phrase, Role, Source, SourceKind};
use serde::Serialize;

use crate::inspect::life::links::Links;
use crate::trace::TracedStage;

/// Something that a stage did to a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What it did.
    pub kind: EventKind,
    /// The source of the message after the stage; of one that is gone, before it.
    pub source: Source,
    /// Who speaks it.
    pub role: Role,
    /// Its numbers before the stage, counted from 0; several if it was joined of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<usize>,
    /// Its number after the stage; none if it is gone, or waits to be placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<usize>,
    /// How it was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Phrase>,
    /// Whether the stage put it elsewhere among the others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
    /// The fields that the stage changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<&'static str>,
    /// What it was joined of, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<Source>,
    /// Its text before the stage, where that differs or nothing is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its text after the stage, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What a stage did to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// It was made, or loaded from the conversation.
    Made,
    /// It was handed to the assembler, and waits to be placed.
    HandedOver,
    /// What was handed over was placed.
    Placed,
    /// It was joined with others.
    Joined,
    /// It was changed.
    Changed,
    /// It was put elsewhere.
    Moved,
    /// Nothing is left of it.
    Gone,
}

impl EventKind {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::HandedOver => "handed_over",
            Self::Placed => "placed",
            Self::Joined => "joined",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Gone => "gone",
        }
    }
}

/// `before` and `after` are the indexes of the messages.
pub(crate) fn of_stage(
    stage: TracedStage<'_>,
    links: &Links,
    (before, after): (&BTreeSet<usize>, &BTreeSet<usize>),
    sources: &BTreeSet<String>,
) -> Vec<Event> {
    let old = stage.before.map_or(&[][..], |draft| draft.messages());
    let mut events = handed_over(stage, sources);
    let new = after.iter().filter_map(|at| Some((*at, stage.after.messages().get(*at)?)));
    events.extend(new.filter_map(|(at, message)| of_message(stage, links, old, (at, message))));
    let gone = before.iter().filter(|at| links.is_gone(**at));
    events.extend(gone.filter_map(|at| {
        let message = old.get(*at)?;
        let text = Some(message.text().into_owned());
        Some(Event { from: vec![*at], before: text, ..Event::of(EventKind::Gone, message) })
    }));
    events
}

/// Returns `None` if the message is unchanged.
fn of_message(
    stage: TracedStage<'_>,
    links: &Links,
    old: &[Message],
    (at, message): (usize, &Message),
) -> Option<Event> {
    let parents: Vec<&Message> = links.parents(at).iter().filter_map(|at| old.get(*at)).collect();
    let is_moved = links.is_moved(at);
    let event =
        |kind| Event { from: links.parents(at).to_vec(), to: Some(at), is_moved, ..Event::of(kind, message) };
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

fn handed_over(stage: TracedStage<'_>, sources: &BTreeSet<String>) -> Vec<Event> {
    let waiting = |draft: Option<&ctx_pipeline::Draft>| {
        let mut waiting: BTreeMap<String, usize> = BTreeMap::new();
        for injection in draft.into_iter().flat_map(ctx_pipeline::Draft::injections) {
            *waiting.entry(injection.source.to_string()).or_default() += 1;
        }
        waiting
    };
    let mut known = waiting(stage.before);
    let own = stage.after.injections().iter();
    let own = own.filter(|injection| sources.contains(&injection.source.to_string()));
    let new = own.filter(|injection| {
        let count = known.get_mut(&injection.source.to_string()).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_none()
    });
    let event = |injection: &ctx_types::Injection| Event {
        kind: EventKind::HandedOver,
        source: injection.source.clone(),
        role: injection.role,
        from: Vec::new(),
        to: None,
        placement: Some(injection.placement.phrase()),
        is_moved: false,
        changes: Vec::new(),
        joined: Vec::new(),
        before: None,
        after: Some(injection.text.as_str().to_owned()),
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
    fn of(kind: EventKind, message: &Message) -> Self {
        Self {
            kind,
            source: message.source.clone(),
            role: message.role,
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
