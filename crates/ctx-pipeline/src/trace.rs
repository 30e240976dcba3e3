//! What a stage changed.

use std::collections::HashMap;

use ctx_types::{Message, SourceKind, StageReport};

/// Compares the messages before and after a stage. O(messages); shared texts are equal at once.
///
/// What is in its place at both ends is compared there; only the part between is looked up by source.
pub(crate) fn compare(id: &str, before: &[Message], after: &[Message]) -> StageReport {
    let mut changed = 0;
    let mut is_in_place = |(old, new): &(&Message, &Message)| {
        let is_in_place = key(old) == key(new);
        changed += usize::from(is_in_place && !is_same(old, new));
        is_in_place
    };
    let head = before.iter().zip(after).take_while(&mut is_in_place).count();
    let (before_rest, after_rest) = (before.get(head..), after.get(head..));
    let (before_rest, after_rest) = (before_rest.unwrap_or_default(), after_rest.unwrap_or_default());
    let tail = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(&mut is_in_place).count();
    let middle = |rest: &'_ [Message]| rest.len() - tail;
    let old = before_rest.get(..middle(before_rest)).unwrap_or_default();
    let new = after_rest.get(..middle(after_rest)).unwrap_or_default();
    let (added, changed_between) = compare_unordered(old, new);
    StageReport {
        id: id.to_owned(),
        messages_before: before.len(),
        messages_after: after.len(),
        added,
        removed: before.len() + added - after.len(),
        changed: changed + changed_between,
        log: Vec::new(),
    }
}

/// Returns how many messages are new, and how many are changed.
fn compare_unordered(before: &[Message], after: &[Message]) -> (usize, usize) {
    let mut known: HashMap<Key<'_>, Vec<&Message>> = HashMap::with_capacity(before.len());
    for message in before.iter().rev() {
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
    (message.source.kind, message.source.id.as_deref(), message.source.index)
}

/// Tells whether the same would be sent. Texts are compared by identity first, which they do by themselves.
fn is_same(old: &Message, new: &Message) -> bool {
    old.role == new.role
        && old.name == new.name
        && old.tool_call_id == new.tool_call_id
        && old.tool_calls == new.tool_calls
        && old.reasoning == new.reasoning
        && old.attachments == new.attachments
        && old.content == new.content
}
