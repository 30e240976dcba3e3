use ctx_types::Text;
use ctx_types::ports::TokenCounter;

use crate::settings::Settings;

/// The token budget of one scan.
///
/// As in SillyTavern, the texts of all passes, each with a line feed, must stay *below* the limit.
///
/// The sum of the single counts is an upper bound. If it reaches the limit, all texts are counted together.
pub(crate) struct Budget<'c> {
    counter: Option<&'c dyn TokenCounter>,
    limit: Option<u64>,
    /// Texts of earlier passes.
    before: Vec<String>,
    before_bytes: u64,
    /// Upper bound.
    before_at_most: u64,
    before_exact: Option<u64>,
    now: String,
    /// Upper bound of the tokens in `now`.
    now_at_most: u64,
    /// Bytes that may still be counted together.
    countable: u64,
    pub(crate) is_full: bool,
}

/// Keeps hostile books cheap. Only texts within a few tokens of the limit are counted together.
const MAX_COUNTABLE: u64 = 4 << 20;

impl<'c> Budget<'c> {
    /// The percentage of the context is at least 1 token and at most the cap.
    pub(crate) fn new(
        settings: &Settings,
        max_context: Option<u64>,
        counter: Option<&'c dyn TokenCounter>,
    ) -> Self {
        Self {
            limit: counter.and_then(|_| limit(settings, max_context)),
            counter,
            before: Vec::new(),
            before_bytes: 0,
            before_at_most: 0,
            before_exact: None,
            now: String::new(),
            now_at_most: 0,
            countable: MAX_COUNTABLE,
            is_full: false,
        }
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    pub(crate) fn count(&self, text: &Text) -> u32 {
        self.counter.map_or(0, |counter| counter.count_text(text))
    }

    /// Returns false if the text does not fit; the budget is then full. Counts nothing while the bytes stay
    /// below the limit.
    pub(crate) fn admit(&mut self, text: &Text, is_exempt: bool) -> bool {
        let (Some(limit), Some(counter)) = (self.limit, self.counter) else { return true };
        let length = self.now.len();
        self.now.push_str(text);
        self.now.push('\n');
        if is_exempt {
            self.now_at_most = self.now_at_most.saturating_add(text.len() as u64 + 1);
            return true;
        }
        if self.fits(text, limit, counter) {
            return true;
        }
        self.now.truncate(length);
        self.is_full = true;
        false
    }

    fn fits(&mut self, text: &Text, limit: u64, counter: &dyn TokenCounter) -> bool {
        let bytes = self.before_bytes + self.now.len() as u64;
        if bytes < limit {
            self.now_at_most = self.now_at_most.saturating_add(text.len() as u64 + 1);
            return true;
        }
        // Stop early: a text this large rarely fits.
        let most = u32::try_from(limit).unwrap_or(u32::MAX);
        let own = if text.len() as u64 > limit.saturating_mul(8) {
            counter.count_till_limit(text, most).map(u64::from)
        } else {
            Some(u64::from(counter.count_text(text)))
        };
        let Some(own) = own else { return false };
        self.now_at_most = self.now_at_most.saturating_add(own + 1);
        if self.before_at_most.saturating_add(self.now_at_most) < limit {
            return true;
        }
        let Some(countable) = self.countable.checked_sub(bytes) else { return false };
        self.countable = countable;
        let before = self.count_before(counter);
        let room = u32::try_from(limit.saturating_sub(before)).unwrap_or(u32::MAX);
        let Some(now) = counter.count_till_limit(&self.now, room) else { return false };
        self.now_at_most = u64::from(now);
        before + self.now_at_most < limit
    }

    /// The newest pass comes first.
    fn count_before(&mut self, counter: &dyn TokenCounter) -> u64 {
        let texts = || self.before.iter().rev().map(String::as_str).collect::<String>();
        let exact = self.before_exact.unwrap_or_else(|| u64::from(counter.count(&texts())));
        (self.before_exact, self.before_at_most) = (Some(exact), exact);
        exact
    }

    pub(crate) fn next_pass(&mut self) {
        self.before_bytes += self.now.len() as u64;
        self.before_at_most = self.before_at_most.saturating_add(self.now_at_most);
        self.before_exact = None;
        self.before.push(std::mem::take(&mut self.now));
        self.now_at_most = 0;
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the product is below 2^53; saturates"
)]
fn limit(settings: &Settings, max_context: Option<u64>) -> Option<u64> {
    let percent = settings.budget_percent;
    let part = max_context.filter(|_| percent > 0.0).map(|context| {
        // `Math.round` in JavaScript rounds halves up.
        ((percent * context as f64 / 100.0 + 0.5).floor() as u64).max(1)
    });
    match (part, settings.budget_cap) {
        (part, 0) => part,
        (None, cap) => Some(cap),
        (Some(part), cap) => Some(part.min(cap)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// One token per byte, but one for a run of line feeds: joined texts can have fewer tokens than their
    /// parts.
    #[derive(Default)]
    struct Tally(std::sync::atomic::AtomicU64);

    impl TokenCounter for Tally {
        fn encoding(&self) -> ctx_types::EncodingId {
            ctx_types::EncodingId(7)
        }

        fn count(&self, text: &str) -> u32 {
            self.0.fetch_add(text.len() as u64, std::sync::atomic::Ordering::Relaxed);
            let last = Cell::new(' ');
            let counts = |c: &char| last.replace(*c) != '\n' || *c != '\n';
            u32::try_from(text.chars().filter(counts).count()).unwrap()
        }
    }

    /// Returns the number of texts that fit, and of counted bytes.
    fn fill(limit: u64, texts: &[Text], in_passes: bool) -> (usize, u64) {
        let tally = Tally::default();
        let settings = Settings { budget_percent: 100.0, budget_cap: 0, ..Settings::default() };
        let mut budget = Budget::new(&settings, Some(limit), Some(&tally));
        let mut fitting = 0;
        for text in texts {
            if !budget.admit(text, false) {
                break;
            }
            fitting += 1;
            if in_passes {
                budget.next_pass();
            }
        }
        (fitting, tally.0.into_inner())
    }

    #[test]
    fn limits_recounting_of_texts() {
        let words = "w".repeat(1_000);
        let texts: Vec<Text> = (0..900).map(|number| Text::from(format!("{number}{words}"))).collect();
        let blank: Vec<Text> = (0..60_000).map(|_| Text::from("\n")).collect();
        for in_passes in [true, false] {
            let bytes = texts.iter().map(|text| text.len() as u64).sum::<u64>();
            for limit in [1_000, bytes / 2, bytes, 2 * bytes] {
                let (_, counted) = fill(limit, &texts, in_passes);
                assert!(counted <= 40 * bytes, "{counted} of {bytes} bytes within {limit}");
            }
            let (_, counted) = fill(50, &blank, in_passes);
            assert!(counted <= 40 * 120_000, "{counted} bytes of blank texts");
        }
    }

    #[test]
    fn counts_joined_texts_together() {
        let texts = ["aa", "\n\n\n", "bb", "cc"].map(Text::from);
        // "aa\n" has 3 tokens, still 3 with the blank text, then 6.
        assert_eq!(fill(7, &texts, false).0, 3);
        assert_eq!(fill(6, &texts, false).0, 2);
    }
}
