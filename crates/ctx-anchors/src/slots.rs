//! Preset entries in list order, with messages placed around them.

use std::collections::BTreeMap;

use ctx_types::{Message, Place, Side};

/// Lookups take O(log anchors).
#[derive(Debug, Default)]
pub(crate) struct Slots {
    top: Vec<Message>,
    list: Vec<Slot>,
    bottom: Vec<Message>,
    anchors: BTreeMap<String, usize>,
    history: Option<usize>,
    first_system: Option<usize>,
    last_system_before_history: Option<usize>,
}

#[derive(Debug)]
struct Slot {
    before: Vec<Message>,
    own: SlotContent,
    after: Vec<Message>,
}

#[derive(Debug)]
pub(crate) enum SlotContent {
    Nothing,
    Message(Message),
    History,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotPosition {
    Top,
    Next(usize, Side),
    Bottom,
}

impl Slots {
    pub(crate) fn push(&mut self, anchor: Option<&str>, own: SlotContent) {
        let slot = self.list.len();
        if let Some(anchor) = anchor {
            self.anchors.entry(anchor.to_owned()).or_insert(slot);
        }
        match &own {
            SlotContent::History => self.history = self.history.or(Some(slot)),
            SlotContent::Message(message) if message.role.is_instruction() => self.push_system(slot),
            SlotContent::Message(_) | SlotContent::Nothing => {}
        }
        self.list.push(Slot { before: Vec::new(), own, after: Vec::new() });
    }

    fn push_system(&mut self, slot: usize) {
        self.first_system = self.first_system.or(Some(slot));
        if self.history.is_none() {
            self.last_system_before_history = Some(slot);
        }
    }

    pub(crate) fn at_anchor(&self, anchor: &str, side: Side) -> Option<SlotPosition> {
        self.anchors.get(anchor).map(|slot| SlotPosition::Next(*slot, side))
    }

    pub(crate) fn before_first_system(&self) -> Option<SlotPosition> {
        self.first_system.map(|slot| SlotPosition::Next(slot, Side::Before))
    }

    pub(crate) fn after_last_system_before_history(&self) -> Option<SlotPosition> {
        self.last_system_before_history.map(|slot| SlotPosition::Next(slot, Side::After))
    }

    pub(crate) fn place(&mut self, position: SlotPosition, mut message: Message) {
        let is_history = matches!(position, SlotPosition::Next(slot, _) if self.history == Some(slot));
        message.place = if is_history { Place::AroundHistory } else { Place::Anchored };
        let list = match position {
            SlotPosition::Top => &mut self.top,
            SlotPosition::Bottom => &mut self.bottom,
            SlotPosition::Next(slot, Side::Before) => &mut self.list[slot].before,
            SlotPosition::Next(slot, Side::After) => &mut self.list[slot].after,
        };
        list.push(message);
    }

    /// Returns the messages, and how many of them are before the history.
    pub(crate) fn fill(self, history: Vec<Message>) -> (Vec<Message>, usize) {
        let mut history = Some(history);
        let mut front = None;
        let mut messages = sort_by_rank(self.top);
        for slot in self.list {
            messages.extend(sort_by_rank(slot.before));
            match slot.own {
                SlotContent::Nothing => {}
                SlotContent::Message(message) => messages.push(message),
                SlotContent::History => {
                    front = front.or(Some(messages.len()));
                    messages.append(&mut history.take().unwrap_or_default());
                }
            }
            messages.extend(sort_by_rank(slot.after));
        }
        messages.extend(sort_by_rank(self.bottom));
        let front = front.unwrap_or(messages.len());
        (messages, front)
    }
}

fn sort_by_rank(mut messages: Vec<Message>) -> Vec<Message> {
    messages.sort_by_key(Message::slot_key);
    messages
}
