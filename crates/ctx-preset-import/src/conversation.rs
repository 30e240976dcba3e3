//! Documents that hold a conversation.

mod chat_message;
mod halves;
mod linear;
pub(crate) mod provider_messages;
mod request;
mod silly_tavern;
mod tool_calls;
mod unsent_fields;
mod write;
#[cfg(feature = "schema")]
mod written_message;

use ctx_types::session::Session;
use ctx_types::{Persist, Reader, phrase};
use serde_json::{Map, Value};

use crate::document::{Document, Syntax};
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::imported::{Imported, Moved, relocate};

use linear::Messages;
pub(crate) use linear::ReadFields;
pub use request::{RequestApi, RequestMessages, take_request_messages};
pub use write::{ConversationForm, WrittenConversation, write_conversation};
#[cfg(feature = "schema")]
pub use written_message::ChatMessage;

/// Reads a conversation from any form that people have one in.
///
/// Forms: a session of AIO Hub, flat or as `{index, detail}`; a chat of `SillyTavern`; messages of `OpenAI`, Anthropic
/// or Gemini, or stored messages, as a list, one per line, or in a request body (`messages`, `input` or `contents`).
/// A conversation without branches becomes a session whose nodes follow each other.
///
/// What the form holds beyond a session is kept: unknown keys of a message beside it, those of the file in
/// the session's header, and what our own keys displace under `imported`. A message that is no object is
/// kept and never sent. A conversation without an id is named after its file.
///
/// ```
/// use ctx_preset_import::read_conversation;
///
/// let chat = br#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
///     "function":{"name":"weather","arguments":"{}"}}]},
///     {"role":"tool","tool_call_id":"c1","content":"rain"}]"#;
/// let session = read_conversation(chat, "rain.json")?.value;
/// let path = session.path();
/// assert_eq!(path[0].tool_calls[0].name.as_deref(), Some("weather"));
/// assert_eq!(path[1].tool_call_id.as_deref(), Some("c1"));
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn read_conversation(bytes: &[u8], name: &str) -> Result<Imported<Session>, ImportError> {
    conversation_of(Document::read(bytes, name)?, name)
}

/// As [`read_conversation`], of a document that is read already.
pub fn conversation_of(document: Document, name: &str) -> Result<Imported<Session>, ImportError> {
    let guess = format::weakly_told(&document.value, Format::is_conversation);
    let (mut imported, _) = read_document(document, name)?;
    imported.diagnostics.splice(..0, guess.map(|guess| guess.in_document(name)));
    Ok(imported)
}

/// What became of the values of a document that do not stay where they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// The index of the item for each node below the root, in the order of the nodes.
    pub(crate) messages: Vec<usize>,
    /// What the reader did with the fields of messages, by their index; messages of which all stay are not there.
    pub(crate) fields: Vec<(usize, ReadFields)>,
    /// The index of the item that stands around the others.
    pub(crate) header: Option<usize>,
    /// Where in the document something stands that is kept elsewhere, and where in the session that is.
    pub(crate) kept: Vec<(String, String)>,
}

/// As [`read_conversation`], of a document that is read already; also tells what became of it.
pub(crate) fn read_document(
    mut document: Document,
    name: &str,
) -> Result<(Imported<Session>, Placed), ImportError> {
    let value = document.value.take();
    let (mut imported, placed) = match (format::shape(&value), value) {
        (Some(Format::Session), value) => (session(value), Placed::default()),
        (Some(Format::SessionHalves), Value::Object(halves)) => {
            let mut kept = Vec::new();
            (halves::read(halves, &mut kept), Placed { kept, ..Placed::default() })
        }
        (Some(format), Value::Array(items)) if is_messages(format) => {
            let skip_null = document.syntax == Syntax::JsonLines;
            messages(format, items, Map::new(), "", skip_null).finish(name, document.bad_lines)
        }
        (Some(format), Value::Object(mut file)) if is_messages(format) => {
            let (key, place) = list_of(&file).unwrap_or(("messages", "/messages"));
            match file.shift_remove(key) {
                Some(Value::Array(items)) => {
                    messages(format, items, file, place, false).finish(name, Vec::new())
                }
                // A single line is a JSON document too.
                other => {
                    file.extend(other.map(|other| (key.to_owned(), other)));
                    let messages = messages(format, vec![Value::Object(file)], Map::new(), "", false);
                    let (mut imported, placed) = messages.finish(name, Vec::new());
                    relocate(&mut imported.diagnostics, &[Moved { ours: "/0", theirs: "" }]);
                    (imported, placed)
                }
            }
        }
        (shape, value) => {
            return Err(unknown_shape(shape, &value).or_invalid_json(document.json_error));
        }
    };
    document.diagnostics.append(&mut imported.diagnostics);
    imported.diagnostics = document.diagnostics;
    Ok((imported.named(name), placed))
}

/// Puts the two halves of a session together; none if a value is not that.
pub(crate) fn join_halves(value: &Value) -> Option<Imported<Session>> {
    let is_halved = format::shape(value) == Some(Format::SessionHalves);
    let halves = value.as_object().filter(|_| is_halved).cloned();
    halves.map(|halves| halves::read(halves, &mut Vec::new()))
}

fn is_messages(format: Format) -> bool {
    matches!(format, Format::ChatMessages | Format::StoredMessages | Format::SillyTavernChat)
}

/// Returns the key under which a request body of Gemini or `OpenAI`'s responses has its messages, and its place.
fn list_of(file: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let is_list = |key: &str| file.get(key).is_some_and(Value::is_array) && !file.contains_key("messages");
    let is_named = file.get("model").is_some_and(Value::is_string) && !file.contains_key("role");
    let of_responses = || (is_named && is_list("input")).then_some(("input", "/input"));
    is_list("contents").then_some(("contents", "/contents")).or_else(of_responses)
}

fn session(value: Value) -> Imported<Session> {
    let mut reader = Reader::new();
    let session = Session::read(value, &mut reader);
    Imported { value: session, format: Format::Session, diagnostics: reader.finish() }
}

/// Reads a list of messages that stands at `place` in the document, with what stands around it.
fn messages(
    format: Format,
    items: Vec<Value>,
    mut file: Map<String, Value>,
    place: &'static str,
    skip_null: bool,
) -> Messages {
    let items = items.into_iter().enumerate();
    let items = items.filter(|(_, item)| !(skip_null && item.is_null())).collect();
    if format == Format::SillyTavernChat {
        return silly_tavern::read(items, file, place);
    }
    let system = provider_messages::system(&mut file, place).map(|system| (0, system));
    let items = system.into_iter().chain(provider_messages::convert(items, None)).collect();
    chat_message::read(format, items, file, place)
}

fn unknown_shape(shape: Option<Format>, value: &Value) -> ImportError {
    let help = match shape {
        Some(Format::Agent | Format::AgentExport | Format::PresetList | Format::PresetFile) => {
            Some(phrase!("use this file as an agent, not as a conversation"))
        }
        Some(Format::Profile) => Some(phrase!("use this file as a user profile, not as an agent")),
        _ => format::help_for_text(value),
    };
    ImportError::UnknownShape {
        expected: "a conversation (a session with `nodes`, a list of messages, or a SillyTavern chat)",
        found: format::describe(value),
        help,
    }
}
