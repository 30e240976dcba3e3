//! Old shapes inside an agent's `parameters`.

use std::collections::BTreeSet;

use ctx_types::{Diagnostic, canonical_id, plural};
use serde_json::{Map, Value, json};

use crate::codes;

/// Puts custom parameters that are the object itself under `params`.
pub(crate) fn custom(parameters: &mut Value) -> Option<Diagnostic> {
    let custom = parameters.get_mut("custom")?;
    let old = custom.as_object()?;
    if old.contains_key("enabled") || old.contains_key("params") {
        return None;
    }
    *custom = json!({ "enabled": !old.is_empty(), "params": Map::clone(old) });
    let message = "the custom parameters are put under `params`, with `enabled` beside them";
    Some(Diagnostic::info(codes::MIGRATED_PARAMETERS, message).at_pointer("/parameters/custom"))
}

/// Turns formatter rules into settings of processors; what is no rule stays.
///
/// A rule is `{type, enabled, …}` with its settings as further keys, or just the type of one that is on.
pub(crate) fn rules(parameters: &mut Value) -> Option<Diagnostic> {
    let parameters = parameters.as_object_mut()?;
    let mut processors = match parameters.get("processors") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(processors)) => processors.clone(),
        Some(_) => return None,
    };
    let named = named(&processors);
    let rules = parameters.get_mut("contextPostProcessing")?.get_mut("rules")?.as_array_mut()?;
    let settings: Vec<Option<Value>> = rules.iter().map(|rule| setting(rule, &named)).collect();
    let count = settings.iter().flatten().count();
    if count == 0 {
        return None;
    }
    let mut is_read = settings.iter().map(Option::is_some);
    rules.retain(|_| !is_read.next().unwrap_or(false));
    processors.extend(settings.into_iter().flatten());
    parameters.insert("processors".to_owned(), Value::Array(processors));
    let verb = if count == 1 { "moves" } else { "move" };
    let message = format!("{} {verb} from `contextPostProcessing` to `processors`", plural(count, "rule"));
    let pointer = "/parameters/contextPostProcessing/rules";
    Some(Diagnostic::info(codes::MIGRATED_RULES, message).at_pointer(pointer))
}

/// Tells of each formatter rule which setting of a processor [`rules`] makes of it; none if it makes none of any.
pub(crate) fn moving(parameters: &Value) -> Option<Vec<Option<usize>>> {
    let none = Vec::new();
    let processors = match parameters.get("processors") {
        None | Some(Value::Null) => &none,
        Some(processors) => processors.as_array()?,
    };
    let named = named(processors);
    let rules = parameters.get("contextPostProcessing")?.get("rules")?.as_array()?;
    let mut numbers = processors.len()..;
    let number = |rule: &Value| setting(rule, &named).and_then(|_| numbers.next());
    let moves: Vec<Option<usize>> = rules.iter().map(number).collect();
    moves.iter().any(Option::is_some).then_some(moves)
}

/// Returns the processors that are set.
fn named(processors: &[Value]) -> BTreeSet<String> {
    processors.iter().filter_map(|setting| canonical(setting.get("id")?)).collect()
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
