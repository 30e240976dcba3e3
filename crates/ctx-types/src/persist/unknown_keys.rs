use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value};

/// The unknown keys of a value. Clones share memory.
#[derive(Clone, Debug, Default)]
pub struct UnknownKeys(
    /// `None` is an empty object.
    Option<Arc<Value>>,
);

impl UnknownKeys {
    pub(crate) fn new(value: Value) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// Returns the value of an unknown key. A known key may have an empty placeholder.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// Returns the mutable value of an unknown key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.get(key)?;
        self.map_mut()?.get_mut(key)
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.get(key)?;
        self.map_mut()?.shift_remove(key)
    }

    /// Sets an unknown key.
    pub fn set(&mut self, key: &str, value: Value) {
        if let Some(map) = self.map_mut() {
            map.insert(key.to_owned(), value);
        }
    }

    /// Returns whether the file has a value other than an object.
    pub fn is_malformed(&self) -> bool {
        self.malformed().is_some()
    }

    pub(crate) fn map(&self) -> Option<&Map<String, Value>> {
        self.0.as_ref()?.as_object()
    }

    pub(crate) fn map_mut(&mut self) -> Option<&mut Map<String, Value>> {
        let value = self.0.get_or_insert_with(|| Arc::new(Value::Object(Map::new())));
        Arc::make_mut(value).as_object_mut()
    }

    pub(crate) fn malformed(&self) -> Option<&Value> {
        self.0.as_deref().filter(|value| !value.is_object())
    }
}

impl PartialEq for UnknownKeys {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other) || own == other,
            (Some(one), None) | (None, Some(one)) => one.as_object().is_some_and(Map::is_empty),
            (None, None) => true,
        }
    }
}

const MAX_SHARED: usize = 8;

/// Shares values of equal JSON: nodes of a file usually keep the same keys.
#[derive(Debug, Default)]
pub(crate) struct UnknownKeysCache(VecDeque<(String, UnknownKeys)>);

impl UnknownKeysCache {
    pub(crate) fn share(&mut self, kept: &mut UnknownKeys) {
        let Some(value) = &kept.0 else { return };
        let json = value.to_string();
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == json) {
            *kept = known.clone();
            return;
        }
        self.0.truncate(MAX_SHARED - 1);
        self.0.push_front((json, kept.clone()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(one: Value, other: Value, is_shared: bool) {
        let (mut one, mut other, mut sharing) =
            (UnknownKeys::new(one), UnknownKeys::new(other), UnknownKeysCache::default());
        let before = [one.clone(), other.clone()];
        sharing.share(&mut one);
        sharing.share(&mut other);
        assert_eq!([&one, &other], [&before[0], &before[1]]);
        let same = one.0.as_ref().zip(other.0.as_ref()).is_some_and(|(one, other)| Arc::ptr_eq(one, other));
        assert_eq!(same, is_shared);
    }

    #[test]
    fn shares_only_identical_json() {
        check(
            json!({ "id": "", "metadata": { "a": "" } }),
            json!({ "id": "", "metadata": { "a": "" } }),
            true,
        );
        check(json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 }), false);
        check(json!({ "x": { "a": 1, "b": 2 } }), json!({ "x": { "b": 2, "a": 1 } }), false);
        check(json!({ "a": 0.0 }), json!({ "a": -0.0 }), false);
        check(json!({ "a": [{ "b": 1, "c": 2 }] }), json!({ "a": [{ "c": 2, "b": 1 }] }), false);
    }

    #[test]
    fn copies_shared_object_on_write() {
        let (mut one, mut sharing) = (UnknownKeys::new(json!({ "a": 1 })), UnknownKeysCache::default());
        let mut other = one.clone();
        sharing.share(&mut one);
        sharing.share(&mut other);
        other.set("a", json!(2));
        assert_eq!((one.get("a"), other.get("a")), (Some(&json!(1)), Some(&json!(2))));
        assert_eq!(other.remove("b"), None);
        assert_eq!(UnknownKeys::default(), UnknownKeys::new(json!({})));
        assert_ne!(UnknownKeys::default(), UnknownKeys::new(json!([])));
    }
}
