//! State of the model's reasoning that goes back to the provider unchanged.

use std::collections::BTreeMap;

use ctx_types::internal::ReasoningState;
use ctx_types::{Diagnostic, Message, Role, phrase};
use serde_json::{Map, Value};

use crate::codes;

/// The text in place of a thought signature that is missing. Gemini accepts it (ai.google.dev, thought signatures).
pub(crate) const SKIPPED_SIGNATURE: &str = "skip_thought_signature_validator";

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
    /// `extra_content` of a chat completion, with the call that it belongs to.
    Extra,
}

/// The model that reads the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) model: &'a str,
    pub(crate) state: ReasoningState,
}

impl Reader<'_> {
    /// Returns whether the model can use state of an origin that another model wrote; `writer` if that is known.
    ///
    /// State is bound to the model that wrote it. A model that the table does not have gets all state of its API
    /// dialect, since its name may be an alias.
    fn accepts(self, origin: Origin, writer: Option<&str>) -> bool {
        let is_own_kind = match (self.state, origin) {
            (ReasoningState::Unknown, _) => return true,
            (_, Origin::Details | Origin::Extra) => return true,
            (state, Origin::Gemini) => state.is_signature(),
            (ReasoningState::Items, Origin::Responses) => true,
            // Models with `reasoning_content` have blocks of thinking in Anthropic's API.
            (state, Origin::Anthropic) => state == ReasoningState::Thinking || state.is_content(),
            _ => false,
        };
        match writer {
            None => is_own_kind,
            Some(writer) => {
                let (own, writer) = (group(self.model), group(writer));
                own == writer || is_own_kind && !own.bytes().any(|byte| byte.is_ascii_digit())
            }
        }
    }
}

/// Returns the name of a model without its provider, date and edition: models of one group read each other's state.
fn group(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase().replace('.', "-");
    let name = name.find("claude").and_then(|start| name.get(start..)).unwrap_or(&name);
    let name = name.split([':', '@']).next().unwrap_or(name);
    let is_end = |part: &&str| {
        let is_date = part.len() >= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_date || matches!(*part, "latest" | "preview" | "exp")
    };
    let parts: Vec<&str> = name.split('-').take_while(|part| !is_end(part)).collect();
    parts.join("-")
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

/// Why reasoning state does not go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It is of another provider.
    Provider,
    /// It is of another model.
    Model,
    /// It is text without state, which the model does not get back.
    Text,
}

impl Loss {
    pub(crate) fn diagnostic(self) -> Diagnostic {
        let text = match self {
            Self::Provider => phrase!("reasoning state of another provider is not sent"),
            Self::Model => phrase!("reasoning state of another model is not sent"),
            Self::Text => phrase!("its reasoning is not sent: this model does not get it back"),
        };
        Diagnostic::info(codes::REASONING_NOT_SENT, text)
    }
}

/// Returns the state of some origins that goes back to a model, and why other state does not.
pub(crate) fn of<'a>(
    message: &'a Message,
    wanted: &[Origin],
    reader: Reader<'_>,
) -> (Vec<&'a Value>, Option<Loss>) {
    let writer = message.reasoning.as_ref().and_then(|reasoning| reasoning.model.as_deref());
    let (mut own, mut loss) = (Vec::new(), None);
    for artifact in artifacts(message) {
        match origin(artifact).filter(|origin| wanted.contains(origin)) {
            Some(origin) if reader.accepts(origin, writer) => own.push(artifact),
            Some(_) => loss = loss.or(Some(Loss::Model)),
            // The id and the state of a message are no reasoning.
            None if artifact.get("type").is_some_and(|kind| kind == "message") => {}
            None => loss = Some(Loss::Provider),
        }
    }
    let has_text = message.reasoning.as_ref().is_some_and(|reasoning| reasoning.text.is_some());
    if own.is_empty() && loss.is_none() && has_text && message.role == Role::Assistant {
        loss = Some(Loss::Text);
    }
    (own, loss)
}

/// Returns whether a message has reasoning that another API dialect than chat completions wrote.
pub(crate) fn is_foreign_to_chat(message: &Message) -> bool {
    let mut origins = artifacts(message).filter_map(origin);
    origins.any(|origin| matches!(origin, Origin::Anthropic | Origin::Responses | Origin::Gemini))
}

/// Returns whose state something is; `None` if that cannot be told.
pub(crate) fn origin(artifact: &Value) -> Option<Origin> {
    if signature(artifact).is_some() || artifact.get("thought") == Some(&Value::Bool(true)) {
        return Some(Origin::Gemini);
    }
    if artifact.get("extra_content").is_some() {
        return Some(Origin::Extra);
    }
    Some(match artifact.get("type").and_then(Value::as_str)? {
        "thinking" | "redacted_thinking" => Origin::Anthropic,
        "reasoning" | "message" => Origin::Responses,
        "reasoning_details" => Origin::Details,
        _ => return None,
    })
}

/// Returns the thought signature of an artifact, as Gemini or its chat completions write it.
pub(crate) fn signature(artifact: &Value) -> Option<&str> {
    let own = artifact.get("thoughtSignature");
    own.or_else(|| artifact.pointer("/extra_content/google/thought_signature"))?.as_str()
}

/// Returns the call of a message that an artifact belongs to, by its position.
pub(crate) fn call_of(artifact: &Value) -> Option<usize> {
    position(artifact, "call")
}

/// Returns the part of a message's content that an artifact belongs to, by its position.
pub(crate) fn part_of(artifact: &Value) -> Option<usize> {
    position(artifact, "part")
}

fn position(artifact: &Value, key: &str) -> Option<usize> {
    artifact.get(key).and_then(Value::as_u64).and_then(|position| usize::try_from(position).ok())
}

/// Returns artifacts by the position of their call. The first one of a call counts.
pub(crate) fn by_call(artifacts: Vec<&Value>) -> BTreeMap<Option<usize>, &Value> {
    artifacts.into_iter().rev().map(|artifact| (call_of(artifact), artifact)).collect()
}

/// Returns the index of the first message of the running turn: the one after the last message of the user.
pub(crate) fn running_turn(messages: &[Message]) -> usize {
    let last = messages.iter().rposition(|message| !matches!(message.role, Role::Assistant | Role::Tool));
    last.map_or(0, |last| last + 1)
}

/// Reports a placeholder for a missing thought signature.
pub(crate) fn skipped_signature() -> Diagnostic {
    let text = phrase!("the tool call has no thought signature; the validation of Gemini is skipped");
    Diagnostic::info(codes::REASONING_ADDED, text)
}

/// Which messages get `reasoning_content` in chat completions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo {
    /// Messages with tool calls.
    pub(crate) with_calls: bool,
    /// Messages without tool calls too: the request asks the model to keep them.
    pub(crate) without_calls: bool,
    /// Messages with tool calls and without reasoning too.
    pub(crate) is_required: bool,
}

impl Echo {
    /// Reads what a model needs, and what a request asks for.
    pub(crate) fn new(state: ReasoningState, parameters: &Map<String, Value>) -> Self {
        let thinking = parameters.get("thinking");
        let field = |key: &str| thinking.and_then(|thinking| thinking.get(key));
        let is = |value: Option<&Value>, expected: bool| value == Some(&Value::Bool(expected));
        let is_kept = field("keep").and_then(Value::as_str) == Some("all")
            || is(field("clear_thinking"), false)
            || is(parameters.get("preserve_thinking"), true);
        let is_disabled = field("type").and_then(Value::as_str) == Some("disabled")
            || is(parameters.get("enable_thinking"), false);
        Self {
            // Own servers have models that the table does not know.
            with_calls: state.is_content() || state == ReasoningState::Unknown,
            without_calls: state.is_content() && is_kept,
            is_required: state == ReasoningState::ContentRequired && !is_disabled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_editions_of_one_model() {
        for (one, other) in [
            ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5@20250929"),
            ("gpt-5", "gpt-5-2025-08-07"),
            ("models/gemini-3-pro-preview", "gemini-3-pro-preview-11-2025"),
        ] {
            assert_eq!(group(one), group(other));
        }
        for (one, other) in [("gpt-5", "gpt-5-mini"), ("claude-opus-4-5", "claude-sonnet-4-5")] {
            assert_ne!(group(one), group(other));
        }
    }
}
