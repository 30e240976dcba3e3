//! The skeleton as slots: each entry of the list that stays in order, with what stands before and after it.

use ctx_types::{CHAT_HISTORY, Message, Order, Place, Rank, Side};

/// A message with its rank among others at the same place: order, lane, kind, position in its list.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) order: Order,
    pub(crate) lane: i64,
    pub(crate) rank: Rank,
    pub(crate) position: usize,
    pub(crate) message: Message,
}

impl Ranked {
    pub(crate) fn key(&self) -> (Order, i64, Rank, usize) {
        (self.order, self.lane, self.rank, self.position)
    }
}

/// The skeleton in list order.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
}

/// One entry of the skeleton.
#[derive(Debug)]
struct Slot {
    anchor: Option<String>,
    before: Vec<Ranked>,
    own: Own,
    after: Vec<Ranked>,
}

/// What stands at a slot itself.
#[derive(Debug)]
pub(crate) enum Own {
    Nothing,
    Message(Box<Message>),
    /// The conversation.
    History,
}

/// A side of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    slot: usize,
    side: Side,
}

impl Slots {
    /// Adds the next entry of the list; `anchor` is the anchor that it declares.
    pub(crate) fn push(&mut self, anchor: Option<&str>, own: Own) {
        let anchor = anchor.map(str::to_owned);
        self.slots.push(Slot { anchor, before: Vec::new(), own, after: Vec::new() });
    }

    /// Finds the side of the first slot that declares an anchor.
    pub(crate) fn at_anchor(&self, anchor: &str, side: Side) -> Option<Spot> {
        let slot = self.slots.iter().position(|slot| slot.anchor.as_deref() == Some(anchor))?;
        Some(Spot { slot, side })
    }

    /// The spot before the first system message of the list.
    pub(crate) fn before_first_system(&self) -> Option<Spot> {
        let slot = self.slots.iter().position(Slot::is_system)?;
        Some(Spot { slot, side: Side::Before })
    }

    /// The spot after the last system message of the list that precedes the history.
    pub(crate) fn after_last_system_before_history(&self) -> Option<Spot> {
        let end = self.history_slot().unwrap_or(self.slots.len());
        let slot = self.slots.iter().take(end).rposition(Slot::is_system)?;
        Some(Spot { slot, side: Side::After })
    }

    /// The spot above the whole list, if the list has anything.
    pub(crate) fn top(&self) -> Option<Spot> {
        (!self.slots.is_empty()).then_some(Spot { slot: 0, side: Side::Before })
    }

    /// Puts a message at a spot.
    pub(crate) fn place(&mut self, spot: Spot, mut ranked: Ranked) {
        let Some(slot) = self.slots.get_mut(spot.slot) else { return };
        ranked.message.place = match slot.anchor.as_deref() {
            Some(CHAT_HISTORY) => Place::AroundHistory,
            _ => Place::Anchored,
        };
        match spot.side {
            Side::Before => slot.before.push(ranked),
            Side::After => slot.after.push(ranked),
        }
    }

    /// Writes the skeleton out, with `history` where the conversation goes.
    pub(crate) fn fill(self, history: Vec<Message>) -> Vec<Message> {
        let mut history = Some(history);
        let mut messages = Vec::new();
        for slot in self.slots {
            messages.extend(in_rank(slot.before));
            match slot.own {
                Own::Nothing => {}
                Own::Message(message) => messages.push(*message),
                Own::History => messages.append(&mut history.take().unwrap_or_default()),
            }
            messages.extend(in_rank(slot.after));
        }
        messages
    }

    fn history_slot(&self) -> Option<usize> {
        self.slots.iter().position(|slot| matches!(slot.own, Own::History))
    }
}

impl Slot {
    fn is_system(&self) -> bool {
        matches!(&self.own, Own::Message(message) if message.role.is_instruction())
    }
}

fn in_rank(mut ranked: Vec<Ranked>) -> impl Iterator<Item = Message> {
    ranked.sort_by_key(Ranked::key);
    ranked.into_iter().map(|ranked| ranked.message)
}
