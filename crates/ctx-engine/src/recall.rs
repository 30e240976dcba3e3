//! A counter that need not count the same string each turn.

use ctx_tokens::Counter;
use ctx_types::{EncodingId, Text, TextMemory, TokenCounter};

/// Counts as the counter of a turn does, and remembers beyond it what it counted of strings.
///
/// Texts remember their counts themselves. Names and the definitions of tools are strings that are written
/// anew each turn, though mostly the same ones.
pub(crate) struct Recall<'a> {
    pub(crate) counter: Counter,
    pub(crate) memory: &'a TextMemory,
}

impl TokenCounter for Recall<'_> {
    fn encoding(&self) -> EncodingId {
        self.counter.encoding()
    }

    fn count(&self, text: &str) -> u32 {
        self.counter.count_text(&self.memory.share(Text::from(text)))
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        self.counter.count_till_limit(text, limit)
    }

    fn count_text(&self, text: &Text) -> u32 {
        self.counter.count_text(text)
    }
}
