//! Samplers and limits of a preset as parameters of an agent.

use serde_json::{Map, Value, json};

use crate::loose::{Object, number_of, said, text, whole};

/// The fields of presets that are parameters, each with its name in an agent's.
pub(crate) const SAMPLERS: [(&str, &str); 13] = [
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("top_k", "topK"),
    ("top_a", "topA"),
    ("min_p", "minP"),
    ("frequency_penalty", "frequencyPenalty"),
    ("presence_penalty", "presencePenalty"),
    ("repetition_penalty", "repetitionPenalty"),
    ("openai_max_tokens", "maxTokens"),
    ("seed", "seed"),
    ("n", "candidates"),
    ("reasoning_effort", "reasoningEffort"),
    ("verbosity", "verbosity"),
];

/// Other names that older presets, and the one in use of `settings.json`, have for the same.
pub(crate) const OLD_SAMPLERS: [(&str, &str); 8] = [
    ("temp_openai", "temperature"),
    ("freq_pen_openai", "frequencyPenalty"),
    ("pres_pen_openai", "presencePenalty"),
    ("top_p_openai", "topP"),
    ("top_k_openai", "topK"),
    ("top_a_openai", "topA"),
    ("min_p_openai", "minP"),
    ("repetition_penalty_openai", "repetitionPenalty"),
];

/// Returns the parameters of a preset, without the settings of processors.
pub(crate) fn of_preset(preset: &Object) -> Object {
    let mut parameters = Map::new();
    for (from, to) in SAMPLERS.into_iter().chain(OLD_SAMPLERS) {
        let value = preset.get(from).and_then(|value| sampler(from, value));
        if let Some(value) = value.filter(|_| !parameters.contains_key(to)) {
            parameters.insert(to.to_owned(), value);
        }
    }
    if let Some(is_stream) = preset.get("stream_openai").filter(|value| value.is_boolean()) {
        parameters.insert("stream".to_owned(), is_stream.clone());
    }
    if let Some(tokens) = whole(preset, "openai_max_context").filter(|tokens| *tokens > 0) {
        // There the answer is a part of the context.
        let management = json!({ "enabled": true, "maxContextTokens": tokens, "includesAnswer": true });
        parameters.insert("contextManagement".to_owned(), management);
    }
    let sources = sources(preset);
    if !sources.is_empty() {
        parameters.insert("sources".to_owned(), Value::Object(sources));
    }
    parameters
}

/// Tells whether a preset says a parameter under the name of today.
pub(crate) fn is_said_newer(preset: &Object, ours: &str) -> bool {
    let newer = SAMPLERS.iter().filter(|(_, to)| *to == ours);
    newer.into_iter().any(|(from, _)| preset.get(*from).and_then(|value| sampler(from, value)).is_some())
}

/// The samplers that are words.
const WORDS: [&str; 2] = ["reasoning_effort", "verbosity"];

/// Tells whether a sampler is a word, not a number.
pub(crate) fn is_word(field: &str) -> bool {
    WORDS.contains(&field)
}

/// Reads a sampler; none for what is neither a number nor, where it may be one, a word.
fn sampler(field: &str, value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(word) if is_word(field) => (!word.is_empty()).then(|| value.clone()),
        value => number_of(value).map(Value::from),
    }
}

/// Returns the fields that choose and set up a source of models, below the name of each source.
///
/// Ours are `sources.NAME.FIELD`, such as `sources.claude.model` for `claude_model`.
fn sources(preset: &Object) -> Object {
    let mut sources: Map<String, Value> = Map::new();
    for (key, value) in preset {
        let Some((source, field)) = source_field(key) else { continue };
        let fields = sources.entry(source).or_insert_with(|| json!({}));
        fields[field] = value.clone();
    }
    sources
}

/// The sources of models that presets name in their fields.
pub(crate) const SOURCES: [&str; 30] = [
    "openai",
    "claude",
    "openrouter",
    "ai21",
    "mistralai",
    "cohere",
    "perplexity",
    "groq",
    "chutes",
    "minimax",
    "electronhub",
    "nanogpt",
    "deepseek",
    "aimlapi",
    "xai",
    "pollinations",
    "moonshot",
    "fireworks",
    "cometapi",
    "custom",
    "google",
    "vertexai",
    "makersuite",
    "siliconflow",
    "zai",
    "windowai",
    "scale",
    "blockentropy",
    "01ai",
    "azure",
];

/// Divides the name of a field that belongs to a source of models.
pub(crate) fn source_field(key: &str) -> Option<(String, String)> {
    let (source, field) = key.split_once('_')?;
    let is_other = matches!(key, "openai_max_context" | "custom_prompt_post_processing");
    let is_taken = is_other || SAMPLERS.iter().any(|(known, _)| *known == key);
    let is_source = SOURCES.contains(&source) && !is_taken && !is_secret(key);
    is_source.then(|| (source.to_owned(), field.to_owned()))
}

/// Tells whether a field may hold what nobody else should see, or send it somewhere: it is kept, and no more.
fn is_secret(key: &str) -> bool {
    matches!(key, "custom_include_headers" | "custom_include_body" | "custom_exclude_body" | "custom_url")
}

/// Returns the model for which a preset was made: that of the source it chooses.
pub(crate) fn model(preset: &Object) -> Option<&str> {
    said(preset, &model_field(preset)?)
}

/// Returns the field with the model of the source that a preset chooses.
pub(crate) fn model_field(preset: &Object) -> Option<String> {
    let source = text(preset, "chat_completion_source")?;
    let source = if source == "makersuite" { "google" } else { source };
    Some(format!("{source}_model"))
}
