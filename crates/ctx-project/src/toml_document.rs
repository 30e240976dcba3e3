//! TOML as a JSON value, which is what everything else here reads.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

/// Reads a document; or says what is wrong with it, and at which bytes.
pub(crate) fn read(text: &str) -> Result<Value, (String, Range<usize>)> {
    match DeTable::parse(text) {
        Ok(table) => Ok(object(table.get_ref())),
        Err(error) => Err((error.message().replace('\n', ", "), error.span().unwrap_or_default())),
    }
}

/// No deeper than the parser allows.
fn value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(number) => {
            let (digits, radix) = (number.as_str(), number.radix());
            let whole = i64::from_str_radix(digits, radix).map(Value::from);
            let whole = whole.or_else(|_| u64::from_str_radix(digits, radix).map(Value::from));
            whole.unwrap_or_else(|_| self::number(digits))
        }
        DeValue::Float(number) => self::number(number.as_str()),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| self::value(item.get_ref())).collect()),
        DeValue::Table(table) => object(table),
    }
}

/// A number as near as JSON comes to it; as a text if it has nothing like it.
fn number(text: &str) -> Value {
    let finite = text.parse().ok().and_then(Number::from_f64);
    finite.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn object(table: &DeTable<'_>) -> Value {
    let members = table.iter().map(|(key, member)| (key.get_ref().to_string(), value(member.get_ref())));
    Value::Object(members.collect::<Map<_, _>>())
}
