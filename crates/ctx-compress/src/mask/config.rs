//! Settings of compaction: fields, defaults, and levels.

use std::sync::Arc;

use ctx_types::internal::{Argument, Divider, excerpt, nearest, pointer_step};
use ctx_types::{ConfigField, Diagnostic, Fix, Role, Text, phrase};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::codes;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;

/// Settings of compaction. [`MaskConfig::fields`] has the defaults.
///
/// ```
/// use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel};
/// use serde_json::json;
///
/// let layers = [
///     MaskLayer::new(MaskLevel::Global, json!({ "autoTrigger": false, "defaultStrategy": { "countThreshold": 80 } })),
///     MaskLayer::new(MaskLevel::Agent, json!({ "countThreshold": 0 })),
/// ];
/// let settings = MaskConfig::resolve(&layers);
/// assert_eq!((settings.config.count_threshold, settings.config.auto_trigger), (0, false));
/// assert_eq!(settings.config.token_threshold, 80_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MaskConfig {
    /// Enables automatic compaction.
    pub enabled: bool,
    /// Compresses above a threshold.
    pub auto_trigger: bool,
    /// The threshold that applies.
    pub trigger_mode: TriggerMode,
    /// Compresses above this number of tokens.
    pub token_threshold: u64,
    /// Compresses above this number of messages.
    pub count_threshold: usize,
    /// Number of the newest messages, which stay.
    pub protect_recent_count: usize,
    /// Limit of the messages of a summary; a group of calls and results may exceed it.
    pub compress_count: usize,
    /// Shorter conversations are not compressed automatically.
    pub min_history_count: usize,
    /// Role of the summary: system, assistant or user.
    pub summary_role: Role,
    /// The model, as `profile:model`. Default: the host's choice.
    pub summary_model: Option<Arc<str>>,
    /// Sampling temperature.
    pub summary_temperature: f64,
    /// Token limit of a summary; 0 leaves it to the model.
    pub summary_max_tokens: u32,
    /// Prompt of a first summary. Default: built-in.
    pub summary_prompt: Text,
    /// Prompt of a later summary. Default: built-in.
    pub continue_summary_prompt: Text,
    /// Kind of conversation for the built-in prompts. Default: detected.
    pub summary_profile: Option<ConversationKind>,
    /// Language of the built-in prompts. Default: detected.
    pub summary_language: Option<Language>,
    /// Time limit of a request in seconds; 0 sets no limit.
    pub summary_timeout: u32,
    /// Retries of a failed request.
    pub summary_retries: u32,
    /// Summaries above this share of the threshold are merged, in percent.
    pub roll_up_percent: u32,
    /// Token limit of the appendix with lost facts.
    pub appendix_tokens: u32,
}

/// The threshold that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerMode {
    /// Number of tokens.
    #[default]
    Token,
    /// Number of messages.
    Count,
    /// Either of them.
    Both,
}

/// Origin of settings; a later level overrides single fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskLevel {
    /// The default.
    BuiltIn,
    /// Settings of all conversations.
    Global,
    /// The agent's `parameters.contextCompression`.
    Agent,
    /// Options of this call.
    Call,
}

/// Settings of one level: an object with the fields, or with `defaultStrategy`, as AIO Hub writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskLayer {
    /// The level.
    pub level: MaskLevel,
    /// The object.
    pub value: Value,
    /// JSON pointer to the object, for diagnostics.
    pub pointer: String,
}

impl MaskLayer {
    /// Makes a layer of a whole document.
    pub fn new(level: MaskLevel, value: Value) -> Self {
        Self { level, value, pointer: String::new() }
    }
}

/// Settings of all levels.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskSettings {
    /// The settings.
    pub config: MaskConfig,
    /// Each value with its level, in the order of the fields.
    pub values: Vec<MaskValue>,
    /// Diagnostics about the layers.
    pub diagnostics: Vec<Diagnostic>,
}

/// A setting and its level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaskValue {
    /// The key.
    pub key: Arc<str>,
    /// The value.
    pub value: Value,
    /// The level.
    pub level: MaskLevel,
}

/// Limit of a count.
const MAX: f64 = 1e12;

impl MaskConfig {
    /// Returns the fields, for a settings page.
    pub fn fields() -> Vec<ConfigField> {
        [trigger_fields(), summary_fields()].concat()
    }

    /// Merges levels field by field. An invalid value is reported and ignored.
    pub fn resolve(layers: &[MaskLayer]) -> MaskSettings {
        let mut sorted: Vec<&MaskLayer> = layers.iter().collect();
        sorted.sort_by_key(|layer| layer.level);
        let fields = Self::fields();
        let default = |field: &ConfigField| MaskValue {
            key: field.key.clone(),
            value: field.default.clone(),
            level: MaskLevel::BuiltIn,
        };
        let mut values: Vec<MaskValue> = fields.iter().map(default).collect();
        let mut diagnostics = Vec::new();
        for layer in sorted {
            apply(layer, &fields, &mut values, &mut diagnostics);
        }
        MaskSettings { config: Self::of_values(&values), values, diagnostics }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the casts saturate, and the fields bound the numbers"
    )]
    fn of_values(values: &[MaskValue]) -> Self {
        let value = |key: &str| {
            values.iter().find(|value| &*value.key == key).map_or(&Value::Null, |found| &found.value)
        };
        let number = |key| value(key).as_f64().unwrap_or_default();
        let text = |key| value(key).as_str().unwrap_or_default();
        let is_on = |key| value(key).as_bool().unwrap_or_default();
        Self {
            enabled: is_on("enabled"),
            auto_trigger: is_on("autoTrigger"),
            trigger_mode: match text("triggerMode") {
                "count" => TriggerMode::Count,
                "both" => TriggerMode::Both,
                _ => TriggerMode::Token,
            },
            token_threshold: number("tokenThreshold") as u64,
            count_threshold: number("countThreshold") as usize,
            protect_recent_count: number("protectRecentCount") as usize,
            compress_count: number("compressCount") as usize,
            min_history_count: number("minHistoryCount") as usize,
            summary_role: Role::parse(text("summaryRole")).unwrap_or(Role::System),
            summary_model: Some(text("summaryModel").trim()).filter(|model| !model.is_empty()).map(Arc::from),
            summary_temperature: number("summaryTemperature"),
            summary_max_tokens: number("summaryMaxTokens") as u32,
            summary_prompt: text("summaryPrompt").into(),
            continue_summary_prompt: text("continueSummaryPrompt").into(),
            summary_profile: ConversationKind::parse(text("summaryProfile")),
            summary_language: Language::parse(text("summaryLanguage")),
            summary_timeout: number("summaryTimeout") as u32,
            summary_retries: number("summaryRetries") as u32,
            roll_up_percent: number("rollUpPercent") as u32,
            appendix_tokens: number("appendixTokens") as u32,
        }
    }
}

impl Default for MaskConfig {
    fn default() -> Self {
        Self::resolve(&[]).config
    }
}

fn trigger_fields() -> Vec<ConfigField> {
    let count = |key, label, default: u32| ConfigField::integer(key, label, default).between(0.0, MAX);
    let modes = [("token", "Tokens"), ("count", "Messages"), ("both", "Either")];
    vec![
        ConfigField::boolean("enabled", "Enable compression", true)
            .with_description("Replaces older messages with a summary; the originals can be restored"),
        ConfigField::boolean("autoTrigger", "Automatic compression", true)
            .with_description("Runs before a message is sent"),
        ConfigField::select("triggerMode", "Trigger", &modes),
        count("tokenThreshold", "Token threshold", 80_000)
            .with_description("Triggers above this number of tokens"),
        count("countThreshold", "Message threshold", 50)
            .with_description("Triggers above this number of messages"),
        count("protectRecentCount", "Newest messages to keep", 10),
        count("compressCount", "Messages per summary", 20),
        count("minHistoryCount", "Minimum conversation length", 15)
            .with_description("Shorter conversations are not compressed automatically"),
    ]
}

fn summary_fields() -> Vec<ConfigField> {
    let number = |key, label, default: u32, max| ConfigField::integer(key, label, default).between(0.0, max);
    let roles = [("system", "System"), ("assistant", "Assistant"), ("user", "User")];
    let profiles = [
        ("auto", "Auto-detect"),
        ("chat", "Chat"),
        ("tools", "Tool use"),
        ("roleplay", "Role-play"),
        ("technical", "Technical"),
    ];
    let languages = [("auto", "Language of the conversation"), ("en", "English"), ("zh", "Chinese")];
    let temperature = serde_json::Number::from_f64(0.3).unwrap_or_else(|| 0.into());
    vec![
        ConfigField::select("summaryRole", "Summary role", &roles),
        ConfigField::text("summaryModel", "Summary model", "")
            .with_placeholder("the model of the conversation")
            .with_description("As `profile:model`"),
        ConfigField::number("summaryTemperature", "Temperature", temperature).between(0.0, 2.0),
        number("summaryMaxTokens", "Maximum summary length (tokens)", 4096, 1e6),
        ConfigField::text("summaryPrompt", "Prompt", "")
            .with_placeholder("built in")
            .with_description("`{context}` inserts the messages"),
        ConfigField::text("continueSummaryPrompt", "Prompt for later summaries", "")
            .with_placeholder("built in")
            .with_description("`{previous_summary}` inserts the earlier summaries, `{context}` the messages"),
        ConfigField::select("summaryProfile", "Conversation type", &profiles),
        ConfigField::select("summaryLanguage", "Summary language", &languages),
        number("summaryTimeout", "Request timeout (seconds)", 120, 86_400.0).with_description("0: no limit"),
        number("summaryRetries", "Retries after a failure", 1, 10.0),
        number("rollUpPercent", "Merge summaries above this share of the threshold (%)", 25, 100.0),
        number("appendixTokens", "Tokens for facts missing in the summary", 0, 1e6)
            .with_description("Adds the facts verbatim"),
    ]
}

fn apply(
    layer: &MaskLayer,
    fields: &[ConfigField],
    values: &mut [MaskValue],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let object = match &layer.value {
        Value::Null => return,
        Value::Object(object) => object,
        _ => {
            let message = phrase!("the compression settings must be an object");
            let found = Diagnostic::warning(codes::MASK_SETTING, message);
            diagnostics.push(found.at_pointer(layer.pointer.as_str()));
            return;
        }
    };
    let nested = object.get("defaultStrategy").and_then(Value::as_object);
    let places = nested.map(|nested| (nested, format!("{}/defaultStrategy", layer.pointer)));
    for (object, pointer) in places.into_iter().chain([(object, layer.pointer.clone())]) {
        for (key, value) in object {
            let pointer = format!("{pointer}/{}", pointer_step(key));
            let found = set(key, value, layer.level, fields, values);
            diagnostics.extend(found.map(|found| found.at_pointer(pointer)));
        }
    }
}

/// Sets a value, or reports an invalid one.
fn set(
    key: &str,
    value: &Value,
    level: MaskLevel,
    fields: &[ConfigField],
    values: &mut [MaskValue],
) -> Option<Diagnostic> {
    let known = fields.iter().zip(values).find(|(field, _)| &*field.key == key);
    let Some((field, slot)) = known else {
        let is_container = key == "defaultStrategy" && value.is_object();
        return (!is_container).then(|| unknown(key, fields));
    };
    if value.is_null() {
        return None;
    }
    let value = match (key, value) {
        ("summaryModel", Value::Object(model)) => model_name(model),
        _ => value.clone(),
    };
    if let Err(expected) = field.check(&value) {
        let shown = value.to_string();
        let message = phrase!(
            "compression setting `{key}` is `{value}`; expected {expected}",
            key,
            value = excerpt(&shown),
            expected
        );
        let mut found = Diagnostic::warning(codes::MASK_SETTING, message);
        found.fix = field.find_correction(&value).map(|meant| Box::new(Fix::value(meant)));
        return Some(match field.suggest(&value) {
            Some(suggestion) => found.with_help(suggestion),
            None => found,
        });
    }
    (slot.value, slot.level) = (value, level);
    None
}

fn unknown(key: &str, fields: &[ConfigField]) -> Diagnostic {
    let message = phrase!("unknown compression setting `{key}`", key = excerpt(key));
    let found = Diagnostic::warning(codes::UNKNOWN_MASK_SETTING, message).about_key();
    if let Some(near) = nearest(key, fields.iter().map(|field| &*field.key)) {
        return found.with_guess(near, Fix::key);
    }
    let known = Argument::names(fields.iter().map(|field| &*field.key), Divider::Comma);
    found.with_help(phrase!("available settings: {known}", known))
}

/// Joins the two parts of a model's name, as AIO Hub stores it.
fn model_name(model: &Map<String, Value>) -> Value {
    let part = |key| model.get(key).and_then(Value::as_str).unwrap_or_default();
    match (part("profileId"), part("modelId")) {
        ("", model) => Value::from(model),
        (profile, model) => Value::from(format!("{profile}:{model}")),
    }
}
