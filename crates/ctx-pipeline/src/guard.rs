//! Group integrity: what no processor may do to a tool call and its results.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use ctx_types::{Decision, Message, Outcome, Role, SourceKind, each_group, phrase};

/// What a processor did to the groups of a draft.
#[derive(Debug, PartialEq)]
pub(crate) enum Groups {
    /// Every group is whole or gone.
    Intact,
    /// Foreign messages stood inside groups and were moved to just before them.
    Repaired(Vec<Decision>),
    /// A member of a group is missing, doubled, or not with the others.
    Broken {
        /// The id of one such member.
        member: String,
    },
}

/// Compares the groups of messages before and after a stage, and moves foreign messages out of them.
///
/// Messages that are moved keep their order; none is lost. A result that answers a call without one joins its
/// group. Drafts without groups of several messages are done at once. O(messages + members · log members).
pub(crate) fn repair(before: &[Message], after: &mut Vec<Message>) -> Groups {
    let groups: Vec<Range<usize>> = of_several(before).collect();
    if groups.is_empty() {
        return Groups::Intact;
    }
    if only_oldest_went(before, &groups, after) {
        return Groups::Intact;
    }
    let mut sought = Sought::new(before, after);
    let mut found: Vec<GroupPlaces> = Vec::with_capacity(groups.len());
    for group in groups {
        match sought.find(before.get(group).unwrap_or_default()) {
            Ok(Some(group)) => found.push(group),
            Ok(None) => {}
            Err(member) => return Groups::Broken { member },
        }
    }
    match foreign(&found, after) {
        Err(member) => Groups::Broken { member },
        Ok(moves) if moves.is_empty() => Groups::Intact,
        Ok(moves) => Groups::Repaired(move_out(after, &moves)),
    }
}

/// The groups of several messages; few in most conversations.
fn of_several(messages: &[Message]) -> impl Iterator<Item = Range<usize>> {
    each_group(messages).filter(|group| group.len() > 1)
}

/// Returns whether the groups after a stage are the newest ones before it, the very same messages, and no call or result
/// stands alone: then nothing is broken. It is so after most stages, and quickly seen.
fn only_oldest_went(before: &[Message], groups_before: &[Range<usize>], after: &[Message]) -> bool {
    let is_member = |message: &&Message| message.role == Role::Tool || !message.tool_calls.is_empty();
    let groups_after: Vec<Range<usize>> = of_several(after).collect();
    let members: usize = groups_after.iter().map(Range::len).sum();
    if groups_after.len() > groups_before.len() || after.iter().filter(is_member).count() != members {
        return false;
    }
    let is_same = |(old, new): (&Range<usize>, &Range<usize>)| {
        let (old, new) = (before.get(old.clone()), after.get(new.clone()));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.is_shared_with(new))
    };
    groups_before.iter().rev().zip(groups_after.iter().rev()).all(is_same)
}

/// Which message a message of a group is: what it came from, and what makes it a member.
///
/// A call that becomes plain text is therefore another message, and its group is broken unless all go.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    source: (SourceKind, Option<&'a str>, Option<usize>),
    role: Role,
    calls: Vec<&'a str>,
    /// The call that a result answers.
    answers: Option<&'a str>,
}

impl<'a> Identity<'a> {
    /// Returns the identity of a message that may belong to a group of several.
    fn of(message: &'a Message) -> Option<Self> {
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

/// Where calls and results stand after a stage, each with how many of its kind were there before.
struct Sought<'a>(HashMap<Identity<'a>, Places>);

#[derive(Default)]
struct Places {
    before: usize,
    /// Ascending; those that were not found yet.
    after: std::collections::VecDeque<usize>,
}

impl<'a> Sought<'a> {
    fn new(before: &'a [Message], after: &'a [Message]) -> Self {
        let mut places: HashMap<Identity<'a>, Places> = HashMap::new();
        for identity in before.iter().filter_map(Identity::of) {
            places.entry(identity).or_default().before += 1;
        }
        for (index, message) in after.iter().enumerate() {
            if let Some(identity) = Identity::of(message) {
                places.entry(identity).or_default().after.push_back(index);
            }
        }
        Self(places)
    }

    /// Finds the members of a group: all of them, or none; else the name of the one that is wrong.
    fn find(&mut self, members: &'a [Message]) -> Result<Option<GroupPlaces>, String> {
        let mut found = Vec::with_capacity(members.len());
        let mut missing = None;
        for member in members {
            let places = Identity::of(member).and_then(|identity| self.0.get_mut(&identity));
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

/// Where a group stands after a stage.
struct GroupPlaces {
    /// Ascending; the first is that of the calls.
    places: Vec<usize>,
    /// The calls that no member answers.
    open: BTreeSet<String>,
}

impl GroupPlaces {
    fn new(members: &[Message], mut places: Vec<usize>) -> Result<Self, String> {
        let head = places.first().copied();
        places.sort_unstable();
        // Results may come in another order, but never before their calls.
        if places.first().copied() != head {
            return Err(members.first().map(name).unwrap_or_default());
        }
        let calls = members.iter().flat_map(|member| &member.tool_calls).map(|call| call.id.to_string());
        let mut open: BTreeSet<String> = calls.collect();
        for answered in members.iter().filter_map(|member| member.tool_call_id.as_deref()) {
            open.remove(answered);
        }
        Ok(Self { places, open })
    }
}

/// Finds what stands inside groups: each with the place of the group's calls.
///
/// What belongs to another group, or is a result that the group has already, breaks it; its name is returned.
fn foreign(found: &[GroupPlaces], after: &[Message]) -> Result<Vec<(usize, usize)>, String> {
    let members: BTreeSet<usize> = found.iter().flat_map(|group| group.places.iter().copied()).collect();
    let mut moves = Vec::new();
    for group in found {
        let (Some(start), Some(end)) = (group.places.first(), group.places.last()) else { continue };
        if end - start + 1 == group.places.len() {
            continue;
        }
        let mut open = group.open.clone();
        for (index, message) in after.iter().enumerate().take(*end).skip(start + 1) {
            if group.places.binary_search(&index).is_ok() {
                continue;
            }
            let joins = message.tool_call_id.as_deref().is_some_and(|id| open.remove(id));
            if members.contains(&index) || (message.role == Role::Tool && !joins) {
                return Err(name(message));
            }
            if message.role != Role::Tool {
                moves.push((index, *start));
            }
        }
    }
    Ok(moves)
}

/// Moves messages to just before the group that they stand in; several keep their order.
fn move_out(messages: &mut Vec<Message>, moves: &[(usize, usize)]) -> Vec<Decision> {
    let target: HashMap<usize, usize> = moves.iter().copied().collect();
    let reason = phrase!("placed before a tool call, which stays with its results");
    let foreign = moves.iter().filter_map(|(foreign, _)| messages.get(*foreign));
    let decisions = foreign
        .map(|message| Decision::new(Outcome::Moved, message.source.clone(), reason.clone()))
        .collect();
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

/// The name of a member for people: its id, or the call that it makes or answers.
fn name(message: &Message) -> String {
    let call = message.tool_call_id.as_deref().or_else(|| message.tool_calls.first().map(|call| &*call.id));
    message.source.id.as_deref().or(call).unwrap_or("a message without an id").to_owned()
}
