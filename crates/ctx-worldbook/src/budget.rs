//! How many tokens entries may have.

use ctx_types::{Text, TokenCounter};

use crate::settings::Settings;

/// The budget of one scan, and what of it is used.
///
/// An entry fits if the texts of earlier passes and those of this one, each on a line, stay below the budget;
/// reaching it is too much, as SillyTavern has it.
pub(crate) struct Budget<'c> {
    counter: &'c dyn TokenCounter,
    /// None if there is none.
    limit: Option<u64>,
    /// The texts of earlier passes, and their tokens as far as they are known.
    before: String,
    before_tokens: Option<u64>,
    /// The texts of this pass.
    now: String,
    /// No fewer tokens than these texts have, and how many bytes of them were counted exactly.
    now_at_most: u64,
    pub(crate) is_full: bool,
}

/// Counts nothing; for scans without a budget.
struct Nothing;

impl TokenCounter for Nothing {
    fn encoding(&self) -> ctx_types::EncodingId {
        ctx_types::EncodingId(0)
    }

    fn count(&self, _text: &str) -> u32 {
        0
    }
}

impl<'c> Budget<'c> {
    /// Computes the budget: a part of the context in percent, 1 at least, and the cap at most.
    pub(crate) fn new(
        settings: &Settings,
        max_context: Option<u64>,
        counter: Option<&'c dyn TokenCounter>,
    ) -> Self {
        Self {
            limit: counter.and_then(|_| limit(settings, max_context)),
            counter: counter.unwrap_or(&Nothing),
            before: String::new(),
            before_tokens: None,
            now: String::new(),
            now_at_most: 0,
            is_full: false,
        }
    }

    /// Returns the budget in tokens, if there is one.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Counts one text.
    pub(crate) fn count(&self, text: &Text) -> u32 {
        self.counter.count_text(text)
    }

    /// Takes the text of an entry; false if it does not fit and is not exempt, and then nothing fits any more.
    ///
    /// Nothing is counted while the bytes of all texts are fewer than the budget; then each text once; and all of
    /// them together only where their sum, which is never less, reaches the budget.
    pub(crate) fn admit(&mut self, text: &Text, is_exempt: bool) -> bool {
        let Some(limit) = self.limit else { return true };
        let length = self.now.len();
        self.now.push_str(text);
        self.now.push('\n');
        if is_exempt {
            self.now_at_most = self.now_at_most.saturating_add(text.len() as u64 + 1);
            return true;
        }
        if self.fits(text, limit) {
            return true;
        }
        self.now.truncate(length);
        self.is_full = true;
        false
    }

    fn fits(&mut self, text: &Text, limit: u64) -> bool {
        let bytes = (self.before.len() + self.now.len()) as u64;
        if bytes < limit {
            self.now_at_most = self.now_at_most.saturating_add(text.len() as u64 + 1);
            return true;
        }
        let before = *self.before_tokens.get_or_insert_with(|| u64::from(self.counter.count(&self.before)));
        let room = limit.saturating_sub(before);
        // A text that is too large by itself need not be counted to its end.
        let most = u32::try_from(room).unwrap_or(u32::MAX);
        let is_long = text.len() as u64 > room.saturating_mul(8);
        let own = match is_long {
            true => self.counter.count_till_limit(text, most).map(u64::from),
            false => Some(u64::from(self.counter.count_text(text))),
        };
        let Some(own) = own else { return false };
        self.now_at_most = self.now_at_most.saturating_add(own + 1);
        if before.saturating_add(self.now_at_most) < limit {
            return true;
        }
        match self.counter.count_till_limit(&self.now, most) {
            Some(exact) => {
                self.now_at_most = u64::from(exact);
                before + self.now_at_most < limit
            }
            None => false,
        }
    }

    /// Begins the next pass.
    pub(crate) fn next_pass<'t>(&mut self, texts: impl Iterator<Item = &'t Text>) {
        if self.limit.is_none() {
            return;
        }
        let mut all = String::new();
        for (index, text) in texts.enumerate() {
            if index > 0 {
                all.push('\n');
            }
            all.push_str(text);
        }
        all.push('\n');
        all.push_str(&self.before);
        self.before = all;
        self.before_tokens = None;
        self.now.clear();
        self.now_at_most = 0;
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the product is far below 2^53 for any context, and the cast saturates"
)]
fn limit(settings: &Settings, max_context: Option<u64>) -> Option<u64> {
    let percent = settings.budget_percent;
    let part = max_context.filter(|_| percent > 0.0).map(|context| {
        // As JavaScript rounds: halves up.
        ((percent * context as f64 / 100.0 + 0.5).floor() as u64).max(1)
    });
    match (part, settings.budget_cap) {
        (part, 0) => part,
        (None, cap) => Some(cap),
        (Some(part), cap) => Some(part.min(cap)),
    }
}
