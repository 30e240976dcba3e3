//! Gemini's `generateContent` (`POST /v1beta/models/{model}:generateContent`): the request body, whole replies
//! and streams.

mod contents;
mod parameters;
mod part;
mod reply;
pub(crate) mod stream;

use ctx_types::{Diagnostic, Message, phrase};
use serde_json::Value;

use crate::codes;
use crate::json::{Json, Object, object};
use crate::lint;
use crate::parameters::ModelParameters;
use crate::request::{Encoded, Options, Request};
use crate::tools::{DECLARATIONS, Tool};
use contents::Contents;

pub use reply::decode;

/// Writes the request body for a list of messages.
///
/// The keys are `systemInstruction` if there are instructions, `contents`, `tools` if there are any,
/// `generationConfig` with the parameters of the response, then the other parameters. The URL contains the model. The
/// first system messages become `systemInstruction`, a later one a user message in `<system>`. Consecutive messages of
/// one side are joined, unless a client of this dialect sent them separately. Tool results name their function, and are
/// first in their message.
///
/// Reported: what is moved, wrapped or left out, and what [`lint`] finds in the body. O(size of the body).
///
/// ```
/// use ctx_types::{Message, Role, Source};
/// use ctx_wire::{Request, gemini};
///
/// let message = |role, text| Message::new(role, text, Source::history("n", role));
/// let messages = [message(Role::System, "Be kind."), message(Role::User, "Hi")];
/// let parameters = serde_json::json!({ "max_tokens": 9 });
/// let request = Request { model: "gemini-3-pro", tools: &[], parameters: parameters.as_object().unwrap() };
/// let expected = concat!(
///     r#"{"systemInstruction":{"parts":[{"text":"Be kind."}]},"#,
///     r#""contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":9}}"#,
/// );
/// assert_eq!(gemini::encode(&messages, &request).to_string(), expected);
/// ```
pub fn encode<'a>(messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
    encode_with(messages, request, &Options::default())
}

/// Writes the request body as [`encode`] does, for a target of which more is known.
pub fn encode_with<'a>(messages: &'a [Message], request: &Request<'a>, options: &Options<'_>) -> Encoded<'a> {
    let mut found = Vec::new();
    if messages.iter().any(|message| message.cache_mark.is_some()) {
        let text = phrase!("cache marks are not sent: this API dialect caches common prefixes automatically");
        found.push(Diagnostic::info(codes::CACHE_MARK, text));
    }
    let leading = messages.iter().take_while(|message| message.role.is_instruction()).count();
    let mut contents = Contents::new(messages, request.model, options, &mut found);
    for index in leading..messages.len() {
        contents.add(index);
    }
    let (contents, instruction) = contents.finish(leading);
    let mut body = Object::default();
    if let Some(instruction) = instruction {
        body.push("systemInstruction", instruction);
    }
    body.push("contents", contents);
    if let Some(tools) = tools(request.tools) {
        body.push("tools", tools);
    }
    let parameters = ModelParameters::new(request.parameters, options.rules);
    let parameters = parameters.with_client_fields(options.client_fields);
    parameters::put(&mut body, parameters, &mut found);
    let body = body.into();
    found.extend(lint::gemini(&body, options.rules));
    Encoded::new(body, found)
}

/// Writes functions in one declaration, before the functions of a client of this dialect. Copies the provider's own
/// tools.
fn tools(definitions: &[Value]) -> Option<Json<'_>> {
    let mut functions = Vec::new();
    let mut written = Vec::new();
    for definition in definitions {
        match Tool::read(definition) {
            Some(tool) => functions.push(tool.write("parametersJsonSchema").into()),
            None => written.push(Json::from(definition)),
        }
    }
    let mut declared = written.iter_mut().filter_map(|tool| {
        let tool = tool.as_object_mut()?;
        let key = DECLARATIONS.into_iter().find(|key| tool.get(key).is_some())?;
        tool.get_mut(key)
    });
    match declared.next() {
        _ if functions.is_empty() => {}
        Some(Json::List(list)) => drop(list.splice(..0, functions)),
        _ => written.insert(0, object([("functionDeclarations", Json::List(functions))])),
    }
    (!written.is_empty()).then_some(Json::List(written))
}
