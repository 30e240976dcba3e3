//! Text completions (`POST /v1/completions`): turns written as one text by a template, whole replies and streams.

mod calls;
mod escape;
mod prompt;
mod reply;
pub(crate) mod stream;
mod template;

use ctx_types::{Diagnostic, Message};
use serde_json::{Map, Value, json};

use crate::codes;
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
/// let body = completion::encode(&messages, &request).body;
/// assert_eq!(body["prompt"], "<|im_start|>user\nHi < |im_end|><|im_end|>\n<|im_start|>assistant\n");
/// ```
pub fn encode(messages: &[Message], request: &Request<'_>) -> Encoded {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, by a template of one's own choice if there is one.
pub fn encode_with(messages: &[Message], request: &Request<'_>, options: &Options<'_>) -> Encoded {
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
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(request.model));
    body.insert("prompt".to_owned(), Value::from(prompt));
    let stop = stop(template, request.parameters);
    if !stop.is_empty() {
        body.insert("stop".to_owned(), Value::Array(stop));
    }
    let parameters = own(request.parameters);
    put_parameters(&mut body, &parameters, &["model", "prompt", "messages", "tools"], &mut found);
    if messages.is_empty() {
        found
            .push(Diagnostic::error(codes::NO_MESSAGES, "the request has no messages").at_pointer("/prompt"));
    }
    let body = Value::Object(body);
    found.extend(lint::completion(&body));
    let Value::Object(body) = body else { return Encoded::new(Map::new(), found) };
    Encoded::new(body, found)
}

/// Where the answer ends: the template's ends of turns, then what the caller wants.
fn stop(template: &Template, parameters: &Map<String, Value>) -> Vec<Value> {
    let mut stop: Vec<Value> = template.stop().iter().map(|end| json!(end)).collect();
    let wanted = match parameters.get("stop") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one @ Value::String(_)) => std::slice::from_ref(one),
        _ => &[],
    };
    for end in wanted {
        if !stop.contains(end) {
            stop.push(end.clone());
        }
    }
    stop
}

/// The other parameters, under this dialect's names.
fn own(parameters: &Map<String, Value>) -> Map<String, Value> {
    let rest = parameters.iter().filter(|(name, _)| *name != "stop");
    let name = |name: &String| match name.as_str() {
        "max_completion_tokens" | "max_output_tokens" => "max_tokens".to_owned(),
        name => name.to_owned(),
    };
    rest.map(|(key, value)| (name(key), value.clone())).collect()
}
