//! Which cache marks of a list of messages are written.

use ctx_types::{CacheMark, Diagnostic, Message, Role, phrase};
use serde_json::Value;

use crate::blocks::count_cache_marks;
use crate::codes;

/// The most marks in one request; Anthropic and OpenAI set the same limit.
pub(crate) const MAX_MARKS: usize = 4;

/// Returns the mark of each message as it is written: the last four, and none that lasts longer than one before.
///
/// A longer one must stand before a shorter, so a later long one becomes short. O(messages).
pub(crate) fn written(messages: &[Message], found: &mut Vec<Diagnostic>) -> Vec<Option<CacheMark>> {
    let mut marks: Vec<Option<CacheMark>> = messages.iter().map(|message| message.cache_mark).collect();
    let count = marks.iter().flatten().count();
    let dropped = count.saturating_sub(MAX_MARKS);
    if dropped > 0 {
        let text = phrase!(
            "{count} messages have cache marks; only the last {limit} are sent",
            count,
            limit = MAX_MARKS
        );
        found.push(Diagnostic::warning(codes::DIALECT_LIMIT, text));
    }
    for mark in marks.iter_mut().filter(|mark| mark.is_some()).take(dropped) {
        *mark = None;
    }
    let mut is_short = false;
    for (index, mark) in marks.iter_mut().enumerate() {
        match mark {
            Some(CacheMark::Long) if is_short => {
                let text = phrase!(
                    "a long-lived cache mark cannot follow a short-lived one; it is sent as short-lived"
                );
                let finding = Diagnostic::info(codes::CACHE_MARK, text);
                found.push(finding.at_pointer(format!("/messages/{index}")));
                *mark = Some(CacheMark::Short);
            }
            Some(CacheMark::Short) => is_short = true,
            _ => {}
        }
    }
    marks
}

/// Returns the first message whose blocks keep cache marks of their own, so that the request has four at most.
pub(crate) fn first_with_own(
    messages: &[Message],
    marks: &[Option<CacheMark>],
    tools: &[Value],
    found: &mut Vec<Diagnostic>,
) -> usize {
    let of_tools = tools.iter().filter(|tool| tool.get("cache_control").is_some()).count();
    let mut left = MAX_MARKS.saturating_sub(marks.iter().flatten().count() + of_tools);
    for (index, message) in messages.iter().enumerate().rev() {
        let own = count_cache_marks(message);
        if own > left {
            let text = phrase!(
                "cache marks of messages are not sent: a request can have {limit}",
                limit = MAX_MARKS
            );
            found.push(Diagnostic::info(codes::CACHE_MARK, text).at_pointer(format!("/messages/{index}")));
            return index + 1;
        }
        left -= own;
    }
    0
}

/// Moves marks off a trailing run of system messages: what is cached up to there is not found again next turn.
pub(crate) fn off_trailing_instructions(marks: &mut [Option<CacheMark>], messages: &[Message]) {
    let trailing = messages.iter().rev().take_while(|message| message.role.is_instruction()).count();
    let border = messages.len() - trailing;
    let has_conversation = messages.iter().take(border).any(|message| message.role != Role::System);
    let Some(before) = border.checked_sub(1).filter(|_| has_conversation && trailing > 0) else { return };
    let moved = marks.iter_mut().skip(border).filter_map(Option::take).max();
    if let Some(mark) = marks.get_mut(before) {
        *mark = (*mark).max(moved);
    }
}
