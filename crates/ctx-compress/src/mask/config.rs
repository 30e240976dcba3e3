//! How masks are configured: the settings with their defaults, and how two levels of them are merged.

use std::sync::Arc;

use ctx_types::internal::{Argument, Divider, excerpt, nearest, pointer_step};
use ctx_types::{ConfigField, Diagnostic, Fix, Role, Text, phrase};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::codes;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;

/// When conversations are compressed, how much of them, and how their summaries are made.
///
/// The defaults are those of the fields; a zero that somebody sets is a zero.
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
    /// Whether conversations are compressed by themselves at all; by hand they always can be.
    pub enabled: bool,
    /// Whether that happens when a threshold is passed.
    pub auto_trigger: bool,
    /// Which threshold counts.
    pub trigger_mode: TriggerMode,
    /// More tokens than this fire the trigger.
    pub token_threshold: u64,
    /// More messages than this fire the trigger.
    pub count_threshold: usize,
    /// How many of the newest messages stay as they are.
    pub protect_recent_count: usize,
    /// How many messages one summary stands for at most, but for completing a group of calls and results.
    pub compress_count: usize,
    /// With fewer messages than this nothing is compressed by itself.
    pub min_history_count: usize,
    /// Who speaks the summary: system, assistant or user.
    pub summary_role: Role,
    /// The model that is asked for it, as `profile:model`; the host's choice if absent.
    pub summary_model: Option<Arc<str>>,
    /// The sampling temperature.
    pub summary_temperature: f64,
    /// How many tokens a summary may have; 0 leaves that to the model.
    pub summary_max_tokens: u32,
    /// The prompt for a first summary; blank means the built-in one.
    pub summary_prompt: Text,
    /// The prompt for a summary that follows others; blank means the built-in one.
    pub continue_summary_prompt: Text,
    /// What kind of conversation the built-in prompts are for; found out if absent.
    pub summary_profile: Option<ConversationKind>,
    /// The language of the built-in prompts; found out if absent.
    pub summary_language: Option<Language>,
    /// How many seconds one request for a summary may take; 0 sets no limit.
    pub summary_timeout: u32,
    /// How often a request is made again after a failure.
    pub summary_retries: u32,
    /// Summaries that together pass this share of the threshold, in percent, become one.
    pub roll_up_percent: u32,
    /// How many tokens of facts that a summary lost may be added to it word for word.
    pub appendix_tokens: u32,
}

/// Which threshold fires the trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerMode {
    /// That of tokens.
    #[default]
    Token,
    /// That of messages.
    Count,
    /// Either of them.
    Both,
}

/// Where settings of masks come from; later ones win, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskLevel {
    /// The field's own default.
    BuiltIn,
    /// The settings for all conversations.
    Global,
    /// The agent's `parameters.contextCompression`.
    Agent,
    /// What is asked for this time.
    Call,
}

/// The settings of one level, in the form of its file.
///
/// Fields stand in the object itself or in its `defaultStrategy`, as applications write the global ones.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskLayer {
    /// The level.
    pub level: MaskLevel,
    /// The object.
    pub value: Value,
    /// Where its file has it, as a JSON pointer; findings lead there.
    pub pointer: String,
}

impl MaskLayer {
    /// Makes a layer of an object that is the whole document.
    pub fn new(level: MaskLevel, value: Value) -> Self {
        Self { level, value, pointer: String::new() }
    }
}

/// What holds after all levels.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskSettings {
    /// The settings.
    pub config: MaskConfig,
    /// Each value with the level that set it, in the order of the fields.
    pub values: Vec<MaskValue>,
    /// What is wrong with the layers.
    pub diagnostics: Vec<Diagnostic>,
}

/// One setting and who set it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaskValue {
    /// The key.
    pub key: Arc<str>,
    /// The value.
    pub value: Value,
    /// The level that set it.
    pub level: MaskLevel,
}

/// The largest number that a setting takes.
const MAX: f64 = 1e12;

impl MaskConfig {
    /// Returns the settings with their titles, defaults and bounds, as a settings page needs them.
    pub fn fields() -> Vec<ConfigField> {
        [strategy_fields(), summary_fields()].concat()
    }

    /// Merges levels field by field; a value that its field does not take is reported, and the next lower
    /// level counts.
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

/// When and how much.
fn strategy_fields() -> Vec<ConfigField> {
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
        count("protectRecentCount", "Protected recent messages", 10),
        count("compressCount", "Messages per summary", 20),
        count("minHistoryCount", "Minimum conversation length", 15)
            .with_description("Shorter conversations are not compressed automatically"),
    ]
}

/// How summaries are made.
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

/// Applies one level to the values.
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

/// Sets one value; what its field does not take is reported.
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

/// Joins the two parts of a model's name as applications store them.
fn model_name(model: &Map<String, Value>) -> Value {
    let part = |key| model.get(key).and_then(Value::as_str).unwrap_or_default();
    match (part("profileId"), part("modelId")) {
        ("", model) => Value::from(model),
        (profile, model) => Value::from(format!("{profile}:{model}")),
    }
}
