//! Reading fields of files whose writers were not strict about types.

use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// Returns what stands under a key.
///
/// Most objects that are asked are messages, many of them and of a few keys: to compare those costs less than to hash.
pub(crate) fn get<'v>(map: &'v Object, key: &str) -> Option<&'v Value> {
    if map.len() > FEW_KEYS {
        return map.get(key);
    }
    map.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
}

const FEW_KEYS: usize = 8;

pub(crate) fn text<'v>(map: &'v Object, key: &str) -> Option<&'v str> {
    map.get(key).and_then(Value::as_str)
}

/// Returns a text that is more than white space.
pub(crate) fn said<'v>(map: &'v Object, key: &str) -> Option<&'v str> {
    text(map, key).filter(|text| !text.trim().is_empty())
}

/// Reads a number, also one in quotes.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|number: &f64| number.is_finite())
}

/// Returns a whole number, also one in quotes.
pub(crate) fn whole(map: &Object, key: &str) -> Option<i64> {
    whole_of(map.get(key)?)
}

/// Reads a whole number, also one in quotes.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, far beyond any depth or order")]
pub(crate) fn whole_of(value: &Value) -> Option<i64> {
    number_of(value).filter(|number| number.fract() == 0.0).map(|number| number as i64)
}

/// Reads a number, rounded down, also one in quotes.
pub(crate) fn floor_of(value: &Value) -> Option<i64> {
    whole_of(&Value::from(number_of(value)?.floor()))
}

pub(crate) fn flag(map: &Object, key: &str) -> Option<bool> {
    map.get(key).and_then(Value::as_bool)
}

pub(crate) fn object<'v>(map: &'v Object, key: &str) -> Option<&'v Object> {
    map.get(key).and_then(Value::as_object)
}
