//! What a stage changed.

use std::collections::HashMap;

use ctx_types::{Message, SourceKind, StageReport};

/// Compares the messages before and after a stage. O(messages); shared texts are equal at once.
pub(crate) fn compare(id: &str, before: &[Message], after: &[Message]) -> StageReport {
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
    StageReport {
        id: id.to_owned(),
        messages_before: before.len(),
        messages_after: after.len(),
        added,
        removed: before.len() + added - after.len(),
        changed,
        log: Vec::new(),
    }
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
