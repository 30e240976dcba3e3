//! Samplers and limits of a preset as parameters of an agent.

use serde_json::{Map, Value, json};

use crate::loose::{Object, number_of};
use crate::source::Source;

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

/// Takes the parameters of a preset, without the settings of processors.
pub(crate) fn take(preset: Source<'_>) -> Object {
    let mut parameters = Map::new();
    for (from, to) in SAMPLERS {
        let (field, place) = (preset.at(from), format!("/parameters/{to}"));
        if is_word(from) {
            field.scalar().into(place);
        } else {
            field.number().into(place);
        }
        let value = field.value().and_then(|value| sampler(from, value));
        parameters.extend(value.map(|value| (to.to_owned(), value)));
    }
    for (from, to) in OLD_SAMPLERS {
        let field = preset.at(from);
        if parameters.contains_key(to) {
            field.keep("set by the newer key");
            continue;
        }
        field.number().equivalent("another key for the same setting").into(format!("/parameters/{to}"));
        let value = field.value().and_then(|value| sampler(from, value));
        parameters.extend(value.map(|value| (to.to_owned(), value)));
    }
    let is_stream = preset.at("stream_openai").flag().into("/parameters/stream");
    parameters.extend(is_stream.map(|is_stream| ("stream".to_owned(), is_stream.into())));
    let tokens = preset.at("openai_max_context").whole(1);
    if let Some(tokens) = tokens.into("/parameters/contextManagement/maxContextTokens") {
        // There the answer is a part of the context.
        let management = json!({ "enabled": true, "maxContextTokens": tokens, "includesAnswer": true });
        parameters.insert("contextManagement".to_owned(), management);
    }
    let sources = take_sources(preset);
    if !sources.is_empty() {
        parameters.insert("sources".to_owned(), Value::Object(sources));
    }
    parameters
}

/// Returns the place in an agent of a sampler of presets, or of the size of the context.
pub(crate) fn place(preset: &str) -> String {
    let ours = SAMPLERS.iter().find(|(known, _)| *known == preset).map(|(_, ours)| *ours);
    format!("/parameters/{}", ours.unwrap_or("contextManagement/maxContextTokens"))
}

/// The samplers that are words.
const WORDS: [&str; 2] = ["reasoning_effort", "verbosity"];

/// Returns whether a sampler is a word, not a number.
fn is_word(field: &str) -> bool {
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

const WINDOW: &str = "for that application's window; no effect on requests";
const SOURCE: &str =
    "saved per source; `modelId` is the model of the active one, other applications use the rest";

/// Takes the fields that choose and set up a source of models, which go below the name of each source.
///
/// Ours are `sources.NAME.FIELD`, such as `sources.claude.model` for `claude_model`.
fn take_sources(preset: Source<'_>) -> Object {
    let mut sources: Map<String, Value> = Map::new();
    for (key, value) in preset.fields() {
        let Some((source, field)) = source_field(key) else { continue };
        let is_shown = ["_sort_models", "_group_models"].iter().any(|end| key.ends_with(end));
        value.equate_all(if is_shown { WINDOW } else { SOURCE }, "/parameters/sources");
        let fields = sources.entry(source).or_insert_with(|| json!({}));
        fields[field] = value.value().cloned().unwrap_or_default();
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

/// Returns whether a field may hold what nobody else should see, or send it somewhere: it is kept, and no more.
fn is_secret(key: &str) -> bool {
    matches!(key, "custom_include_headers" | "custom_include_body" | "custom_exclude_body" | "custom_url")
}

/// Takes the model for which a preset was made: that of the source it chooses.
pub(crate) fn take_model(preset: Source<'_>) -> Option<&str> {
    let source = preset.at("chat_completion_source");
    let model = source.as_str().and_then(|name| preset.field(&model_field(name)).as_str());
    let model = model.filter(|model| !model.trim().is_empty());
    match model {
        Some(_) => drop(source.text().into("/modelId")),
        None => source.keep("the preset has no model for it"),
    }
    model
}

/// Returns the field with the model of a source.
pub(crate) fn model_field(source: &str) -> String {
    let source = if source == "makersuite" { "google" } else { source };
    format!("{source}_model")
}
