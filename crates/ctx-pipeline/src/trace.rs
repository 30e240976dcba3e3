//! What a stage changed.

use std::collections::HashMap;

use ctx_types::{Content, Message, SourceKind, StageReport};

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
    // Only the number counts, not the order of the map.
    let removed = before.len() + added - after.len();
    StageReport {
        id: id.to_owned(),
        messages_before: before.len(),
        messages_after: after.len(),
        added,
        removed,
        changed,
        log: Vec::new(),
    }
}

type Key<'a> = (SourceKind, Option<&'a str>, Option<usize>);

fn key(message: &Message) -> Key<'_> {
    (message.source.kind, message.source.id.as_deref(), message.source.index)
}

/// Texts are compared by identity first, which [`ctx_types::Text`] does by itself.
fn is_same(old: &Message, new: &Message) -> bool {
    let content = match (&old.content, &new.content) {
        (Content::Text(old), Content::Text(new)) => old == new,
        (old, new) => old == new,
    };
    content && old.role == new.role && old.name == new.name && old.attachments.len() == new.attachments.len()
}
