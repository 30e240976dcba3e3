//! Settings of request compression: budget, trigger, target.

use ctx_types::{Diagnostic, Role, phrase};

use crate::codes;

/// Settings of request compression.
///
/// Use [`RequestConfig::checked`] for values from users.
///
/// ```
/// use ctx_compress::request::RequestConfig;
///
/// let config = RequestConfig::default();
/// assert_eq!((config.token_budget, config.min_recent_messages), (128_000, 10));
/// assert_eq!(config.target(), 64_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RequestConfig {
    /// Token limit of the messages. Default: 128,000.
    pub token_budget: u64,
    /// Compresses above this share of the budget, 0 to 1. Default: 0.8.
    pub trigger_threshold: f64,
    /// Target share of the budget, 0 to 1, at most the trigger. Default: 0.5.
    pub target_usage: f64,
    /// Number of the newest messages that strategies prefer. Default: 10.
    pub min_recent_messages: usize,
    /// The smallest saving as a share of the request, 0 to 1. Default: 0.05.
    ///
    /// Ignored if the request exceeds the budget. Every rewrite invalidates the prompt cache.
    pub min_saving: f64,
    /// Share of the target for the newest messages, 0 to 1. Default: 0.2.
    pub tail_share: f64,
    /// Role of notes. Default: `system`.
    pub note_role: Role,
}

impl Default for RequestConfig {
    fn default() -> Self {
        Self {
            token_budget: 128_000,
            trigger_threshold: 0.8,
            target_usage: 0.5,
            min_recent_messages: 10,
            min_saving: 0.05,
            tail_share: 0.2,
            note_role: Role::System,
        }
    }
}

impl RequestConfig {
    /// Makes the settings that fit a request into a number of tokens.
    pub fn to_fit(token_budget: u64) -> Self {
        Self { token_budget, trigger_threshold: 1.0, target_usage: 1.0, ..Self::default() }
    }

    /// Returns the target in tokens, rounded down.
    pub fn target(&self) -> u64 {
        share(self.token_budget, self.target_usage)
    }

    /// Returns whether a number of tokens exceeds the trigger.
    pub fn is_above_trigger(&self, tokens: u64) -> bool {
        usage(tokens, self.token_budget) > self.trigger_threshold
    }

    /// Returns the settings with valid values, and reports the corrections.
    pub fn checked(mut self) -> (Self, Vec<Diagnostic>) {
        let mut found = Vec::new();
        let defaults = Self::default();
        let mut check = |name: &str, value: &mut f64, default: f64, most: f64| {
            let fits = (0.0..=most).contains(value);
            if !fits {
                let used = if value.is_nan() { default } else { value.clamp(0.0, most) };
                let message = phrase!("`{name}` is {value}; {used} is used", name, value, used);
                let range = phrase!("a number from 0 to {most}", most);
                found.push(Diagnostic::warning(codes::CONFIG, message).with_help(range));
                *value = used;
            }
        };
        check("triggerThreshold", &mut self.trigger_threshold, defaults.trigger_threshold, 1.0);
        check("targetUsage", &mut self.target_usage, defaults.target_usage, self.trigger_threshold);
        check("minSaving", &mut self.min_saving, defaults.min_saving, 1.0);
        check("tailShare", &mut self.tail_share, defaults.tail_share, 1.0);
        (self, found)
    }
}

/// Returns the used share of a whole; above 1 if exceeded.
#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^53")]
pub(crate) fn usage(tokens: u64, whole: u64) -> f64 {
    if tokens == 0 { 0.0 } else { tokens as f64 / whole as f64 }
}

/// Returns a share of a number of tokens, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of tokens are far below 2^53, and a share is no negative number"
)]
pub(crate) fn share(tokens: u64, share: f64) -> u64 {
    (tokens as f64 * share.max(0.0)).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_trigger_itself_nothing_fires() {
        let config = RequestConfig { token_budget: 100, ..RequestConfig::default() };
        assert!(!config.is_above_trigger(80));
        assert!(config.is_above_trigger(81));
        assert!(RequestConfig { token_budget: 0, ..config }.is_above_trigger(1));
    }

    #[test]
    fn values_out_of_range_are_brought_back_and_reported() {
        let odd = RequestConfig {
            trigger_threshold: f64::NAN,
            target_usage: 0.9,
            tail_share: -1.0,
            min_saving: 2.0,
            ..RequestConfig::default()
        };
        let (config, found) = odd.checked();
        assert_eq!((config.trigger_threshold, config.target_usage, config.tail_share), (0.8, 0.8, 0.0));
        assert_eq!((config.min_saving, found.len()), (1.0, 4));
        assert!(RequestConfig::default().checked().1.is_empty());
        assert!(RequestConfig::to_fit(10).checked().1.is_empty());
    }
}
