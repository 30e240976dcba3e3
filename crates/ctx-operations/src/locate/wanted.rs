//! The values that are searched, as a tree of the steps to them.

use std::collections::BTreeMap;

use ctx_types::internal::{pointer_key, pointer_step};

/// A value that is searched, or is on the way to one.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The values in it, by their keys or indexes.
    pub(super) below: BTreeMap<String, Wanted>,
}

impl Wanted {
    /// Joins JSON pointers into one tree.
    pub(super) fn of<'a>(pointers: impl IntoIterator<Item = &'a str>) -> Self {
        let mut root = Self::default();
        for pointer in pointers {
            let mut value = &mut root;
            for step in pointer.split('/').skip(1) {
                value = value.below.entry(pointer_key(step).into_owned()).or_default();
            }
        }
        root
    }

    /// Returns whether nothing in the value is searched, so that it is searched itself.
    pub(super) fn is_leaf(&self) -> bool {
        self.below.is_empty()
    }
}

/// Adds a step to a JSON pointer.
pub(super) fn step(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", pointer_step(step))
}
