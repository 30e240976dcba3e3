//! What a preview tells in lists: whole, or what differs from those of an earlier preview.

use std::collections::BTreeMap;
use std::hash::Hash;

use similar::DiffOp;

use super::KeptRow;
use super::difference::operations;
use crate::api::Finding;
use crate::api_preview::{DecisionView, ListSplice, Listed, Row, StageView};

/// How many changed places are told; of more, the whole list is one.
const MAX_SPLICES: usize = 200;

/// The lists of a preview.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) rows: Vec<KeptRow>,
    pub(super) decisions: Vec<DecisionView>,
    pub(super) stages: Vec<StageView>,
    pub(super) findings: Vec<Finding>,
    pub(super) entry_tokens: BTreeMap<String, u64>,
}

impl Lists {
    pub(super) fn rows_since(&self, before: Option<&Self>) -> Listed<Row> {
        let row = |at: usize| self.rows[at].row.clone();
        let keys = |lists: &'_ Self| lists.rows.iter().map(|kept| kept.row.key.clone()).collect::<Vec<_>>();
        match before {
            None => Listed::All((0..self.rows.len()).map(row).collect()),
            Some(before) => {
                Listed::Splices { splices: splices(&keys(before), &keys(self), row), total: self.rows.len() }
            }
        }
    }

    /// Returns the tokens of entries that differ: none for an entry that is sent no more.
    pub(super) fn tokens_since(&self, before: Option<&Self>) -> BTreeMap<String, Option<u64>> {
        let known = before.map(|before| &before.entry_tokens);
        let is_known =
            |pointer: &String, tokens: &u64| known.and_then(|known| known.get(pointer)) == Some(tokens);
        let gone = known.into_iter().flat_map(BTreeMap::keys);
        let gone = gone.filter(|pointer| !self.entry_tokens.contains_key(*pointer));
        let changed = self.entry_tokens.iter().filter(|(pointer, tokens)| !is_known(pointer, tokens));
        let changed = changed.map(|(pointer, tokens)| (pointer.clone(), Some(*tokens)));
        changed.chain(gone.map(|pointer| (pointer.clone(), None))).collect()
    }
}

/// Returns a list, or what makes it of the one before.
pub(super) fn since<T: Clone + Eq + Hash + Ord>(before: Option<&[T]>, now: &[T]) -> Listed<T> {
    match before {
        None => Listed::All(now.to_vec()),
        Some(before) => {
            Listed::Splices { splices: splices(before, now, |at| now[at].clone()), total: now.len() }
        }
    }
}

/// Returns what makes the new list of the old one, to be carried out in order.
fn splices<K: Eq + Hash + Ord, T>(old: &[K], new: &[K], item: impl Fn(usize) -> T) -> Vec<ListSplice<T>> {
    let insert = |start: usize, len: usize| (start..start + len).map(&item).collect::<Vec<_>>();
    let splice = |op: DiffOp| match op {
        DiffOp::Equal { .. } => None,
        DiffOp::Delete { old_len, new_index, .. } => {
            Some(ListSplice { at: new_index, remove: old_len, insert: Vec::new() })
        }
        DiffOp::Insert { new_index, new_len, .. } => {
            Some(ListSplice { at: new_index, remove: 0, insert: insert(new_index, new_len) })
        }
        DiffOp::Replace { old_len, new_index, new_len, .. } => {
            Some(ListSplice { at: new_index, remove: old_len, insert: insert(new_index, new_len) })
        }
    };
    let splices: Vec<ListSplice<T>> = operations(old, new).into_iter().filter_map(splice).collect();
    if splices.len() > MAX_SPLICES {
        vec![ListSplice { at: 0, remove: old.len(), insert: insert(0, new.len()) }]
    } else {
        splices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str) {
        let [mut made, new] = [old, new].map(|text| text.chars().collect::<Vec<char>>());
        let Listed::Splices { splices, total } = since(Some(&made), &new) else { panic!("all of it") };
        for splice in splices {
            made.splice(splice.at..splice.at + splice.remove, splice.insert);
        }
        assert_eq!((made.len(), made), (total, new));
    }

    #[test]
    fn splices_make_the_new_list_of_the_old_one() {
        for (old, new) in [
            ("", ""),
            ("", "abc"),
            ("abc", ""),
            ("abc", "abc"),
            ("abc", "axc"),
            ("abc", "xabc"),
            ("abcdef", "acxfyz"),
            ("abcabc", "cabcab"),
        ] {
            check(old, new);
        }
    }
}
