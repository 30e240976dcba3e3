use ctx_tokens::Counter;
use ctx_types::internal::TextCache;
use ctx_types::ports::TokenCounter;
use ctx_types::{EncodingId, Text};

/// Minimum bytes to count a text by lines. Texts rewritten each turn, such as notes and recalled passages,
/// are mostly longer.
pub(crate) const LONG: usize = 2_048;

/// Caches counts of names and tool definitions, which are new but equal strings each turn. Texts cache their
/// own.
pub(crate) struct Recall<'a> {
    pub(crate) counter: Counter,
    pub(crate) memory: &'a TextCache,
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
        // Rewritten texts mostly keep their lines.
        text.tokens_with(self.counter.encoding(), |text| self.count(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_strings_like_counter_in_each_turn() {
        let memory = TextCache::default();
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
