//! JSON trees that borrow what they are made of.
//!
//! Most of a body is text that somebody wrote already: a tree points to it, and it is copied once, into the bytes.

mod convert;
mod write;

use std::borrow::Cow;

use serde_json::Number;

pub(crate) use convert::fields;

/// A value of a body, or of somebody's body that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Json<'a> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// A text that ends in the base64 of a file; seldom, so that it does not make every value larger.
    File(Box<File<'a>>),
    List(Vec<Self>),
    Object(Object<'a>),
}

/// A text that is made of bytes when it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File<'a> {
    /// What stands before the base64, such as the head of a `data:` address.
    pub(crate) head: String,
    /// What is written in base64.
    pub(crate) bytes: Cow<'a, [u8]>,
}

/// Fields in their order, no key twice.
///
/// The objects of bodies are small, so that keys are looked for one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<'a>(Vec<Field<'a>>);

/// A key and its value.
pub(crate) type Field<'a> = (Cow<'a, str>, Json<'a>);

/// Makes an object of fields in this order.
pub(crate) fn object<'a, const N: usize>(fields: [(&'static str, Json<'a>); N]) -> Json<'a> {
    Json::Object(Object(fields.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect()))
}

impl<'a> Json<'a> {
    /// Returns a field of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Returns what fields within fields lead to.
    pub(crate) fn at<const N: usize>(&self, keys: [&str; N]) -> Option<&Self> {
        keys.into_iter().try_fold(self, Self::get)
    }

    /// Returns a text; that of a file is not made before it is written, and nobody looks at it.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::File(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Puts a value under a key of an object; anything else stays as it is.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Self>) {
        if let Some(object) = self.as_object_mut() {
            object.set(key, value);
        }
    }

    /// Takes the value and leaves `null`.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Takes the value of a field and leaves `null`, also where there is no such field.
    pub(crate) fn take_field(&mut self, key: &str) -> Self {
        let field = self.as_object_mut().and_then(|object| object.get_mut(key));
        field.map(Self::take).unwrap_or_default()
    }
}

impl<'a> Object<'a> {
    pub(crate) fn with_capacity(fields: usize) -> Self {
        Self(Vec::with_capacity(fields))
    }

    /// Makes an object of fields of which several may have one key: the last value, in the place of the first.
    ///
    /// O(fields × log fields).
    pub(crate) fn merged(fields: impl IntoIterator<Item = Field<'a>>) -> Self {
        let mut object = Self::default();
        let mut places = std::collections::BTreeMap::new();
        for (key, value) in fields {
            let at = *places.entry(key.clone()).or_insert(object.0.len());
            match object.0.get_mut(at) {
                Some((_, former)) => *former = value,
                None => object.0.push((key, value)),
            }
        }
        object
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Field<'a>> {
        self.0.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json<'a>> {
        self.0.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Adds a field that the object does not have yet.
    pub(crate) fn push(&mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Json<'a>>) {
        self.0.push((key.into(), value.into()));
    }

    /// Adds a field, or puts another value in its place. O(fields).
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Json<'a>>) {
        match self.get_mut(key) {
            Some(former) => *former = value.into(),
            None => self.push(key, value),
        }
    }

    /// Removes a field.
    pub(crate) fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| known != key);
    }

    /// Adds fields that the object does not have yet.
    pub(crate) fn append(&mut self, mut fields: Self) {
        self.0.append(&mut fields.0);
    }

    /// Returns whether one of the first `fields` has a key.
    pub(crate) fn has_within(&self, fields: usize, key: &str) -> bool {
        self.0.iter().take(fields).any(|(known, _)| known == key)
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = Field<'a>;
    type IntoIter = std::vec::IntoIter<Field<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_fields_with_one_key_the_last_value_stands_in_the_first_place() {
        let fields = [("a", 1_u32), ("b", 2), ("a", 3)];
        let fields = fields.map(|(key, value)| (Cow::Borrowed(key), Json::from(value)));
        assert_eq!(Json::Object(Object::merged(fields)).to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn a_field_is_added_or_replaced() {
        let mut value = object([("a", Json::Null)]);
        value.set("b", true);
        value.set("a", "x");
        assert_eq!(value.to_string(), r#"{"a":"x","b":true}"#);
        assert_eq!((value.take_field("a"), value.take_field("c")), (Json::from("x"), Json::Null));
        assert_eq!(value.to_string(), r#"{"a":null,"b":true}"#);
    }
}
