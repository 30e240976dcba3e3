//! Values of TOML: made of those of JSON, and put in the place of others.

use serde_json::{Number, Value as Json};
use toml_edit::{InlineTable, Value};

use ctx_operations::document_edit::EditError;

/// Puts a value in the place of another one.
pub(super) fn replace(old: &mut Value, new: &Json) -> Result<(), EditError> {
    let value = match new {
        Json::String(text) => quoted_as(text, old).map_or_else(|| of(new), Ok)?,
        _ => of(new)?,
    };
    let decor = old.decor().clone();
    *old = value;
    *old.decor_mut() = decor;
    Ok(())
}

/// Writes a value as TOML.
pub(super) fn of(value: &Json) -> Result<Value, EditError> {
    Ok(match value {
        Json::Null => return Err(EditError::NoNull),
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => of_number(number).ok_or(EditError::ChangesMore)?,
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(of).collect::<Result<_, _>>()?),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| Ok((key.as_str(), of(value)?)));
            Value::InlineTable(members.collect::<Result<InlineTable, EditError>>()?)
        }
    })
}

fn of_number(number: &Number) -> Option<Value> {
    let float = || number.as_f64().filter(|_| number.is_f64()).map(Value::from);
    number.as_i64().map(Value::from).or_else(float)
}

/// A text in the single quotes of another one, if they can hold it.
fn quoted_as(text: &str, old: &Value) -> Option<Value> {
    let Value::String(old) = old else { return None };
    let old = old.display_repr();
    let quoted = match old.get(..3) {
        Some("'''") => format!("'''\n{text}'''"),
        _ if old.starts_with('\'') => format!("'{text}'"),
        _ => return None,
    };
    quoted.parse().ok().filter(|value: &Value| value.as_str() == Some(text))
}
