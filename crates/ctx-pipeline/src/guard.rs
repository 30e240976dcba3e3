//! Checks that no processor breaks the group of a tool call and its results.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use ctx_types::internal::each_group;
use ctx_types::report::{Decision, Outcome};
use ctx_types::{Message, Role, SourceKind, phrase};

/// Compares message groups before and after a processor, and moves foreign messages in front of them.
///
/// A new result for an unanswered call joins its group. Returns the decisions about moved messages; or the id of a
/// member that is missing, duplicated, or separated from its group. O(messages + members · log members).
pub(crate) fn repair(before: &[Message], after: &mut Vec<Message>) -> Result<Vec<Decision>, String> {
    let groups: Vec<Range<usize>> = groups_of_several(before).collect();
    if groups.is_empty() || only_oldest_removed(before, &groups, after) {
        return Ok(Vec::new());
    }
    let mut sought = MessageLookup::new(before, after);
    let mut found: Vec<GroupPlaces> = Vec::with_capacity(groups.len());
    for group in groups {
        found.extend(sought.find(&before[group])?);
    }
    let moves = find_foreign_messages(&found, after)?;
    Ok(if moves.is_empty() { Vec::new() } else { move_out(after, &moves) })
}

fn groups_of_several(messages: &[Message]) -> impl Iterator<Item = Range<usize>> {
    each_group(messages).filter(|group| group.len() > 1)
}

/// Fast path: the newest groups are unchanged, and no call or result is outside a group.
fn only_oldest_removed(before: &[Message], groups_before: &[Range<usize>], after: &[Message]) -> bool {
    let is_member = |message: &&Message| message.role == Role::Tool || !message.tool_calls.is_empty();
    let groups_after: Vec<Range<usize>> = groups_of_several(after).collect();
    let members: usize = groups_after.iter().map(Range::len).sum();
    if groups_after.len() > groups_before.len() || after.iter().filter(is_member).count() != members {
        return false;
    }
    let is_same = |(old, new): (&Range<usize>, &Range<usize>)| {
        let (old, new) = (&before[old.clone()], &after[new.clone()]);
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.is_shared_with(new))
    };
    groups_before.iter().rev().zip(groups_after.iter().rev()).all(is_same)
}

/// A call converted to plain text is a different message, so its group is broken unless all members are
/// removed.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    source: (SourceKind, Option<&'a str>, Option<usize>),
    role: Role,
    calls: Vec<&'a str>,
    /// Id of the answered call.
    answers: Option<&'a str>,
}

impl<'a> Identity<'a> {
    fn from_message(message: &'a Message) -> Option<Self> {
        let is_call = message.role == Role::Assistant && !message.tool_calls.is_empty();
        if !is_call && message.role != Role::Tool {
            return None;
        }
        let source = &message.source;
        Some(Self {
            source: (source.kind, source.id.as_deref(), source.index()),
            role: message.role,
            calls: message.tool_calls.iter().map(|call| &*call.id).collect(),
            answers: message.tool_call_id.as_deref(),
        })
    }
}

/// Positions after a processor, and counts before it.
struct MessageLookup<'a>(HashMap<Identity<'a>, Places>);

#[derive(Default)]
struct Places {
    before: usize,
    /// Ascending; without those already found.
    after: std::collections::VecDeque<usize>,
}

impl<'a> MessageLookup<'a> {
    fn new(before: &'a [Message], after: &'a [Message]) -> Self {
        let mut places: HashMap<Identity<'a>, Places> = HashMap::new();
        for identity in before.iter().filter_map(Identity::from_message) {
            places.entry(identity).or_default().before += 1;
        }
        for (index, message) in after.iter().enumerate() {
            if let Some(identity) = Identity::from_message(message) {
                places.entry(identity).or_default().after.push_back(index);
            }
        }
        Self(places)
    }

    fn find(&mut self, members: &'a [Message]) -> Result<Option<GroupPlaces>, String> {
        let mut found = Vec::with_capacity(members.len());
        let mut missing = None;
        for member in members {
            let places = Identity::from_message(member).and_then(|identity| self.0.get_mut(&identity));
            let Some(places) = places.filter(|places| places.after.len() <= places.before) else {
                return Err(name(member));
            };
            places.before -= 1;
            match places.after.pop_front() {
                Some(place) => found.push(place),
                None => missing = Some(member),
            }
        }
        match missing {
            Some(_) if found.is_empty() => Ok(None),
            Some(member) => Err(name(member)),
            None => GroupPlaces::new(members, found).map(Some),
        }
    }
}

struct GroupPlaces {
    /// Ascending; the calls come first.
    places: Vec<usize>,
    /// Calls without a result.
    open: BTreeSet<String>,
}

impl GroupPlaces {
    fn new(members: &[Message], mut places: Vec<usize>) -> Result<Self, String> {
        let head = places[0];
        places.sort_unstable();
        // Results may be reordered, but not before their calls.
        if places[0] != head {
            return Err(name(&members[0]));
        }
        let calls = members.iter().flat_map(|member| &member.tool_calls).map(|call| call.id.to_string());
        let mut open: BTreeSet<String> = calls.collect();
        for answered in members.iter().filter_map(|member| member.tool_call_id.as_deref()) {
            open.remove(answered);
        }
        Ok(Self { places, open })
    }
}

/// Returns each message with the position of the group's calls. A member of another group or a second result
/// is an error.
fn find_foreign_messages(found: &[GroupPlaces], after: &[Message]) -> Result<Vec<(usize, usize)>, String> {
    let members: BTreeSet<usize> = found.iter().flat_map(|group| group.places.iter().copied()).collect();
    let mut moves = Vec::new();
    for group in found {
        let (start, end) = (group.places[0], group.places[group.places.len() - 1]);
        if end - start + 1 == group.places.len() {
            continue;
        }
        let mut open = group.open.clone();
        for (index, message) in after.iter().enumerate().take(end).skip(start + 1) {
            if group.places.binary_search(&index).is_ok() {
                continue;
            }
            let joins = message.tool_call_id.as_deref().is_some_and(|id| open.remove(id));
            if members.contains(&index) || (message.role == Role::Tool && !joins) {
                return Err(name(message));
            }
            if message.role != Role::Tool {
                moves.push((index, start));
            }
        }
    }
    Ok(moves)
}

fn move_out(messages: &mut Vec<Message>, moves: &[(usize, usize)]) -> Vec<Decision> {
    let target: HashMap<usize, usize> = moves.iter().copied().collect();
    let reason = phrase!("placed before a tool call, which stays with its results");
    let decide = |(foreign, _): &(usize, usize)| {
        Decision::new(Outcome::Moved, messages[*foreign].source.clone(), reason.clone())
    };
    let decisions = moves.iter().map(decide).collect();
    // Sort before the group's first member.
    let mut keyed: Vec<((usize, u8), Message)> = std::mem::take(messages)
        .into_iter()
        .enumerate()
        .map(|(index, message)| (target.get(&index).map_or((index, 1), |start| (*start, 0)), message))
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    messages.extend(keyed.into_iter().map(|(_, message)| message));
    decisions
}

fn name(message: &Message) -> String {
    let call = message.tool_call_id.as_deref().or_else(|| message.tool_calls.first().map(|call| &*call.id));
    message.source.id.as_deref().or(call).unwrap_or("a message without an id").to_owned()
}
