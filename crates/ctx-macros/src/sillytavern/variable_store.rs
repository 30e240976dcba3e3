//! Variable reads and additions as in SillyTavern.

use std::borrow::Cow;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Text, Trust, phrase};
use serde_json::Value as Json;

use crate::call::Failure;
use crate::codes;
use crate::number;
use crate::state::{Scope, State};

/// `007` becomes `7`.
pub(crate) fn read(state: &State, scope: Scope, name: &str) -> Option<(Text, Trust)> {
    let (text, trust) = (state.variable(scope, name)?, state.variable_trust(scope, name)?);
    Some((number::normal(text).map_or_else(|| text.clone(), Text::from), trust))
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Addend<'a> {
    Text(&'a str),
    Number(f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) text: Text,
    pub(crate) trust: Trust,
    pub(crate) finding: Option<Diagnostic>,
}

/// Adds an element to a JSON list, a number to a number, or a text to anything else. If the sum is NaN,
/// leaves the variable unchanged and returns an empty text.
pub(crate) fn add(
    state: &mut State,
    scope: Scope,
    name: &str,
    added: Addend<'_>,
    trust: Trust,
) -> Result<Sum, Failure> {
    let (old, known) = read(state, scope, name).unwrap_or((Text::default(), trust));
    let trust = known.max(trust);
    let mut finding = None;
    if let Some(list) = append_to_list(&old, added) {
        put(state, scope, name, list, trust)?;
    } else if let (Some(left), Some(right)) = (number::read(&old), added.number()) {
        let sum = left + right;
        finding = number::inexact(name, sum);
        if sum.is_nan() {
            return Ok(Sum { text: Text::default(), trust, finding });
        }
        state.set_number(scope, name, sum, trust)?;
    } else {
        finding = added.is_number().then(|| no_number(name));
        // SillyTavern treats 0 as unset here.
        let old = if old == "0" { "" } else { old.as_str() };
        put(state, scope, name, [old, &added.text()].concat(), trust)?;
    }
    let text = state.variable(scope, name).cloned().unwrap_or_default();
    Ok(Sum { text, trust, finding })
}

fn no_number(name: &str) -> Diagnostic {
    let message = phrase!("variable `{name}` is not a number; the value is appended", name = excerpt(name));
    Diagnostic::warning(codes::NOT_A_NUMBER, message)
}

impl<'a> Addend<'a> {
    fn number(self) -> Option<f64> {
        match self {
            Self::Text(text) => number::read(text),
            Self::Number(number) => Some(number),
        }
    }

    const fn is_number(self) -> bool {
        matches!(self, Self::Number(_))
    }

    fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number::write(number)),
        }
    }

    fn json(self) -> Json {
        match self {
            Self::Text(text) => Json::from(text),
            Self::Number(number) => number::json(&number::write(number)),
        }
    }
}

fn put(state: &mut State, scope: Scope, name: &str, value: String, trust: Trust) -> Result<(), Failure> {
    state.take_output(value.len())?;
    state.set_variable(scope, name, Text::from(value), trust)
}

/// Returns `None` if `list` is not a list. The output limit bounds the work: each result is written.
fn append_to_list(list: &str, added: Addend<'_>) -> Option<String> {
    if !may_be_list(list) {
        return None;
    }
    let Ok(Json::Array(mut elements)) = serde_json::from_str(list) else { return None };
    elements.push(added.json());
    elements.iter_mut().for_each(write_numbers_as_javascript);
    serde_json::to_string(&elements).ok()
}

fn may_be_list(text: &str) -> bool {
    let inner = text.trim_ascii().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let first = inner.map(|inner| inner.trim_ascii_start().bytes().next());
    first.is_some_and(|first| first.is_none_or(|byte| b"[{\"-0123456789tfn".contains(&byte)))
}

/// Integers have no fraction. The JSON parser limits the depth.
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
