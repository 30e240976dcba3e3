use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::message::{Message, Place, Role};

/// Splits messages into groups: one message, or an assistant message with tool calls and its results.
///
/// The ranges are adjacent and cover all messages. A result belongs to the calls above it if only tool
/// messages are between them, its id matches or is missing, and it has the same place; pinned messages count
/// as history. Tool messages between two results join the group. O(messages + calls · log calls).
///
/// ```
/// use ctx_types::{Message, Role, Source, ToolCall, groups};
///
/// let message = |role| Message::new(role, "…", Source::history("n", role));
/// let mut call = message(Role::Assistant);
/// call.tool_calls = vec![ToolCall { id: "c1".into(), name: "look".into(), arguments: "{}".into() }];
/// let mut result = message(Role::Tool);
/// result.tool_call_id = Some("c1".into());
/// assert_eq!(groups(&[message(Role::User), call, result]), [0..1, 1..3]);
/// ```
pub fn groups<M: Borrow<Message>>(messages: &[M]) -> Vec<Range<usize>> {
    each_group(messages).collect()
}

/// Lazy version of [`groups`], for long lists.
pub fn each_group<M: Borrow<Message>>(messages: &[M]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let group = start..group_end(messages, start);
        start = group.end;
        (group.start < messages.len()).then_some(group)
    })
}

fn group_end<M: Borrow<Message>>(messages: &[M], start: usize) -> usize {
    let Some((first, rest)) = messages.get(start..).and_then(<[M]>::split_first) else {
        return start + 1;
    };
    let first: &Message = first.borrow();
    if first.role != Role::Assistant || first.tool_calls.is_empty() {
        return start + 1;
    }
    let calls: BTreeSet<&str> = first.tool_calls.iter().map(|call| &*call.id).collect();
    let answers = |message: &Message| {
        is_placed_alike(message, first) && message.tool_call_id.as_deref().is_none_or(|id| calls.contains(id))
    };
    let results = rest.iter().map(Borrow::borrow).take_while(|message: &&Message| message.role == Role::Tool);
    let last = results.enumerate().filter(|(_, message)| answers(message)).last();
    last.map_or(start + 1, |(offset, _)| start + offset + 2)
}

/// A pin does not change the place.
fn is_placed_alike(one: &Message, other: &Message) -> bool {
    let is_said = |message: &Message| matches!(message.place, Place::History | Place::Pinned);
    one.place == other.place || (is_said(one) && is_said(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, ToolCall};

    /// `u`, `a`, `s` are messages; `a:x,y` has calls; `t:x` is a result; `t` has no id.
    fn messages(words: &str) -> Vec<Message> {
        words.split_whitespace().map(message).collect()
    }

    fn message(word: &str) -> Message {
        let (role, ids) = word.split_once(':').unwrap_or((word, ""));
        let role = match role {
            "u" => Role::User,
            "a" => Role::Assistant,
            "t" => Role::Tool,
            _ => Role::System,
        };
        let ids = ids.split(',').filter(|id| !id.is_empty());
        let mut message = Message::new(role, word, Source::history(word, role));
        if role == Role::Tool {
            message.tool_call_id = ids.map(Into::into).next();
        } else {
            let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
            message.tool_calls = ids.map(call).collect();
        }
        message
    }

    #[track_caller]
    fn check(words: &str, expected: &[Range<usize>]) {
        assert_eq!(groups(&messages(words)), expected, "{words}");
    }

    #[test]
    fn groups_tool_call_with_its_results() {
        check("u a:x,y t:x t:y a", &[0..1, 1..4, 4..5]);
    }

    #[test]
    fn separates_tool_calls_without_results() {
        check("a:x u t:x", &[0..1, 1..2, 2..3]);
    }

    #[test]
    fn includes_unrelated_result_between_group_members() {
        check("a:x,y t:x t:zzz t:y t:zzz", &[0..4, 4..5]);
    }

    #[test]
    fn assigns_result_without_id_to_preceding_calls() {
        check("a:x t u t", &[0..2, 2..3, 3..4]);
    }

    #[test]
    fn excludes_placed_tool_messages() {
        let mut messages = messages("a:x t:x t u");
        messages[2].place = crate::Place::Gap { multiple: false };
        assert_eq!(groups(&messages), [0..2, 2..3, 3..4]);
    }

    #[test]
    fn keeps_pinned_member_in_its_group() {
        for pinned in 1..4 {
            let mut messages = messages("u a:x,y t:x t:y u");
            messages[pinned].place = Place::Pinned;
            assert_eq!(groups(&messages), [0..1, 1..4, 4..5], "{pinned}");
        }
    }

    #[test]
    fn separates_results_without_tool_calls() {
        check("t:x t:y u", &[0..1, 1..2, 2..3]);
        check("", &[]);
    }
}
