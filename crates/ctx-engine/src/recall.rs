//! A counter that need not count the same string each turn.

use ctx_tokens::Counter;
use ctx_types::{EncodingId, Text, TextMemory, TokenCounter};

/// From how many bytes on a text is counted by its lines: what is written anew each turn and grows, such as notes and
/// what is recalled, is mostly longer, and most messages are shorter, which remember their counts themselves.
pub(crate) const LONG: usize = 2_048;

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
        let (counter, encoding) = (self.counter, self.counter.encoding());
        self.memory.count_parts(encoding, counter.parts(text), |part| counter.count(part))
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        self.counter.count_till_limit(text, limit)
    }

    fn count_text(&self, text: &Text) -> u32 {
        if text.len() < LONG {
            return self.counter.count_text(text);
        }
        // What is written anew each turn, such as what is recalled, has most of its lines again.
        text.tokens_with(self.counter.encoding(), |text| self.count(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_counted_as_the_counter_does_in_every_turn() {
        let memory = TextMemory::default();
        let counter = Counter::estimate();
        for _turn in 0..2 {
            let recall = Recall { counter, memory: &memory };
            let long = "a line of the note, with a name: Ada\n".repeat(80);
            for text in ["", "search_notes", "名字", &long] {
                assert_eq!(recall.count_text(&text.into()), counter.count(text));
                assert_eq!(recall.count(text), counter.count(text));
                assert_eq!(recall.count_till_limit(text, 3), counter.count_till_limit(text, 3));
            }
        }
        let again = |_: &str| unreachable!("it was counted");
        let known = memory.count_parts(counter.encoding(), ["search_notes"].into_iter(), again);
        assert_eq!(known, counter.count("search_notes"));
    }
}
