//! Variables as SillyTavern reads and adds to them.

use ctx_types::{Text, Trust};
use serde_json::Value as Json;

use crate::call::Failure;
use crate::number;
use crate::state::{Scope, State};

/// Reads a variable: a text that is a number is written as that number (`007` gives `7`).
pub(crate) fn read(state: &State, scope: Scope, name: &str) -> Option<(Text, Trust)> {
    let (text, trust) = (state.variable(scope, name)?, state.variable_trust(scope, name)?);
    Some((number::normal(text).map_or_else(|| text.clone(), Text::from), trust))
}

/// Adds to a variable and returns what it holds then: to a JSON list an element, to a number a number, to
/// anything else a text.
pub(crate) fn add(
    state: &mut State,
    scope: Scope,
    name: &str,
    value: &str,
    trust: Trust,
) -> Result<(Text, Trust), Failure> {
    let (old, known) = read(state, scope, name).unwrap_or((Text::default(), trust));
    let trust = known.max(trust);
    if let Some(list) = appended(&old, value) {
        put(state, scope, name, list, trust)?;
    } else if let (Some(left), Some(right)) = (number::read(&old), number::read(value)) {
        state.set_number(scope, name, left + right, trust)?;
    } else {
        put(state, scope, name, [old.as_str(), value].concat(), trust)?;
    }
    Ok((state.variable(scope, name).cloned().unwrap_or_default(), trust))
}

fn put(state: &mut State, scope: Scope, name: &str, value: String, trust: Trust) -> Result<(), Failure> {
    state.take_output(value.len()).map_err(Failure::limit)?;
    state.set_variable(scope, name, Text::from(value), trust)
}

/// Returns a JSON list with one more text; `None` if `list` is none.
fn appended(list: &str, value: &str) -> Option<String> {
    if !list.trim_start().starts_with('[') {
        return None;
    }
    let Json::Array(mut elements) = serde_json::from_str(list).ok()? else {
        return None;
    };
    elements.push(Json::from(value));
    elements.iter_mut().for_each(write_numbers_as_javascript);
    serde_json::to_string(&elements).ok()
}

/// Makes integers of whole numbers, which JavaScript writes without a fraction. The depth is that of a JSON
/// text, which its reader limits.
fn write_numbers_as_javascript(value: &mut Json) {
    match value {
        Json::Number(number) => {
            if let Some(read) = number.as_f64() {
                *value = number::json(&number::write(read));
            }
        }
        Json::Array(elements) => elements.iter_mut().for_each(write_numbers_as_javascript),
        Json::Object(fields) => fields.values_mut().for_each(write_numbers_as_javascript),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}
