//! In which order the entries of an agent are sent: one that goes to an anchor stands beside it.

use std::collections::{BTreeMap, BTreeSet};

use ctx_anchors::{
    Preset,
    internal::{Entry, EntryPart},
};
use ctx_types::{CHAT_HISTORY, Placement, Side};

/// Returns the numbers of the entries in the order in which they are sent, but for those that are nothing.
/// O(entries · log entries).
///
/// A history that no entry places has the number behind the last.
pub(super) fn in_order(preset: &Preset) -> Vec<usize> {
    let list = preset.entries();
    let behind = (preset.sends_history() && !preset.places_history()).then_some(list.len());
    let mut anchors: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in list.iter().filter(|entry| is_sent(entry)) {
        if let Some(anchor) = entry.anchor() {
            anchors.entry(anchor).or_insert(entry.index);
        }
    }
    anchors.extend(behind.map(|number| (CHAT_HISTORY, number)));
    let mut beside: BTreeMap<(usize, Side), BTreeSet<_>> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in list.iter().filter(|entry| entry.part != EntryPart::Nothing) {
        match &entry.placement {
            Placement::Anchor { target, side, order } if anchors.contains_key(&**target) => {
                let list = beside.entry((anchors[&**target], *side)).or_default();
                list.insert((*order, entry.lane, entry.index));
            }
            _ => order.push(entry.index),
        }
    }
    order.extend(behind);
    let at = |number: usize, side: Side| {
        beside.get(&(number, side)).into_iter().flatten().map(|(_, _, index)| *index)
    };
    order
        .into_iter()
        .flat_map(|number| at(number, Side::Before).chain([number]).chain(at(number, Side::After)))
        .collect()
}

/// Returns whether an entry is sent to any model at all; the history is, also where its entry is off.
pub(super) fn is_sent(entry: &Entry) -> bool {
    entry.part == EntryPart::History || entry.off_reason().is_none()
}
