//! Keys of objects: texts in JSON, any scalar in YAML.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Visitor};

/// A key of an object.
pub(super) struct Key {
    pub(super) text: String,
    /// The type of a key that is not a string.
    pub(super) other_type: Option<&'static str>,
}

impl Key {
    fn other(text: String, other_type: &'static str) -> Self {
        Self { text, other_type: Some(other_type) }
    }
}

/// Reads a key.
pub(super) struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string as key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(Key { text: key.to_owned(), other_type: None })
    }

    fn visit_string<E>(self, key: String) -> Result<Key, E> {
        Ok(Key { text: key, other_type: None })
    }

    fn visit_bool<E>(self, key: bool) -> Result<Key, E> {
        Ok(Key::other(key.to_string(), "a boolean"))
    }

    fn visit_i64<E>(self, key: i64) -> Result<Key, E> {
        Ok(Key::other(key.to_string(), "a number"))
    }

    fn visit_u64<E>(self, key: u64) -> Result<Key, E> {
        Ok(Key::other(key.to_string(), "a number"))
    }

    fn visit_f64<E>(self, key: f64) -> Result<Key, E> {
        Ok(Key::other(key.to_string(), "a number"))
    }

    fn visit_unit<E>(self) -> Result<Key, E> {
        Ok(Key::other("null".to_owned(), "null"))
    }
}
