//! The content of one message.

use ctx_types::{
    BlockKind, CacheMark, Content, ContentPart, Diagnostic, MediaKind, Message, excerpt, phrase,
};
use serde_json::Value;

use crate::Dialect;
use crate::blocks::{fields, put_fields};
use crate::codes;
use crate::json::{Json, object};
use crate::media::{Data, Media, takes};
use crate::request::nothing_loaded;

/// Which side a message is from: what goes in, or what came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

/// The parts of a message.
pub(super) struct Parts<'a, 'f> {
    written: Vec<Json<'a>>,
    homeless: Vec<Json<'a>>,
    side: Side,
    index: usize,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Parts<'a, 'f> {
    /// Writes the parts of a message that stands at an index of the context.
    pub(super) fn of(message: &'a Message, side: Side, index: usize, found: &'f mut Vec<Diagnostic>) -> Self {
        let mut parts = Self { written: Vec::new(), homeless: Vec::new(), side, index, found };
        match &message.content {
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => parts.add_text(text),
            Content::Parts(list) => {
                for (index, part) in list.iter().enumerate() {
                    match part {
                        ContentPart::Text(text) => {
                            parts.add_text(text);
                            parts.put_fields(message, index);
                        }
                        ContentPart::Other(value) => parts.add_part(value),
                    }
                }
            }
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
    pub(super) fn finish(mut self, mark: Option<CacheMark>) -> Json<'a> {
        if let (Some(_), Some(last)) = (mark, self.written.last_mut()) {
            last.set("prompt_cache_breakpoint", object([("mode", "explicit".into())]));
        }
        match self.written.as_mut_slice() {
            [] => "".into(),
            [part] if mark.is_none() && is_plain_text(part) => part.take_field("text"),
            _ => self.written.into(),
        }
    }

    /// Returns the parts, and the media that this side cannot have.
    pub(super) fn into_lists(self) -> (Vec<Json<'a>>, Vec<Json<'a>>) {
        (self.written, self.homeless)
    }

    fn add_text(&mut self, text: &'a str) {
        self.written.push(match self.side {
            Side::Input => object([("type", "input_text".into()), ("text", text.into())]),
            Side::Output => output_text(text),
        });
    }

    /// Adds the fields that the text has in this dialect; those of an answer have none.
    fn put_fields(&mut self, message: &'a Message, index: usize) {
        if let (Side::Input, Some(part)) = (self.side, self.written.last_mut().and_then(Json::as_object_mut))
        {
            put_fields(part, fields(message, BlockKind::Content, index, Dialect::OpenaiResponses));
        }
    }

    fn add_part(&mut self, part: &'a Value) {
        let kind = part.get("type").and_then(Value::as_str);
        match (kind, self.side) {
            (Some("input_image" | "input_file" | "input_text"), Side::Input)
            | (Some("output_text" | "refusal"), Side::Output) => self.written.push(part.into()),
            _ => match Media::of_part(part) {
                Some(media) => self.add_media(&media),
                None => self.report_refused(kind),
            },
        }
    }

    fn report_refused(&mut self, kind: Option<&str>) {
        let kind = excerpt(kind.unwrap_or("without a type"));
        let text = phrase!("part `{kind}` is not sent: Gemini does not support it", kind);
        self.report(Diagnostic::error(codes::PART_NOT_ACCEPTED, text));
    }

    fn add_media(&mut self, media: &Media<'a>) {
        match (part(media), self.side) {
            (Some(part), Side::Input) => self.written.push(part),
            (Some(part), Side::Output) => self.homeless.push(part),
            (None, _) => {
                let text = phrase!(
                    "{label} is not sent: this API dialect does not accept its type",
                    label = media.label()
                );
                self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let text = phrase!("message {index}: {message}", index = self.index, message = diagnostic.message);
        self.found.push(Diagnostic { message: text, ..diagnostic }.at_pointer("/input"));
    }
}

/// Returns whether a part has nothing but a text, so that it can be a string.
fn is_plain_text(part: &Json<'_>) -> bool {
    let is_text = part.get("type").and_then(Json::as_str) == Some("input_text");
    is_text && part.as_object().is_some_and(|part| part.len() == 2)
}

/// A text of an answer, as the API returned it.
pub(super) fn output_text(text: &str) -> Json<'_> {
    object([("type", "output_text".into()), ("text", text.into()), ("annotations", Vec::new().into())])
}

/// Writes a medium: pictures and documents have a part.
fn part<'a>(media: &Media<'a>) -> Option<Json<'a>> {
    if !takes(Dialect::OpenaiResponses, &media.mime_type) {
        return None;
    }
    if media.kind == MediaKind::Image {
        let detail = media.detail.unwrap_or("auto").into();
        let source = match &media.data {
            Data::FileId(id) => ("file_id", Json::from(*id)),
            Data::Url(url) => ("image_url", Json::from(*url)),
            _ => ("image_url", media.data_url()?),
        };
        return Some(object([("type", "input_image".into()), ("detail", detail), source]));
    }
    let kind = ("type", Json::from("input_file"));
    Some(match &media.data {
        Data::FileId(id) => object([kind, ("file_id", (*id).into())]),
        Data::Url(url) => object([kind, ("file_url", (*url).into())]),
        _ => object([kind, ("filename", media.file_name().into()), ("file_data", media.data_url()?)]),
    })
}
