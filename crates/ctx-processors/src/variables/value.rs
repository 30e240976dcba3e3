use std::borrow::Cow;
use std::sync::Arc;

use ctx_macros::internal::number;
use serde_json::Value;

/// Value of a session variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VariableValue {
    /// A finite number.
    Number(f64),
    /// A text.
    Text(Arc<str>),
    /// Any other JSON value.
    Json(Arc<Value>),
}

impl VariableValue {
    /// Parses JSON that starts with a brace or a bracket, or a number as in JavaScript. Other text is
    /// unchanged.
    pub fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        if trimmed.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str(trimmed)
        {
            return Self::Json(Arc::new(value));
        }
        match number::read(text).filter(|number| number.is_finite() && !trimmed.is_empty()) {
            Some(number) => Self::Number(number),
            None => Self::Text(Arc::from(text)),
        }
    }

    /// Reads a value of a file; strings as in [`VariableValue::parse`].
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::Text(Arc::from("")),
            Value::String(text) => Self::parse(text),
            Value::Number(number) => {
                number.as_f64().map_or_else(|| Self::Text(Arc::from(number.to_string())), Self::Number)
            }
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => Self::Json(Arc::new(value.clone())),
        }
    }

    /// Returns the number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Json(_) => None,
        }
    }

    /// Returns the text of the value: numbers as in JavaScript, JSON without spaces.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Number(number) => Cow::Owned(number::write(*number)),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(value.to_string()),
        }
    }

    /// Returns the value as JSON; a whole number has no fraction.
    #[expect(clippy::cast_possible_truncation, reason = "an exactly representable integer")]
    pub fn to_json(&self) -> Value {
        /// All smaller integers are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => {
                Value::from(*number as i64)
            }
            Self::Number(number) => Value::from(*number),
            Self::Text(text) => Value::from(&**text),
            Self::Json(value) => Value::clone(value),
        }
    }

    pub(crate) fn at(&self, path: &str) -> Option<Self> {
        self.json_at(path).map(|inner| match inner {
            Value::String(text) => Self::Text(Arc::from(text.as_str())),
            other => Self::from_json(other),
        })
    }

    pub(crate) fn json_at(&self, path: &str) -> Option<&Value> {
        let Self::Json(value) = self else { return None };
        path.split('.').try_fold(&**value, |value, step| match value {
            Value::Object(map) => map.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Sets a field, a list element, or the element after the last.
    pub(crate) fn set_at(&mut self, path: &str, new: Value) -> bool {
        let Self::Json(value) = self else { return false };
        let (parent, last) =
            path.rsplit_once('.').map_or((None, path), |(parent, last)| (Some(parent), last));
        let mut steps = parent.into_iter().flat_map(|parent| parent.split('.'));
        let parent = steps.try_fold(Arc::make_mut(value), |value, step| match value {
            Value::Object(map) => map.get_mut(step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        });
        match parent {
            Some(Value::Object(map)) => {
                map.insert(last.to_owned(), new);
                true
            }
            Some(Value::Array(items)) => match last.parse::<usize>() {
                Ok(index) if index == items.len() => {
                    items.push(new);
                    true
                }
                Ok(index) => items.get_mut(index).map(|item| *item = new).is_some(),
                Err(_) => false,
            },
            _ => false,
        }
    }

    pub(crate) fn has_parts(&self) -> bool {
        matches!(self, Self::Json(value) if value.is_object() || value.is_array())
    }

    /// Approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Number(_) => size_of::<f64>(),
            Self::Text(text) => text.len(),
            Self::Json(value) => value.to_string().len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, json: Value, shown: &str) {
        let value = VariableValue::parse(text);
        assert_eq!((value.to_json(), &*value.to_text()), (json, shown));
    }

    #[test]
    fn infers_type_from_text() {
        check("50", json!(50), "50");
        check(" -1.50 ", json!(-1.5), "-1.5");
        check("1e21", json!(1e21), "1e+21");
        check("", json!(""), "");
        check("  ", json!("  "), "  ");
        check("3 apples", json!("3 apples"), "3 apples");
        check("Infinity", json!("Infinity"), "Infinity");
        check("{\"a\": [1, \"x\"]}", json!({ "a": [1, "x"] }), "{\"a\":[1,\"x\"]}");
        check("{not json}", json!("{not json}"), "{not json}");
        check("true", json!("true"), "true");
    }

    #[test]
    fn converts_json_values() {
        let of = |value: Value| VariableValue::from_json(&value).to_json();
        assert_eq!(of(json!("20")), json!(20));
        assert_eq!(of(json!(null)), json!(""));
        assert_eq!(of(json!(true)), json!(true));
        assert_eq!(of(json!(0.5)), json!(0.5));
    }

    #[test]
    fn follows_path_into_json() {
        let value = VariableValue::parse("{\"items\": [{\"name\": \"sword\"}, 7]}");
        assert_eq!(value.at("items.0.name").unwrap().to_text(), "sword");
        assert_eq!(value.at("items.1").unwrap().to_text(), "7");
        assert!(value.at("items.2").is_none() && value.at("items.x").is_none() && value.at("name").is_none());
    }
}
