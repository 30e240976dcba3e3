//! The blocks of a message: their order, and fields that one provider has.

use std::collections::BTreeSet;

use ctx_types::internal::{Argument, BlockKind, Divider, excerpt};
use ctx_types::{Content, ContentPart, Diagnostic, Message, Role, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::dialect::Dialect;
use crate::json::{self, Field, Json, Object};
use crate::media::Media;

/// Puts the blocks of a message in the order in which the model wrote them. `None` keeps the place of a block that is
/// not sent.
pub(crate) fn arrange<T>(
    message: &Message,
    reasoning: Vec<Option<T>>,
    content: Vec<Option<T>>,
    calls: Vec<Option<T>>,
) -> Vec<T> {
    let blocks = match &message.block_order {
        Some(order) => order.arrange(reasoning, content, calls),
        None => reasoning.into_iter().chain(content).chain(calls).collect(),
    };
    blocks.into_iter().flatten().collect()
}

/// Returns whether a dialect has a field that messages have under a name. Those of `OpenAI` share cache marks.
fn is_own(dialect: Dialect, name: &str, field: &str) -> bool {
    let is_shared = name == Dialect::OpenaiChat.name() && field == BREAKPOINT;
    name == dialect.name() || is_shared && dialect == Dialect::OpenaiResponses
}

fn own_fields(given: &Value, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    let named = given.as_object().into_iter().flatten();
    let named = named.filter_map(|(name, fields)| Some((name, fields.as_object()?)));
    named.flat_map(move |(name, fields)| {
        json::fields(fields).filter(move |(key, _)| is_own(dialect, name, key))
    })
}

/// Returns whether a client of a dialect sent the parts of a message. This dialect gets them unchanged.
pub(crate) fn is_from(message: &Message, dialect: Dialect) -> bool {
    provider_text(message, "api") == Some(dialect.name())
}

/// Returns the field in which a chat completion had the reasoning of a message.
pub(crate) fn reasoning_field(message: &Message) -> Option<&str> {
    provider_text(message, "reasoning")
}

/// Returns whether a message is the field `instructions` of responses.
pub(crate) fn is_instructions(message: &Message) -> bool {
    provider_text(message, "place") == Some("instructions")
}

/// Returns the type of an item that a client of responses sent. Its messages can have no type.
pub(crate) fn item_type(message: &Message) -> Option<&str> {
    provider_text(message, "type")
}

/// Returns whether a client sent a message apart from the message before it, although both are of one role.
pub(crate) fn is_separate(message: &Message) -> bool {
    provider_text(message, "message") == Some("separate")
}

fn provider_text<'m>(message: &'m Message, key: &str) -> Option<&'m str> {
    message.provider_fields.as_deref()?.get(key)?.as_str()
}

/// Returns the fields of a block that a dialect has.
pub(crate) fn fields(
    message: &Message,
    kind: BlockKind,
    index: usize,
    dialect: Dialect,
) -> impl Iterator<Item = Field<'_>> {
    let given = block_fields(message, kind, index).into_iter();
    given
        .flat_map(move |given| own_fields(given, dialect))
        .filter(|(key, value)| key != ADDED_ID && !(key == CUSTOM && matches!(value, Json::Bool(_))))
}

fn block_fields(message: &Message, kind: BlockKind, index: usize) -> Option<&Value> {
    let found = message.block_fields.binary_search_by_key(&(kind, index), |given| (given.kind, given.index));
    Some(&message.block_fields.get(found.ok()?)?.fields)
}

/// The field of a call of a custom tool, which `OpenAI` has. Its argument `input` is a text.
const CUSTOM: &str = "custom";

/// The field of a call that Gemini made without an id. Its id is not sent to Gemini.
const ADDED_ID: &str = "addedId";

/// Returns whether Gemini made a call without an id.
pub(crate) fn has_added_id(message: &Message, position: usize) -> bool {
    let own =
        block_fields(message, BlockKind::Call, position).and_then(|given| given.get(Dialect::Gemini.name()));
    own.and_then(|own| own.get(ADDED_ID)) == Some(&Value::Bool(true))
}

/// Returns the input of a call of a custom tool; `None` for a call of a function.
pub(crate) fn custom_input(message: &Message, position: usize) -> Option<String> {
    block_fields(message, BlockKind::Call, position)?.get(Dialect::OpenaiChat.name())?.get(CUSTOM)?;
    let arguments: Value = serde_json::from_str(&message.tool_calls.get(position)?.arguments).ok()?;
    Some(arguments.get("input")?.as_str()?.to_owned())
}

/// Fields of the message around a tool result.
const MESSAGE_FIELDS: &str = "messageFields";

/// Returns the fields of a tool result, or of a message, that a dialect has.
pub(crate) fn result_fields(message: &Message, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    let given = message.provider_fields.iter().flat_map(move |given| own_fields(given, dialect));
    given.filter(|(key, _)| key != MESSAGE_FIELDS)
}

/// Returns the fields of a message that a dialect has. A tool result has the fields of the message around it.
pub(crate) fn message_fields(message: &Message, dialect: Dialect) -> Vec<Field<'_>> {
    if message.role != Role::Tool {
        return result_fields(message, dialect).collect();
    }
    let own = message.provider_fields.as_deref().and_then(|given| given.get(dialect.name()));
    let fields = own.and_then(|own| own.get(MESSAGE_FIELDS)?.as_object());
    fields.into_iter().flat_map(json::fields).collect()
}

/// Adds fields to a block, unless it has fields of these names already. Objects of one name are joined.
pub(crate) fn put_fields<'a>(block: &mut Object<'a>, fields: impl IntoIterator<Item = Field<'a>>) {
    let written = block.len();
    for (key, value) in fields {
        if !block.has_within(written, &key) {
            block.push(key, value);
        } else if let (Some(Json::Object(inner)), Json::Object(fields)) = (block.get_mut(&key), value) {
            put_fields(inner, fields);
        }
    }
}

/// Reports fields of a message, its blocks and its media that are not sent: those of other dialects, and all of the
/// message itself where the body has no message for it alone.
pub(crate) fn lost_fields(message: &Message, dialect: Dialect) -> Option<Diagnostic> {
    let mut lost = foreign_fields(message, dialect);
    // Only chat completions have one message for each of ours.
    if message.role != Role::Tool && dialect != Dialect::OpenaiChat {
        let own = message.provider_fields.as_deref().and_then(|given| given.get(dialect.name()));
        own.and_then(Value::as_object).into_iter().flatten().for_each(|(key, value)| lost.add(key, value));
    }
    lost.report()
}

/// As [`lost_fields`], of a message that is a message of its own in the body.
pub(crate) fn lost_fields_in_place(message: &Message, dialect: Dialect) -> Option<Diagnostic> {
    foreign_fields(message, dialect).report()
}

/// Returns the fields that only other dialects have.
fn foreign_fields(message: &Message, dialect: Dialect) -> LostFields<'_> {
    let mut lost = LostFields::default();
    let own = message.provider_fields.as_deref();
    let given = message.block_fields.iter().map(|given| &*given.fields).chain(own);
    let named = given.filter_map(Value::as_object).flatten();
    for (name, fields) in named {
        let fields = fields.as_object().into_iter().flat_map(names);
        for (key, value) in fields.filter(|(key, _)| !is_own(dialect, name, key)) {
            lost.add(key, value);
        }
    }
    if let Content::Parts(parts) = &message.content {
        parts
            .iter()
            .flat_map(|part| media_fields(part, dialect))
            .for_each(|(key, value)| lost.add(key, value));
    }
    lost
}

/// Fields that a model does not read: cache marks, ids, states, and records of earlier replies.
const HINTS: [&str; 15] = [
    "annotations",
    "cache_control",
    "caller",
    "id",
    "index",
    "is_error",
    "logprobs",
    "name",
    "phase",
    BREAKPOINT,
    "role",
    "status",
    "thought",
    "type",
    "weight",
];

/// Names of fields that are not sent.
#[derive(Default)]
struct LostFields<'m> {
    hints: BTreeSet<&'m str>,
    others: BTreeSet<&'m str>,
}

impl<'m> LostFields<'m> {
    fn add(&mut self, key: &'m str, value: &Value) {
        // Texts of replies have lists of citations. A document has a setting of this name.
        let is_hint = HINTS.contains(&key) || key == "citations" && value.is_array();
        let names = if is_hint { &mut self.hints } else { &mut self.others };
        if !value.is_null() {
            names.insert(key);
        }
    }

    /// Reports a warning, or an info if the model reads none of the fields.
    fn report(self) -> Option<Diagnostic> {
        let lost = if self.others.is_empty() { &self.hints } else { &self.others };
        if lost.is_empty() {
            return None;
        }
        let names = lost.iter().take(MAX_NAMES).map(|name| excerpt(name));
        let text = phrase!(
            "fields of its blocks are not sent: this API dialect does not support {names}",
            names = Argument::names(names, Divider::Comma)
        );
        let is_warning = !self.others.is_empty();
        let report = if is_warning { Diagnostic::warning } else { Diagnostic::info };
        Some(report(codes::BLOCK_FIELDS, text))
    }
}

/// Names in one diagnostic.
const MAX_NAMES: usize = 64;

/// Returns fields; those of a function, and of the message of a result, are one level below.
fn names(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let fields =
        fields.iter().filter(|(key, value)| *key != ADDED_ID && !(*key == CUSTOM && value.is_boolean()));
    let inner = fields.flat_map(|(key, value)| match value.as_object() {
        Some(inner) if key.starts_with("function") || key == MESSAGE_FIELDS => inner.iter().collect(),
        _ => vec![(key, value)],
    });
    inner.collect()
}

/// Returns the fields of a medium of another dialect that say more than what it is.
fn media_fields(part: &ContentPart, dialect: Dialect) -> Vec<(&String, &Value)> {
    const READ: [&str; 16] = [
        "type",
        "source",
        "title",
        "image_url",
        "input_audio",
        "file",
        "detail",
        "file_id",
        "file_data",
        "file_url",
        "filename",
        "inlineData",
        "inline_data",
        "fileData",
        "imageBase64",
        "mimeType",
    ];
    let ContentPart::Other(part) = part else { return Vec::new() };
    let owner = match part.get("type").and_then(Value::as_str) {
        None => Dialect::Gemini,
        Some("image_url" | "input_audio" | "file") => Dialect::OpenaiChat,
        Some("input_image" | "input_file") => Dialect::OpenaiResponses,
        Some("image" | "document") if part.get("source").is_some() => Dialect::Anthropic,
        Some(_) => return Vec::new(),
    };
    if owner == dialect || Media::of_part(part).is_none() {
        return Vec::new();
    }
    let is_shared = |key: &str| key == BREAKPOINT && dialect == Dialect::OpenaiResponses;
    let fields = part.as_object().into_iter().flatten();
    fields.filter(|(key, _)| !READ.contains(&key.as_str()) && !is_shared(key)).collect()
}

/// The cache mark of a part at `OpenAI`.
pub(crate) const BREAKPOINT: &str = "prompt_cache_breakpoint";

/// Returns the text by which a model refused, which `OpenAI` has in a part of its own.
pub(crate) fn refusal(part: &Value) -> Option<&str> {
    part.get("refusal").filter(|_| kind_of(part) == "refusal")?.as_str()
}

/// Reports a part that a dialect does not have.
pub(crate) fn not_sent(part: &Value) -> Diagnostic {
    let kind = excerpt(kind_of(part));
    let text = phrase!("part `{kind}` is not sent: this API dialect does not support it", kind);
    Diagnostic::error(codes::PART_NOT_ACCEPTED, text)
}

/// Returns the type of a part, or the first key of Gemini's, which have none.
pub(crate) fn kind_of(part: &Value) -> &str {
    let kind = part.get("type").and_then(Value::as_str);
    kind.or_else(|| part.as_object()?.keys().next().map(String::as_str)).unwrap_or("without a type")
}
