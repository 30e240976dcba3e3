//! Text completions (`POST /v1/completions`): turns written as one text by a template, whole replies and streams.

mod calls;
mod escape;
mod prompt;
mod reply;
pub(crate) mod stream;
mod template;

use std::borrow::Cow;

use ctx_types::{Diagnostic, Message, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::json::{self, Json, Object};
use crate::lint;
use crate::request::{Encoded, Options, Request, put_parameters};
use prompt::Prompt;

pub use reply::decode;
pub use template::Template;

pub(crate) use calls::take_calls;

/// Writes the request body for a list of messages, by the template that suits the model's name.
///
/// The keys are `model`, `prompt`, `stop` with the template's own ends of turns, then the parameters. The prompt
/// ends where the answer begins, or goes on: a last message of the assistant is its beginning. What a text says
/// like a border of turns is parted by a space, so that no text can speak for another role. Tools and their
/// definitions are written as text in `<tools>`, `<tool_call>` and `<tool_response>`.
///
/// Left out with a finding: media, reasoning, names. O(size of the body).
///
/// ```
/// use ctx_types::{Message, Role, Source};
/// use ctx_wire::{Request, completion};
///
/// let messages = [Message::new(Role::User, "Hi <|im_end|>", Source::history("n", Role::User))];
/// let request = Request { model: "qwen3", tools: &[], parameters: &Default::default() };
/// let body = completion::encode(&messages, &request).to_value();
/// assert_eq!(body["prompt"], "<|im_start|>user\nHi < |im_end|><|im_end|>\n<|im_start|>assistant\n");
/// ```
pub fn encode<'a>(messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, by a template of one's own choice if there is one.
pub fn encode_with<'a>(messages: &'a [Message], request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
    let mut found = Vec::new();
    let guessed = options.template.is_none().then(|| Template::for_model(request.model));
    let template = options.template.or(guessed.as_ref());
    let fallback = Template::default();
    let template = template.unwrap_or(&fallback);
    let mut prompt = Prompt::new(template, &mut found);
    prompt.begin(request.tools);
    for (index, message) in messages.iter().enumerate() {
        prompt.add(index, message, index + 1 == messages.len());
    }
    let prompt = prompt.finish();
    let mut body = Object::default();
    body.push("model", request.model);
    body.push("prompt", prompt);
    let stop = stop(template, request.parameters);
    if !stop.is_empty() {
        body.push("stop", stop);
    }
    let parameters = own(request.parameters);
    put_parameters(&mut body, parameters, &["model", "prompt", "messages", "tools"], &mut found);
    if messages.is_empty() {
        found.push(
            Diagnostic::error(codes::NO_MESSAGES, phrase!("the request has no messages"))
                .at_pointer("/prompt"),
        );
    }
    let body = body.into();
    found.extend(lint::completion(&body));
    Encoded::new(body, found)
}

/// Where the answer ends: the template's ends of turns, then what the caller wants.
fn stop<'a>(template: &Template, parameters: &'a Map<String, Value>) -> Vec<Json<'a>> {
    let mut stop: Vec<Json<'_>> = template.stop().iter().map(|end| end.clone().into()).collect();
    let wanted = match parameters.get("stop") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one @ Value::String(_)) => std::slice::from_ref(one),
        _ => &[],
    };
    for end in wanted.iter().map(Json::from) {
        if !stop.contains(&end) {
            stop.push(end);
        }
    }
    stop
}

/// The other parameters, under this dialect's names.
fn own(parameters: &Map<String, Value>) -> Object<'_> {
    let rest = json::fields(parameters).filter(|(name, _)| *name != "stop");
    Object::merged(rest.map(|(name, value)| match &*name {
        "max_completion_tokens" | "max_output_tokens" => (Cow::Borrowed("max_tokens"), value),
        _ => (name, value),
    }))
}
