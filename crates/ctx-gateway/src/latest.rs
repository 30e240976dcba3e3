//! What is remembered of the latest: the oldest is forgotten.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values by their keys, of which the latest are kept.
#[derive(Debug)]
pub(crate) struct Latest<K, V> {
    most: usize,
    kept: Mutex<Kept<K, V>>,
}

#[derive(Debug)]
struct Kept<K, V> {
    values: BTreeMap<K, (u64, V)>,
    by_age: BTreeMap<u64, K>,
    next: u64,
}

impl<K: Clone + Ord, V: Clone> Latest<K, V> {
    /// Begins with nothing, to keep so many at the most.
    pub(crate) const fn new(most: usize) -> Self {
        let kept = Kept { values: BTreeMap::new(), by_age: BTreeMap::new(), next: 0 };
        Self { most, kept: Mutex::new(kept) }
    }

    /// Keeps a value, in place of another one of its key. O(log n).
    pub(crate) fn keep(&self, key: K, value: V) {
        let mut kept = self.lock();
        let age = kept.next;
        kept.next += 1;
        if let Some((before, _)) = kept.values.insert(key.clone(), (age, value)) {
            kept.by_age.remove(&before);
        }
        kept.by_age.insert(age, key);
        if kept.by_age.len() > self.most
            && let Some((_, oldest)) = kept.by_age.pop_first()
        {
            kept.values.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.lock().values.get(key).map(|(_, value)| value.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_and_what_is_kept_again_is_new() {
        let latest = Latest::new(2);
        for (key, value) in [(1, 'a'), (2, 'b'), (1, 'c'), (3, 'd')] {
            latest.keep(key, value);
        }
        assert_eq!([1, 2, 3].map(|key| latest.get(&key)), [Some('c'), None, Some('d')]);
    }
}
