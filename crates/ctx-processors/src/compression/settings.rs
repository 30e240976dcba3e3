use ctx_compress::request::{RequestConfig, STRATEGIES};
use ctx_pipeline::{Config, ConfigField, SettingsReader};
use ctx_tokens::internal::MAX_TOKENS;
use ctx_types::{FieldOption, Role};

use crate::settings::ROLES;

/// Tokens to load by default, as a multiple of the budget.
const WINDOWS: u64 = 4;

settings! {
    pub(crate) CompressionSettings {
        token_budget: u64 = tokens("tokenBudget", "Token budget", RequestConfig::default().token_budget)
            .with_description("Limited to the model's remaining tokens; 0: use them all"),
        trigger_threshold: f64 = ConfigField::share(
            "triggerThreshold", "Trigger (share of the budget)", RequestConfig::default().trigger_threshold,
        ),
        target_usage: f64 = ConfigField::share(
            "targetUsage", "Target (share of the budget)", RequestConfig::default().target_usage,
        ),
        min_recent_messages: usize = ConfigField::integer(
            "minRecentMessages",
            "Newest messages to keep if possible",
            RequestConfig::default().min_recent_messages,
        )
        .between(0.0, 1_000_000.0),
        strategy: String = ConfigField::choice(
            "strategy", "Strategy", STRATEGIES.map(|name| FieldOption::new(name, strategy_label(name))).into(),
        ),
        window: u64 = tokens("compressWindow", "Tokens to load", 0).with_description(
            "Older messages are not loaded. 0: 4 times the budget; never less than the budget",
        ),
        min_saving: f64 = ConfigField::share(
            "minSaving", "Minimum saving (share)", RequestConfig::default().min_saving,
        )
        .with_description("Each rewrite invalidates the prompt cache. Ignored if the budget is exceeded"),
        tail_share: f64 = ConfigField::share(
            "tailShare", "Share for the newest messages", RequestConfig::default().tail_share,
        )
        .with_description("These messages stay unchanged"),
        note_role: Role = ConfigField::select("noteRole", "Digest role", ROLES),
    }
}

fn tokens(key: &str, label: &str, default: u64) -> ConfigField {
    ConfigField::integer(key, label, default).between(0.0, f64::from(MAX_TOKENS))
}

/// Settings for the budget of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) config: RequestConfig,
    pub(crate) strategy: String,
}

impl CompressionSettings {
    pub(crate) fn for_budget(&self, available: Option<u32>) -> Option<Settings> {
        let config = RequestConfig {
            token_budget: self.budget(available)?,
            trigger_threshold: self.trigger_threshold,
            target_usage: self.target_usage,
            min_recent_messages: self.min_recent_messages,
            min_saving: self.min_saving,
            tail_share: self.tail_share,
            note_role: self.note_role,
        };
        Some(Settings { config, strategy: self.strategy.clone() })
    }

    fn budget(&self, available: Option<u32>) -> Option<u64> {
        let set = Some(self.token_budget).filter(|set| *set > 0);
        set.into_iter().chain(available.map(u64::from)).min()
    }
}

impl Settings {
    /// The budget may differ between turns and does not affect digests.
    pub(crate) fn without_budget(&self) -> Self {
        Self { config: RequestConfig { token_budget: 0, ..self.config.clone() }, ..self.clone() }
    }
}

/// Returns the number of tokens to load if `request-compressor` is enabled, or `None` without a limit.
///
/// This is `compressWindow`, but at least the budget; by default, 4 times the budget. `available` is the
/// token budget of the messages.
pub fn compress_window(config: &Config, available: Option<u32>) -> Option<u64> {
    let settings = CompressionSettings::read(&mut SettingsReader::new(config));
    let budget = settings.budget(available)?;
    Some(match settings.window {
        0 => budget.saturating_mul(WINDOWS),
        set => set.max(budget),
    })
}

fn strategy_label(name: &str) -> &'static str {
    match name {
        "telegraphic" => "Telegraphic digests",
        "sentences" => "Digests of full sentences",
        "key-message" => "Key messages by role, marker, and age",
        _ => "Previews, digests, and the latest turns",
    }
}
