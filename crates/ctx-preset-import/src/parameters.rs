//! Old shapes inside an agent's `parameters`.

use std::collections::BTreeSet;

use ctx_types::codes::{MISSPELT_KEY, WRONG_TYPE};
use ctx_types::internal::{canonical_id, excerpt, nearest_key, pointer_step};
use ctx_types::{Diagnostic, Fix, Phrase, phrase};
use serde_json::{Map, Value, json};

use crate::codes;

/// Parameters that are sent to the model unchanged, and the types that providers accept.
const SAMPLING: [(&str, ParameterType); 11] = [
    ("temperature", ParameterType::Number),
    ("topP", ParameterType::Number),
    ("top_p", ParameterType::Number),
    ("topK", ParameterType::Number),
    ("top_k", ParameterType::Number),
    ("maxTokens", ParameterType::Number),
    ("max_tokens", ParameterType::Number),
    ("frequencyPenalty", ParameterType::Number),
    ("presencePenalty", ParameterType::Number),
    ("seed", ParameterType::Number),
    ("stop", ParameterType::TextOrList),
];

/// Other parameters that something reads or that providers accept.
const OTHER_PARAMETERS: [&str; 24] = [
    "contextCompression",
    "contextManagement",
    "contextPostProcessing",
    "custom",
    "frequency_penalty",
    "logprobs",
    "maxContextTokens",
    "maxOutputTokens",
    "max_completion_tokens",
    "minP",
    "min_p",
    "model",
    "presence_penalty",
    "processors",
    "reasoningEffort",
    "reasoning_effort",
    "repetitionPenalty",
    "repetition_penalty",
    "response_format",
    "stopSequences",
    "stop_sequences",
    "thinking",
    "thinkingBudget",
    "topA",
];

/// Reports parameters that are nearly a known one, which is not set.
pub(crate) fn misspelt(parameters: &Value) -> Vec<Diagnostic> {
    let known = || SAMPLING.iter().map(|(name, _)| *name).chain(OTHER_PARAMETERS);
    let Some(parameters) = parameters.as_object() else { return Vec::new() };
    let finding = |name: &String| {
        let near = nearest_key(name, known()).filter(|near| !parameters.contains_key(*near))?;
        let message = phrase!("unknown parameter `{name}`", name = excerpt(name));
        let found = Diagnostic::warning(MISSPELT_KEY, message).about_key();
        let pointer = format!("/parameters/{}", pointer_step(name));
        Some(found.with_suggestion(near).with_fix(Fix::key(near)).at_pointer(pointer))
    };
    parameters
        .keys()
        .filter(|name| !known().any(|known| known == *name))
        .take(MAX_NAMES)
        .filter_map(finding)
        .collect()
}

/// How many names are compared with known ones.
const MAX_NAMES: usize = 100;

#[derive(Clone, Copy)]
enum ParameterType {
    Number,
    TextOrList,
}

/// Reports parameters that providers reject because of their type.
pub(crate) fn check_types(parameters: &Value) -> Vec<Diagnostic> {
    let wrong = |(name, expected): &(&str, ParameterType)| {
        let value = parameters.get(*name).filter(|value| !value.is_null())?;
        let (is_right, expected) = match expected {
            ParameterType::Number => (value.is_number(), "a number"),
            ParameterType::TextOrList => (value.is_string() || value.is_array(), "a string or a list"),
        };
        let message =
            phrase!("parameter `{name}` must be {expected}", name = *name, expected = Phrase::from(expected));
        let found = Diagnostic::warning(WRONG_TYPE, message).at_pointer(format!("/parameters/{name}"));
        (!is_right).then(|| found.with_help(phrase!("correct the value; providers reject it")))
    };
    SAMPLING.iter().filter_map(wrong).collect()
}

/// Brings parameters up to date; also returns whether each formatter rule became a processor.
pub(crate) fn migrate(parameters: &mut Value) -> (Vec<Diagnostic>, Vec<bool>) {
    let custom = custom(parameters);
    let (rules, moves) = rules(parameters).unzip();
    (custom.into_iter().chain(rules).collect(), moves.unwrap_or_default())
}

/// Puts custom parameters that are the object itself under `params`.
fn custom(parameters: &mut Value) -> Option<Diagnostic> {
    let custom = parameters.get_mut("custom")?;
    let old = custom.as_object()?;
    if old.contains_key("enabled") || old.contains_key("params") {
        return None;
    }
    *custom = json!({ "enabled": !old.is_empty(), "params": Map::clone(old) });
    let message = phrase!("custom parameters move to `params`, next to `enabled`");
    Some(Diagnostic::info(codes::MIGRATED_PARAMETERS, message).at_pointer("/parameters/custom"))
}

/// Turns formatter rules into settings of processors; what is no rule stays.
///
/// A rule is `{type, enabled, …}` with its settings as further keys, or just the type of one that is on.
fn rules(parameters: &mut Value) -> Option<(Diagnostic, Vec<bool>)> {
    let mut processors = match parameters.get("processors") {
        None | Some(Value::Null) => Vec::new(),
        Some(processors) => processors.as_array()?.clone(),
    };
    let named: BTreeSet<String> =
        processors.iter().filter_map(|setting| canonical(setting.get("id")?)).collect();
    let rules = parameters.get_mut("contextPostProcessing")?.get_mut("rules")?.as_array_mut()?;
    let settings: Vec<Option<Value>> = rules.iter().map(|rule| setting(rule, &named)).collect();
    let moves: Vec<bool> = settings.iter().map(Option::is_some).collect();
    let mut is_moved = moves.iter();
    rules.retain(|_| is_moved.next() == Some(&false));
    processors.extend(settings.into_iter().flatten());
    let message = match moves.iter().filter(|is_moved| **is_moved).count() {
        0 => return None,
        1 => phrase!("1 rule moves from `contextPostProcessing` to `processors`"),
        count => phrase!("{count} rules move from `contextPostProcessing` to `processors`", count),
    };
    parameters["processors"] = Value::Array(processors);
    let pointer = "/parameters/contextPostProcessing/rules";
    Some((Diagnostic::info(codes::MIGRATED_RULES, message).at_pointer(pointer), moves))
}

/// Makes the setting of a processor; none if the rule is no rule or its processor is set already.
fn setting(rule: &Value, named: &BTreeSet<String>) -> Option<Value> {
    let kind = if rule.is_string() { rule } else { rule.get("type")? };
    let id = canonical(kind)?;
    let Some(rule) = rule.as_object() else {
        return (!named.contains(&id)).then(|| json!({ "id": kind, "enabled": true }));
    };
    if named.contains(&id) {
        return None;
    }
    let mut setting = Map::from_iter([("id".to_owned(), kind.clone())]);
    let mut config = Map::new();
    for (key, value) in rule {
        let place = if key == "enabled" { &mut setting } else { &mut config };
        if key != "type" {
            place.insert(key.clone(), value.clone());
        }
    }
    if !config.is_empty() {
        setting.insert("config".to_owned(), Value::Object(config));
    }
    Some(Value::Object(setting))
}

/// Returns the id of a processor without AIO Hub's prefix.
fn canonical(id: &Value) -> Option<String> {
    Some(canonical_id(id.as_str()?).to_owned())
}
