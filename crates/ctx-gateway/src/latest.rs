//! A bounded map that evicts the oldest values.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The newest values by key, up to a total weight.
#[derive(Debug)]
pub(crate) struct Latest<K, V> {
    max_weight: usize,
    kept: Mutex<Kept<K, V>>,
}

#[derive(Debug)]
struct Kept<K, V> {
    values: BTreeMap<K, Entry<V>>,
    by_age: BTreeMap<u64, K>,
    next: u64,
    weight: usize,
}

#[derive(Debug)]
struct Entry<V> {
    age: u64,
    weight: usize,
    value: V,
}

impl<K: Clone + Ord, V: Clone> Latest<K, V> {
    /// Creates an empty map.
    pub(crate) const fn new(max_weight: usize) -> Self {
        let kept = Kept { values: BTreeMap::new(), by_age: BTreeMap::new(), next: 0, weight: 0 };
        Self { max_weight, kept: Mutex::new(kept) }
    }

    /// Keeps a value of weight 1, and replaces the value of the same key. O(log n).
    pub(crate) fn keep(&self, key: K, value: V) {
        self.keep_weighing(key, value, 1);
    }

    /// Keeps a value, and evicts the oldest ones above the total weight.
    pub(crate) fn keep_weighing(&self, key: K, value: V, weight: usize) {
        let mut kept = self.lock();
        kept.remove(&key);
        let age = kept.next;
        kept.next += 1;
        kept.weight += weight;
        kept.by_age.insert(age, key.clone());
        kept.values.insert(key, Entry { age, weight, value });
        while kept.weight > self.max_weight
            && let Some(oldest) = kept.by_age.values().next().cloned()
        {
            kept.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.lock().values.get(key).map(|kept| kept.value.clone())
    }

    /// Removes a value and returns it.
    pub(crate) fn take(&self, key: &K) -> Option<V> {
        self.lock().remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord, V> Kept<K, V> {
    fn remove(&mut self, key: &K) -> Option<V> {
        let Entry { age, weight, value } = self.values.remove(key)?;
        self.by_age.remove(&age);
        self.weight -= weight;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_oldest_values_above_weight() {
        let latest = Latest::new(4);
        for (key, value, weight) in [(1, 'a', 1), (2, 'b', 1), (1, 'c', 2), (3, 'd', 2)] {
            latest.keep_weighing(key, value, weight);
        }
        assert_eq!([1, 2, 3].map(|key| latest.get(&key)), [Some('c'), None, Some('d')]);
        assert_eq!((latest.take(&1), latest.get(&1)), (Some('c'), None));
        latest.keep_weighing(4, 'e', 9);
        assert_eq!([3, 4].map(|key| latest.get(&key)), [None, None]);
    }
}
