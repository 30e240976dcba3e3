use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_anchors::{Entry, FrontItem};
use ctx_types::{Injection, Message, Order, Place, Rank, Source, SourceKind};

/// Blackboard entry of the assembler: sort keys of entries and injections, and those at the front because
/// their slots are not loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapRanks {
    /// Tie-breakers of preset entries, by position in the list.
    lanes: Arc<[i64]>,
    injections: BTreeMap<Name, (i64, Rank, usize)>,
    /// Real slots of injections at the front.
    at_front: BTreeMap<Name, usize>,
}

pub(crate) type Name = (SourceKind, Option<Arc<str>>, Option<usize>);

pub(crate) type Key = (Order, i64, Rank, usize);

impl GapRanks {
    /// If injections share a source, the first is used.
    pub(crate) fn new(lanes: Arc<[i64]>, injections: &[Injection]) -> Self {
        let mut ranks = Self { lanes, injections: BTreeMap::new(), at_front: BTreeMap::new() };
        for (position, injection) in injections.iter().enumerate() {
            let rank = (injection.lane, injection.rank, position);
            ranks.injections.entry(name(&injection.source)).or_insert(rank);
        }
        ranks
    }

    pub(crate) fn with_front(mut self, at_front: &[FrontItem]) -> Self {
        self.at_front = at_front.iter().map(|moved| (name(&moved.source), moved.gap)).collect();
        self
    }

    /// A joined message has the key of its first part.
    pub(crate) fn key(&self, message: &Message) -> Key {
        let order = message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order());
        let rank = sources(message).find_map(|source| self.rank(source));
        let (lane, rank, position) = rank.unwrap_or((0, Rank::Plugin, usize::MAX));
        (order, lane, rank, position)
    }

    /// Returns the real slot of a message at the front. A joined message has the slot of its first part.
    pub(crate) fn unloaded_gap(&self, message: &Message, skipped: usize) -> Option<usize> {
        let gap = sources(message).find_map(|source| self.at_front.get(&name(source)).copied());
        gap.filter(|gap| *gap < skipped && message.place == Place::Gap { multiple: false })
    }

    /// Checks whether the assembler has reported all parts of the message as moved to the front.
    pub(crate) fn is_reported(&self, message: &Message) -> bool {
        let is_at_front = |source: &Source| self.at_front.contains_key(&name(source));
        let mut parts = message.written.iter().filter(|part| part.source.kind != SourceKind::Separator);
        match message.source.kind {
            SourceKind::Merged => parts.all(|part| part.via.iter().chain([&part.source]).any(is_at_front)),
            _ => is_at_front(&message.source),
        }
    }

    fn rank(&self, source: &Source) -> Option<(i64, Rank, usize)> {
        // The author's note has the source kind of the preset, but is not an entry.
        if source.kind == SourceKind::Preset
            && let Some(index) = source.index()
        {
            return Some((*self.lanes.get(index)?, Rank::Preset, index));
        }
        self.injections.get(&name(source)).copied()
    }
}

pub(crate) fn lanes(entries: &[Entry]) -> Arc<[i64]> {
    let len = entries.iter().map(|entry| entry.index + 1).max().unwrap_or_default();
    let mut lanes = vec![0; len];
    for entry in entries {
        if let Some(lane) = lanes.get_mut(entry.index) {
            *lane = entry.lane;
        }
    }
    lanes.into()
}

fn sources(message: &Message) -> impl Iterator<Item = &Source> {
    let parts =
        message.written.iter().flat_map(|segment| std::iter::once(&segment.source).chain(&segment.via));
    std::iter::once(&message.source).chain(parts)
}

pub(crate) fn name(source: &Source) -> Name {
    (source.kind, source.id.clone(), source.index())
}
