//! Which messages of the active path summaries stand for.
//!
//! The path is walked from the leaf to the root. A summary that is switched on and not hidden hides everything
//! that it lists, and what listed summaries list in turn, whatever their own switches say. A summary all of
//! whose messages are hidden is hidden too. Ids off the path count for nothing. Switches are never touched, so
//! that switching a summary off, or removing it, shows what it hid as it was.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use crate::session::nodes::Slot;
use crate::session::{Node, NodeId, Session};

/// The messages of the active path that summaries stand for, in the order of the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenSet(IndexMap<NodeId, NodeId>);

impl HiddenSet {
    /// Returns whether a summary stands for the node.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Returns the summary that stands for the node.
    pub fn hidden_by(&self, id: &str) -> Option<&NodeId> {
        self.0.get(id)
    }

    /// Returns the hidden nodes, oldest first, each with the summary that stands for it.
    pub fn iter(&self) -> impl Iterator<Item = (&NodeId, &NodeId)> {
        self.0.iter()
    }

    /// Returns the number of hidden nodes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Finds the messages of the active path that summaries stand for. O(path + listed ids).
pub fn hidden_set(session: &Session) -> HiddenSet {
    let path = MaskedPath::of(session);
    let hidden = path.slots.iter().enumerate().filter_map(|(place, slot)| {
        let summary = path.summary(place)?;
        Some((slot.id.clone(), summary.id.clone()))
    });
    HiddenSet(hidden.collect())
}

/// Returns what is sent of the active path: neither switched off nor hidden, oldest first.
///
/// Whether there is anything to send in a message is not looked at. O(path + listed ids).
pub fn visible_path(session: &Session) -> Vec<&Node> {
    let shown = display_path(session, &[]).into_iter();
    shown.filter(|shown| shown.state == DisplayState::Visible).map(|shown| shown.node).collect()
}

/// Returns the active path as an application shows it, oldest first.
///
/// `expanded` names summaries whose messages are shown for the time being; what is sent does not change.
/// O(path + listed ids + expanded).
pub fn display_path<'a>(session: &'a Session, expanded: &[NodeId]) -> Vec<DisplayNode<'a>> {
    let path = MaskedPath::of(session);
    let expanded: HashSet<&NodeId> = expanded.iter().collect();
    let show = |(place, slot): (usize, &&'a Slot)| {
        let state = match path.summary(place) {
            Some(summary) => DisplayState::Hidden { by: summary.id.clone() },
            None if slot.node.is_enabled() => DisplayState::Visible,
            None => DisplayState::Disabled,
        };
        let is_shown = match &state {
            DisplayState::Hidden { by } => expanded.contains(by),
            DisplayState::Visible | DisplayState::Disabled => true,
        };
        DisplayNode { id: &slot.id, node: &slot.node, state, is_shown }
    };
    path.slots.iter().enumerate().map(show).collect()
}

/// A message of the active path, as an application shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayNode<'a> {
    /// The id.
    pub id: &'a NodeId,
    /// The message.
    pub node: &'a Node,
    /// Whether it is sent, and why not.
    pub state: DisplayState,
    /// Whether it is to be shown: it is not hidden, or the summary that hides it is expanded.
    pub is_shown: bool,
}

/// Whether a message of the active path is sent, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayState {
    /// It is sent.
    Visible,
    /// A summary stands for it, whether or not it is switched on itself.
    Hidden {
        /// The summary, which is not hidden.
        by: NodeId,
    },
    /// It is switched off.
    Disabled,
}

/// The active path with the summary that stands for each message.
struct MaskedPath<'a> {
    session: &'a Session,
    /// Oldest first; the node at place `n` has depth `n + 1`.
    slots: Vec<&'a Slot>,
    masks: Vec<Mask>,
}

/// What hides a node.
#[derive(Clone, Copy, Debug, Default)]
struct Mask {
    /// The place of the summary that hides the node; that summary may be hidden by another, later.
    by: Option<usize>,
    /// Whether the node, by what it lists, leads back to that summary.
    leads_back: bool,
    /// Whether no summary lists the node: it is a summary of nothing but hidden messages.
    is_redundant: bool,
}

impl<'a> MaskedPath<'a> {
    fn of(session: &'a Session) -> Self {
        let mut slots: Vec<&Slot> = session.slots_above(&session.leaf.id).collect();
        slots.reverse();
        let masks = vec![Mask::default(); slots.len()];
        let mut path = Self { session, slots, masks };
        for place in (0..path.slots.len()).rev() {
            path.add_summary(place);
        }
        path.resolve();
        path
    }

    /// Hides what the node at a place stands for, if it is a summary that counts.
    fn add_summary(&mut self, place: usize) {
        let Some(node) = self.slots.get(place).map(|slot| &slot.node) else { return };
        if !node.is_summary() || !node.is_enabled() || self.is_masked(place) {
            return;
        }
        let listed = self.listed(place);
        match listed.first() {
            Some(first) if listed.iter().all(|listed| self.is_masked(*listed)) => {
                let by = self.mask(*first).by;
                self.set_mask(place, Mask { by, leads_back: false, is_redundant: true });
            }
            _ => self.hide_closure(place, listed),
        }
    }

    /// Hides the listed nodes and what listed summaries list; what a summary hid already is done.
    fn hide_closure(&mut self, summary: usize, mut open: Vec<usize>) {
        let mut hidden = Vec::new();
        let mut is_circle = false;
        while let Some(place) = open.pop() {
            let mask = self.mask(place);
            if place == summary {
                is_circle = true;
            } else if mask.by.is_none() || mask.is_redundant {
                self.set_mask(place, Mask { by: Some(summary), ..Mask::default() });
                hidden.push(place);
                open.extend(self.listed(place));
            } else if mask.leads_back {
                open.extend(mask.by.filter(|by| *by != summary && !self.is_masked(*by)));
            }
        }
        if is_circle {
            self.note_ways_back(summary, &hidden);
        }
    }

    /// Notes which of the nodes that a summary hides lead back to it.
    fn note_ways_back(&mut self, summary: usize, hidden: &[usize]) {
        let mut listed_by: HashMap<usize, Vec<usize>> = HashMap::new();
        for place in hidden {
            for listed in self.listed(*place) {
                listed_by.entry(listed).or_default().push(*place);
            }
        }
        let mut open = vec![summary];
        while let Some(place) = open.pop() {
            for lister in listed_by.remove(&place).unwrap_or_default() {
                self.set_mask(lister, Mask { by: Some(summary), leads_back: true, is_redundant: false });
                open.push(lister);
            }
        }
    }

    /// Returns the places of the nodes that a summary lists, itself and ids off the path left out.
    fn listed(&self, place: usize) -> Vec<usize> {
        let Some(node) = self.slots.get(place).map(|slot| &slot.node) else { return Vec::new() };
        let places = node.summarized_ids().iter().filter_map(|id| self.place(id));
        places.filter(|listed| *listed != place).collect()
    }

    /// Returns the place of a node on the path. O(1).
    fn place(&self, id: &NodeId) -> Option<usize> {
        let slot = self.session.nodes.sound(id)?;
        let place = slot.depth.checked_sub(1)?;
        self.slots.get(place).is_some_and(|on_path| on_path.id == slot.id).then_some(place)
    }

    /// Names, for each hidden node, a summary that is not hidden itself.
    ///
    /// A summary that hides others and is hidden later, by one nearer to the root, leaves all of it to that
    /// one; so a chain of masks always leads towards the root, and ends.
    fn resolve(&mut self) {
        for place in 0..self.masks.len() {
            let mut end = place;
            while let Some(by) = self.mask(end).by {
                end = by;
            }
            // The whole chain leads to the same end, so that no part of it is walked twice.
            let mut next = place;
            while let Some(by) = self.mask(next).by.filter(|by| *by != end) {
                self.set_mask(next, Mask { by: Some(end), ..Mask::default() });
                next = by;
            }
        }
    }

    fn is_masked(&self, place: usize) -> bool {
        self.mask(place).by.is_some()
    }

    fn mask(&self, place: usize) -> Mask {
        self.masks.get(place).copied().unwrap_or_default()
    }

    fn set_mask(&mut self, place: usize, mask: Mask) {
        if let Some(slot) = self.masks.get_mut(place) {
            *slot = mask;
        }
    }

    /// Returns the summary that stands for the node at a place.
    fn summary(&self, place: usize) -> Option<&'a Slot> {
        self.mask(place).by.and_then(|by| self.slots.get(by).copied())
    }
}
