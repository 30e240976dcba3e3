//! Tool calls and their results, from `OpenAI`'s form into ours.

use std::collections::{BTreeMap, VecDeque};

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Reader, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation::chat_message::rename_text;
use crate::conversation::linear::Message;
use crate::conversation::provider_messages::custom_call;
use crate::kept;
use crate::loose::get;

/// Calls of one message without an id of their own, which wait for their results.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The ids that they got, in order; none where the result has come.
    waiting: Vec<Option<String>>,
    /// Where in `waiting` the first may be that still waits.
    first: usize,
    /// Where in `waiting` the calls of each name are that were not asked for by it yet.
    by_name: BTreeMap<String, VecDeque<usize>>,
}

/// Turns the `tool_calls` of an assistant message, or its older `function_call`, into `toolCalls`.
pub(super) fn repair_calls(message: &mut Message, index: usize, calls: &mut Calls, reader: &mut Reader) {
    *calls = Calls::default();
    if get(&message.map, "toolCalls").is_some_and(|own| !own.is_null()) {
        return;
    }
    let Some((key, given)) = take_calls(&mut message.map, reader) else { return };
    let mut read = Vec::new();
    let mut unread = Vec::new();
    for (position, call) in given.into_iter().enumerate() {
        let found = match convert(call) {
            Ok(mut call) => {
                let found = calls.identify(&mut call, format!("call-{index}-{position}"));
                read.push(Value::Object(call));
                found
            }
            Err((call, problem)) => {
                let below = if key == CALLS { format!("/{position}") } else { String::new() };
                unread.push((below, call));
                let bad = Diagnostic::error(
                    codes::TOOL_CALL,
                    phrase!("the tool call is skipped: {problem}", problem = Phrase::from(problem)),
                );
                Some(bad.with_help(phrase!("fix the tool call; it is kept under `imported` and not sent")))
            }
        };
        let at_call = |reader: &mut Reader, found| match key {
            CALLS => reader.at_index(position, |reader| reader.report(found)),
            _ => reader.report(found),
        };
        if let Some(found) = found {
            reader.at_key(key, |reader| at_call(reader, found));
        }
    }
    message.note_move(key, "/toolCalls");
    message.keep_items(key, unread);
    message.map.insert("toolCalls".to_owned(), Value::Array(read));
}

/// The key of the calls of a message.
const CALLS: &str = "tool_calls";

/// The same in the older form: one call, without an id.
const OLDER_CALL: &str = "function_call";

/// Takes the calls out of a message, with the key under which they stood.
fn take_calls(message: &mut Map<String, Value>, reader: &mut Reader) -> Option<(&'static str, Vec<Value>)> {
    match get(message, CALLS) {
        None | Some(Value::Null) => {
            get(message, OLDER_CALL).filter(|call| !call.is_null())?;
            return Some((OLDER_CALL, vec![message.shift_remove(OLDER_CALL)?]));
        }
        Some(Value::Array(_)) => {}
        Some(other) => {
            reader.at_key(CALLS, |reader| reader.wrong_type("a list of tool calls", other));
            return None;
        }
    }
    match message.shift_remove(CALLS) {
        Some(Value::Array(given)) => Some((CALLS, given)),
        _ => None,
    }
}

/// Turns the `tool_call_id` of a result into `toolCallId`; without one it answers the call that waits.
pub(super) fn repair_result(message: &mut Message, calls: &mut Calls, reader: &mut Reader) {
    const OWN: &str = "toolCallId";
    if message.map.get(OWN).is_some_and(|own| !own.is_null()) {
        return;
    }
    match message.map.get("tool_call_id") {
        Some(Value::String(_)) => {
            rename_text(&mut message.map, "tool_call_id", OWN);
            message.note_move("tool_call_id", "/toolCallId");
        }
        None | Some(Value::Null) => {
            let name = message.map.get("name").and_then(Value::as_str);
            if let Some(id) = calls.take(name) {
                message.map.insert(OWN.to_owned(), Value::from(id));
            }
        }
        Some(other) => reader.at_key("tool_call_id", |reader| reader.wrong_type("a string", other)),
    }
}

impl Calls {
    /// Gives a call without an id this one, so that a result without an id finds it.
    fn identify(&mut self, call: &mut Map<String, Value>, id: String) -> Option<Diagnostic> {
        if call.get("id").is_some_and(|id| !id.is_null()) {
            return None;
        }
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = phrase!("the call of `{name}` has no id; `{id}` is used", name = excerpt(&name), id);
        call.insert("id".to_owned(), Value::from(id.as_str()));
        self.by_name.entry(name).or_default().push_back(self.waiting.len());
        self.waiting.push(Some(id));
        Some(Diagnostic::info(codes::CALL_ID, message))
    }

    /// Returns the first call that waits, of this name if one is given. Amortised O(log names).
    fn take(&mut self, name: Option<&str>) -> Option<String> {
        loop {
            let place = match name {
                Some(name) => self.by_name.get_mut(name)?.pop_front()?,
                None => self.first,
            };
            self.first += usize::from(name.is_none());
            if let Some(id) = self.waiting.get_mut(place)?.take() {
                return Some(id);
            }
        }
    }
}

/// Turns `{id, type, function: {name, arguments}}` or `{id, name, arguments}` into a stored call.
///
/// Other keys stay; those of `function` stay in it. Arguments that are no text become the JSON text of
/// themselves. What cannot be read comes back with the reason.
fn convert(call: Value) -> Result<Map<String, Value>, (Value, &'static str)> {
    let Value::Object(mut call) = call else { return Err((call, "it is not an object")) };
    if let Some(Value::Object(mut custom)) =
        call.get("custom").filter(|custom| custom["name"].is_string() && custom["input"].is_string()).cloned()
    {
        call.shift_remove("custom");
        call.insert("name".to_owned(), custom.shift_remove("name").unwrap_or_default());
        custom_call(&mut call, &custom.shift_remove("input").unwrap_or_default());
        if !custom.is_empty() {
            call.insert("custom".to_owned(), Value::Object(custom));
        }
    }
    if let Some(problem) = problem_of(&call) {
        return Err((Value::Object(call), problem));
    }
    if call.get("function").is_some_and(Value::is_object) {
        unnest(&mut call);
    }
    if let Some(arguments @ (Value::Object(_) | Value::Array(_))) = call.get_mut("arguments") {
        *arguments = Value::from(arguments.to_string());
    }
    Ok(call)
}

/// Returns why a call cannot be read.
fn problem_of(call: &Map<String, Value>) -> Option<&'static str> {
    let body = call.get("function").and_then(Value::as_object).unwrap_or(call);
    match (body.get("name"), body.get("arguments"), call.get("id")) {
        (None | Some(Value::Null), _, _) => Some("it has no name"),
        (Some(name), _, _) if !name.is_string() => Some("its name is not a string"),
        (_, Some(Value::Bool(_) | Value::Number(_)), _) => {
            Some("its arguments are not a string or an object")
        }
        (_, _, Some(id)) if !id.is_string() && !id.is_null() => Some("its id is not a string"),
        _ => None,
    }
}

/// Moves the name and the arguments out of `function`; what they displace is kept beside them.
fn unnest(call: &mut Map<String, Value>) {
    let Some(Value::Object(mut function)) = call.shift_remove("function") else { return };
    let mut aside = Map::new();
    for key in ["name", "arguments"] {
        kept::displace(call, key, &mut aside);
        kept::displace(&mut function, key, call);
    }
    if !function.is_empty() {
        call.insert("function".to_owned(), Value::Object(function));
    }
    kept::add(call, aside);
}
