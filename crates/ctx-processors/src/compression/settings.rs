use ctx_compress::request::{RequestConfig, STRATEGIES};
use ctx_pipeline::{Config, ConfigField};
use ctx_tokens::MAX_TOKENS;
use ctx_types::{FieldOption, Role};

/// Tokens to load by default, as a multiple of the budget.
const WINDOWS: u64 = 4;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) config: RequestConfig,
    pub(crate) strategy: String,
}

impl Settings {
    pub(crate) fn read(config: &Config, available: Option<u32>) -> Option<Self> {
        let read = RequestConfig {
            token_budget: budget(config, available)?,
            trigger_threshold: config.number("triggerThreshold"),
            target_usage: config.number("targetUsage"),
            min_recent_messages: config.count("minRecentMessages"),
            min_saving: config.number("minSaving"),
            tail_share: config.number("tailShare"),
            note_role: Role::parse(config.text("noteRole")).unwrap_or(Role::System),
        };
        Some(Self { config: read, strategy: config.text("strategy").to_owned() })
    }

    /// The budget may differ between turns and does not affect digests.
    pub(crate) fn without_budget(&self) -> Self {
        Self { config: RequestConfig { token_budget: 0, ..self.config.clone() }, ..self.clone() }
    }
}

fn budget(config: &Config, available: Option<u32>) -> Option<u64> {
    let set = Some(config.count("tokenBudget") as u64).filter(|set| *set > 0);
    let available = available.map(u64::from);
    match (set, available) {
        (Some(set), Some(available)) => Some(set.min(available)),
        (set, available) => set.or(available),
    }
}

/// Returns the number of tokens to load if `request-compressor` is enabled, or `None` without a limit.
///
/// This is `compressWindow`, but at least the budget; by default, 4 times the budget. `available` is the
/// token budget of the messages.
pub fn compress_window(config: &Config, available: Option<u32>) -> Option<u64> {
    let budget = budget(config, available)?;
    Some(match config.count("compressWindow") as u64 {
        0 => budget.saturating_mul(WINDOWS),
        set => set.max(budget),
    })
}

pub(crate) fn fields() -> Vec<ConfigField> {
    let defaults = RequestConfig::default();
    let tokens = |key: &str, label: &str, default: u64| {
        ConfigField::integer(key, label, default).between(0.0, f64::from(MAX_TOKENS))
    };
    let share = |key: &str, label: &str, default: f64| ConfigField::share(key, label, default);
    let strategies = STRATEGIES.map(|name| FieldOption::new(name, strategy_label(name)));
    vec![
        tokens("tokenBudget", "Token budget", defaults.token_budget)
            .with_description("Limited to the model's remaining tokens; 0: use them all"),
        share("triggerThreshold", "Trigger (share of the budget)", defaults.trigger_threshold),
        share("targetUsage", "Target (share of the budget)", defaults.target_usage),
        ConfigField::integer("minRecentMessages", "Newest messages to prefer", defaults.min_recent_messages)
            .between(0.0, 1_000_000.0),
        ConfigField::choice("strategy", "Strategy", strategies.into()),
        tokens("compressWindow", "Tokens to load", 0).with_description(
            "Older messages are not loaded. 0: 4 times the budget; never less than the budget",
        ),
        share("minSaving", "Minimum saving (share)", defaults.min_saving)
            .with_description("Each rewrite invalidates the prompt cache. Ignored if the budget is exceeded"),
        share("tailShare", "Share for the newest messages", defaults.tail_share)
            .with_description("These messages stay unchanged"),
        ConfigField::select(
            "noteRole",
            "Digest role",
            &[("system", "System"), ("user", "User"), ("assistant", "Assistant")],
        ),
    ]
}

fn strategy_label(name: &str) -> &'static str {
    match name {
        "telegraphic" => "Telegraphic digests",
        "sentences" => "Digests of full sentences",
        "key-message" => "Key messages by role, marker, and age",
        _ => "Previews, digests, and the latest turns",
    }
}
