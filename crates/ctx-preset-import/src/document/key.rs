//! Keys of objects: texts in JSON, any scalar in YAML.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Visitor};

/// A key of an object.
pub(super) enum Key {
    /// A text.
    Text(String),
    /// A key of another type: its text and what it is.
    Other(String, &'static str),
}

impl Key {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Other(text, _) => text,
        }
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
        Ok(Key::Text(key.to_owned()))
    }

    fn visit_string<E>(self, key: String) -> Result<Key, E> {
        Ok(Key::Text(key))
    }

    fn visit_bool<E>(self, key: bool) -> Result<Key, E> {
        Ok(Key::Other(key.to_string(), "a boolean"))
    }

    fn visit_i64<E>(self, key: i64) -> Result<Key, E> {
        Ok(Key::Other(key.to_string(), "a number"))
    }

    fn visit_u64<E>(self, key: u64) -> Result<Key, E> {
        Ok(Key::Other(key.to_string(), "a number"))
    }

    fn visit_f64<E>(self, key: f64) -> Result<Key, E> {
        Ok(Key::Other(key.to_string(), "a number"))
    }

    fn visit_unit<E>(self) -> Result<Key, E> {
        Ok(Key::Other("null".to_owned(), "null"))
    }
}
