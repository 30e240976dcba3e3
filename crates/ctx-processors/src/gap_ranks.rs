//! How the things that stand at one gap of the history are sorted, for stages that bring gaps together.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_anchors::Entry;
use ctx_types::{Injection, Message, Order, Rank, Source, SourceKind};

/// Left on the blackboard by the assembler: the ranks of preset entries and injections beside their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapRanks {
    /// The lane of each preset entry, by its position in the list.
    lanes: Arc<[i64]>,
    injections: BTreeMap<Name, (i64, Rank, usize)>,
}

/// What tells one source from another.
pub(crate) type Name = (SourceKind, Option<Arc<str>>, Option<usize>);

/// By what things at one gap are sorted, ascending.
pub(crate) type Key = (Order, i64, Rank, usize);

impl GapRanks {
    /// Remembers the ranks of injections; of several from one source the first counts.
    pub(crate) fn new(lanes: Arc<[i64]>, injections: &[Injection]) -> Self {
        let mut ranks = Self { lanes, injections: BTreeMap::new() };
        for (position, injection) in injections.iter().enumerate() {
            let rank = (injection.lane, injection.rank, position);
            ranks.injections.entry(name(&injection.source)).or_insert(rank);
        }
        ranks
    }

    /// Returns by what a message is sorted; one that was joined from several goes by the first of them.
    pub(crate) fn key(&self, message: &Message) -> Key {
        let order = message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order());
        let parts =
            message.written.iter().flat_map(|segment| std::iter::once(&segment.source).chain(&segment.via));
        let (lane, rank, position) = std::iter::once(&message.source)
            .chain(parts)
            .find_map(|source| self.rank(source))
            .unwrap_or((0, Rank::Plugin, usize::MAX));
        (order, lane, rank, position)
    }

    fn rank(&self, source: &Source) -> Option<(i64, Rank, usize)> {
        if source.kind == SourceKind::Preset {
            let index = source.index()?;
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

/// Returns what tells a source from another.
pub(crate) fn name(source: &Source) -> Name {
    (source.kind, source.id.clone(), source.index())
}
