//! Documents that operations are given, and their options.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::OperationError;

/// A document: the name by which findings speak of it, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The name of the file.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Given {
    /// Reads a document: a text is what its file holds, in JSON or YAML; an object with `file` and `text` or `base64`
    /// has a name too; anything else is the content itself.
    pub fn read(value: &Value, kind: &str) -> Result<Self, OperationError> {
        let named = value.as_object().and_then(|map| Some((map, map.get("file")?.as_str()?)));
        match (value, named) {
            (_, Some((map, name))) if map.contains_key("text") || map.contains_key("base64") => {
                Ok(Self { name: name.to_owned(), bytes: bytes(map, kind)? })
            }
            (Value::String(text), _) => {
                let ending = if text.trim_start().starts_with(['{', '[']) { "json" } else { "yaml" };
                Ok(Self { name: format!("{kind}.{ending}"), bytes: text.clone().into_bytes() })
            }
            _ => Ok(Self { name: format!("{kind}.json"), bytes: value.to_string().into_bytes() }),
        }
    }
}

/// The bytes of a file with `text` or `base64`.
fn bytes(file: &Map<String, Value>, kind: &str) -> Result<Vec<u8>, OperationError> {
    if let Some(text) = file.get("text").and_then(Value::as_str) {
        return Ok(text.as_bytes().to_vec());
    }
    let packed = file.get("base64").and_then(Value::as_str).unwrap_or_default();
    unpack(packed).map_err(|error| OperationError { pointer: Some(format!("/{kind}/base64")), ..error })
}

/// Reads base64.
pub(crate) fn unpack(packed: &str) -> Result<Vec<u8>, OperationError> {
    BASE64_STANDARD.decode(packed).map_err(|_| OperationError::usage("the data is not valid base64"))
}

/// Reads options of a type; what is misspelt or of another type is an error that names it.
pub(crate) fn options<T: DeserializeOwned>(map: Map<String, Value>) -> Result<T, OperationError> {
    serde_json::from_value(Value::Object(map)).map_err(OperationError::usage)
}

/// Takes the options of these names out of a map.
pub(crate) fn take(map: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| map.shift_remove_entry(*name)).collect()
}

/// Takes one that must be there.
pub(crate) fn need(map: &mut Map<String, Value>, name: &str) -> Result<Value, OperationError> {
    map.shift_remove(name).ok_or_else(|| OperationError::usage(format!("`{name}` is missing")))
}

/// Takes a text that must be there.
pub(crate) fn need_text(map: &mut Map<String, Value>, name: &str) -> Result<String, OperationError> {
    typed(need(map, name)?, name)
}

/// Takes one that may be absent, or null.
pub(crate) fn optional<T: DeserializeOwned>(
    map: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, OperationError> {
    map.shift_remove(name).map_or(Ok(None), |value| typed(value, name))
}

/// Reads the option of a name; another type than expected is an error that names it.
fn typed<T: DeserializeOwned>(value: Value, name: &str) -> Result<T, OperationError> {
    serde_json::from_value(value).map_err(|error| OperationError {
        pointer: Some(format!("/{name}")),
        ..OperationError::usage(format!("`{name}`: {error}"))
    })
}

/// Refuses what is left of the options.
pub(crate) fn finish(map: &Map<String, Value>) -> Result<(), OperationError> {
    match map.keys().next() {
        Some(name) => Err(OperationError {
            pointer: Some(format!("/{}", ctx_types::internal::pointer_step(name))),
            ..OperationError::usage(format!("unknown option `{name}`"))
        }),
        None => Ok(()),
    }
}
