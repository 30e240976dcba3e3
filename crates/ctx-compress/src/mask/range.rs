//! Selects the messages that a summary replaces.

use std::collections::HashSet;
use std::ops::Range;

use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Phrase, phrase};

use crate::mask::config::{MaskConfig, TriggerMode};
use crate::mask::items::{Item, Part, blocks, visible_items};
use crate::mask::trigger::tokens_of;

/// A selection of messages to compress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskSelection {
    /// The oldest messages, at most [`MaskConfig::compress_count`].
    Oldest,
    /// All messages except the newest, which stay.
    All,
    /// The messages from one to another, also if they are among the newest.
    Between {
        /// The first message.
        from: NodeId,
        /// The last message.
        to: NodeId,
    },
    /// The summaries, which are merged.
    Summaries,
}

/// The messages that a summary replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskRange {
    /// The newly hidden messages, oldest first.
    pub messages: Vec<NodeId>,
    /// The merged summaries, oldest first.
    pub covered: Vec<NodeId>,
    /// The summaries before it that stay.
    pub previous: Vec<NodeId>,
    /// All nodes that the new summary lists: merged summaries, their messages, and `messages`.
    pub listed: Vec<NodeId>,
    /// The last replaced node; the summary follows it.
    pub after: NodeId,
}

/// A reason for not compressing anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum NoRange {
    /// All messages stay.
    Protected {
        /// Number of messages that could be hidden otherwise.
        candidates: usize,
        /// Number of the newest messages, which stay.
        protected: usize,
    },
    /// The limit of messages is 0.
    NoneWanted,
    /// A named node does not exist.
    UnknownNode(NodeId),
    /// A named node is not on the active path.
    OffPath(NodeId),
    /// The first named node comes after the last.
    Reversed {
        /// The first node.
        from: NodeId,
        /// The last node.
        to: NodeId,
    },
    /// Nothing in the named range can be hidden.
    NothingBetween,
    /// There are fewer than two summaries to merge.
    NoSummaries,
    /// The node is not a summary.
    NoSummary(NodeId),
    /// The summary lists no message above it.
    NothingListed(NodeId),
}

impl NoRange {
    /// Returns the reason as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Protected { candidates, protected } => phrase!(
                "all {candidates} messages are among the newest {protected}, or in the current turn",
                candidates,
                protected
            ),
            Self::NoneWanted => phrase!("`compressCount` is 0"),
            Self::UnknownNode(id) => phrase!("no node `{id}`", id = id.to_string()),
            Self::OffPath(id) => {
                phrase!("`{id}` is not on the active branch", id = id.to_string())
            }
            Self::Reversed { from, to } => {
                phrase!("`{from}` comes after `{to}`", from = from.to_string(), to = to.to_string())
            }
            Self::NothingBetween => phrase!(
                "nothing to hide here: instructions, live greetings, pinned messages, and the current turn stay"
            ),
            Self::NoSummaries => phrase!("merging needs two summaries"),
            Self::NoSummary(id) => phrase!("`{id}` is not a summary", id = id.to_string()),
            Self::NothingListed(id) => {
                phrase!("no message that `{id}` lists is above it", id = id.to_string())
            }
        }
    }
}

impl MaskRange {
    /// Finds the messages to compress on the active path. O(active path).
    ///
    /// Groups of calls and results stay together. Never included are the turn that is being answered, live greetings,
    /// instructions, groups with a message marked `"pinned": true`, and, without a named range, the newest messages. A
    /// named range that cuts a group shrinks to its border; if nothing is left, it grows.
    ///
    /// Summaries within the range are merged. Summaries before it stay, unless they exceed
    /// [`MaskConfig::roll_up_percent`] of the threshold.
    pub fn find(
        session: &Session,
        config: &MaskConfig,
        selection: &MaskSelection,
        counter: &dyn TokenCounter,
    ) -> Result<Self, NoRange> {
        let finder = Finder::new(session, config);
        let indexes = match selection {
            MaskSelection::Oldest if config.compress_count == 0 => return Err(NoRange::NoneWanted),
            MaskSelection::Oldest => finder.oldest(config.compress_count),
            MaskSelection::All => finder.oldest(usize::MAX),
            MaskSelection::Between { from, to } => finder.between(from, to)?,
            MaskSelection::Summaries => finder.summaries(),
        };
        let is_automatic = matches!(selection, MaskSelection::Oldest | MaskSelection::All);
        let range = finder.range(&indexes, is_automatic && finder.is_roll_up_due(config, counter));
        match selection {
            _ if !range.messages.is_empty() || range.covered.len() >= 2 => Ok(range),
            MaskSelection::Between { .. } => Err(NoRange::NothingBetween),
            MaskSelection::Summaries => Err(NoRange::NoSummaries),
            MaskSelection::Oldest | MaskSelection::All => {
                let candidates = finder.items.iter().filter(|item| item.part.is_said()).count();
                Err(NoRange::Protected { candidates, protected: config.protect_recent_count })
            }
        }
    }
}

struct Finder<'a> {
    session: &'a Session,
    items: Vec<Item<'a>>,
    blocks: Vec<Range<usize>>,
    /// The first of the newest items, which stay unless they are named.
    tail: usize,
}

impl<'a> Finder<'a> {
    fn new(session: &'a Session, config: &MaskConfig) -> Self {
        let items = visible_items(session);
        let said = items.iter().enumerate().rev().filter(|(_, item)| item.part.is_said());
        let tail = said.take(config.protect_recent_count).last().map_or(items.len(), |(index, _)| index);
        Self { session, blocks: blocks(&items), items, tail }
    }

    /// Takes the oldest whole blocks with at most `most` messages, or one larger block.
    fn oldest(&self, most: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        for block in self.blocks.iter().take_while(|block| block.start < self.tail) {
            let candidates = self.members(block, |part| part == Part::Candidate);
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

    /// Takes the whole blocks between two nodes, otherwise the blocks that the range cuts.
    fn between(&self, from: &NodeId, to: &NodeId) -> Result<Vec<usize>, NoRange> {
        let (first, last) = (self.place(from)?, self.place(to)?);
        if first > last {
            return Err(NoRange::Reversed { from: from.clone(), to: to.clone() });
        }
        let is_within = |index: usize| (first..=last).contains(&self.items[index].place);
        let take = |fits: &dyn Fn(&Range<usize>) -> bool| -> Vec<usize> {
            let blocks = self.blocks.iter().filter(|block| fits(block));
            blocks.flat_map(|block| self.members(block, Part::may_be_covered)).collect()
        };
        let whole = take(&|block| block.clone().all(is_within));
        let has_candidate = whole.iter().any(|index| self.items[*index].part == Part::Candidate);
        if has_candidate || whole.len() > 1 {
            return Ok(whole);
        }
        Ok(take(&|block| block.clone().any(is_within) && block.len() > 1))
    }

    /// Takes everything from the first summary to the last.
    fn summaries(&self) -> Vec<usize> {
        let is_summary = |index: &usize| self.items[*index].part == Part::Summary;
        let summaries: Vec<usize> = (0..self.tail).filter(is_summary).collect();
        let [first, .., last] = summaries[..] else { return Vec::new() };
        let has_pin = |block: &Range<usize>| block.clone().any(|at| self.items[at].part == Part::Pinned);
        let blocks = self.blocks.iter().filter(|block| !has_pin(block)).cloned();
        let within = blocks.flatten().filter(|index| (first..=last).contains(index));
        within.filter(|index| self.items[*index].part.may_be_covered()).collect()
    }

    /// Makes the range of some items; `merges` includes the summaries before them.
    fn range(&self, indexes: &[usize], merges: bool) -> MaskRange {
        let (Some(first), Some(last)) = (indexes.first(), indexes.last()) else {
            return MaskRange::default();
        };
        let ids = |indexes: &mut dyn Iterator<Item = usize>, part: Part| -> Vec<NodeId> {
            let items = indexes.map(|index| &self.items[index]);
            items.filter(|item| item.part == part).map(|item| item.id.clone()).collect()
        };
        let before = ids(&mut (0..*first), Part::Summary);
        let within = ids(&mut (*first..=*last), Part::Summary);
        let messages = ids(&mut indexes.iter().copied(), Part::Candidate);
        let (previous, covered) =
            if merges { (Vec::new(), [before, within].concat()) } else { (before, within) };
        let listed = listed(self.session, &covered, &messages);
        MaskRange { messages, covered, previous, listed, after: self.items[*last].id.clone() }
    }

    /// Returns whether the visible summaries exceed their share of the threshold.
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

    /// Returns members of a block; none if one of them is being answered or pinned.
    fn members(&self, block: &Range<usize>, is_wanted: impl Fn(Part) -> bool) -> Vec<usize> {
        let part = |index: &usize| self.items[*index].part;
        if block.clone().any(|index| matches!(part(&index), Part::Pending | Part::Pinned)) {
            return Vec::new();
        }
        block.clone().filter(|index| is_wanted(part(index))).collect()
    }

    /// Returns the place of a node on the active path, hidden or not.
    fn place(&self, id: &NodeId) -> Result<usize, NoRange> {
        if self.session.node(id).is_none() {
            return Err(NoRange::UnknownNode(id.clone()));
        }
        on_path(self.session, self.session.active_leaf_id(), id).ok_or_else(|| NoRange::OffPath(id.clone()))
    }
}

/// Returns the place of a node between the root, which is not counted, and a leaf. O(distance).
pub(super) fn on_path(session: &Session, leaf: &NodeId, id: &NodeId) -> Option<usize> {
    let depth = session.depth(id)?;
    let is_deeper = |above: &&NodeId| session.depth(above).is_some_and(|found| found > depth);
    let at_depth = session.ancestors(leaf).map(|(above, _)| above).find(|above| !is_deeper(above))?;
    (at_depth == id).then(|| depth.checked_sub(1)).flatten()
}

/// Lists summaries, their nodes on the active path, and messages; each node once.
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
