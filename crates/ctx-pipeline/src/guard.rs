//! Group integrity: what no processor may do to a tool call and its results.

use std::collections::HashMap;
use std::ops::Range;

use ctx_types::{Decision, Message, Outcome, SourceKind, groups};

/// What a processor did to the groups of a draft.
#[derive(Debug, PartialEq)]
pub(crate) enum Groups {
    /// Every group is whole or gone.
    Intact,
    /// Foreign messages stood inside groups and were moved to just before them.
    Mended(Vec<Decision>),
    /// A member of a group is missing, doubled, or out of order.
    Broken {
        /// The id of one such member.
        member: String,
    },
}

/// Which message of the conversation a message is.
type Identity = (SourceKind, std::sync::Arc<str>);

/// Compares the groups of messages before and after a stage, and moves foreign messages out of them.
///
/// Only groups of more than one message matter; drafts without any are done at once. O(messages).
pub(crate) fn mend(before: &[Message], after: &mut Vec<Message>) -> Groups {
    let groups: Vec<Range<usize>> = groups(before).into_iter().filter(|group| group.len() > 1).collect();
    if groups.is_empty() {
        return Groups::Intact;
    }
    let positions = positions(after);
    let mut moves = Vec::new();
    for group in groups {
        let members: Vec<Identity> = before.get(group).unwrap_or_default().iter().filter_map(identity).collect();
        match find(&members, &positions) {
            Ok(None) => {}
            Ok(Some(found)) => moves.extend(foreign(&found)),
            Err(member) => return Groups::Broken { member },
        }
    }
    match moves.is_empty() {
        true => Groups::Intact,
        false => Groups::Mended(move_out(after, &moves)),
    }
}

/// The places between the members of a group, each with the place of the first member.
fn foreign(found: &[usize]) -> Vec<(usize, usize)> {
    let Some(start) = found.first() else { return Vec::new() };
    let gaps = found.iter().zip(found.iter().skip(1)).flat_map(|(left, right)| left + 1..*right);
    gaps.map(|index| (index, *start)).collect()
}

fn identity(message: &Message) -> Option<Identity> {
    Some((message.source.kind, message.source.id.clone()?))
}

/// Where each message stands; more than one place if it was doubled.
fn positions(messages: &[Message]) -> HashMap<Identity, Vec<usize>> {
    let mut positions: HashMap<Identity, Vec<usize>> = HashMap::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        if let Some(identity) = identity(message) {
            positions.entry(identity).or_default().push(index);
        }
    }
    positions
}

/// Finds the members of a group: all of them in order, or none; else the id of the one that is wrong.
fn find(members: &[Identity], positions: &HashMap<Identity, Vec<usize>>) -> Result<Option<Vec<usize>>, String> {
    let mut found = Vec::with_capacity(members.len());
    let mut missing = None;
    for member in members {
        match positions.get(member).map(Vec::as_slice) {
            Some([one]) if found.last().is_none_or(|last| last < one) => found.push(*one),
            None => missing = Some(member.1.to_string()),
            Some(_) => return Err(member.1.to_string()),
        }
    }
    match missing {
        None => Ok(Some(found)),
        Some(_) if found.is_empty() => Ok(None),
        Some(id) => Err(id),
    }
}

/// Moves messages to just before the group that they stand in; several keep their order.
fn move_out(messages: &mut Vec<Message>, moves: &[(usize, usize)]) -> Vec<Decision> {
    let target: HashMap<usize, usize> = moves.iter().copied().collect();
    let reason = "a tool call and its results are not separated; it stands before them";
    let foreign = moves.iter().filter_map(|(foreign, _)| messages.get(*foreign));
    let decisions =
        foreign.map(|message| Decision::new(Outcome::Moved, message.source.clone(), reason)).collect();
    // A moved message takes the place of its group's first member, before it.
    let mut keyed: Vec<((usize, u8), Message)> = std::mem::take(messages)
        .into_iter()
        .enumerate()
        .map(|(index, message)| (target.get(&index).map_or((index, 1), |start| (*start, 0)), message))
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    messages.extend(keyed.into_iter().map(|(_, message)| message));
    decisions
}
