//! Checks that no processor breaks the group of a tool call and its results.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use ctx_types::{Decision, Message, Outcome, Role, SourceKind, each_group, phrase};

#[derive(Debug, PartialEq)]
pub(crate) enum Groups {
    /// Every group is complete or completely removed.
    Intact,
    /// Foreign messages inside groups were moved in front of them.
    Repaired(Vec<Decision>),
    /// A member of a group is missing, duplicated, or separated.
    Broken {
        /// Id of such a member.
        member: String,
    },
}

/// Compares message groups before and after a processor, and moves foreign messages in front of them.
///
/// A new result for an unanswered call joins its group. O(messages + members · log members).
pub(crate) fn repair(before: &[Message], after: &mut Vec<Message>) -> Groups {
    let groups: Vec<Range<usize>> = groups_of_several(before).collect();
    if groups.is_empty() {
        return Groups::Intact;
    }
    if only_oldest_removed(before, &groups, after) {
        return Groups::Intact;
    }
    let found = match find_groups(before, groups, after) {
        Ok(found) => found,
        Err(member) => return Groups::Broken { member },
    };
    match find_foreign_messages(&found, after) {
        Err(member) => Groups::Broken { member },
        Ok(moves) if moves.is_empty() => Groups::Intact,
        Ok(moves) => Groups::Repaired(move_out(after, &moves)),
    }
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
        let (old, new) = (before.get(old.clone()), after.get(new.clone()));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.is_shared_with(new))
    };
    groups_before.iter().rev().zip(groups_after.iter().rev()).all(is_same)
}

/// A call converted to plain text is a different message, so its group is broken unless all members are
/// removed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Identity<'a> {
    source: (SourceKind, Option<&'a str>, Option<usize>),
    role: Role,
    calls: Vec<&'a str>,
    /// Id of the answered call.
    answers: Option<&'a str>,
    /// Number of equal messages before it.
    number: usize,
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
            number: 0,
        })
    }
}

fn identities(messages: &[Message]) -> Vec<Option<Identity<'_>>> {
    let mut counts: HashMap<Identity<'_>, usize> = HashMap::new();
    let mut numbered = |message| {
        let identity = Identity::from_message(message)?;
        let count = counts.entry(identity.clone()).or_default();
        *count += 1;
        Some(Identity { number: *count - 1, ..identity })
    };
    messages.iter().map(&mut numbered).collect()
}

/// Returns the remaining groups. A missing or duplicated member is an error.
fn find_groups(
    before: &[Message],
    groups: Vec<Range<usize>>,
    after: &[Message],
) -> Result<Vec<GroupPlaces>, String> {
    let (old, new) = (identities(before), identities(after));
    let known: HashSet<&Identity<'_>> = old.iter().flatten().collect();
    let mut places: HashMap<&Identity<'_>, usize> = HashMap::new();
    for (at, identity) in new.iter().enumerate() {
        let Some(identity) = identity else { continue };
        if identity.number > 0 && !known.contains(identity) {
            return Err(name(&after[at]));
        }
        places.insert(identity, at);
    }
    let mut found = Vec::with_capacity(groups.len());
    for group in groups {
        let place = |at: &usize| old[*at].as_ref().and_then(|identity| places.get(identity)).copied();
        let own: Vec<usize> = group.clone().filter_map(|at| place(&at)).collect();
        if own.len() == group.len() {
            found.push(GroupPlaces::new(&before[group], own)?);
        } else if let Some(missing) =
            group.clone().rfind(|at| place(at).is_none()).filter(|_| !own.is_empty())
        {
            return Err(name(&before[missing]));
        }
    }
    Ok(found)
}

struct GroupPlaces {
    /// Ascending; the calls come first.
    places: Vec<usize>,
    /// Calls without a result.
    open: BTreeSet<String>,
}

impl GroupPlaces {
    fn new(members: &[Message], mut places: Vec<usize>) -> Result<Self, String> {
        let head = places.first().copied();
        places.sort_unstable();
        // Results may be reordered, but not before their calls.
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

/// Returns each message with the position of the group's calls. A member of another group or a second result
/// is an error.
fn find_foreign_messages(found: &[GroupPlaces], after: &[Message]) -> Result<Vec<(usize, usize)>, String> {
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

fn move_out(messages: &mut Vec<Message>, moves: &[(usize, usize)]) -> Vec<Decision> {
    let target: HashMap<usize, usize> = moves.iter().copied().collect();
    let reason = phrase!("placed before a tool call, which stays with its results");
    let foreign = moves.iter().filter_map(|(foreign, _)| messages.get(*foreign));
    let decisions = foreign
        .map(|message| Decision::new(Outcome::Moved, message.source.clone(), reason.clone()))
        .collect();
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
