//! OpenAI's responses (`POST /v1/responses`): the request body, whole replies and streams.

mod content;
mod items;
mod parameters;
mod reply;
pub(crate) mod stream;

use ctx_types::Message;
use serde_json::Value;

use crate::blocks::BREAKPOINT;
use crate::json::{Json, Object};
use crate::lint;
use crate::marks;
use crate::parameters::ModelParameters;
use crate::request::{Encoded, Options, Request};
use crate::tools::{GrammarPlace, Tool};
use items::Items;

pub use reply::decode;

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `instructions` if a client sent them, `input`, `tools` if there are any, then the parameters.
/// Each message, call and result is an item. Messages have a type only if a client sent one. Reasoning precedes the items
/// that it led to. Text alone is a string; text of the assistant is `output_text`. `max_tokens` is written as
/// `max_output_tokens`, and so on; parameters that the dialect does not have are reported.
///
/// Left out with a finding: recordings and films, of which the API takes none; attachments without bytes; names;
/// reasoning state of other providers. O(size of the body).
///
/// ```
/// use ctx_types::{Message, Role, Source};
/// use ctx_wire::{Request, openai_responses};
///
/// let messages = [Message::new(Role::User, "Hi", Source::history("n", Role::User))];
/// let request = Request { model: "gpt-5", tools: &[], parameters: &Default::default() };
/// let expected = r#"{"model":"gpt-5","input":[{"role":"user","content":"Hi"}]}"#;
/// assert_eq!(openai_responses::encode(&messages, &request).to_string(), expected);
/// ```
pub fn encode<'a>(messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, for a target of which more is known.
pub fn encode_with<'a>(messages: &'a [Message], request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
    let mut found = Vec::new();
    let mut items = Items::new(messages, request.model, options.rules, &mut found);
    for message in messages {
        items.add(message, message.cache_mark);
    }
    let mut body = Object::default();
    body.push("model", request.model);
    let (instructions, items) = items.finish();
    if let Some(instructions) = instructions {
        body.push("instructions", instructions);
    }
    body.push("input", items);
    marks::remove_rejected(&mut body, BREAKPOINT, &mut found);
    if !request.tools.is_empty() {
        body.push("tools", request.tools.iter().map(tool).collect::<Json<'_>>());
    }
    let parameters = ModelParameters::new(request.parameters, options.rules);
    let parameters = parameters.with_client_fields(options.client_fields);
    parameters::put(&mut body, parameters, &mut found);
    let body = body.into();
    found.extend(lint::openai_responses(&body, options.rules));
    Encoded::new(body, found)
}

/// A function without an envelope; what is no function stays.
fn tool(definition: &Value) -> Json<'_> {
    let Some(tool) = Tool::read(definition) else { return definition.into() };
    if tool.is_custom() && definition.get("custom").is_some() {
        let mut object = Object::default();
        object.push("type", "custom");
        object.append(tool.write_custom(GrammarPlace::Format));
        return object.into();
    }
    if definition.get("function").is_none() && definition.get("type").is_some() {
        return definition.into();
    }
    let mut object = Object::default();
    object.push("type", "function");
    object.append(tool.write("parameters"));
    // The API demands a word on it, and takes schemas as they are where that is `false`.
    object.push("strict", tool.strict().map_or(Json::Bool(false), Json::from));
    object.into()
}
