//! Anthropic's messages (`POST /v1/messages`): the request body, whole replies and streams.

mod block;
mod parameters;
mod reply;
pub(crate) mod stream;
mod system;
mod turns;

use ctx_types::{Diagnostic, Message};
use serde_json::Value;

use crate::call_ids::CallIds;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Json, Object, object};
use crate::lint;
use crate::marks;
use crate::parameters::ModelParameters;
use crate::reasoning::Reader;
use crate::request::{Encoded, Options, Request, SystemPlacement, put_parameters};
use crate::tools::Tool;
use block::Context;
use turns::Turns;

pub use reply::decode;

/// Writes the request body for a list of messages.
///
/// The keys are `model`, `max_tokens`, `system` if there is any, `messages`, `tools` if there are any, then the
/// parameters. The first system messages become `system`; a later one becomes a user message in `<system>`, because only
/// the newest models accept it there. Consecutive messages of one side are joined, as the server joins them, unless a
/// client of this dialect sent them separately. Tool results are first in their message. The model continues a last
/// message of the assistant. `stop` is written as `stop_sequences`, and tools of chat completions in the form of this
/// dialect.
///
/// Reports moved, wrapped, added and dropped parts, and the diagnostics of [`lint`]. O(size of the body).
pub fn encode<'a>(messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, with options for the target.
///
/// [`SystemPlacement::InPlace`] keeps a later system message at its place if the provider allows it: after a user
/// message or tool results, and before an assistant message or at the end. Without [`Options::prefill`], a user
/// message asks the model to continue an unfinished reply.
pub fn encode_with<'a>(messages: &'a [Message], request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
    let mut found = Vec::new();
    let mut body = Object::default();
    body.push("model", request.model);
    body.push("max_tokens", parameters::max_tokens(request.parameters, &mut found));
    let marks = marks::before_trailing_instructions(messages);
    let leading = messages.iter().take_while(|message| message.role.is_instruction()).count();
    let context = Context {
        ids: CallIds::new(messages, Dialect::Anthropic, options.rules.call_ids, &mut found),
        reader: Reader { model: request.model, state: options.rules.reasoning_state },
    };
    let mut turns = Turns::new(options, &context, &mut found);
    for (index, (message, mark)) in messages.iter().zip(&marks).enumerate().skip(leading) {
        turns.add(index, message, *mark, messages.get(index + 1..).unwrap_or_default());
    }
    turns.add_files_of_instructions(messages.get(..leading).unwrap_or_default());
    let written = turns.finish();
    let system = messages.iter().zip(marks.iter().copied()).take(leading);
    if let Some(system) = system::field(system) {
        body.push("system", system);
    }
    body.push("messages", written);
    if !request.tools.is_empty() {
        body.push("tools", request.tools.iter().map(tool).collect::<Json<'_>>());
    }
    let parameters = ModelParameters::new(request.parameters, options.rules);
    let parameters = parameters.with_client_fields(options.client_fields);
    let parameters = parameters::own(parameters, options.rules.samplers, &mut found);
    put_parameters(&mut body, parameters, &["model", "messages", "tools", "system"], &mut found);
    marks::remove_rejected(&mut body, marks::CACHE_CONTROL, &mut found);
    let body = body.into();
    let is_news = |finding: &Diagnostic| {
        // The caller selected this placement for a model that supports it.
        !(finding.code == codes::ROLE_ORDER
            && finding.severity == ctx_types::Severity::Warning
            && options.system == SystemPlacement::InPlace)
    };
    found.extend(lint::anthropic(&body, options.rules).into_iter().filter(is_news));
    Encoded::new(body, found)
}

/// Returns whether a block has a type. Before the body is written, a text is a text block.
fn is_of(block: &Json<'_>, kind: &str) -> bool {
    match block {
        Json::Text(_) => kind == "text",
        block => block.get("type").and_then(Json::as_str) == Some(kind),
    }
}

/// Converts a text to a text block.
fn whole(block: Json<'_>) -> Json<'_> {
    match block {
        text @ Json::Text(_) => object([("type", "text".into()), ("text", text)]),
        block => block,
    }
}

/// Converts a tool to this dialect. Keeps tools of this dialect unchanged.
fn tool(definition: &Value) -> Json<'_> {
    match Tool::read(definition) {
        Some(tool) if definition.get("input_schema").is_none() => {
            let mut written = tool.write("input_schema");
            if let Some(mark) = definition.get(marks::CACHE_CONTROL) {
                written.push(marks::CACHE_CONTROL, mark);
            }
            written.into()
        }
        _ => definition.into(),
    }
}
