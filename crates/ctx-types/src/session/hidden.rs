//! Messages that summaries hide.
//!
//! An enabled, visible summary hides all messages that it lists and, recursively, those that listed summaries
//! list, even disabled ones. A summary is also hidden if all its messages are. Ids outside the path have no
//! effect. Removing or disabling a summary restores its messages, because their switches never change.

use std::collections::{HashMap, HashSet};

use crate::session::nodes::Slot;
use crate::session::{Node, NodeId, Session};

/// Returns the enabled messages that are not hidden, also blank ones, oldest first. O(path + listed ids).
pub fn visible_path(session: &Session) -> Vec<&Node> {
    let shown = display_path(session, &[]).into_iter();
    shown.filter(|shown| shown.state == DisplayState::Visible).map(|shown| shown.node).collect()
}

/// Returns the active branch for display, oldest first.
///
/// `expanded` lists summaries with shown messages; it does not affect the request. O(path + listed ids +
/// expanded).
pub fn display_path<'a>(session: &'a Session, expanded: &[NodeId]) -> Vec<DisplayNode<'a>> {
    let path = PathVisibility::new(session);
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

/// A message of the active branch for display.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayNode<'a> {
    /// The id.
    pub id: &'a NodeId,
    /// The message.
    pub node: &'a Node,
    /// Whether it is sent.
    pub state: DisplayState,
    /// False if hidden by a summary that is not expanded.
    pub is_shown: bool,
}

/// Whether a message is sent, or the reason against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayState {
    /// The message is sent.
    Visible,
    /// A summary hides the message, even if it is enabled.
    Hidden {
        /// The summary, not hidden itself.
        by: NodeId,
    },
    /// The message is disabled, or reports a failed turn.
    Disabled,
}

struct PathVisibility<'a> {
    session: &'a Session,
    /// Oldest first; position `n` has depth `n + 1`.
    slots: Vec<&'a Slot>,
    visibilities: Vec<Visibility>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Visibility {
    /// The hiding summary; one nearer to the root may hide it later.
    by: Option<usize>,
    /// Whether the node lists that summary, directly or through other summaries.
    leads_back: bool,
    /// Whether the node is unlisted, but all its messages are hidden.
    is_redundant: bool,
}

impl<'a> PathVisibility<'a> {
    fn new(session: &'a Session) -> Self {
        let mut slots: Vec<&Slot> =
            session.tree.slots_above(&session.tree.leaf.id).map(|(_, slot)| slot).collect();
        slots.reverse();
        let visibilities = vec![Visibility::default(); slots.len()];
        let mut path = Self { session, slots, visibilities };
        for place in (0..path.slots.len()).rev() {
            path.add_summary(place);
        }
        path.resolve();
        path
    }

    fn add_summary(&mut self, place: usize) {
        let Some(node) = self.slots.get(place).map(|slot| &slot.node) else { return };
        if !node.is_summary() || !node.is_enabled() || self.is_hidden(place) {
            return;
        }
        let listed = self.listed_positions(place);
        match listed.first() {
            Some(first) if listed.iter().all(|listed| self.is_hidden(*listed)) => {
                let by = self.visibility(*first).by;
                self.set_visibility(place, Visibility { by, leads_back: false, is_redundant: true });
            }
            _ => self.hide_closure(place, listed),
        }
    }

    /// Skips nodes that are already hidden with their listed nodes.
    fn hide_closure(&mut self, summary: usize, mut open: Vec<usize>) {
        let mut hidden = Vec::new();
        let mut is_circle = false;
        while let Some(place) = open.pop() {
            let visibility = self.visibility(place);
            if place == summary {
                is_circle = true;
            } else if visibility.by.is_none() || visibility.is_redundant {
                self.set_visibility(place, Visibility { by: Some(summary), ..Visibility::default() });
                hidden.push(place);
                open.extend(self.listed_positions(place));
            } else if visibility.leads_back {
                open.extend(visibility.by.filter(|by| *by != summary && !self.is_hidden(*by)));
            }
        }
        if is_circle {
            self.mark_ways_back(summary, &hidden);
        }
    }

    fn mark_ways_back(&mut self, summary: usize, hidden: &[usize]) {
        let mut listed_by: HashMap<usize, Vec<usize>> = HashMap::new();
        for place in hidden {
            for listed in self.listed_positions(*place) {
                listed_by.entry(listed).or_default().push(*place);
            }
        }
        let mut open = vec![summary];
        while let Some(place) = open.pop() {
            for lister in listed_by.remove(&place).unwrap_or_default() {
                self.set_visibility(
                    lister,
                    Visibility { by: Some(summary), leads_back: true, is_redundant: false },
                );
                open.push(lister);
            }
        }
    }

    fn listed_positions(&self, place: usize) -> Vec<usize> {
        let Some(node) = self.slots.get(place).map(|slot| &slot.node) else { return Vec::new() };
        let places = node.summarized_ids().iter().filter_map(|id| self.find_position(id));
        places.filter(|listed| *listed != place).collect()
    }

    fn find_position(&self, id: &NodeId) -> Option<usize> {
        let slot = self.session.tree.nodes.sound(id)?;
        let place = slot.depth.checked_sub(1)?;
        self.slots.get(place).is_some_and(|on_path| on_path.id == slot.id).then_some(place)
    }

    /// Replaces hidden summaries in `by` with visible ones.
    ///
    /// Each step is nearer to the root, so the chain ends.
    fn resolve(&mut self) {
        for place in 0..self.visibilities.len() {
            let mut end = place;
            while let Some(by) = self.visibility(end).by {
                end = by;
            }
            let mut next = place;
            while let Some(by) = self.visibility(next).by.filter(|by| *by != end) {
                self.set_visibility(next, Visibility { by: Some(end), ..Visibility::default() });
                next = by;
            }
        }
    }

    fn is_hidden(&self, place: usize) -> bool {
        self.visibility(place).by.is_some()
    }

    fn visibility(&self, place: usize) -> Visibility {
        self.visibilities.get(place).copied().unwrap_or_default()
    }

    fn set_visibility(&mut self, place: usize, visibility: Visibility) {
        if let Some(slot) = self.visibilities.get_mut(place) {
            *slot = visibility;
        }
    }

    fn summary(&self, place: usize) -> Option<&'a Slot> {
        self.visibility(place).by.and_then(|by| self.slots.get(by).copied())
    }
}
