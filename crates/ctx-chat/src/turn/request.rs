//! Requests: what they hold beside their messages, and their bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ctx_types::internal::excerpt;
use ctx_types::ports::ToolDefinition;
use ctx_types::{Diagnostic, Message, ToolCall, phrase};
use ctx_wire::{BodyPart, Dialect, Options, Request, read_tools, tool_definition};
use serde_json::{Map, Value, json};

use crate::codes;

/// What a request holds beside its messages and tools.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestShape {
    /// The model, as the provider names it; that of the turn if blank.
    pub model: String,
    /// Further fields, such as `temperature`.
    pub parameters: Map<String, Value>,
    /// Definitions of tools beside those of the turn, in the form of any dialect; sent as they are.
    pub tools: Vec<Value>,
    /// Whether the answer is to come in pieces; true by default.
    pub streams: bool,
    /// Names of parameters from a client of the same API dialect. If set, these parameters, the tools, and the tool
    /// calls of messages are sent unchanged.
    pub client_fields: Option<BTreeSet<String>>,
}

impl Default for RequestShape {
    fn default() -> Self {
        let (model, parameters, tools) = (String::new(), Map::new(), Vec::new());
        Self { model, parameters, tools, streams: true, client_fields: None }
    }
}

impl RequestShape {
    /// Writes a request body. These are the bytes that are sent: previews show them too.
    ///
    /// `tools` stand before those of the shape. `model` is asked unless the shape names one. What [`ctx_wire::lint`] finds in the body is among the findings.
    pub fn encode(&self, target: &Target<'_>, messages: &[Message], tools: &[ToolDefinition]) -> RequestBody {
        let Target { dialect, model, options } = *target;
        let options = Options { client_fields: self.client_fields.as_ref(), ..options };
        let (messages, repaired) = match &self.client_fields {
            Some(_) => (Cow::Borrowed(messages), Vec::new()),
            None => sendable(messages, &[tools, &self.functions()].concat()),
        };
        let given = self.tools.iter().cloned();
        let tools: Vec<Value> = tools.iter().map(tool_definition).chain(given).collect();
        let parameters = self.parameters_for(dialect);
        let model = if self.model.is_empty() { model } else { &self.model };
        let request = Request { model, tools: &tools, parameters: &parameters };
        let mut encoded = dialect.encode_with(&messages, &request, &options);
        encoded.diagnostics.extend(repaired);
        RequestBody { bytes: encoded.to_bytes(), parts: encoded.parts(), diagnostics: encoded.diagnostics }
    }

    /// Returns the functions among the tools of the shape.
    fn functions(&self) -> Vec<ToolDefinition> {
        self.tools.iter().flat_map(read_tools).collect()
    }

    /// The fields beside the messages; Gemini is asked for a stream by its address.
    fn parameters_for(&self, dialect: Dialect) -> Map<String, Value> {
        let mut parameters = self.parameters.clone();
        if self.streams && dialect != Dialect::Gemini {
            parameters.insert("stream".to_owned(), Value::Bool(true));
        }
        if self.streams && matches!(dialect, Dialect::OpenaiChat | Dialect::Completion) {
            let options = parameters.entry("stream_options").or_insert_with(|| json!({}));
            if let Some(options) = options.as_object_mut() {
                options.insert("include_usage".to_owned(), Value::Bool(true));
            }
        }
        parameters
    }
}

/// A request body as it is sent, with what was found on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestBody {
    /// Compact JSON in UTF-8.
    pub bytes: Vec<u8>,
    /// Its tools, system prompts and messages.
    pub parts: Vec<BodyPart>,
    /// What was left out or wrapped, and what the provider will probably refuse.
    pub diagnostics: Vec<Diagnostic>,
}

/// To whom a request goes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// How the provider speaks.
    pub dialect: Dialect,
    /// The model that is asked unless the shape of the request names one.
    pub model: &'a str,
    /// What more is known of the model.
    pub options: Options<'a>,
}

/// What a model wrote as arguments and is no JSON object, under this key of one: else some servers refuse every
/// request from then on.
const UNREADABLE: &str = "unreadable";

/// The longest name of a tool that providers take, in characters.
const MAX_NAME: usize = 64;

/// Makes calls what providers take again, whatever a model wrote: objects as arguments, and names that could be those of
/// tools.
fn sendable<'a>(messages: &'a [Message], tools: &[ToolDefinition]) -> (Cow<'a, [Message]>, Vec<Diagnostic>) {
    let (mut messages, mut found) = (Cow::Borrowed(messages), Vec::new());
    for index in 0..messages.len() {
        let calls = messages[index].tool_calls.clone();
        for (position, call) in calls.iter().enumerate() {
            let mut repaired = call.clone();
            let wrapped = wrap(&mut repaired);
            let renamed = rename(&mut repaired, tools);
            let pointer = format!("/messages/{index}/tool_calls/{position}");
            found.extend(
                [wrapped, renamed].into_iter().flatten().map(|finding| finding.at_pointer(&*pointer)),
            );
            if repaired != *call
                && let Some(message) = messages.to_mut().get_mut(index)
                && let Some(call) = message.tool_calls.get_mut(position)
            {
                *call = repaired;
            }
        }
    }
    (messages, found)
}

/// Wraps arguments that are no JSON object.
fn wrap(call: &mut ToolCall) -> Option<Diagnostic> {
    if is_object(&call.arguments) {
        return None;
    }
    call.arguments = json!({ UNREADABLE: call.arguments.as_str() }).to_string().into();
    let text = phrase!("the arguments of tool call `{call}` are not a JSON object", call = excerpt(&call.id));
    Some(
        Diagnostic::warning(codes::WRAPPED_ARGUMENTS, text)
            .with_help(phrase!("the request wraps them in an object, as text")),
    )
}

/// Gives a call of a tool that there is not a name that there could be.
fn rename(call: &mut ToolCall, tools: &[ToolDefinition]) -> Option<Diagnostic> {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let is_name = (1..=MAX_NAME).contains(&call.name.len()) && call.name.chars().all(is_fine);
    if is_name || tools.iter().any(|tool| tool.name == call.name) {
        return None;
    }
    let plain = call.name.chars().map(|character| if is_fine(character) { character } else { '_' });
    let plain: String = plain.take(MAX_NAME).collect();
    let name = if plain.is_empty() { "unnamed" } else { &plain };
    let text = phrase!(
        "tool call `{call}` uses the invalid tool name `{tool}`",
        call = excerpt(&call.id),
        tool = excerpt(&call.name)
    );
    let help = phrase!("the request uses `{name}` instead, because providers reject invalid names", name);
    call.name = name.into();
    Some(Diagnostic::warning(codes::RENAMED_TOOL, text).with_help(help))
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// The parameters of agents that say how a model draws its words, by the names that chat completions have for them.
const SAMPLING: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("top_p", "top_p"),
    ("topK", "top_k"),
    ("top_k", "top_k"),
    ("maxTokens", "max_tokens"),
    ("max_tokens", "max_tokens"),
    ("frequencyPenalty", "frequency_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("presencePenalty", "presence_penalty"),
    ("presence_penalty", "presence_penalty"),
    ("seed", "seed"),
    ("stop", "stop"),
];

/// Takes what an agent's `parameters` say about drawing words.
///
/// ```
/// use serde_json::json;
///
/// let parameters = json!({ "temperature": 0.7, "maxTokens": 500, "processors": [] });
/// assert_eq!(json!(ctx_chat::sampling(&parameters)), json!({ "temperature": 0.7, "max_tokens": 500 }));
/// ```
pub fn sampling(parameters: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    for (from, to) in SAMPLING {
        if let Some(value) = parameters.get(from).filter(|value| !value.is_null()) {
            found.entry(*to).or_insert_with(|| value.clone());
        }
    }
    found
}
