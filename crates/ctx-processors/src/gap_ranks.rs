//! How the things that stand at one gap of the history are sorted, for stages that bring gaps together.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_anchors::{AtFront, Entry};
use ctx_types::{Injection, Message, Order, Place, Rank, Source, SourceKind};

/// Left on the blackboard by the assembler: the ranks of preset entries and injections beside their order, and
/// which of them stand at the front because their places are not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapRanks {
    /// The lane of each preset entry, by its position in the list.
    lanes: Arc<[i64]>,
    injections: BTreeMap<Name, (i64, Rank, usize)>,
    /// The gap that is the place of each that stands at the front instead.
    at_front: BTreeMap<Name, usize>,
}

/// What tells one source from another.
pub(crate) type Name = (SourceKind, Option<Arc<str>>, Option<usize>);

/// By what things at one gap are sorted, ascending.
pub(crate) type Key = (Order, i64, Rank, usize);

impl GapRanks {
    /// Remembers the ranks of injections; of several from one source the first counts.
    pub(crate) fn new(lanes: Arc<[i64]>, injections: &[Injection]) -> Self {
        let mut ranks = Self { lanes, injections: BTreeMap::new(), at_front: BTreeMap::new() };
        for (position, injection) in injections.iter().enumerate() {
            let rank = (injection.lane, injection.rank, position);
            ranks.injections.entry(name(&injection.source)).or_insert(rank);
        }
        ranks
    }

    /// Remembers what the assembler put at the front.
    pub(crate) fn with_front(mut self, at_front: &[AtFront]) -> Self {
        self.at_front = at_front.iter().map(|moved| (name(&moved.source), moved.gap)).collect();
        self
    }

    /// Returns by what a message is sorted; one that was joined from several goes by the first of them.
    pub(crate) fn key(&self, message: &Message) -> Key {
        let order = message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order());
        let rank = sources(message).find_map(|source| self.rank(source));
        let (lane, rank, position) = rank.unwrap_or((0, Rank::Plugin, usize::MAX));
        (order, lane, rank, position)
    }

    /// Returns the gap that is the place of a message, if it stands at the front of a window that begins behind
    /// that; one that was joined from several goes by the first of them.
    pub(crate) fn unloaded_gap(&self, message: &Message, skipped: usize) -> Option<usize> {
        let gap = sources(message).find_map(|source| self.at_front.get(&name(source)).copied());
        gap.filter(|gap| *gap < skipped && message.place == Place::Gap { multiple: false })
    }

    /// Returns whether the assembler has said already of all that a message is made of that it is at the front.
    pub(crate) fn is_told(&self, message: &Message) -> bool {
        let is_at_front = |source: &Source| self.at_front.contains_key(&name(source));
        let mut parts = message.written.iter().filter(|part| part.source.kind != SourceKind::Separator);
        match message.source.kind {
            SourceKind::Merged => parts.all(|part| part.via.iter().chain([&part.source]).any(is_at_front)),
            _ => is_at_front(&message.source),
        }
    }

    fn rank(&self, source: &Source) -> Option<(i64, Rank, usize)> {
        // The author's note has the kind of the preset, and is no entry of it.
        if source.kind == SourceKind::Preset
            && let Some(index) = source.index()
        {
            return Some((*self.lanes.get(index)?, Rank::Preset, index));
        }
        self.injections.get(&name(source)).copied()
    }
}

/// Returns the lane of each entry, by its position in the preset's list.
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

/// The sources of a message and of all that was joined in it.
fn sources(message: &Message) -> impl Iterator<Item = &Source> {
    let parts =
        message.written.iter().flat_map(|segment| std::iter::once(&segment.source).chain(&segment.via));
    std::iter::once(&message.source).chain(parts)
}

/// Returns what tells a source from another.
pub(crate) fn name(source: &Source) -> Name {
    (source.kind, source.id.clone(), source.index())
}
