//! The visible messages of the active path, and the blocks that must stay together.

use std::collections::HashMap;
use std::ops::Range;

use ctx_types::internal::{DisplayNode, DisplayState, display_path};
use ctx_types::session::{Node, NodeId, Session, pending_start};
use ctx_types::{Message, Role, groups};

/// A visible message of the active path.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) id: &'a NodeId,
    pub(super) message: Message,
    /// The place on the active path, with hidden nodes.
    pub(super) place: usize,
    pub(super) part: Part,
}

/// The role of a message in compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// May be hidden.
    Candidate,
    /// A summary, which may be merged.
    Summary,
    /// Part of the turn that is being answered.
    Pending,
    /// Pinned: its whole block stays.
    Pinned,
    /// An instruction or an unanswered greeting, which stays.
    Fixed,
}

impl Part {
    pub(super) fn is_said(self) -> bool {
        matches!(self, Self::Candidate | Self::Pending | Self::Pinned)
    }

    pub(super) fn may_be_covered(self) -> bool {
        matches!(self, Self::Candidate | Self::Summary)
    }
}

/// Returns the visible messages of the active path, oldest first. O(active path).
pub(super) fn visible_items<'a>(session: &'a Session) -> Vec<Item<'a>> {
    let shown = display_path(session, &[]).into_iter().enumerate();
    let visible = shown.filter(|(_, shown)| shown.state == DisplayState::Visible);
    let item = |(place, shown): (usize, DisplayNode<'a>)| Item {
        id: shown.id,
        message: shown.node.to_message(shown.id),
        place,
        part: part(shown.node),
    };
    let mut items: Vec<Item<'a>> = visible.map(item).collect();
    keep_greetings(&mut items);
    let pending = pending(&items);
    for item in items.iter_mut().skip(pending).filter(|item| item.part == Part::Candidate) {
        item.part = Part::Pending;
    }
    items
}

/// Fixes the first messages of the assistant until the user answers.
fn keep_greetings(items: &mut [Item<'_>]) {
    let is_said = |item: &Item<'_>| item.message.role == Role::User || item.part == Part::Summary;
    if items.iter().any(is_said) {
        return;
    }
    let is_greeting = |item: &&mut Item<'_>| {
        item.part == Part::Fixed
            || (item.message.role == Role::Assistant && item.message.tool_calls.is_empty())
    };
    items.iter_mut().take_while(is_greeting).for_each(|item| item.part = Part::Fixed);
}

fn part(node: &Node) -> Part {
    let metadata = node.metadata.as_deref();
    let is_live =
        metadata.is_some_and(|data| data.is_greeting == Some(true) && data.greeting_live == Some(true));
    if node.is_summary() {
        Part::Summary
    } else if is_live || node.role.is_some_and(Role::is_instruction) {
        Part::Fixed
    } else if node.is_pinned() {
        Part::Pinned
    } else {
        Part::Candidate
    }
}

/// Returns the start of the turn that is being answered; it includes a response that will be continued.
fn pending(items: &[Item<'_>]) -> usize {
    let messages: Vec<&Message> = items.iter().map(|item| &item.message).collect();
    let end = match messages.last() {
        Some(last) if last.is_continuation_prefix => messages.len() - 1,
        _ => messages.len(),
    };
    pending_start(messages.get(..end).unwrap_or_default())
}

/// Splits messages into blocks that stay together: groups, and all messages between a call and a late or second result
/// of it. O(messages + calls).
pub(super) fn blocks(items: &[Item<'_>]) -> Vec<Range<usize>> {
    let messages: Vec<&Message> = items.iter().map(|item| &item.message).collect();
    let groups = groups(&messages);
    let mut last_joined: Vec<usize> = (0..groups.len()).collect();
    let mut callers: HashMap<&str, usize> = HashMap::new();
    for (index, group) in groups.iter().enumerate() {
        for message in messages.get(group.clone()).unwrap_or_default() {
            callers.extend(message.tool_calls.iter().map(|call| (&*call.id, index)));
            let caller = message.tool_call_id.as_deref().and_then(|id| callers.get(id));
            if let Some(joined) = caller.and_then(|caller| last_joined.get_mut(*caller)) {
                *joined = index;
            }
        }
    }
    let mut blocks: Vec<Range<usize>> = Vec::with_capacity(groups.len());
    let mut open_until = 0;
    for (index, (group, last)) in groups.into_iter().zip(last_joined).enumerate() {
        match blocks.last_mut().filter(|_| index > 0 && index <= open_until) {
            Some(block) => block.end = group.end,
            None => blocks.push(group),
        }
        open_until = open_until.max(last);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::session::StoredToolCall;

    /// Builds a conversation from words: `u`, `a`, `s`; `a:x,y` with calls; `t:x` a result.
    fn session(words: &str) -> Session {
        let nodes = words.split_whitespace().map(|word| {
            let (role, ids) = word.split_once(':').unwrap_or((word, ""));
            let role = match role {
                "u" => Role::User,
                "t" => Role::Tool,
                "s" => Role::System,
                _ => Role::Assistant,
            };
            let mut node = Node::new(role, word);
            for id in ids.split(',').filter(|id| !id.is_empty()) {
                if role == Role::Tool {
                    node.tool_call_id = Some(id.into());
                } else {
                    node.tool_calls.push(StoredToolCall { id: Some(id.into()), ..StoredToolCall::default() });
                }
            }
            node
        });
        Session::linear("s", nodes).0
    }

    #[track_caller]
    fn check(words: &str, expected: &[Range<usize>]) {
        let session = session(words);
        assert_eq!(blocks(&visible_items(&session)), expected, "{words}");
    }

    #[test]
    fn a_group_is_a_block() {
        check("u a:x,y t:x t:y a", &[0..1, 1..4, 4..5]);
    }

    #[test]
    fn a_late_result_holds_everything_since_its_call() {
        check("u a:x u a t:x u", &[0..1, 1..5, 5..6]);
    }

    #[test]
    fn a_second_result_does_so_too() {
        check("a:x t:x u t:x a:y t:y", &[0..4, 4..6]);
    }

    #[test]
    fn blocks_that_overlap_are_one() {
        check("a:x a:y u t:x a t:y u", &[0..6, 6..7]);
    }

    #[test]
    fn a_result_belongs_to_the_latest_call_of_its_id() {
        check("a:x t:x a:x t:x", &[0..2, 2..4]);
    }

    #[test]
    fn what_is_said_first_stays_until_somebody_answers() {
        let parts = |words: &str| -> Vec<Part> {
            visible_items(&session(words)).iter().map(|item| item.part).collect()
        };
        let (candidate, fixed) = (Part::Candidate, Part::Fixed);
        assert_eq!(parts("s a a"), [fixed; 3]);
        assert_eq!(parts("a a:x t:x"), [fixed, candidate, candidate]);
        assert_eq!(parts("a u a"), [candidate; 3]);
    }

    #[test]
    fn the_turn_that_is_answered_is_pending() {
        let session = session("s u a u a:x t:x");
        let parts: Vec<Part> = visible_items(&session).iter().map(|item| item.part).collect();
        let (candidate, pending) = (Part::Candidate, Part::Pending);
        assert_eq!(parts, [Part::Fixed, candidate, candidate, pending, pending, pending]);
    }
}
