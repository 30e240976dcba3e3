//! Use of the budget, checked every turn.

use ctx_types::Message;
use serde::Serialize;

use crate::request::config::usage;
use crate::request::meter::Meter;

/// Use of the budget by a request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// Tokens of all messages.
    pub used_tokens: u64,
    /// The budget.
    pub total_budget: u64,
    /// Used share of the budget; above 1 if exceeded.
    pub usage_percent: f64,
    /// Remaining tokens; negative if exceeded.
    pub remaining: i64,
}

impl ContextUsage {
    /// Makes the figures from a number of tokens and a budget.
    pub fn new(used_tokens: u64, total_budget: u64) -> Self {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        Self {
            used_tokens,
            total_budget,
            usage_percent: usage(used_tokens, total_budget),
            remaining: signed(total_budget).saturating_sub(signed(used_tokens)),
        }
    }
}

/// Caches the tokens of a growing conversation, and whether the last pass made progress.
///
/// O(1) for an unchanged conversation, O(new messages) for a longer one. It compares the first and the last measured
/// message; after a change between them, call [`UsageWatch::forget`].
///
/// ```
/// use ctx_compress::request::{Meter, UsageWatch};
/// use ctx_types::{Message, Role, Source};
///
/// let mut messages = vec![Message::new(Role::User, "hello", Source::history("n1", Role::User))];
/// let (mut watch, meter) = (UsageWatch::default(), Meter::estimate());
/// assert_eq!(watch.tokens(&messages, &meter), 12);
/// messages.push(Message::new(Role::Assistant, "hi", Source::history("n2", Role::Assistant)));
/// assert_eq!(watch.tokens(&messages, &meter), 12 + 11);
/// ```
#[derive(Clone, Debug, Default)]
pub struct UsageWatch {
    measured: usize,
    ends: Option<(Message, Message)>,
    tokens: u64,
    /// The measures at the last pass without progress.
    hopeless: Option<(usize, u64)>,
}

impl UsageWatch {
    /// Returns the tokens of a conversation.
    pub fn tokens(&mut self, messages: &[Message], meter: &Meter<'_>) -> u64 {
        if !self.is_continued_by(messages) {
            (self.measured, self.tokens) = (0, 0);
        }
        let new = messages.get(self.measured..).unwrap_or_default();
        if let (false, Some(first), Some(last)) = (new.is_empty(), messages.first(), messages.last()) {
            self.tokens += meter.messages(new);
            self.measured = messages.len();
            self.ends = Some((first.clone(), last.clone()));
        }
        self.tokens
    }

    /// Clears the cache.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Records that a pass over the measured messages made no progress.
    pub fn note_no_progress(&mut self) {
        self.hopeless = Some((self.measured, self.tokens));
    }

    /// Returns whether a pass over the same messages made no progress.
    pub fn is_hopeless(&self) -> bool {
        self.hopeless == Some((self.measured, self.tokens))
    }

    fn is_continued_by(&self, messages: &[Message]) -> bool {
        let Some((first, last)) = &self.ends else { return self.measured == 0 };
        let newest = self.measured.checked_sub(1).and_then(|newest| messages.get(newest));
        messages.first().is_some_and(|message| message.is_shared_with(first))
            && newest.is_some_and(|message| message.is_shared_with(last))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ctx_tokens::ModelFacts;
    use ctx_types::ports::TokenCounter;
    use ctx_types::{Content, EncodingId};

    use super::*;
    use crate::request::testing::messages;

    /// Counts how often it is asked.
    #[derive(Default)]
    struct Asked(Arc<AtomicUsize>);

    impl TokenCounter for Asked {
        fn encoding(&self) -> EncodingId {
            EncodingId(0)
        }

        fn count(&self, text: &str) -> u32 {
            self.0.fetch_add(1, Ordering::Relaxed);
            u32::try_from(text.len()).unwrap_or(u32::MAX)
        }
    }

    #[test]
    fn an_unchanged_conversation_is_not_measured_again() {
        let asked = Arc::new(AtomicUsize::new(0));
        let meter = Meter::for_model(Arc::new(ModelFacts::unknown("m")), Arc::new(Asked(asked.clone())));
        let mut all = messages("u a u a u");
        let mut watch = UsageWatch::default();
        let first = watch.tokens(&all, &meter);
        let count = asked.load(Ordering::Relaxed);
        assert_eq!((watch.tokens(&all, &meter), asked.load(Ordering::Relaxed)), (first, count));
        all.extend(messages("a"));
        assert_eq!(watch.tokens(&all, &meter), meter.messages(&all));
        all.remove(0);
        assert_eq!(watch.tokens(&all, &meter), meter.messages(&all), "another beginning is measured anew");
        all.truncate(1);
        assert_eq!(watch.tokens(&all, &meter), meter.messages(&all));
        assert_eq!(watch.tokens(&[], &meter), 0);
    }

    #[test]
    fn what_begins_or_ends_in_another_way_is_measured_anew() {
        let meter = Meter::estimate();
        let long = || {
            messages("s").remove(0).with(|message| message.content = Content::Text("long ".repeat(9).into()))
        };
        for at in [0, 2] {
            let (mut all, mut watch) = (messages("u a u"), UsageWatch::default());
            watch.tokens(&all, &meter);
            all[at] = long();
            assert_eq!(watch.tokens(&all, &meter), meter.messages(&all), "{at}");
        }
        let (mut all, mut watch) = (messages("u a u"), UsageWatch::default());
        let before = watch.tokens(&all, &meter);
        all[1] = long();
        assert_eq!(watch.tokens(&all, &meter), before, "only the ends are looked at");
        watch.forget();
        assert_eq!(watch.tokens(&all, &meter), meter.messages(&all));
    }

    #[test]
    fn a_pass_without_progress_is_remembered_until_something_changes() {
        let (mut all, mut watch, meter) = (messages("u a"), UsageWatch::default(), Meter::estimate());
        watch.tokens(&all, &meter);
        watch.note_no_progress();
        watch.tokens(&all, &meter);
        assert!(watch.is_hopeless());
        all.extend(messages("u"));
        watch.tokens(&all, &meter);
        assert!(!watch.is_hopeless());
    }
}
