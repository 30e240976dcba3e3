//! The content of one message.

use std::borrow::Cow;

use ctx_types::{CacheMark, Content, ContentPart, Diagnostic, MediaKind, Message, excerpt};
use serde_json::{Value, json};

use crate::Dialect;
use crate::codes;
use crate::json::object;
use crate::media::{Data, Media, takes};
use crate::request::nothing_loaded;

/// Which side a message is from: what goes in, or what came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

/// The parts of a message.
pub(super) struct Parts<'a> {
    written: Vec<Value>,
    homeless: Vec<Value>,
    side: Side,
    index: usize,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Parts<'a> {
    /// Writes the parts of a message that stands at an index of the context.
    pub(super) fn of(message: &Message, side: Side, index: usize, found: &'a mut Vec<Diagnostic>) -> Self {
        let mut parts = Self { written: Vec::new(), homeless: Vec::new(), side, index, found };
        match &message.content {
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => parts.add_text(text),
            Content::Parts(list) => list.iter().for_each(|part| match part {
                ContentPart::Text(text) => parts.add_text(text),
                ContentPart::Other(value) => parts.add_part(value),
            }),
        }
        for file in &message.attachments {
            match Media::of_attachment(file) {
                Some(media) => parts.add_media(&media),
                None => parts.report(nothing_loaded(file)),
            }
        }
        parts
    }

    /// Returns the content: text alone is a string, unless a cache mark stands on it.
    pub(super) fn finish(mut self, mark: Option<CacheMark>) -> Value {
        if let (Some(_), Some(Value::Object(last))) = (mark, self.written.last_mut()) {
            last.insert("prompt_cache_breakpoint".to_owned(), json!({ "mode": "explicit" }));
        }
        match self.written.as_mut_slice() {
            [] => Value::from(""),
            [part] if mark.is_none() && part["type"] == "input_text" => part["text"].take(),
            _ => Value::Array(self.written),
        }
    }

    /// Returns the parts, and the media that this side cannot have.
    pub(super) fn into_lists(self) -> (Vec<Value>, Vec<Value>) {
        (self.written, self.homeless)
    }

    fn add_text(&mut self, text: &str) {
        self.written.push(match self.side {
            Side::Input => object([("type", Value::from("input_text")), ("text", Value::from(text))]),
            Side::Output => object([
                ("type", Value::from("output_text")),
                ("text", Value::from(text)),
                ("annotations", Value::Array(Vec::new())),
            ]),
        });
    }

    fn add_part(&mut self, part: &Value) {
        let kind = part.get("type").and_then(Value::as_str);
        match (kind, self.side) {
            (Some("input_image" | "input_file" | "input_text"), Side::Input)
            | (Some("output_text" | "refusal"), Side::Output) => self.written.push(part.clone()),
            _ => match Media::of_part(part) {
                Some(media) => self.add_media(&media),
                None => self.report_refused(kind),
            },
        }
    }

    fn report_refused(&mut self, kind: Option<&str>) {
        let kind = excerpt(kind.unwrap_or("without a type"));
        let text = format!("a part `{kind}` is not sent: this dialect has none of that kind");
        self.report(Diagnostic::error(codes::PART_NOT_ACCEPTED, text));
    }

    fn add_media(&mut self, media: &Media<'_>) {
        match (part(media), self.side) {
            (Some(part), Side::Input) => self.written.push(part),
            (Some(part), Side::Output) => self.homeless.push(part),
            (None, _) => {
                let text = format!("{} is not sent: this dialect does not take its type", media.label());
                self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let text = format!("message {} of the context: {}", self.index, diagnostic.message);
        self.found.push(Diagnostic { message: text, ..diagnostic }.at_pointer("/input"));
    }
}

/// Writes a medium: pictures and documents have a part.
fn part(media: &Media<'_>) -> Option<Value> {
    if !takes(Dialect::OpenaiResponses, &media.mime_type) {
        return None;
    }
    if media.kind == MediaKind::Image {
        let detail = media.detail.unwrap_or("auto");
        return Some(match &media.data {
            Data::FileId(id) => json!({ "type": "input_image", "detail": detail, "file_id": id }),
            data => {
                let url = match data {
                    Data::Url(url) => Cow::Borrowed(*url),
                    _ => Cow::Owned(media.data_url()?),
                };
                object([
                    ("type", Value::from("input_image")),
                    ("detail", Value::from(detail)),
                    ("image_url", Value::from(url)),
                ])
            }
        });
    }
    Some(match &media.data {
        Data::FileId(id) => json!({ "type": "input_file", "file_id": id }),
        Data::Url(url) => json!({ "type": "input_file", "file_url": url }),
        _ => object([
            ("type", Value::from("input_file")),
            ("filename", Value::from(media.file_name())),
            ("file_data", Value::from(media.data_url()?)),
        ]),
    })
}
