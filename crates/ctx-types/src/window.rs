use std::borrow::Borrow;

use crate::message::{Message, Role};
use crate::source::SourceKind;

/// The loaded messages at the end of a conversation.
///
/// Position 0 is the oldest message, loaded or not; `pinned` and `prefix` have no position. A window starts
/// at a group border, at or before the pending turn. This gives [`pending_start`] the same result as the
/// whole conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Leading system and developer messages: never dropped, compressed, moved, or counted.
    pub pinned: Vec<Message>,
    /// Number of unloaded messages before `messages`.
    pub skipped: usize,
    /// Whether the unloaded messages are already sent, in an append-only context.
    pub is_sent: bool,
    /// The loaded messages, oldest first.
    pub messages: Vec<Message>,
    /// The last message of the request: an incomplete reply, or another message after the conversation.
    pub prefix: Option<Message>,
}

impl Window {
    /// Creates a window of a whole conversation. O(messages).
    pub fn from_messages(mut messages: Vec<Message>) -> Self {
        let prefix = match messages.last() {
            Some(last) if last.is_continuation_prefix => messages.pop(),
            _ => None,
        };
        let is_pinned = |message: &&Message| message.role.is_instruction() && !is_summary(message);
        let pinned = messages.iter().take_while(is_pinned).count();
        let rest = messages.split_off(pinned);
        Self { pinned: messages, skipped: 0, is_sent: false, messages: rest, prefix }
    }

    /// Returns the length of the conversation, loaded or not, without `pinned` and `prefix`.
    pub fn total_len(&self) -> usize {
        self.skipped + self.messages.len()
    }

    /// Returns the length of the history before the pending turn.
    pub fn settled_len(&self) -> usize {
        self.skipped + pending_start(&self.messages)
    }
}

/// Returns the start of the pending turn; the number of messages if there is no such turn.
///
/// It starts at the last run of user messages, unless a complete reply follows. Summaries are neither user
/// messages nor replies. O(messages of the pending turn).
pub fn pending_start<M: Borrow<Message>>(messages: &[M]) -> usize {
    let is_user = |message: &Message| message.role == Role::User && !is_summary(message);
    for (index, message) in messages.iter().map(Borrow::borrow).enumerate().rev() {
        if message.is_finished_answer() && !is_summary(message) {
            return messages.len();
        }
        if is_user(message) {
            let before = messages[..index].iter().rev().map(Borrow::borrow);
            return index - before.take_while(|message| is_user(message)).count();
        }
    }
    messages.len()
}

fn is_summary(message: &Message) -> bool {
    message.source.kind == SourceKind::Summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, ToolCall};

    /// `u`ser, complete `a`ssistant reply, `c`all, `t`ool result, `s`ystem, incomplete reply `p`, summary by the user
    /// `S` or the model `A`.
    fn messages(letters: &str) -> Vec<Message> {
        let build = |letter| {
            let role = match letter {
                'u' | 'S' => Role::User,
                'a' | 'A' | 'c' | 'p' => Role::Assistant,
                't' => Role::Tool,
                _ => Role::System,
            };
            let mut message = Message::new(role, letter.to_string(), Source::history("n", role));
            message.is_continuation_prefix = letter == 'p';
            if matches!(letter, 'S' | 'A') {
                message.source.kind = SourceKind::Summary;
            }
            if letter == 'c' {
                message.tool_calls =
                    vec![ToolCall { id: "x".into(), name: "f".into(), arguments: "{}".into() }];
            }
            message
        };
        letters.chars().map(build).collect()
    }

    #[track_caller]
    fn check(letters: &str, pinned: usize, settled: usize, total: usize) {
        let window = Window::from_messages(messages(letters));
        let found = (window.pinned.len(), window.settled_len(), window.total_len());
        assert_eq!(found, (pinned, settled, total), "{letters}");
    }

    #[test]
    fn starts_pending_turn_at_last_user_message() {
        check("uau", 0, 2, 3);
        check("uauu", 0, 2, 4);
    }

    #[test]
    fn leaves_nothing_pending_after_complete_reply() {
        check("ua", 0, 2, 2);
        check("uctas", 0, 5, 5);
    }

    #[test]
    fn starts_tool_loop_turn_at_user_message() {
        check("uauctct", 0, 2, 7);
    }

    #[test]
    fn removes_incomplete_reply_and_keeps_turn_pending() {
        check("uaup", 0, 2, 3);
        check("p", 0, 0, 0);
    }

    #[test]
    fn pins_leading_system_messages_without_counting_them() {
        check("ssuau", 2, 2, 3);
        check("s", 1, 0, 0);
    }

    #[test]
    fn treats_summary_as_neither_pinned_nor_user_message() {
        check("Sau", 0, 2, 3);
        check("S", 0, 1, 1);
    }

    #[test]
    fn ignores_summary_when_finding_pending_turn() {
        check("Au", 0, 1, 2);
        check("uauA", 0, 2, 4);
    }

    #[test]
    fn leaves_nothing_pending_without_user_message() {
        check("", 0, 0, 0);
        check("a", 0, 1, 1);
        check("ct", 0, 2, 2);
    }
}
