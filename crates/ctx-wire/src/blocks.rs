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

/// Returns whether a dialect has the fields that messages have under a name. The dialects of `OpenAI` share some.
fn is_own(dialect: Dialect, name: &str) -> bool {
    let is_shared = dialect == Dialect::OpenaiResponses && name == Dialect::OpenaiChat.name();
    is_shared || name == dialect.name()
}

fn own_fields(given: &Value, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    let own = given.as_object().into_iter().flatten().filter(move |(name, _)| is_own(dialect, name));
    own.filter_map(|(_, fields)| fields.as_object()).flat_map(json::fields)
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
        .filter(|(key, _)| key != CUSTOM && key != ADDED_ID)
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

/// Returns the fields of a tool result, or of a message, that a dialect has.
pub(crate) fn result_fields(message: &Message, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    message.provider_fields.iter().flat_map(move |given| own_fields(given, dialect))
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
        lost.extend(result_fields(message, dialect).map(|(name, _)| name.into_owned()));
    }
    report_lost(&lost)
}

/// As [`lost_fields`], of a message that is a message of its own in the body.
pub(crate) fn lost_fields_in_place(message: &Message, dialect: Dialect) -> Option<Diagnostic> {
    report_lost(&foreign_fields(message, dialect))
}

/// Returns the names of fields that only other dialects have.
fn foreign_fields(message: &Message, dialect: Dialect) -> BTreeSet<String> {
    let own = message.provider_fields.as_deref();
    let given = message.block_fields.iter().map(|given| &*given.fields).chain(own);
    let of_others = |fields: &'_ Map<String, Value>| {
        let others = fields.iter().filter(|(name, _)| !is_own(dialect, name));
        others.filter_map(|(_, fields)| fields.as_object()).flat_map(names).cloned().collect::<Vec<_>>()
    };
    let mut lost: BTreeSet<String> = given.filter_map(Value::as_object).flat_map(of_others).collect();
    if let Content::Parts(parts) = &message.content {
        lost.extend(parts.iter().flat_map(|part| media_fields(part, dialect)));
    }
    lost
}

/// Names in one diagnostic.
const MAX_NAMES: usize = 64;

fn report_lost(lost: &BTreeSet<String>) -> Option<Diagnostic> {
    if lost.is_empty() {
        return None;
    }
    let names = lost.iter().take(MAX_NAMES).map(|name| excerpt(name));
    let text = phrase!(
        "fields of its blocks are not sent: this API dialect does not support {names}",
        names = Argument::names(names, Divider::Comma)
    );
    Some(Diagnostic::info(codes::BLOCK_FIELDS, text))
}

/// Returns the names of fields; those of Gemini's function are one level below.
fn names(fields: &Map<String, Value>) -> impl Iterator<Item = &String> {
    fields.iter().filter(|(key, _)| *key != ADDED_ID).flat_map(|(key, value)| match value.as_object() {
        Some(inner) if key.starts_with("function") => inner.keys().collect(),
        _ => vec![key],
    })
}

/// Returns the fields of a medium of another dialect that say more than what it is.
fn media_fields(part: &ContentPart, dialect: Dialect) -> Vec<String> {
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
    let fields = part.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let lost = fields.filter(|(key, _)| !READ.contains(&key.as_str()) && !is_shared(key));
    lost.map(|(key, _)| key.clone()).collect()
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
