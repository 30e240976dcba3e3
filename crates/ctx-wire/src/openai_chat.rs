//! Chat completions (`POST /v1/chat/completions`), which most servers understand: the request body, whole
//! replies and streams.

mod content;
mod homeless;
mod message;
mod reply;
pub(crate) mod stream;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ctx_types::{Code, Diagnostic, Message, Reasoning};
use serde_json::{Value, json};

use crate::blocks::BREAKPOINT;
use crate::codes;
use crate::json::{Json, Object, object};
use crate::lint;
use crate::marks;
use crate::parameters::ModelParameters;
use crate::reasoning::{self, Origin};
use crate::request::{Encoded, Options, Request, put_parameters};
use crate::tools::{GrammarPlace, Tool};
use message::Writer;

pub use reply::decode;

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `messages`, `tools` if there are any, then the parameters. Every message is written
/// in its place, with its role; text alone is a string, tool calls alone have `"content": null`. Media stand
/// behind the text; those of a message whose role has none follow in a user's message of their own, after all
/// results of the same calls. Findings come in this order: the messages, the parameters, what [`lint`] finds in the
/// body; their pointers lead into the body.
///
/// Left out with a finding: attachments without bytes, media that the API has no part for, reasoning state,
/// names that the API refuses, tool calls on a message that is not the assistant's. O(size of the body).
pub fn encode<'a>(messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, for a target of which more is known.
pub fn encode_with<'a>(messages: &'a [Message], request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
    let mut found = Vec::new();
    let mut body = Object::default();
    body.push("model", request.model);
    let mut writer = Writer::new(messages, request, options, &mut found);
    for message in messages {
        writer.add(message, message.cache_mark);
    }
    body.push("messages", writer.finish());
    marks::remove_rejected(&mut body, BREAKPOINT, &mut found);
    if !request.tools.is_empty() {
        body.push("tools", request.tools.iter().map(tool).collect::<Json<'_>>());
    }
    let parameters = ModelParameters::new(request.parameters, options.rules);
    let parameters = parameters.with_client_fields(options.client_fields);
    let accepted = parameters.accepted(&mut found).into_iter();
    let accepted = accepted
        .map(|(name, value)| (Cow::Borrowed(parameters.limit_name(name, &mut found)), Json::from(value)));
    let parameters = Object::merged(accepted);
    put_parameters(&mut body, parameters, &["model", "messages", "tools"], &mut found);
    let body = body.into();
    let earlier = EarlierFindings::new(&found);
    let news: Vec<Diagnostic> = lint::openai_chat(&body, options.rules)
        .into_iter()
        .filter(|finding| !earlier.cover(finding))
        .collect();
    found.extend(news);
    Encoded::new(body, found)
}

/// Reasoning state of a reply, in the fields that chat completions have for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplyState {
    /// The list `reasoning_details`, as `OpenRouter` writes it.
    pub details: Option<Value>,
    /// `extra_content` of the calls, by their position; that of the message has none.
    pub extras: BTreeMap<Option<usize>, Value>,
}

impl ReplyState {
    /// Reads the state that a reply of a chat completion or of Gemini carries; other state has no field.
    ///
    /// ```
    /// use ctx_types::Reasoning;
    /// use ctx_wire::openai_chat::ReplyState;
    /// use serde_json::json;
    ///
    /// let artifact = json!({ "call": 0, "thoughtSignature": "s" });
    /// let reasoning = Reasoning { artifacts: vec![artifact.into()], ..Reasoning::default() };
    /// let state = ReplyState::from_reasoning(&reasoning);
    /// assert_eq!(state.extras[&Some(0)], json!({ "google": { "thought_signature": "s" } }));
    /// ```
    pub fn from_reasoning(reasoning: &Reasoning) -> Self {
        let mut state = Self::default();
        for artifact in &reasoning.artifacts {
            let signature = || {
                let signature = reasoning::signature(artifact)?;
                Some(json!({ "google": { "thought_signature": signature } }))
            };
            if reasoning::origin(artifact) == Some(Origin::Details) {
                state.details = state.details.or_else(|| artifact.get("details").cloned());
            } else if let Some(extra) = artifact.get("extra_content").cloned().or_else(signature) {
                state.extras.entry(reasoning::call_of(artifact)).or_insert(extra);
            }
        }
        state
    }
}

/// Places of what the encoder reported, which the linter finds again.
struct EarlierFindings {
    parts: BTreeSet<String>,
    /// Messages that are empty because their reasoning is not sent.
    without_reasoning: BTreeSet<String>,
}

impl EarlierFindings {
    fn new(found: &[Diagnostic]) -> Self {
        let places = |code: Code| {
            let with_code = found.iter().filter(|finding| finding.code == code);
            with_code.filter_map(|finding| finding.location.pointer.clone()).collect()
        };
        Self { parts: places(codes::PART_NOT_ACCEPTED), without_reasoning: places(codes::REASONING_NOT_SENT) }
    }

    fn cover(&self, finding: &Diagnostic) -> bool {
        let Some(place) = finding.location.pointer.as_deref() else { return false };
        match finding.code {
            codes::PART_NOT_ACCEPTED => self.parts.contains(place),
            codes::EMPTY_CONTENT => {
                place.strip_suffix("/content").is_some_and(|message| self.without_reasoning.contains(message))
            }
            _ => false,
        }
    }
}

/// A function in this dialect's envelope; what is in it already, and what is no function, stays.
fn tool(definition: &Value) -> Json<'_> {
    let is_own = definition.get("function").or_else(|| definition.get("custom")).is_some();
    match Tool::read(definition) {
        Some(tool) if !is_own && tool.is_custom() => {
            let custom = tool.write_custom(GrammarPlace::Field);
            object([("type", "custom".into()), ("custom", custom.into())])
        }
        Some(tool) if !is_own => {
            let mut function = tool.write("parameters");
            if let Some(strict) = tool.strict() {
                function.push("strict", strict);
            }
            object([("type", "function".into()), ("function", function.into())])
        }
        _ => definition.into(),
    }
}
