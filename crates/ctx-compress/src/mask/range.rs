//! Which messages a summary stands for.

use std::collections::HashSet;

use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Phrase, phrase};

use crate::mask::config::{MaskConfig, TriggerMode};
use crate::mask::items::{Item, Part, blocks, visible_items};
use crate::mask::trigger::tokens_of;

/// What is to be compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskSelection {
    /// The oldest messages, as many as one summary stands for; what the trigger asks for.
    Oldest,
    /// All messages but the newest that stay.
    All,
    /// The messages from one to another, both included, though they be among the newest.
    Between {
        /// The oldest of them.
        from: NodeId,
        /// The newest of them.
        to: NodeId,
    },
    /// The summaries: they become one.
    Summaries,
}

/// The messages that a new summary stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskRange {
    /// The messages that are hidden anew, oldest first.
    pub messages: Vec<NodeId>,
    /// The summaries that it takes in, oldest first.
    pub covered: Vec<NodeId>,
    /// The summaries before it that stay.
    pub previous: Vec<NodeId>,
    /// Everything that the new summary lists: the summaries that it takes in, what these stand for, the
    /// messages.
    pub listed: Vec<NodeId>,
    /// The node behind which the summary goes: the last of all that it stands for.
    pub after: NodeId,
}

/// Why nothing can be compressed; no fault of anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum NoRange {
    /// All messages are among those that stay.
    Protected {
        /// How many messages could be hidden otherwise.
        candidates: usize,
        /// How many stay.
        protected: usize,
    },
    /// A summary may stand for 0 messages.
    NoneWanted,
    /// A named node does not exist.
    UnknownNode {
        /// The id.
        id: NodeId,
    },
    /// A named node is not on the active path.
    OffPath {
        /// The id.
        id: NodeId,
    },
    /// The first named node stands after the last.
    Reversed {
        /// The first one.
        from: NodeId,
        /// The last one.
        to: NodeId,
    },
    /// The named range has nothing that could be hidden.
    NothingBetween,
    /// There are not two summaries that could become one.
    NoSummaries,
    /// The node is no summary.
    NoSummary {
        /// The id.
        id: NodeId,
    },
    /// The summary lists no message that still stands above it.
    NothingListed {
        /// The id.
        id: NodeId,
    },
}

impl NoRange {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Protected { candidates, protected } => phrase!(
                "all {candidates} messages are among the newest {protected}, or in the current turn",
                candidates,
                protected
            ),
            Self::NoneWanted => phrase!("`compressCount` is 0"),
            Self::UnknownNode { id } => phrase!("no node `{id}`", id = id.to_string()),
            Self::OffPath { id } => {
                phrase!("`{id}` is not on the active branch", id = id.to_string())
            }
            Self::Reversed { from, to } => {
                phrase!("`{from}` comes after `{to}`", from = from.to_string(), to = to.to_string())
            }
            Self::NothingBetween => phrase!(
                "nothing to hide here: instructions, live greetings, pinned messages, and the current turn stay"
            ),
            Self::NoSummaries => phrase!("merging needs two summaries"),
            Self::NoSummary { id } => phrase!("`{id}` is not a summary", id = id.to_string()),
            Self::NothingListed { id } => {
                phrase!("no message that `{id}` lists is above it", id = id.to_string())
            }
        }
    }
}

impl MaskRange {
    /// Finds what to compress on the active path. O(active path).
    ///
    /// Groups of calls and results are taken whole. Never taken are the turn that is being answered, live
    /// greetings, instructions, groups with a message marked `"pinned": true`, and, unless the range is named, the newest messages that stay. A range that
    /// cuts a group shrinks to its border; if nothing is left then, it grows.
    ///
    /// A summary within the range is taken in. Summaries before it stay, unless together they pass
    /// [`MaskConfig::roll_up_percent`] of the threshold: then they are taken in too.
    pub fn find(
        session: &Session,
        config: &MaskConfig,
        selection: &MaskSelection,
        counter: &dyn TokenCounter,
    ) -> Result<Self, NoRange> {
        let finder = Finder::new(session, config);
        let taken = match selection {
            MaskSelection::Oldest if config.compress_count == 0 => return Err(NoRange::NoneWanted),
            MaskSelection::Oldest => finder.oldest(config.compress_count),
            MaskSelection::All => finder.oldest(usize::MAX),
            MaskSelection::Between { from, to } => finder.between(from, to)?,
            MaskSelection::Summaries => finder.summaries(),
        };
        let is_named = !matches!(selection, MaskSelection::Oldest | MaskSelection::All);
        let joins = !is_named && finder.is_roll_up_due(config, counter);
        let range = finder.range(&taken, joins);
        match selection {
            _ if range.messages.len() + range.covered.len() >= 2 => Ok(range),
            _ if !range.messages.is_empty() => Ok(range),
            MaskSelection::Between { .. } => Err(NoRange::NothingBetween),
            MaskSelection::Summaries => Err(NoRange::NoSummaries),
            MaskSelection::Oldest | MaskSelection::All => Err(finder.protected(config)),
        }
    }
}

struct Finder<'a> {
    session: &'a Session,
    items: Vec<Item<'a>>,
    blocks: Vec<std::ops::Range<usize>>,
    /// From which item on nothing is taken unless it is named.
    tail: usize,
}

impl<'a> Finder<'a> {
    fn new(session: &'a Session, config: &MaskConfig) -> Self {
        let items = visible_items(session);
        let blocks = blocks(&items);
        let is_said = |item: &Item<'_>| matches!(item.part, Part::Candidate | Part::Pending | Part::Pinned);
        let said = items.iter().enumerate().rev().filter(|(_, item)| is_said(item));
        let tail = match config.protect_recent_count.checked_sub(1) {
            None => items.len(),
            Some(last) => {
                said.map(|(index, _)| index).take(last.saturating_add(1)).last().unwrap_or(items.len())
            }
        };
        Self { session, items, blocks, tail }
    }

    /// Takes whole blocks, the oldest first, up to a number of messages; one that alone is larger too.
    fn oldest(&self, most: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        for block in self.blocks.iter().take_while(|block| block.start < self.tail) {
            let candidates = self.candidates(block);
            if candidates.is_empty() {
                continue;
            }
            let fits = taken.is_empty() || taken.len() + candidates.len() <= most;
            if block.end > self.tail || !fits {
                break;
            }
            taken.extend(candidates);
        }
        taken
    }

    /// Takes the whole blocks between two nodes, else those that they cut.
    fn between(&self, from: &NodeId, to: &NodeId) -> Result<Vec<usize>, NoRange> {
        let (first, last) = (self.place(from)?, self.place(to)?);
        if first > last {
            return Err(NoRange::Reversed { from: from.clone(), to: to.clone() });
        }
        let is_within =
            |index: usize| self.items.get(index).is_some_and(|item| (first..=last).contains(&item.place));
        let take = |fits: &dyn Fn(&std::ops::Range<usize>) -> bool| -> Vec<usize> {
            self.blocks.iter().filter(|block| fits(block)).flat_map(|block| self.takeable(block)).collect()
        };
        let whole = take(&|block| block.clone().all(is_within));
        let is_cut = |block: &std::ops::Range<usize>| block.clone().any(is_within) && block.len() > 1;
        let has_candidate =
            |taken: &[usize]| taken.iter().any(|index| self.part(*index) == Some(Part::Candidate));
        if has_candidate(&whole) || whole.len() > 1 { Ok(whole) } else { Ok(take(&|block| is_cut(block))) }
    }

    /// Takes everything from the first summary to the last.
    fn summaries(&self) -> Vec<usize> {
        let is_summary = |index: &usize| self.part(*index) == Some(Part::Summary);
        let summaries: Vec<usize> = (0..self.tail).filter(is_summary).collect();
        match summaries.as_slice() {
            [first, .., last] => (*first..=*last)
                .filter(|index| self.may_take(*index) && !self.is_beside_pin(*index))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Makes the range of the items that were taken, with the summaries among them and before them.
    fn range(&self, taken: &[usize], joins: bool) -> MaskRange {
        let Some((first, last)) = taken.first().zip(taken.last()) else { return MaskRange::default() };
        let ids = |indexes: &mut dyn Iterator<Item = usize>, part: Part| -> Vec<NodeId> {
            let items = indexes.filter_map(|index| self.items.get(index));
            items.filter(|item| item.part == part).map(|item| item.id.clone()).collect()
        };
        let before = ids(&mut (0..*first), Part::Summary);
        let within = ids(&mut (*first..=*last), Part::Summary);
        let messages = ids(&mut taken.iter().copied(), Part::Candidate);
        let (previous, covered) =
            if joins { (Vec::new(), [before, within].concat()) } else { (before, within) };
        let after = self.items.get(*last).map(|item| item.id.clone()).unwrap_or_default();
        let listed = listed(self.session, &covered, &messages);
        MaskRange { messages, covered, previous, listed, after }
    }

    /// Returns whether the visible summaries pass their share of what fires the trigger.
    fn is_roll_up_due(&self, config: &MaskConfig, counter: &dyn TokenCounter) -> bool {
        let summaries = || self.items.iter().filter(|item| item.part == Part::Summary);
        let share = |threshold: u64| threshold.saturating_mul(u64::from(config.roll_up_percent)) / 100;
        let tokens =
            || tokens_of(summaries().map(|item| &item.message), counter) > share(config.token_threshold);
        let count = || summaries().count() as u64 > share(config.count_threshold as u64);
        match config.trigger_mode {
            TriggerMode::Token => tokens(),
            TriggerMode::Count => count(),
            TriggerMode::Both => tokens() || count(),
        }
    }

    fn protected(&self, config: &MaskConfig) -> NoRange {
        let is_said = |item: &&Item<'_>| matches!(item.part, Part::Candidate | Part::Pending | Part::Pinned);
        let candidates = self.items.iter().filter(is_said).count();
        NoRange::Protected { candidates, protected: config.protect_recent_count }
    }

    fn is_beside_pin(&self, index: usize) -> bool {
        let block = self.blocks.get(self.blocks.partition_point(|block| block.end <= index));
        block.is_some_and(|block| block.clone().any(|index| self.part(index) == Some(Part::Pinned)))
    }

    /// Returns whether a member of a block is being answered or pinned, so that all of it stays.
    fn is_held(&self, block: &std::ops::Range<usize>) -> bool {
        block.clone().any(|index| matches!(self.part(index), Some(Part::Pending | Part::Pinned)))
    }

    /// Returns the members of a block that may be hidden; none if one of them is being answered or pinned.
    fn candidates(&self, block: &std::ops::Range<usize>) -> Vec<usize> {
        if self.is_held(block) {
            Vec::new()
        } else {
            block.clone().filter(|index| self.part(*index) == Some(Part::Candidate)).collect()
        }
    }

    /// The same with summaries.
    fn takeable(&self, block: &std::ops::Range<usize>) -> Vec<usize> {
        if self.is_held(block) {
            Vec::new()
        } else {
            block.clone().filter(|index| self.may_take(*index)).collect()
        }
    }

    fn may_take(&self, index: usize) -> bool {
        matches!(self.part(index), Some(Part::Candidate | Part::Summary))
    }

    fn part(&self, index: usize) -> Option<Part> {
        self.items.get(index).map(|item| item.part)
    }

    /// Returns the place of a node on the active path, hidden or not.
    fn place(&self, id: &NodeId) -> Result<usize, NoRange> {
        if self.session.node(id).is_none() {
            return Err(NoRange::UnknownNode { id: id.clone() });
        }
        on_path(self.session, self.session.active_leaf_id(), id)
            .ok_or_else(|| NoRange::OffPath { id: id.clone() })
    }
}

/// Returns the place of a node among those from the root, which is left out, to a leaf. O(distance).
pub(super) fn on_path(session: &Session, leaf: &NodeId, id: &NodeId) -> Option<usize> {
    let depth = session.depth(id)?;
    let is_deeper = |above: &&NodeId| session.depth(above).is_some_and(|found| found > depth);
    let at_depth = session.ancestors(leaf).map(|(above, _)| above).find(|above| !is_deeper(above))?;
    (at_depth == id).then(|| depth.checked_sub(1)).flatten()
}

/// Lists summaries, what these stand for on the active path, and messages; each node once.
pub(super) fn listed(session: &Session, covered: &[NodeId], messages: &[NodeId]) -> Vec<NodeId> {
    let path: HashSet<&NodeId> = match covered {
        [] => HashSet::new(),
        _ => session.ancestors(session.active_leaf_id()).map(|(id, _)| id).collect(),
    };
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut listed: Vec<NodeId> = covered.iter().filter(|id| seen.insert((*id).clone())).cloned().collect();
    let mut next = 0;
    while let Some(id) = listed.get(next).cloned() {
        next += 1;
        let inner = session.node(&id).map(Node::summarized_ids).unwrap_or_default();
        let inner = inner.iter().filter(|id| path.contains(*id) && seen.insert((*id).clone()));
        listed.extend(inner.cloned().collect::<Vec<_>>());
    }
    listed.extend(messages.iter().filter(|id| !seen.contains(*id)).cloned());
    listed
}
