//! Messages as `OpenAI`'s chat completions take them, and as seed 004 stores them.

use ctx_types::{Diagnostic, Fix, Reader, Role, excerpt, nearest, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation::linear::Messages;
use crate::conversation::tool_calls::{self, Calls};
use crate::format::Format;
use crate::kept;

/// Reads a list of messages, each with its index in the document's list.
pub(super) fn read(
    format: Format,
    items: Vec<(usize, Value)>,
    file: Map<String, Value>,
    place: &'static str,
) -> Messages {
    let mut messages = Messages::new(format, file, place);
    let mut calls = Calls::default();
    for (index, item) in items {
        messages.push(index, item, |message, reader| repair(message, index, &mut calls, reader));
    }
    messages
}

/// Brings a message into the form of a node; what is displaced is kept beside it.
fn repair(
    mut message: Map<String, Value>,
    index: usize,
    calls: &mut Calls,
    reader: &mut Reader,
) -> Map<String, Value> {
    let mut aside = Map::new();
    for link in ["parentId", "childrenIds", "lastSelectedChildId"] {
        kept::displace(&mut message, link, &mut aside);
    }
    id(&mut message, &mut aside, reader);
    let role = role(&mut message, &mut aside, reader);
    match role {
        Role::Assistant => tool_calls::repair_calls(&mut message, &mut aside, index, calls, reader),
        Role::Tool => tool_calls::repair_result(&mut message, calls, reader),
        _ => {}
    }
    rename_text(&mut message, "createdAt", "timestamp");
    reasoning(&mut message);
    kept::add(&mut message, aside);
    message
}

/// Takes away an id that is none.
fn id(message: &mut Map<String, Value>, aside: &mut Map<String, Value>, reader: &mut Reader) {
    let problem = match message.get("id") {
        None | Some(Value::Null) => return,
        Some(Value::String(id)) if !id.is_empty() => return,
        Some(Value::String(_)) => "the id is empty",
        Some(_) => "the id is not a text",
    };
    let message_id =
        Diagnostic::warning(codes::MESSAGE_ID, phrase!("{problem}; the message gets a new one", problem));
    reader.at_key("id", |reader| reader.report(message_id));
    kept::displace(message, "id", aside);
}

/// The names of roles.
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Settles who speaks: the older `function` is a tool, and whoever is not known is the user.
fn role(message: &mut Map<String, Value>, aside: &mut Map<String, Value>, reader: &mut Reader) -> Role {
    let given = message.get("role").and_then(Value::as_str);
    if let Some(role) = given.and_then(Role::parse) {
        return role;
    }
    let known = (given == Some("function")).then_some(Role::Tool);
    if known.is_none() {
        let problem = match given {
            Some(role) => format!("the role `{}` is not known", excerpt(role)),
            None => "the message has no role".to_owned(),
        };
        let unknown =
            Diagnostic::warning(codes::UNKNOWN_ROLE, phrase!("{problem}; it is treated as `user`", problem));
        let unknown = match given.and_then(|given| nearest(given, ROLES)) {
            Some(near) => unknown.guessing(near, Fix::text),
            None => unknown.with_help(phrase!("use `system`, `developer`, `user`, `assistant` or `tool`")),
        };
        match message.contains_key("role") {
            true => reader.at_key("role", |reader| reader.report(unknown)),
            false => reader.report(unknown),
        }
    }
    let role = known.unwrap_or_default();
    if let Some(foreign) = message.insert("role".to_owned(), Value::from(role.as_str())) {
        aside.insert("role".to_owned(), foreign);
    }
    role
}

/// Gives a text the name that a node has for it, unless the message has that one too.
pub(super) fn rename_text(message: &mut Map<String, Value>, from: &str, to: &str) {
    let is_free = message.get(to).is_none_or(Value::is_null);
    if !is_free || !message.get(from).is_some_and(Value::is_string) {
        return;
    }
    if let Some(text) = message.shift_remove(from) {
        message.insert(to.to_owned(), text);
    }
}

/// Moves `reasoning_content`, which several providers put beside `content`, into the metadata.
fn reasoning(message: &mut Map<String, Value>) {
    if !message.get("reasoning_content").is_some_and(Value::is_string) {
        return;
    }
    let metadata = message.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    if metadata.as_object().is_none_or(|metadata| metadata.contains_key("reasoningContent")) {
        return;
    }
    let text = message.shift_remove("reasoning_content").unwrap_or_default();
    if let Some(Value::Object(metadata)) = message.get_mut("metadata") {
        metadata.insert("reasoningContent".to_owned(), text);
    }
}
