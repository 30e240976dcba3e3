//! State of the model's reasoning that goes back to the provider unchanged.

use ctx_types::{Diagnostic, Message, Role, phrase};
use serde_json::Value;

use crate::codes;

/// Whose state it is, which decides where it can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A block of thinking, signed or encrypted.
    Anthropic,
    /// An item of reasoning, or what is known of the message after it.
    Responses,
    /// The signature of a thought, with the part it belongs to.
    Gemini,
    /// The list `reasoning_details`, as `OpenRouter` writes it.
    Details,
}

/// Returns the state that an answer carries, as the provider wrote it.
///
/// AIO Hub keeps it in an envelope whose `payload` is what the provider wrote; one that it never replays is
/// left out.
fn artifacts(message: &Message) -> impl Iterator<Item = &Value> {
    let of_answer = message.reasoning.as_ref().filter(|_| message.role == Role::Assistant);
    let kept = of_answer.into_iter().flat_map(|reasoning| &reasoning.artifacts);
    kept.filter_map(|artifact| match artifact.get("payload") {
        Some(_) if artifact.get("replayPolicy").and_then(Value::as_str) == Some("never") => None,
        Some(payload) => Some(payload),
        None => Some(&**artifact),
    })
}

/// Returns the state that goes back to one provider, and what to tell if there is state of others.
pub(crate) fn of(message: &Message, wanted: Origin) -> (Vec<&Value>, Option<Diagnostic>) {
    let (own, foreign): (Vec<&Value>, Vec<&Value>) =
        artifacts(message).partition(|artifact| origin(artifact) == Some(wanted));
    let text = phrase!("reasoning state of another provider is not sent");
    let finding = (!foreign.is_empty()).then(|| Diagnostic::info(codes::REASONING_NOT_SENT, text));
    (own, finding)
}

/// Returns whose state something is; `None` if that cannot be told.
fn origin(artifact: &Value) -> Option<Origin> {
    if artifact.get("thoughtSignature").is_some() {
        return Some(Origin::Gemini);
    }
    Some(match artifact.get("type").and_then(Value::as_str)? {
        "thinking" | "redacted_thinking" => Origin::Anthropic,
        "reasoning" | "message" => Origin::Responses,
        "reasoning_details" => Origin::Details,
        _ => return None,
    })
}
