//! What refusals taught of how large requests to a model may be.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ctx_wire::OverflowFigures;

use crate::store::{ConversationStore, LearnedLimit, StoreError};

/// How long what was learned counts, in milliseconds: a day. Servers of one's own get other windows.
const LIFETIME_MILLIS: u64 = 24 * 60 * 60 * 1_000;

/// Below this many tokens a figure is taken for a misreading.
const LEAST: u64 = 256;

/// What refusals taught of how many tokens the messages of a request may have, by model and server.
///
/// A host has one beside its store and gives it to all chats; what a turn learns holds for every turn after it.
///
/// ```
/// use ctx_chat::LearnedLimits;
///
/// let limits = LearnedLimits::default();
/// limits.learn("small@localhost", 6_000);
/// limits.learn("small@localhost", 7_000);
/// assert_eq!(limits.of("small@localhost"), Some(6_000));
/// ```
#[derive(Debug, Default)]
pub struct LearnedLimits(Mutex<BTreeMap<String, u64>>);

impl LearnedLimits {
    /// Takes what a store has kept of the last day; `now_millis` is the time, in milliseconds since
    /// 1970-01-01T00:00:00Z.
    pub async fn load(store: &dyn ConversationStore, now_millis: i64) -> Result<Self, StoreError> {
        let kept = store.limits().await?.into_iter();
        // One from days ahead was learned by a wrong clock, and would hold until then.
        let is_fresh = |limit: &LearnedLimit| now_millis.abs_diff(limit.at_millis) < LIFETIME_MILLIS;
        let limits = Self::default();
        kept.filter(is_fresh).for_each(|limit| limits.learn(&limit.model, limit.tokens));
        Ok(limits)
    }

    /// Returns how many tokens messages to a model may have, as far as is known.
    pub fn of(&self, model: &str) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }

    /// Notes a limit; the smallest one counts, and one below 256 tokens is taken for a misreading.
    pub fn learn(&self, model: &str, tokens: u64) {
        if tokens < LEAST {
            return;
        }
        let mut limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limits.entry(model.to_owned()).or_insert(tokens);
        *limit = tokens.min(*limit);
    }
}

/// Works out how many tokens messages may have that were refused with `used` tokens, in our own tokens; nothing if
/// the figures say too little.
///
/// Providers count otherwise than we do, and count more than messages. So what they say is scaled by what the same
/// request had here and there, and their surplus goes off in full. `reserve` is kept free for the answer where the
/// figures do not say what was asked for it; a part of the window, an eighth, if nobody else says either.
pub(crate) fn limit_of(used: u64, figures: OverflowFigures, reserve: Option<u64>) -> Option<u64> {
    let window = figures.limit?;
    let answer = figures.answer.or(reserve).unwrap_or(window / 8);
    let room = window.checked_sub(answer)?;
    let limit = match figures.sent.filter(|sent| *sent > room) {
        Some(sent) => {
            let scaled = u128::from(used) * u128::from(room) / u128::from(sent);
            u64::try_from(scaled).unwrap_or(u64::MAX).min(used.checked_sub(sent - room)?)
        }
        None => room,
    };
    Some(limit).filter(|limit| (LEAST..used).contains(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(used: u64, (limit, sent, answer): (u64, Option<u64>, Option<u64>), expected: Option<u64>) {
        let figures = OverflowFigures { limit: Some(limit), sent, answer };
        assert_eq!(limit_of(used, figures, None), expected);
    }

    #[test]
    fn a_window_leaves_room_for_the_answer() {
        check(9_000, (8_000, None, None), Some(7_000));
        check(9_000, (8_000, None, Some(500)), Some(7_500));
    }

    #[test]
    fn a_provider_that_counts_more_leaves_less() {
        // 10,000 there are 5,000 here, so that 7,000 there are 3,500; but the surplus of 3,000 may all be messages.
        check(5_000, (8_000, Some(10_000), None), Some(2_000));
        check(20_000, (8_000, Some(10_000), None), Some(14_000));
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        check(1_000, (8_000, None, None), None);
        check(1_000, (100, None, None), None);
        check(1_000, (8_000, Some(10_000), None), None);
        check(1_000, (8_000, None, Some(9_000)), None);
    }
}
