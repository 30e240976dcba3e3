//! From the values of `serde_json` and back.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

use super::{Field, File, Json, Object};

/// Borrows the texts of a value. O(size), without a copy of any text.
impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::from(text.as_str()),
            Value::Array(list) => Self::List(list.iter().map(Self::from).collect()),
            Value::Object(map) => Self::Object(Object(fields(map).collect())),
        }
    }
}

/// Takes the texts of a value.
impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::from(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                let fields = map.into_iter().map(|(key, value)| (Cow::Owned(key), Self::from(value)));
                Self::Object(Object(fields.collect()))
            }
        }
    }
}

/// Returns the fields of a map, with its texts borrowed.
pub(crate) fn fields(map: &Map<String, Value>) -> impl Iterator<Item = Field<'_>> {
    map.iter().map(|(key, value)| (Cow::Borrowed(key.as_str()), Json::from(value)))
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Json<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Json<'_> {
    fn from(value: u32) -> Self {
        Self::Number(Number::from(value))
    }
}

impl<'a> From<File<'a>> for Json<'a> {
    fn from(file: File<'a>) -> Self {
        Self::File(Box::new(file))
    }
}

impl<'a> From<Vec<Json<'a>>> for Json<'a> {
    fn from(list: Vec<Self>) -> Self {
        Self::List(list)
    }
}

impl<'a> FromIterator<Json<'a>> for Json<'a> {
    fn from_iter<I: IntoIterator<Item = Self>>(list: I) -> Self {
        Self::List(list.into_iter().collect())
    }
}

impl<'a> From<Object<'a>> for Json<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

impl Json<'_> {
    /// Returns the value, as `serde_json` has it.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone().into_owned()),
            Self::File(file) => Value::String(file.to_text()),
            Self::List(list) => list.iter().map(Self::to_value).collect(),
            Self::Object(Object(fields)) => {
                fields.iter().map(|(key, value)| (key.clone().into_owned(), value.to_value())).collect()
            }
        }
    }

    /// Returns the value with texts and files of its own.
    pub(crate) fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number),
            Self::Text(text) => Json::Text(owned(text)),
            Self::File(file) => {
                let File { head, bytes } = *file;
                Json::from(File { head, bytes: Cow::Owned(bytes.into_owned()) })
            }
            Self::List(list) => list.into_iter().map(Self::into_owned).collect(),
            Self::Object(Object(fields)) => {
                let fields = fields.into_iter().map(|(key, value)| (owned(key), value.into_owned()));
                Json::Object(Object(fields.collect()))
            }
        }
    }
}

impl File<'_> {
    fn to_text(&self) -> String {
        let mut text = self.head.clone();
        STANDARD.encode_string(&self.bytes, &mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_stays_itself_on_every_way() {
        let value = json!({ "a": [null, true, -1, 0.1, "x\n"], "": { "b": {} }, "c": [] });
        for tree in [Json::from(&value), Json::from(value.clone()), Json::from(&value).into_owned()] {
            assert_eq!(tree.to_value(), value);
            assert_eq!(tree.to_string(), value.to_string());
        }
    }

    #[test]
    fn a_file_is_a_text_that_ends_in_its_base64() {
        let file = || File { head: "data:,\"".to_owned(), bytes: Cow::Borrowed(&[0, 1, 254][..]) };
        for tree in [Json::from(file()), Json::from(file()).into_owned()] {
            assert_eq!(tree.to_value(), json!("data:,\"AAH+"));
            assert_eq!(tree.to_string(), r#""data:,\"AAH+""#);
        }
    }
}
