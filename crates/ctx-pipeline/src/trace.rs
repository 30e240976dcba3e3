//! What a stage changed.

use std::collections::{BTreeSet, HashMap};

use ctx_types::{Message, Place, SourceKind, StageReport};

/// How many messages that are not shared are looked for among those before.
const MOST_MISSES: usize = 32;

/// Compares the messages before and after a stage. O(messages); shared ones are equal at once.
///
/// Messages keep their order in most stages: both lists are walked side by side, and only what has no partner
/// there is looked up by source.
pub(crate) fn compare(id: &str, before: &[Message], after: &[Message]) -> StageReport {
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    let (mut changed, mut misses) = (0, 0);
    let mut old = before;
    for message in after {
        let next = old.split_first();
        // Most are shared with the messages before, and stand where they stood.
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
        // What is dropped of the conversation is dropped in front of what is kept: of that nothing has to be looked at.
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
    let (added, changed_elsewhere) = match gone.is_empty() {
        true => (new.len(), 0),
        false => compare_unordered(&gone, &new),
    };
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

/// Returns how many messages are new, and how many are changed. Mostly many are gone and few are new: only those that
/// may be partners are filed.
fn compare_unordered(before: &[&Message], after: &[&Message]) -> (usize, usize) {
    // Few, of another kind mostly than those that are gone: nothing of most of these has to be looked at.
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

/// The report of a stage that left the messages alone.
pub(crate) fn untouched(id: &str, messages: usize) -> StageReport {
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

/// Returns whether the same would be sent; most messages are shared, and the same at once.
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
