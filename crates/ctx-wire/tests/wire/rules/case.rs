//! Short words for messages, and the one comparison of this suite.

use std::sync::Arc;

use ctx_types::ports::Asset;
use ctx_types::{Attachment, CacheMark, Content, ContentPart, Message, Reasoning, Role, Source, ToolCall};
use ctx_wire::{Dialect, Encoded, Options, Request};
use serde_json::{Map, Value, json};

/// Encodes messages by the default options, and compares the value at a pointer of the body and the findings.
#[track_caller]
pub(crate) fn check(dialect: Dialect, messages: &[Message], pointer: &str, expected: &Value, found: &[&str]) {
    check_with(dialect, &Options::default(), messages, pointer, expected, found);
}

/// The same for a target of which more is known.
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "the table of a rule has so many columns")]
pub(crate) fn check_with(
    dialect: Dialect,
    options: &Options<'_>,
    messages: &[Message],
    pointer: &str,
    expected: &Value,
    found: &[&str],
) {
    let encoded = encode(dialect, messages, options);
    let body = encoded.to_value();
    let written = body.pointer(pointer).unwrap_or(&Value::Null);
    assert_eq!(format!("{written:#}"), format!("{expected:#}"), "in {body:#}");
    let told: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told, found);
    assert_eq!(encoded, encode(dialect, messages, options), "the same input gives the same bytes");
}

/// Encodes for a model and an answer of 9 tokens.
pub(crate) fn encode(dialect: Dialect, messages: &[Message], options: &Options<'_>) -> Encoded<'static> {
    let parameters: Map<String, Value> = json!({ "max_tokens": 90 }).as_object().unwrap().clone();
    let request = Request { model: "m", tools: &[], parameters: &parameters };
    dialect.encode_with(messages, &request, options).into_owned()
}

pub(crate) fn says(role: Role, text: &str) -> Message {
    Message::new(role, text, Source::history("n", role))
}

pub(crate) fn user(text: &str) -> Message {
    says(Role::User, text)
}

pub(crate) fn system(text: &str) -> Message {
    says(Role::System, text)
}

pub(crate) fn answer(text: &str) -> Message {
    says(Role::Assistant, text)
}

/// An answer that calls `look` with an object.
pub(crate) fn calling(text: &str, ids: &[&str]) -> Message {
    let call =
        |id: &&str| ToolCall { id: (*id).into(), name: "look".into(), arguments: r#"{"at":1}"#.into() };
    answer(text).with(|message| message.tool_calls = ids.iter().map(call).collect())
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    says(Role::Tool, text).with(|message| message.tool_call_id = Some(id.into()))
}

/// A message with files, given by name, media type and bytes.
pub(crate) fn with_files(message: Message, files: &[(&str, &str, &[u8])]) -> Message {
    let file = |(name, mime_type, bytes): &(&str, &str, &[u8])| Attachment {
        loaded: Some(Asset::new(*bytes)),
        ..Attachment::from_value(&json!({ "id": name, "name": name, "mimeType": mime_type }))
    };
    message.with(|message| message.attachments = files.iter().map(file).collect())
}

/// A message with a part of another kind than text.
pub(crate) fn with_part(message: Message, part: Value) -> Message {
    let text = message.text().into_owned();
    message.with(|message| {
        message.content =
            Content::Parts(vec![ContentPart::Text(text.into()), ContentPart::Other(Arc::new(part))]);
    })
}

/// An answer with state of the model's reasoning.
pub(crate) fn thinking(message: Message, artifacts: &[Value]) -> Message {
    let artifacts = artifacts.iter().cloned().map(Arc::new).collect();
    message.with(|message| message.reasoning = Some(Reasoning { text: None, artifacts, model: None }))
}

pub(crate) fn marked(message: Message, mark: CacheMark) -> Message {
    message.with(|message| message.cache_mark = Some(mark))
}

pub(crate) const PNG: (&str, &str, &[u8]) = ("map.png", "image/png", b"png");
pub(crate) const PDF: (&str, &str, &[u8]) = ("plan.pdf", "application/pdf", b"pdf");
pub(crate) const WAV: (&str, &str, &[u8]) = ("memo.wav", "audio/wav", b"wav");
pub(crate) const MP4: (&str, &str, &[u8]) = ("film.mp4", "video/mp4", b"mp4");
pub(crate) const TXT: (&str, &str, &[u8]) = ("a.txt", "text/plain", "雪".as_bytes());
