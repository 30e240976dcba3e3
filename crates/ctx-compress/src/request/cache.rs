//! How much of a request's beginning stays as it was, for prompt caches.

use ctx_types::Message;
use serde::Serialize;

use crate::request::meter::Meter;

/// What two requests have in common at their beginning; providers charge less for what they have seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixStability {
    /// How many messages are the same.
    pub messages: usize,
    /// How many tokens they have.
    pub tokens: u64,
    /// How many bytes of text they have.
    pub bytes: usize,
    /// How many tokens of the newer request follow them, and are charged in full.
    pub rewritten_tokens: u64,
}

/// Compares the beginnings of two requests, message by message. O(common messages) where they are shared.
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

/// Tells whether two messages are written alike into a request.
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
