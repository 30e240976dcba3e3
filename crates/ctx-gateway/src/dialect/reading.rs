//! Reading fields of a client's body: what is of the wrong type is refused, with its place.

use ctx_types::internal::excerpt;
use ctx_types::session::{Node, StoredToolCall};
use ctx_types::{Content, ContentPart, Phrase, Role, phrase};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// How many messages a request may have.
pub(super) const MAX_MESSAGES: usize = 100_000;

/// How many tools a request may define.
const MAX_TOOLS: usize = 1_000;

/// Refuses a value at a place.
pub(super) fn wrong(place: &str, expected: &Phrase) -> Refusal {
    Refusal::malformed(phrase!("`{place}` must be {expected}", place = excerpt(place), expected)).at(place)
}

/// A text that must be there.
pub(super) fn text(value: Option<&Value>, place: &str) -> Result<String, Refusal> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(wrong(place, &phrase!("a string"))),
    }
}

/// A text that may be absent.
pub(super) fn maybe_text(value: Option<&Value>, place: &str) -> Result<Option<String>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(place, &phrase!("a string"))),
    }
}

/// A truth value that may be absent.
pub(super) fn flag(value: Option<&Value>, place: &str) -> Result<bool, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(is_set)) => Ok(*is_set),
        Some(_) => Err(wrong(place, &phrase!("true or false"))),
    }
}

/// A list of objects with at most so many items.
pub(super) fn objects(value: Value, place: &str, most: usize) -> Result<Vec<Map<String, Value>>, Refusal> {
    let Value::Array(list) = value else { return Err(wrong(place, &phrase!("a list"))) };
    if list.len() > most {
        return Err(Refusal::too_large(phrase!(
            "`{place}` has more than {most} items",
            place = excerpt(place),
            most
        )));
    }
    let object = |(index, item)| match item {
        Value::Object(map) => Ok(map),
        _ => Err(wrong(&format!("{place}[{index}]"), &phrase!("an object"))),
    };
    list.into_iter().enumerate().map(object).collect()
}

/// The messages, of which there must be one.
pub(super) fn messages(value: Option<Value>, place: &str) -> Result<Vec<Map<String, Value>>, Refusal> {
    let list = objects(value.unwrap_or_default(), place, MAX_MESSAGES)?;
    if list.is_empty() {
        return Err(wrong(place, &phrase!("a list with at least one message")));
    }
    Ok(list)
}

/// Tool definitions; none where there is no list.
pub(super) fn tools(value: Option<Value>) -> Result<Vec<Value>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => Ok(objects(list, "tools", MAX_TOOLS)?.into_iter().map(Value::Object).collect()),
    }
}

/// What a message says: a text, or parts of which those of these kinds are texts.
pub(super) fn content(value: Option<Value>, texts: &[&str], place: &str) -> Result<Content, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(Content::Text("".into())),
        Some(Value::String(text)) => Ok(Content::Text(text.into())),
        Some(list @ Value::Array(_)) => {
            let parts = objects(list, place, MAX_MESSAGES)?;
            let part = |(index, part)| part_of(part, texts, &format!("{place}[{index}]"));
            let parts: Vec<_> = parts.into_iter().enumerate().map(part).collect::<Result<_, _>>()?;
            Ok(joined(parts))
        }
        Some(_) => Err(wrong(place, &phrase!("a string or a list of parts"))),
    }
}

fn part_of(part: Map<String, Value>, texts: &[&str], place: &str) -> Result<ContentPart, Refusal> {
    let kind = text(part.get("type"), &format!("{place}.type"))?;
    if texts.contains(&kind.as_str()) {
        text(part.get("text"), &format!("{place}.text")).map(|text| ContentPart::Text(text.into()))
    } else {
        Ok(ContentPart::Other(Value::Object(part).into()))
    }
}

/// Makes content of parts: a single text is one.
pub(super) fn joined(mut parts: Vec<ContentPart>) -> Content {
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Content::Text("".into()),
        (Some(ContentPart::Text(text)), true) => Content::Text(text),
        (Some(last), _) => {
            parts.push(last);
            Content::Parts(parts)
        }
    }
}

/// A message without an id.
pub(super) fn node(role: Role, content: Content) -> Node {
    let mut node = Node::new(role, "");
    node.content = Some(content);
    node
}

/// A call, as it is stored.
pub(super) fn call(id: String, name: String, arguments: String) -> StoredToolCall {
    StoredToolCall {
        id: Some(id.into()),
        name: Some(name.into()),
        arguments: Some(arguments.into()),
        ..StoredToolCall::default()
    }
}

/// The arguments of a call as JSON, for dialects that send no text; what is none stands under `unreadable`.
pub(super) fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Value::Object(map),
        _ => serde_json::json!({ "unreadable": text }),
    }
}

/// Moves fields by these names into the parameters, under the names of chat completions.
pub(super) fn rename(from: &mut Map<String, Value>, to: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = from.shift_remove(*theirs).filter(|value| !value.is_null()) {
            to.insert((*ours).to_owned(), value);
        }
    }
}

/// The name of a conversation within `metadata`.
pub(super) fn conversation(metadata: Option<&Value>) -> Result<Option<String>, Refusal> {
    let named = metadata.and_then(|metadata| metadata.get("conversation"));
    maybe_text(named, "metadata.conversation")
}
