//! Places in JSON and JSON Lines.

use std::collections::BTreeMap;

use ctx_types::internal::pointer_key;
use serde_json::value::RawValue;

use super::Place;
use super::wanted::{Wanted, step};

/// Finds values in a JSON document; nothing if the text is none.
pub(super) fn find(source: &str, wanted: &Wanted) -> Option<BTreeMap<String, Place>> {
    let root: &RawValue = serde_json::from_str(source).ok()?;
    let mut search = Search { source, found: BTreeMap::new() };
    search.value(root.get(), wanted, "");
    // A file of JSON Lines with one line is a JSON document as well.
    if let (false, Some(line)) = (search.found.contains_key("/0"), wanted.below.get("0")) {
        search.value(root.get(), line, "/0");
    }
    Some(search.found)
}

/// How many lines are looked at to tell JSON Lines from anything else.
const SAMPLE: usize = 20;

/// Finds values in a JSON Lines document, which counts as the list of its lines, blank ones included.
///
/// Nothing if none of the first lines is an object, which is no line of YAML that begins so.
pub(super) fn find_in_lines(source: &str, wanted: &Wanted) -> Option<BTreeMap<String, Place>> {
    let is_object = |line: &str| line.starts_with('{') && serde_json::from_str::<&RawValue>(line).is_ok();
    let mut sample = source.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE);
    sample.by_ref().find(|line| is_object(line))?;
    let mut search = Search { source, found: BTreeMap::new() };
    search.note("", source, false);
    for (index, line) in source.lines().enumerate() {
        if let Some(wanted) = wanted.below.get(&index.to_string()) {
            search.value(line, wanted, &format!("/{index}"));
        }
    }
    Some(search.found)
}

struct Search<'s> {
    source: &'s str,
    found: BTreeMap<String, Place>,
}

impl<'s> Search<'s> {
    /// Notes a value, and searches in it. No deeper than the pointers, which the reader's limits bound.
    fn value(&mut self, value: &'s str, wanted: &Wanted, pointer: &str) {
        self.note(pointer, value, wanted.is_leaf());
        if wanted.is_leaf() {
            return;
        }
        if let Ok(members) = serde_json::from_str::<BTreeMap<String, &'s RawValue>>(value) {
            for (key, wanted) in &wanted.below {
                if let Some(member) = members.get(key) {
                    self.value(member.get(), wanted, &step(pointer, key));
                }
            }
        } else if let Ok(items) = serde_json::from_str::<Vec<&'s RawValue>>(value) {
            for (index, wanted) in &wanted.below {
                if let Some(item) = index.parse().ok().and_then(|index: usize| items.get(index)) {
                    self.value(item.get(), wanted, &step(pointer, index));
                }
            }
        }
    }

    fn note(&mut self, pointer: &str, value: &'s str, with_text: bool) {
        // A value is a part of the source text, so that its address tells where.
        let start = (value.as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize);
        let text = if with_text { serde_json::from_str(value).ok() } else { None };
        let key = self.key_before(start, pointer);
        self.found.insert(pointer.to_owned(), Place { range: start..start + value.len(), text, key });
    }

    /// The key before a value, if it is written without needless escapes.
    fn key_before(&self, start: usize, pointer: &str) -> Option<std::ops::Range<usize>> {
        let (_, last) = pointer.rsplit_once('/')?;
        let key = serde_json::to_string(&pointer_key(last)).ok()?;
        let before = self.source.get(..start)?.trim_end().strip_suffix(':')?.trim_end();
        before.ends_with(&key).then(|| before.len() - key.len()..before.len())
    }
}
