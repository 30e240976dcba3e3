//! Messages as `OpenAI`'s chat completions take them, and as seed 004 stores them.

use ctx_types::internal::{PartOwner, excerpt, nearest};
use ctx_types::{Diagnostic, Fix, Phrase, Reader, Role, phrase};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::conversation::linear::{Message, Messages};
use crate::conversation::tool_calls::{self, Calls};
use crate::conversation::unsent_fields::UnsentFields;
use crate::format::Format;
use crate::loose::get;

/// Reads a list of messages, each with its index in the document's list.
pub(super) fn read(
    format: Format,
    items: Vec<(usize, Value)>,
    file: Map<String, Value>,
    place: &'static str,
) -> Messages {
    let mut messages = Messages::new(format, file, place);
    let mut calls = Calls::default();
    let mut unsent = UnsentFields::default();
    for (index, item) in items {
        let is_stored = format == Format::StoredMessages || UnsentFields::is_stored(&item);
        messages.push(index, item, |message, reader| {
            let message = repair(message, index, &mut calls, reader);
            if !is_stored {
                let is_without_text = !["content", "parts", "tool_calls", "toolCalls"]
                    .iter()
                    .any(|key| message.map.contains_key(*key));
                let misspelled =
                    is_without_text.then(|| reader.check_missing_key(&message.map, "content")).flatten();
                unsent.add(index, &message.map, misspelled);
            }
            message
        });
    }
    if let Some((index, found)) = unsent.finish() {
        messages.report(index, found);
    }
    messages
}

/// Brings a message into the form of a node; what is displaced is kept beside it.
fn repair(mut message: Message, index: usize, calls: &mut Calls, reader: &mut Reader) -> Message {
    for link in ["parentId", "childrenIds", "lastSelectedChildId"] {
        message.displace(link);
    }
    id(&mut message, reader);
    match role(&mut message, reader) {
        Role::Assistant => {
            tool_calls::repair_calls(&mut message, index, calls, reader);
            reply_fields(&mut message);
        }
        Role::Tool => {
            tool_calls::repair_result(&mut message, calls, reader);
            if get(&message.map, "is_error").is_some_and(Value::is_boolean) {
                let is_error = ("isError", "/metadata/isError");
                move_to_metadata(&mut message, "is_error", is_error, |is_error| is_error);
            }
        }
        Role::System | Role::Developer => keep_fields(&mut message, "anthropic", &INSTRUCTION_FIELDS),
        _ => {}
    }
    if rename_text(&mut message.map, "createdAt", "timestamp") {
        message.note_move("createdAt", "/timestamp");
    }
    reasoning(&mut message);
    unknown_parts(&message.map, reader);
    message
}

/// Fields of a reply that only chat completions have, and where they are kept.
const REPLY_FIELDS: [(&str, &str); 6] = [
    ("refusal", "/providerFields/openai/refusal"),
    ("audio", "/providerFields/openai/audio"),
    ("annotations", "/providerFields/openai/annotations"),
    ("prefix", "/providerFields/openai/prefix"),
    ("partial", "/providerFields/openai/partial"),
    ("encrypted_content", "/providerFields/openai/encrypted_content"),
];

/// Fields of a system message that only Anthropic has, and where they are kept.
const INSTRUCTION_FIELDS: [(&str, &str); 1] = [("clear_at", "/providerFields/anthropic/clear_at")];

/// Keeps fields of a reply for chat completions. A refusal in place of the content becomes a part of it.
fn reply_fields(message: &mut Message) {
    if get(&message.map, "content").is_none_or(is_blank)
        && let Some(refusal) = get(&message.map, "refusal").filter(|text| text.is_string() && !is_blank(text))
    {
        let content = json!([{ "type": "refusal", "refusal": refusal }]);
        message.map.shift_remove("refusal");
        message.map.insert("content".to_owned(), content);
        message.note_move("refusal", "/content/0/refusal");
    }
    keep_fields(message, "openai", &REPLY_FIELDS);
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// Moves fields to those of an API dialect.
fn keep_fields(message: &mut Message, dialect: &str, fields: &[(&'static str, &'static str)]) {
    let is_empty = |value: &Value| is_blank(value) || value.as_array().is_some_and(Vec::is_empty);
    for (key, place) in fields.iter().copied() {
        if get(&message.map, key).is_none_or(is_empty) {
            continue;
        }
        let fields = message.map.entry("providerFields").or_insert_with(|| json!({}));
        let own = fields.as_object_mut().map(|fields| fields.entry(dialect).or_insert_with(|| json!({})));
        let is_free = own.is_some_and(|own| own.as_object().is_some_and(|own| !own.contains_key(key)));
        if is_free && let Some(value) = message.map.shift_remove(key) {
            message.map["providerFields"][dialect][key] = value;
            message.note_move(key, place);
        }
    }
}

/// Reports content parts that no API is known to have.
fn unknown_parts(message: &Map<String, Value>, reader: &mut Reader) {
    let parts = get(message, "content").and_then(Value::as_array).into_iter().flatten().enumerate();
    for (index, part) in
        parts.filter(|(_, part)| part.is_object() && PartOwner::of(part) == PartOwner::Unknown)
    {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("without a type");
        let text = phrase!("unknown content part `{kind}`", kind = excerpt(kind));
        let help = phrase!(
            "use `text`, `image_url`, `input_audio` or `file`; only chat completions get the part, and its JSON counts as text"
        );
        let unknown = Diagnostic::warning(codes::UNKNOWN_PART, text).with_help(help);
        reader.at_key("content", |reader| reader.at_index(index, |reader| reader.report(unknown)));
    }
}

/// Takes away an id that is none.
fn id(message: &mut Message, reader: &mut Reader) {
    let problem = match message.map.get("id") {
        None | Some(Value::Null) => return,
        Some(Value::String(id)) if !id.is_empty() => return,
        Some(Value::String(_)) => Phrase::from("the id is empty"),
        Some(_) => Phrase::from("the id is not a string"),
    };
    let message_id = Diagnostic::warning(codes::MESSAGE_ID, phrase!("{problem}; a new id is used", problem));
    reader.at_key("id", |reader| reader.report(message_id));
    message.displace("id");
}

/// The names of roles.
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Settles who speaks: the older `function` is a tool, and whoever is not known is the user.
fn role(message: &mut Message, reader: &mut Reader) -> Role {
    let given = get(&message.map, "role").and_then(Value::as_str);
    if let Some(role) = given.and_then(Role::parse) {
        return role;
    }
    let known = (given == Some("function")).then_some(Role::Tool);
    if known.is_none() {
        let problem = match given {
            Some(role) => phrase!("unknown role `{role}`", role = excerpt(role)),
            None => Phrase::from("the message has no role"),
        };
        let text = phrase!("{problem}; the message is sent as `user`", problem);
        let unknown = Diagnostic::warning(codes::UNKNOWN_ROLE, text);
        let near = given.and_then(|given| nearest(given, ROLES));
        let help = || phrase!("use `system`, `developer`, `user`, `assistant` or `tool`");
        let unknown = unknown.with_guess_or(near, Fix::text, help);
        if message.map.contains_key("role") {
            reader.at_key("role", |reader| reader.report(unknown));
        } else {
            reader.report(unknown);
        }
    }
    let role = known.unwrap_or_default();
    message.replace("role", Value::from(role.as_str()));
    role
}

/// Gives a text the name that a node has for it, unless the message has that one too; returns whether it has it then.
pub(super) fn rename_text(message: &mut Map<String, Value>, from: &str, to: &str) -> bool {
    let is_free = get(message, to).is_none_or(Value::is_null);
    if !is_free || !get(message, from).is_some_and(Value::is_string) {
        return false;
    }
    let text = message.shift_remove(from).unwrap_or_default();
    message.insert(to.to_owned(), text);
    true
}

/// Moves the reasoning that providers put beside `content` into the metadata: `reasoning_content`, or `OpenRouter`'s
/// `reasoning` and `reasoning_details`.
fn reasoning(message: &mut Message) {
    const DETAILS: &str = "reasoning_details";
    for key in ["reasoning_content", "reasoning"] {
        if get(&message.map, key).is_some_and(Value::is_string) {
            move_to_metadata(message, key, ("reasoningContent", "/metadata/reasoningContent"), |text| text);
        }
    }
    if get(&message.map, DETAILS).is_some_and(Value::is_array) {
        let artifacts = ("reasoningArtifacts", "/metadata/reasoningArtifacts");
        move_to_metadata(
            message,
            DETAILS,
            artifacts,
            |details| json!([{ "type": DETAILS, "details": details }]),
        );
    }
}

/// Moves a field into the metadata, unless that has one of the new name already.
pub(super) fn move_to_metadata(
    message: &mut Message,
    from: &'static str,
    (to, pointer): (&str, &'static str),
    convert: impl FnOnce(Value) -> Value,
) {
    let map = &mut message.map;
    let metadata = map.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    if metadata.as_object().is_none_or(|metadata| metadata.contains_key(to)) {
        return;
    }
    let value = map.shift_remove(from).unwrap_or_default();
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        metadata.insert(to.to_owned(), convert(value));
    }
    message.note_move(from, pointer);
}
