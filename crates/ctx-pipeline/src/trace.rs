use std::collections::HashMap;

use ctx_types::report::StageReport;
use ctx_types::{Message, SourceKind};

/// O(messages); shared messages are equal. Skips the shared start and end, then walks both lists in parallel,
/// and looks up only unmatched messages by source.
pub(crate) fn compare(id: &str, before: &[Message], after: &[Message]) -> StageReport {
    let start = before.iter().zip(after).take_while(|(old, new)| old.is_shared_with(new)).count();
    let (mut old, mut new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old.is_shared_with(new)).count();
    (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let (mut added, mut changed) = (Vec::new(), 0);
    for message in new {
        match old.split_first().filter(|(next, _)| key(next) == key(message)) {
            Some((next, rest)) => {
                changed += usize::from(!is_same(next, message));
                old = rest;
            }
            None => added.push(message),
        }
    }
    let mut gone: HashMap<Key<'_>, Vec<&Message>> = HashMap::new();
    if !added.is_empty() {
        for message in old.iter().rev() {
            gone.entry(key(message)).or_default().push(message);
        }
    }
    let moved = added.iter().filter_map(|message| Some((gone.get_mut(&key(message))?.pop()?, message)));
    let moved: Vec<bool> = moved.map(|(old, new)| is_same(old, new)).collect();
    let added = added.len() - moved.len();
    StageReport {
        id: id.to_owned(),
        messages_before: before.len(),
        messages_after: after.len(),
        added,
        removed: before.len() + added - after.len(),
        changed: changed + moved.iter().filter(|is_same| !**is_same).count(),
        log: Vec::new(),
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
