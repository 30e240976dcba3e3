//! Blocks of two requests around the place where they begin to differ.

use ctx_tokens::ModelTable;

use crate::analysis::LogAnalysis;
use crate::blocks::{BlockReader, PlacedBlock};
use crate::entry::LogLine;
use crate::place::BlockPlace;
use crate::report::RequestComparison;

/// Maximum number of equal blocks before the difference.
const MAX_BEFORE: usize = 2;

/// Maximum number of blocks from the difference on.
const MAX_AFTER: usize = 4;

/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 4_000;

/// Maximum length of the equal text before the first different character, in bytes.
const MAX_EQUAL: usize = 400;

/// Two requests, and their blocks around the first difference.
#[derive(Clone, Debug)]
pub struct RequestPair {
    /// Common prefix, and the first difference.
    pub comparison: RequestComparison,
    /// Blocks of the earlier and of the later request.
    pub blocks: [Vec<BlockExcerpt>; 2],
}

/// A block of a request, with a part of its text.
#[derive(Clone, Debug)]
pub struct BlockExcerpt {
    /// Place in the request.
    pub place: BlockPlace,
    /// Name of the tool.
    pub name: Option<String>,
    /// Estimated tokens of the whole block.
    pub tokens: u32,
    /// Whether the block belongs to the common prefix.
    pub is_shared: bool,
    /// The text, or a part of it.
    pub text: String,
    /// Whether the text does not begin with the block.
    pub is_cut_before: bool,
    /// Whether the text ends before the block.
    pub is_cut_after: bool,
}

impl RequestPair {
    /// Compares two lines of a log like [`LogAnalysis::compare`]. `None` if a line is not a request.
    pub fn new(models: &ModelTable, before: &str, after: &str) -> Option<Self> {
        let comparison = LogAnalysis::compare(models.clone(), before, after)?;
        let shared = usize::try_from(comparison.shared_blocks).ok()?;
        let [earlier, later] = &comparison.requests;
        let old = excerpts(models, before, shared, earlier.blocks)?;
        let new = excerpts(models, after, shared, later.blocks)?;
        let first = MAX_BEFORE.min(shared);
        let texts = old.get(first).zip(new.get(first)).map(|(old, new)| [&old.text, &new.text]);
        let equal = texts.map_or(0, |[old, new]| {
            old.bytes().zip(new.bytes()).take_while(|(left, right)| left == right).count()
        });
        let cut = |blocks: Vec<BlockExcerpt>| {
            let blocks = blocks.into_iter().enumerate();
            let start = |position: usize| if position == first { equal.saturating_sub(MAX_EQUAL) } else { 0 };
            blocks.map(|(position, block)| block.cut(start(position))).collect()
        };
        let blocks = [cut(old), cut(new)];
        Some(Self { comparison, blocks })
    }
}

impl BlockExcerpt {
    /// Cuts the text, from a position on.
    fn cut(self, start: usize) -> Self {
        let boundary = |position: usize| {
            let last = position.min(self.text.len());
            (0..=last).rev().find(|position| self.text.is_char_boundary(*position)).unwrap_or(0)
        };
        let start = boundary(start);
        let end = boundary(start + MAX_TEXT);
        Self {
            text: self.text[start..end].to_owned(),
            is_cut_before: start > 0,
            is_cut_after: end < self.text.len(),
            ..self
        }
    }
}

/// Returns blocks around the end of the common prefix, with their whole texts.
fn excerpts(models: &ModelTable, line: &str, shared: usize, count: u64) -> Option<Vec<BlockExcerpt>> {
    let entry = LogLine::read(line).ok()?;
    let mut reader = BlockReader::new(models.clone());
    let mut blocks = reader.read(entry.body, entry.dialect, entry.model.as_deref()).ok()?.blocks;
    // The comparison leaves out a first block that is no prompt.
    if blocks.len() as u64 > count {
        blocks.retain(|block| block.place != BlockPlace::System(1));
    }
    let excerpt = |(position, block): (usize, &PlacedBlock)| {
        let facts = reader.facts(block.hash);
        let is_tool = matches!(block.place, BlockPlace::Tool(_));
        BlockExcerpt {
            place: block.place,
            name: facts.and_then(|facts| facts.name.as_deref()).filter(|_| is_tool).map(str::to_owned),
            tokens: block.tokens,
            is_shared: position < shared,
            text: facts.map(|facts| facts.text.to_string()).unwrap_or_default(),
            is_cut_before: false,
            is_cut_after: false,
        }
    };
    let skipped = shared.saturating_sub(MAX_BEFORE);
    let around = blocks.iter().enumerate().skip(skipped).take(shared - skipped + MAX_AFTER);
    Some(around.map(excerpt).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::place::Section;

    fn body(question: &str) -> String {
        json!({
            "model": "claude-sonnet-4-5",
            "tools": [{ "name": "read_file", "input_schema": {} }],
            "system": "You keep the lamps of the harbor.",
            "messages": [
                { "role": "user", "content": question },
                { "role": "assistant", "content": "Two of them." },
                { "role": "user", "content": "Which?" },
            ],
        })
        .to_string()
    }

    #[test]
    fn shows_blocks_around_the_difference() {
        let long = "灯".repeat(3_000);
        let [before, after] = ["1", "2"].map(|end| body(&format!("{long}{end}{long}")));
        let pair = RequestPair::new(&ModelTable::builtin(), &before, &after).unwrap();
        assert_eq!(pair.comparison.shared_blocks, 2);
        let [old, new] = &pair.blocks;
        assert_eq!((old.len(), new.len()), (5, 5));
        assert_eq!(new[0].name.as_deref(), Some("read_file"));
        assert_eq!(
            new.iter().map(|block| block.is_shared).collect::<Vec<_>>(),
            [true, true, false, false, false]
        );
        assert_eq!((new[2].place.section(), new[2].place.number()), (Section::Messages, 1));
        assert!(new[2].is_cut_before && new[2].is_cut_after && new[2].text.len() <= MAX_TEXT);
        let around = |block: &BlockExcerpt, character: char| {
            block.text.trim_start_matches('灯').starts_with(character)
        };
        assert!(around(&old[2], '1') && around(&new[2], '2'));
        assert_eq!(new[3].text, "Two of them.");
    }

    #[test]
    fn extended_request_shares_all_blocks() {
        let line = body("Which lamps are broken?");
        let pair = RequestPair::new(&ModelTable::builtin(), &line, &line).unwrap();
        assert!(pair.blocks.iter().flatten().all(|block| block.is_shared));
        assert!(RequestPair::new(&ModelTable::builtin(), &line, "{}").is_none());
    }
}
