//! What changed at the first difference of two requests.

use std::collections::HashSet;

use serde::Serialize;

use crate::blocks::{BlockFacts, BlockKind, BlockReader, PlacedBlock};
use crate::place::Section;

/// What changed where a request differs from an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only times, dates, or ids differ.
    Clock,
    /// The same blocks in another order.
    Reordered,
    /// Blocks were inserted before blocks that are still there.
    Added,
    /// Blocks are missing, and later ones are still there.
    Removed,
    /// A block has another text.
    Edited,
    /// The result of a tool call has another text.
    ToolResultRewritten,
    /// A `<system-reminder>` was inserted, removed, or changed.
    Reminder,
    /// A summary replaced messages.
    Compacted,
    /// Nothing changed, but the cache had forgotten the prefix.
    Expired,
    /// Nothing changed, but no block has a cache mark.
    NotMarked,
    /// Another model was asked.
    Switched,
}

impl Change {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Reordered => "reordered",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Edited => "edited",
            Self::ToolResultRewritten => "tool-result-rewritten",
            Self::Reminder => "reminder",
            Self::Compacted => "compacted",
            Self::Expired => "expired",
            Self::NotMarked => "not-marked",
            Self::Switched => "switched",
        }
    }
}

/// Beginnings of summaries that clients write.
const SUMMARIES: [&str; 4] = [
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "<summary>",
    "<conversation_summary>",
];

/// Returns whether a block is a summary that a client wrote.
pub(crate) fn is_summary(reader: &BlockReader, block: &PlacedBlock) -> bool {
    let text = reader.facts(block.hash).map(|facts| facts.text.trim_start());
    text.is_some_and(|text| SUMMARIES.iter().any(|start| text.starts_with(start)))
}

/// Finds what changed between two requests whose first `shared` blocks are equal.
pub(crate) fn classify(
    reader: &BlockReader,
    before: &[PlacedBlock],
    after: &[PlacedBlock],
    shared: usize,
) -> Change {
    let (before, after) = (&before[shared..], &after[shared..]);
    let (Some(old), Some(new)) = (before.first(), after.first()) else {
        return if after.is_empty() { Change::Removed } else { Change::Added };
    };
    let section = old.place.section().min(new.place.section());
    let of_section = |blocks: &[PlacedBlock]| -> Vec<u64> {
        let blocks = blocks.iter().filter(|block| block.place.section() == section);
        blocks.map(|block| block.hash).collect()
    };
    let (olds, news) = (of_section(before), of_section(after));
    let facts = [reader.facts(old.hash), reader.facts(new.hash)];
    if let [Some(old), Some(new)] = facts {
        if old.masked == new.masked {
            return Change::Clock;
        }
        let is_result = old.kind == BlockKind::ToolResult && new.kind == BlockKind::ToolResult;
        if is_result && old.name == new.name {
            return Change::ToolResultRewritten;
        }
    }
    if section == Section::Messages {
        let has_summary = after.iter().take(4).any(|block| is_summary(reader, block));
        if has_summary || olds.len() >= 8 && news.len() * 3 < olds.len() {
            return Change::Compacted;
        }
    }
    let is_reminder =
        |facts: Option<&BlockFacts>| facts.is_some_and(|facts| facts.text.contains("<system-reminder>"));
    if facts.into_iter().any(is_reminder) {
        return Change::Reminder;
    }
    let (old_set, new_set): (HashSet<u64>, HashSet<u64>) =
        (olds.iter().copied().collect(), news.iter().copied().collect());
    match (old_set.contains(&new.hash), new_set.contains(&old.hash)) {
        (true, true) => Change::Reordered,
        (true, false) => Change::Removed,
        (false, true) => Change::Added,
        (false, false) if new.place.section() != old.place.section() => {
            if old.place.section() == section {
                Change::Removed
            } else {
                Change::Added
            }
        }
        (false, false) => Change::Edited,
    }
}
