//! Chat completions (`POST /v1/chat/completions`), which most servers understand: the request body, whole
//! replies and streams.

mod content;
mod homeless;
mod message;
mod reply;
pub(crate) mod stream;

use ctx_types::{Diagnostic, Message};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::marks;
use crate::pairing;
use crate::request::{Encoded, Options, Request, put_parameters};
use crate::tools::Tool;
use message::Writer;

pub use reply::decode;

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `messages`, `tools` if there are any, then the parameters. Every message is written
/// in its place, with its role; text alone is a string, tool calls alone have `"content": null`. Media stand
/// behind the text; those of a message whose role has none follow in a user's message of their own, after all
/// results of the same calls. Findings come in this order: the request, the messages, the pairs of calls and
/// results; their pointers lead into the body.
///
/// Left out with a finding: attachments without bytes, media that the API has no part for, reasoning state,
/// names that the API refuses, tool calls on a message that is not the assistant's. O(size of the body).
pub fn encode(messages: &[Message], request: &Request<'_>) -> Encoded {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, for a target of which more is known.
pub fn encode_with(messages: &[Message], request: &Request<'_>, options: &Options<'_>) -> Encoded {
    let mut found = Vec::new();
    check_request(messages, request, &mut found);
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(request.model));
    let marks = marks::written(messages, &mut found);
    let mut writer = Writer::new(messages, options, &mut found);
    for (message, mark) in messages.iter().zip(marks) {
        writer.add(message, mark);
    }
    let (written, places) = writer.finish();
    body.insert("messages".to_owned(), Value::Array(written));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    put_parameters(&mut body, request.parameters, &["model", "messages", "tools"], &mut found);
    found.extend(pairing::check_at(messages, |index| places.get(index).copied().unwrap_or(index)));
    Encoded::new(body, found)
}

fn check_request(messages: &[Message], request: &Request<'_>, found: &mut Vec<Diagnostic>) {
    if request.model.is_empty() {
        let finding = Diagnostic::warning(codes::NO_MODEL, "the request names no model");
        found.push(finding.at_pointer("/model"));
    }
    if messages.is_empty() {
        let finding = Diagnostic::error(codes::NO_MESSAGES, "the request has no messages");
        found.push(finding.at_pointer("/messages").with_help("the provider will refuse the request"));
    }
}

/// A function in this dialect's envelope; what is in it already, and what is no function, stays.
fn tool(definition: &Value) -> Value {
    match Tool::read(definition) {
        Some(tool) if definition.get("function").is_none() => {
            let mut function = tool.write("parameters");
            if let Some(strict) = tool.strict() {
                function.insert("strict".to_owned(), strict.clone());
            }
            json!({ "type": "function", "function": function })
        }
        _ => definition.clone(),
    }
}
