use std::collections::{BTreeSet, HashMap};

use ctx_types::{Message, Place, SourceKind, StageReport};

/// Maximum unshared messages to search in the old list.
const MOST_MISSES: usize = 32;

/// O(messages); shared messages are equal. Walks both lists in parallel, and looks up only unmatched messages
/// by source.
pub(crate) fn compare(id: &str, before: &[Message], after: &[Message]) -> StageReport {
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    let (mut changed, mut misses) = (0, 0);
    let mut old = before;
    for message in after {
        let next = old.split_first();
        if let Some((_, rest)) = next.filter(|(next, _)| next.is_shared_with(message)) {
            old = rest;
            continue;
        }
        if let Some((next, rest)) = next.filter(|(next, _)| key(next) == key(message)) {
            changed += usize::from(!is_same(next, message));
            old = rest;
            continue;
        }
        if message.place != Place::History || !message.source.kind.is_history() {
            new.push(message);
            continue;
        }
        // Dropped messages precede kept ones; skip them without comparing.
        let Some(place) = old.iter().position(|old| old.is_shared_with(message)) else {
            new.push(message);
            misses += 1;
            if misses == MOST_MISSES {
                gone.extend(std::mem::take(&mut old));
            }
            continue;
        };
        let (dropped, rest) = old.split_at(place);
        gone.extend(dropped);
        old = rest.get(1..).unwrap_or_default();
    }
    gone.extend(old);
    let (added, changed_elsewhere) =
        if gone.is_empty() { (new.len(), 0) } else { compare_unordered(&gone, &new) };
    StageReport {
        id: id.to_owned(),
        messages_before: before.len(),
        messages_after: after.len(),
        added,
        removed: before.len() + added - after.len(),
        changed: changed + changed_elsewhere,
        log: Vec::new(),
    }
}

fn compare_unordered(before: &[&Message], after: &[&Message]) -> (usize, usize) {
    // Index only possible matches: usually few are new and many are gone.
    let wanted: BTreeSet<Key<'_>> = after.iter().map(|message| key(message)).collect();
    let mut known: HashMap<Key<'_>, Vec<&Message>> = HashMap::with_capacity(wanted.len());
    for message in before.iter().rev().filter(|message| wanted.contains(&key(message))) {
        known.entry(key(message)).or_default().push(message);
    }
    let (mut added, mut changed) = (0, 0);
    for message in after {
        match known.get_mut(&key(message)).and_then(Vec::pop) {
            None => added += 1,
            Some(old) if !is_same(old, message) => changed += 1,
            Some(_) => {}
        }
    }
    (added, changed)
}

pub(crate) fn unchanged_report(id: &str, messages: usize) -> StageReport {
    StageReport {
        id: id.to_owned(),
        messages_before: messages,
        messages_after: messages,
        ..StageReport::default()
    }
}

type Key<'a> = (SourceKind, Option<&'a str>, Option<usize>);

fn key(message: &Message) -> Key<'_> {
    (message.source.kind, message.source.id.as_deref(), message.source.index())
}

/// Whether the request would be the same.
fn is_same(old: &Message, new: &Message) -> bool {
    let is_equal = || {
        old.role == new.role
            && old.name == new.name
            && old.tool_call_id == new.tool_call_id
            && old.tool_calls == new.tool_calls
            && old.reasoning == new.reasoning
            && old.attachments == new.attachments
            && old.content == new.content
    };
    old.is_shared_with(new) || is_equal()
}
