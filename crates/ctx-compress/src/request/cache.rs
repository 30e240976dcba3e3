//! Unchanged prefixes of requests, for prompt caches.

use ctx_types::Message;
use serde::Serialize;

use crate::request::meter::Meter;

/// The common prefix of two requests, for which providers charge less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixStability {
    /// Number of equal messages.
    pub messages: usize,
    /// Tokens of these messages.
    pub tokens: u64,
    /// Bytes of their text.
    pub bytes: usize,
    /// Tokens of the newer request after them, charged in full.
    pub rewritten_tokens: u64,
}

/// Compares the prefixes of two requests. O(common messages) if they share their texts.
///
/// ```
/// use ctx_compress::request::{Meter, prefix_stability};
/// use ctx_types::{Message, Role, Source};
///
/// let message = |text: &str| Message::new(Role::User, text, Source::history(text, Role::User));
/// let (before, after) = ([message("a"), message("b")], [message("a"), message("c")]);
/// let stability = prefix_stability(&before, &after, &Meter::estimate());
/// assert_eq!((stability.messages, stability.tokens, stability.rewritten_tokens), (1, 11, 11));
/// ```
pub fn prefix_stability(before: &[Message], after: &[Message], meter: &Meter<'_>) -> PrefixStability {
    let same = before.iter().zip(after).take_while(|(before, after)| is_same_request(before, after)).count();
    let (common, rest) = after.split_at_checked(same).unwrap_or((after, &[]));
    PrefixStability {
        messages: same,
        tokens: meter.messages(common),
        bytes: common.iter().map(|message| message.content.len()).sum(),
        rewritten_tokens: meter.messages(rest),
    }
}

/// Returns whether two messages are equal in a request.
fn is_same_request(before: &Message, after: &Message) -> bool {
    before.is_shared_with(after)
        || (before.role == after.role
            && before.content == after.content
            && before.tool_calls == after.tool_calls
            && before.tool_call_id == after.tool_call_id
            && before.name == after.name
            && before.attachments == after.attachments
            && before.reasoning == after.reasoning)
}

#[cfg(test)]
mod tests {
    use ctx_types::{Attachment, Content, Place, Reasoning, ToolCall};
    use serde_json::json;

    use super::*;
    use crate::request::testing::messages;

    /// Changes a message between two others, and tells how many tokens must be paid again.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Message), is_same: bool) {
        let (before, meter) = (messages("s u u"), Meter::estimate());
        let mut after = before.clone();
        after[1] = before[1].clone().with(change);
        let stability = prefix_stability(&before, &after, &meter);
        let same = if is_same { 3 } else { 1 };
        assert_eq!((stability.messages, stability.bytes), (same, same));
        assert_eq!(stability.tokens, meter.messages(&after[..same]));
        assert_eq!(stability.rewritten_tokens, meter.messages(&after[same..]));
    }

    #[test]
    fn all_that_is_sent_tells_messages_apart() {
        check(|message| message.role = ctx_types::Role::Assistant, false);
        check(|message| message.content = Content::Text("v".into()), false);
        check(|message| message.tool_call_id = Some("c".into()), false);
        check(|message| message.name = Some("n".into()), false);
        check(
            |message| message.reasoning = Some(Reasoning { text: None, artifacts: Vec::new(), model: None }),
            false,
        );
        let call = ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() };
        check(|message| message.tool_calls = vec![call.clone()], false);
        let file =
            Attachment::from_value(&json!({ "id": "f1", "name": "plan.png", "mimeType": "image/png" }));
        check(|message| message.attachments = vec![file.clone()], false);
    }

    #[test]
    fn what_is_not_sent_does_not() {
        check(|_| {}, true);
        check(|message| message.content = Content::Text("u".into()), true);
        check(|message| message.place = Place::Pinned, true);
        check(|message| message.source.id = None, true);
    }

    #[test]
    fn a_longer_request_begins_like_a_shorter_one() {
        let (long, meter) = (messages("s u a u"), Meter::estimate());
        let stability = |before: &[Message], after: &[Message]| {
            let found = prefix_stability(before, after, &meter);
            (found.messages, found.rewritten_tokens)
        };
        assert_eq!(stability(&long[..2], &long), (2, meter.messages(&long[2..])));
        assert_eq!(stability(&long, &long[..2]), (2, 0));
    }
}
