//! Messages that summaries hide.
//!
//! An enabled, visible summary hides all messages that it lists and, recursively, those that listed summaries
//! list, even disabled ones. A summary is also hidden if all its messages are. Ids outside the path have no
//! effect. Removing or disabling a summary restores its messages, because their switches never change.

use std::collections::HashSet;

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
    /// The message is disabled.
    Disabled,
}

struct PathVisibility<'a> {
    session: &'a Session,
    /// Oldest first; position `n` has depth `n + 1`.
    slots: Vec<&'a Slot>,
    /// The position of the hiding summary.
    hidden_by: Vec<Option<usize>>,
    /// Unlisted summaries whose messages are all hidden.
    redundant: HashSet<usize>,
    /// Summaries that list themselves, directly or through other summaries.
    circular: HashSet<usize>,
}

impl<'a> PathVisibility<'a> {
    fn new(session: &'a Session) -> Self {
        let mut slots: Vec<&Slot> =
            session.tree.slots_above(&session.tree.leaf.id).map(|(_, slot)| slot).collect();
        slots.reverse();
        let hidden_by = vec![None; slots.len()];
        let mut path =
            Self { session, slots, hidden_by, redundant: HashSet::new(), circular: HashSet::new() };
        for place in (0..path.slots.len()).rev() {
            path.add_summary(place);
        }
        path.resolve();
        path
    }

    fn add_summary(&mut self, place: usize) {
        let node = &self.slots[place].node;
        if !node.is_summary() || !node.is_enabled() || self.hidden_by[place].is_some() {
            return;
        }
        let listed = self.listed_positions(place);
        match listed.first() {
            Some(first) if listed.iter().all(|listed| self.hidden_by[*listed].is_some()) => {
                self.hidden_by[place] = self.hidden_by[*first];
                self.redundant.insert(place);
            }
            _ => self.hide_closure(place, listed),
        }
    }

    fn hide_closure(&mut self, summary: usize, mut open: Vec<usize>) {
        let mut seen = HashSet::new();
        while let Some(place) = open.pop() {
            if place == summary {
                self.circular.insert(summary);
                continue;
            }
            if !seen.insert(place) {
                continue;
            }
            match self.hidden_by[place] {
                Some(by) if !self.redundant.contains(&place) => {
                    // All that it lists is hidden, except perhaps `by`.
                    if !self.circular.contains(&by) {
                        continue;
                    }
                }
                _ => self.hidden_by[place] = Some(summary),
            }
            self.redundant.remove(&place);
            open.extend(self.listed_positions(place));
        }
    }

    fn listed_positions(&self, place: usize) -> Vec<usize> {
        let places = self.slots[place].node.summarized_ids().iter().filter_map(|id| self.find_position(id));
        places.filter(|listed| *listed != place).collect()
    }

    fn find_position(&self, id: &NodeId) -> Option<usize> {
        let slot = self.session.tree.nodes.sound(id)?;
        let place = slot.depth.checked_sub(1)?;
        self.slots.get(place).is_some_and(|on_path| on_path.id == slot.id).then_some(place)
    }

    /// Replaces hidden summaries in `hidden_by` with visible ones.
    fn resolve(&mut self) {
        // A summary is hidden by one nearer to the root, so the first turn resolves all hiding summaries.
        for _ in 0..2 {
            for place in 0..self.hidden_by.len() {
                let by = self.hidden_by[place];
                self.hidden_by[place] = by.and_then(|by| self.hidden_by[by]).or(by);
            }
        }
    }

    fn summary(&self, place: usize) -> Option<&'a Slot> {
        self.hidden_by[place].map(|by| self.slots[by])
    }
}
