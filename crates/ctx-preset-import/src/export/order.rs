//! In which order the entries of an agent are sent: one that goes to an anchor stands beside it.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::{Agent, CHAT_HISTORY, Order, Placement, PresetMessage, Side, UnplacedHistory, anchor_id};

use crate::sillytavern::arrange::{self, Marker};

/// What an entry is.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Message,
    /// An anchor that presets of that application have.
    Marker(&'static Marker),
    /// Another anchor, by its id.
    Anchor(&'a str),
    /// Nothing that is ever sent.
    Nothing,
}

impl<'a> Part<'a> {
    pub(super) fn of(entry: &'a PresetMessage) -> Self {
        if entry.kept.is_malformed() {
            return Self::Nothing;
        }
        let history = || arrange::marker("chatHistory").map_or(Self::Nothing, Self::Marker);
        match entry.kind.as_deref() {
            None | Some("" | "message") => Self::Message,
            Some("placeholder") => match entry.id.as_deref().map(str::trim) {
                None | Some("") => Self::Nothing,
                Some(id) if anchor_id(id) == CHAT_HISTORY => history(),
                Some(id) => Self::Anchor(id),
            },
            Some(kind) if anchor_id(kind) == CHAT_HISTORY => history(),
            Some(kind @ "author_note") => Self::Anchor(kind),
            Some(kind) => {
                let known = arrange::MARKERS.iter().find(|marker| marker.anchor == kind);
                // A type that nobody knows makes an ordinary message.
                known.map_or(Self::Message, Self::Marker)
            }
        }
    }

    fn anchor(self) -> Option<&'a str> {
        match self {
            Self::Marker(marker) => Some(marker.anchor),
            Self::Anchor(id) => Some(id),
            Self::Message | Self::Nothing => None,
        }
    }

    pub(super) fn is_history(self) -> bool {
        self.anchor() == Some(CHAT_HISTORY)
    }
}

/// Tells whether an entry is sent to any model at all.
pub(super) fn is_on(agent: &Agent, entry: &PresetMessage) -> bool {
    let group = entry.group_id.as_deref().and_then(|id| agent.preset_group(id));
    entry.is_enabled() && group.is_none_or(|group| group.enabled != Some(false))
}

/// Returns the numbers of the entries in the order in which they are sent. O(entries · log entries).
///
/// A history that no entry places has the number behind the last; of several only the one that counts is there.
pub(super) fn in_order(agent: &Agent) -> Vec<usize> {
    let list = &agent.preset_messages;
    let history = history(agent);
    let mut anchors: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, entry) in list.iter().enumerate() {
        let part = Part::of(entry);
        let counts = if part.is_history() { history == Some(number) } else { is_on(agent, entry) };
        if let Some(anchor) = part.anchor().filter(|_| counts) {
            anchors.entry(anchor).or_insert(number);
        }
    }
    if let Some(history) = history {
        anchors.insert(CHAT_HISTORY, history);
    }
    let mut beside: BTreeSet<(usize, Side, Order, i64, usize)> = BTreeSet::new();
    let mut order = Vec::new();
    for (number, entry) in list.iter().enumerate() {
        match placement(entry) {
            Placement::Anchor { target, side, order } if anchors.contains_key(&*target) => {
                let lane = entry.injection_strategy.as_ref().and_then(|strategy| strategy.lane);
                beside.insert((anchors[&*target], side, order, lane.unwrap_or(0), number));
            }
            _ if Part::of(entry).is_history() && history != Some(number) => {}
            _ => order.push(number),
        }
    }
    order.extend(history.filter(|number| *number == list.len()));
    let at = |number: usize, side: Side| {
        let is_there = move |item: &&(usize, Side, Order, i64, usize)| (item.0, item.1) == (number, side);
        let from = (number, side, Order(f64::NEG_INFINITY), i64::MIN, 0);
        beside.range(from..).take_while(is_there).map(|item| item.4)
    };
    order
        .into_iter()
        .flat_map(|number| at(number, Side::Before).chain([number]).chain(at(number, Side::After)))
        .collect()
}

/// Returns where an entry goes; an anchor stands where the list has it.
pub(super) fn placement(entry: &PresetMessage) -> Placement {
    match Part::of(entry) {
        Part::Message => Placement::of(entry).0,
        _ => Placement::InOrder,
    }
}

/// Returns the number of the entry that places the history: the first that is on, else the first; the number behind
/// the last where the history follows all of them, none if it is not sent.
fn history(agent: &Agent) -> Option<usize> {
    let places = || {
        let all = agent.preset_messages.iter().enumerate();
        all.filter(|(_, entry)| Part::of(entry).is_history())
    };
    let chosen = places().find(|(_, entry)| is_on(agent, entry)).or_else(|| places().next());
    let appended = || {
        let is_appended = agent.unplaced_history() == UnplacedHistory::Append;
        is_appended.then_some(agent.preset_messages.len())
    };
    chosen.map(|(number, _)| number).or_else(appended)
}
