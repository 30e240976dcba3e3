//! A bounded map that evicts the oldest values of the owner with the largest ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::lock;

/// The newest values by key, up to a total weight. An owner cannot evict the values of owners with less weight.
#[derive(Debug)]
pub(crate) struct BoundedMap<K, V> {
    max_weight: usize,
    entries: Mutex<Entries<K, V>>,
}

#[derive(Debug)]
struct Entries<K, V> {
    values: BTreeMap<K, Entry<V>>,
    owners: BTreeMap<Arc<str>, OwnedEntries<K>>,
    next: u64,
    weight: usize,
}

#[derive(Debug)]
struct OwnedEntries<K> {
    by_age: BTreeMap<u64, K>,
    weight: usize,
}

#[derive(Debug)]
struct Entry<V> {
    owner: Arc<str>,
    age: u64,
    weight: usize,
    value: V,
}

impl<K: Clone + Ord, V: Clone> BoundedMap<K, V> {
    /// Creates an empty map.
    pub(crate) const fn new(max_weight: usize) -> Self {
        let entries = Entries { values: BTreeMap::new(), owners: BTreeMap::new(), next: 0, weight: 0 };
        Self { max_weight, entries: Mutex::new(entries) }
    }

    /// Keeps a value of weight 1, and replaces the value of the same key. All such values have one owner. O(log n).
    pub(crate) fn insert(&self, key: K, value: V) {
        self.insert_weighted("", key, value, 1);
    }

    /// Keeps a value of an owner. Above the total weight, evicts the oldest values of the owner with the most weight.
    /// O(owners) for each evicted value.
    pub(crate) fn insert_weighted(&self, owner: &str, key: K, value: V, weight: usize) {
        let mut entries = lock(&self.entries);
        entries.remove(&key);
        let (age, owner): (u64, Arc<str>) = (entries.next, owner.into());
        entries.next += 1;
        entries.weight += weight;
        let empty = || OwnedEntries { by_age: BTreeMap::new(), weight: 0 };
        let owned = entries.owners.entry(Arc::clone(&owner)).or_insert_with(empty);
        owned.weight += weight;
        owned.by_age.insert(age, key.clone());
        entries.values.insert(key, Entry { owner, age, weight, value });
        while entries.weight > self.max_weight
            && let Some(oldest) = entries.oldest_of_largest()
        {
            entries.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        lock(&self.entries).values.get(key).map(|entry| entry.value.clone())
    }

    /// Removes a value and returns it.
    pub(crate) fn take(&self, key: &K) -> Option<V> {
        lock(&self.entries).remove(key)
    }

    /// Removes the values for which this returns `false`. O(n log n).
    pub(crate) fn retain(&self, mut is_kept: impl FnMut(&K, &V) -> bool) {
        let mut entries = lock(&self.entries);
        let removed = entries.values.iter().filter(|(key, entry)| !is_kept(key, &entry.value));
        let removed: Vec<K> = removed.map(|(key, _)| key.clone()).collect();
        for key in removed {
            entries.remove(&key);
        }
    }
}

impl<K: Clone + Ord, V> Entries<K, V> {
    /// Returns the key of the oldest value of the owner with the most weight.
    fn oldest_of_largest(&self) -> Option<K> {
        let largest = self.owners.values().max_by_key(|owned| owned.weight)?;
        largest.by_age.values().next().cloned()
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let Entry { owner, age, weight, value } = self.values.remove(key)?;
        self.weight -= weight;
        let owned = self.owners.get_mut(&owner).expect("the owner of an entry is known");
        owned.by_age.remove(&age);
        owned.weight -= weight;
        if owned.by_age.is_empty() {
            self.owners.remove(&owner);
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_oldest_values_above_weight() {
        let map = BoundedMap::new(4);
        for (key, value, weight) in [(1, 'a', 1), (2, 'b', 1), (1, 'c', 2), (3, 'd', 2)] {
            map.insert_weighted("", key, value, weight);
        }
        assert_eq!([1, 2, 3].map(|key| map.get(&key)), [Some('c'), None, Some('d')]);
        map.retain(|_, value| *value != 'd');
        assert_eq!((map.take(&1), map.get(&1), map.get(&3)), (Some('c'), None, None));
        map.insert_weighted("", 4, 'e', 9);
        assert_eq!([3, 4].map(|key| map.get(&key)), [None, None]);
    }

    #[test]
    fn evicts_values_of_owner_with_most_weight() {
        let map = BoundedMap::new(4);
        for (owner, key) in [("a", 1), ("b", 2), ("b", 3), ("b", 4), ("b", 5), ("b", 6), ("c", 7)] {
            map.insert_weighted(owner, key, (), 1);
        }
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 7].map(|key| map.get(&key).is_some()),
            [true, false, false, false, true, true, true]
        );
    }
}
