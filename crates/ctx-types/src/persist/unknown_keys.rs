use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

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

/// Shares equal values: nodes of a file usually keep the same keys.
#[derive(Debug, Default)]
pub(crate) struct UnknownKeysCache(VecDeque<UnknownKeys>);

impl UnknownKeysCache {
    pub(crate) fn share(&mut self, kept: &mut UnknownKeys) {
        if kept.0.is_none() {
            return;
        }
        if let Some(known) = self.0.iter().find(|known| is_same(known, kept)) {
            *kept = known.clone();
            return;
        }
        if self.0.len() >= MAX_SHARED {
            self.0.pop_front();
        }
        self.0.push_back(kept.clone());
    }
}

fn is_same(one: &UnknownKeys, other: &UnknownKeys) -> bool {
    if let (Some(one), Some(other)) = (&one.0, &other.0)
        && Arc::ptr_eq(one, other)
    {
        return true;
    }
    let (Some(one), Some(other)) = (one.map(), other.map()) else { return false };
    is_same_map(one, other)
}

fn is_same_map(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_same_entry = |((one_key, one), (other_key, other)): ((&String, &Value), (&String, &Value))| {
        one_key == other_key && is_same_value(one, other)
    };
    one.len() == other.len() && one.iter().zip(other).all(is_same_entry)
}

fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => is_same_map(one, other),
        // Objects in lists may have another key order.
        (Value::Array(one), Value::Array(other)) => one.is_empty() && other.is_empty(),
        // `0.0 == -0.0`, but their JSON differs.
        (Value::Number(one), Value::Number(other)) => {
            let bits = |number: &Number| number.as_f64().map(f64::to_bits);
            one == other && bits(one) == bits(other)
        }
        (one, other) => one == other,
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
        check(json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 1 }] }), false);
        check(json!("no object"), json!("no object"), false);
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
