//! Chats of `SillyTavern`: a header line, then one message a line.

use ctx_types::{Diagnostic, Reader, count_of, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation::chat_message::rename_text;
use crate::conversation::linear::{Message, Messages};
use crate::format::Format;
use crate::formats::sillytavern::note;

/// Reads the lines of a chat, each with its index in the document.
///
/// The keys of the header line become keys of the session's header, and the author's note of its metadata is
/// `authorNote` there. The selected swipe is the text, the
/// others stay beside it. Messages that `SillyTavern` hides from the model are switched off.
pub(super) fn read(items: Vec<(usize, Value)>, file: Map<String, Value>, place: &'static str) -> Messages {
    let mut messages = Messages::new(Format::SillyTavernChat, file, place);
    let mut unsent = UnsentData::default();
    for (position, (index, item)) in items.into_iter().enumerate() {
        match item {
            Value::Object(mut line) if position == 0 && is_header(&line) => {
                if let Some(note) = note::of_header(&line).filter(|_| !line.contains_key(note::KEY)) {
                    line.insert(note::KEY.to_owned(), note);
                }
                messages.set_file(index, line);
            }
            item => {
                unsent.count(index, &item);
                messages.push(index, item, repair);
            }
        }
    }
    for (index, finding) in unsent.finish() {
        messages.report(index, finding);
    }
    messages
}

fn is_header(line: &Map<String, Value>) -> bool {
    let has = |key: &str| line.contains_key(key);
    !has("mes") && (has("chat_metadata") || has("user_name") || has("character_name"))
}

/// Keys of a node that mean something else in a chat, or nothing.
pub(super) const FOREIGN_KEYS: [&str; 13] = [
    "id",
    "parentId",
    "childrenIds",
    "lastSelectedChildId",
    "content",
    "role",
    "attachments",
    "status",
    "isEnabled",
    "timestamp",
    "toolCalls",
    "toolCallId",
    "metadata",
];

/// Brings a message into the form of a node; what is displaced is kept beside it.
fn repair(mut message: Message, reader: &mut Reader) -> Message {
    for key in FOREIGN_KEYS {
        message.displace(key);
    }
    check_type(&message.map, "mes", "a string", Value::is_string, reader);
    check_type(&message.map, "is_user", "true or false", Value::is_boolean, reader);
    check_type(&message.map, "is_system", "true or false", Value::is_boolean, reader);
    rename_text(&mut message.map, "mes", "content");
    rename_text(&mut message.map, "send_date", "timestamp");
    let role = role(&message.map);
    message.map.insert("role".to_owned(), Value::from(role));
    if is_hidden(&message.map) {
        message.map.insert("isEnabled".to_owned(), Value::Bool(false));
    }
    if let Some(reasoning) = take_reasoning(&mut message.map) {
        let metadata = Map::from_iter([("reasoningContent".to_owned(), reasoning)]);
        message.map.insert("metadata".to_owned(), Value::Object(metadata));
        message.note_move("extra/reasoning", "/metadata/reasoningContent");
    }
    message
}

fn check_type(
    message: &Map<String, Value>,
    key: &str,
    expected: &'static str,
    fits: fn(&Value) -> bool,
    reader: &mut Reader,
) {
    if let Some(value) = message.get(key).filter(|value| !value.is_null() && !fits(value)) {
        reader.at_key(key, |reader| reader.wrong_type(expected, value));
    }
}

fn role(message: &Map<String, Value>) -> &'static str {
    let kind = message.get("extra").and_then(|extra| extra.get("type"));
    match (kind.and_then(Value::as_str), message.get("is_user")) {
        (Some("narrator"), _) => "system",
        (_, Some(Value::Bool(true))) => "user",
        _ => "assistant",
    }
}

fn is_hidden(message: &Map<String, Value>) -> bool {
    message.get("is_system") == Some(&Value::Bool(true))
}

fn take_reasoning(message: &mut Map<String, Value>) -> Option<Value> {
    let extra = message.get_mut("extra")?.as_object_mut()?;
    let reasoning = extra.get("reasoning")?.as_str()?;
    if reasoning.is_empty() {
        return None;
    }
    extra.shift_remove("reasoning")
}

/// Tool calls have `is_system`, but the model gets them if function calling is enabled.
fn tool_calls(message: &Value) -> &[Value] {
    let calls = message.get("extra").and_then(|extra| extra.get("tool_invocations"));
    calls.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Hidden messages, and messages with data in `extra` that is not sent.
#[derive(Debug, Default)]
struct UnsentData {
    hidden: MessageCount,
    media: MessageCount,
    files: MessageCount,
    tools: MessageCount,
}

#[derive(Debug, Default)]
struct MessageCount {
    first: Option<usize>,
    count: usize,
}

impl MessageCount {
    fn add_if(&mut self, has_data: bool, index: usize) {
        if has_data {
            self.first.get_or_insert(index);
            self.count += 1;
        }
    }
}

impl UnsentData {
    fn count(&mut self, index: usize, item: &Value) {
        let is_hidden = item.as_object().is_some_and(is_hidden);
        let has_calls = !tool_calls(item).is_empty();
        self.tools.add_if(has_calls, index);
        self.hidden.add_if(is_hidden && !has_calls, index);
        let Some(extra) = item.get("extra").filter(|_| !is_hidden) else { return };
        let list =
            |key: &str| extra.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let has_image = extra.get("image").and_then(Value::as_str).is_some_and(|image| !image.is_empty());
        self.media.add_if(has_image || !list("media").is_empty(), index);
        let has_text =
            |file: &Value| file.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        self.files.add_if(list("files").iter().any(|file| !has_text(file)), index);
    }

    fn finish(self) -> Vec<(usize, Diagnostic)> {
        let Self { hidden, media, files, tools } = self;
        let messages = |count: &MessageCount| count_of!(count.count, "message");
        let disabled = match hidden.count {
            1 => phrase!("1 message hidden in SillyTavern is disabled"),
            count => phrase!("{count} messages hidden in SillyTavern are disabled", count),
        };
        let found = [
            (codes::HIDDEN_MESSAGES, disabled, phrase!("to send them, enable them"), hidden.first),
            (
                codes::CHAT_DATA,
                phrase!("media of {messages} not sent", messages = messages(&media)),
                phrase!("attach the files to the messages"),
                media.first,
            ),
            (
                codes::CHAT_DATA,
                phrase!("files without text in {messages} not sent", messages = messages(&files)),
                phrase!("add the content of each file as `text`"),
                files.first,
            ),
            (
                codes::CHAT_DATA,
                phrase!("tool calls of {messages} not sent", messages = messages(&tools)),
                phrase!("SillyTavern sends them only if function calling is enabled"),
                tools.first,
            ),
        ];
        let found = found.into_iter().filter_map(|(code, message, help, first)| {
            Some((first?, Diagnostic::info(code, message).with_help(help)))
        });
        found.collect()
    }
}
