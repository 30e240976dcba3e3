//! The content of one message.

use ctx_types::internal::{BlockKind, PartOwner};
use ctx_types::{CacheMark, Content, ContentPart, Diagnostic, MediaKind, Message, phrase};
use serde_json::Value;

use crate::Dialect;
use crate::blocks::{BREAKPOINT, fields, is_from, not_sent, put_fields};
use crate::codes;
use crate::json::{Field, Json, object};
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
    /// One for each part of the content; `None` for a part that is not sent here.
    written: Vec<Option<Json<'a>>>,
    homeless: Vec<Json<'a>>,
    side: Side,
    /// Whether the content goes back in the form in which a client of this dialect sent it.
    is_own: bool,
    index: usize,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Parts<'a, 'f> {
    /// Writes the parts of a message that stands at an index of the context.
    pub(super) fn of(message: &'a Message, side: Side, index: usize, found: &'f mut Vec<Diagnostic>) -> Self {
        let is_own = is_from(message, Dialect::OpenaiResponses);
        let mut parts = Self { written: Vec::new(), homeless: Vec::new(), side, is_own, index, found };
        match &message.content {
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => parts.add_text(text, std::iter::empty()),
            Content::Parts(list) => {
                for (index, part) in list.iter().enumerate() {
                    match part {
                        ContentPart::Text(text) => {
                            let kind = BlockKind::Content;
                            parts.add_text(text, fields(message, kind, index, Dialect::OpenaiResponses));
                        }
                        ContentPart::Other(value) if is_own => parts.written.push(Some((&**value).into())),
                        ContentPart::Other(value) => {
                            let written = parts.part(value);
                            parts.written.push(written);
                        }
                    }
                }
            }
        }
        for file in &message.attachments {
            match Media::of_attachment(file) {
                Some(media) => {
                    let written = parts.media(&media);
                    parts.written.push(written);
                }
                None => parts.report(nothing_loaded(file)),
            }
        }
        parts
    }

    /// Returns the content: text alone is a string, unless it has a cache mark or came as a list.
    pub(super) fn finish(self, mark: Option<CacheMark>) -> Json<'a> {
        let mut written: Vec<Json<'_>> = self.written.into_iter().flatten().collect();
        if let (Some(_), Some(last)) = (mark, written.last_mut()) {
            last.set(BREAKPOINT, object([("mode", "explicit".into())]));
        }
        match written.as_mut_slice() {
            [] => "".into(),
            [part] if mark.is_none() && !self.is_own && is_plain_text(part) => part.take_field("text"),
            _ => written.into(),
        }
    }

    /// Returns the parts, and the media that this side cannot have.
    pub(super) fn into_lists(self) -> (Vec<Option<Json<'a>>>, Vec<Json<'a>>) {
        (self.written, self.homeless)
    }

    /// Adds a text with the fields that it has in this dialect. Those of a reply have no cache mark.
    fn add_text(&mut self, text: &'a str, fields: impl Iterator<Item = Field<'a>>) {
        let kind = if self.side == Side::Input { "input_text" } else { "output_text" };
        let mut part = object([("type", kind.into()), ("text", text.into())]);
        if let Some(part) = part.as_object_mut() {
            put_fields(part, fields.filter(|(key, _)| self.side == Side::Input || key != BREAKPOINT));
            if self.side == Side::Output {
                put_fields(part, [("annotations".into(), Vec::new().into())]);
            }
        }
        self.written.push(Some(part));
    }

    /// Writes a part of the content, or an item of its own.
    fn part(&mut self, part: &'a Value) -> Option<Json<'a>> {
        let kind = part.get("type").and_then(Value::as_str);
        match (kind, self.side) {
            (Some("input_image" | "input_file" | "input_text"), Side::Input)
            | (Some("output_text" | "refusal"), Side::Output) => return Some(part.into()),
            (_, Side::Output) if PartOwner::of(part) == PartOwner::Responses => return Some(part.into()),
            _ => {}
        }
        let Some(media) = Media::of_part(part) else {
            self.report(not_sent(part));
            return None;
        };
        let mut written = self.media(&media);
        if let (Some(written), Some(mark)) = (&mut written, part.get(BREAKPOINT)) {
            written.set(BREAKPOINT, mark);
        }
        written
    }

    fn media(&mut self, media: &Media<'a>) -> Option<Json<'a>> {
        match (part(media), self.side) {
            (Some(part), Side::Input) => return Some(part),
            (Some(part), Side::Output) => self.homeless.push(part),
            (None, _) => {
                let text = phrase!(
                    "{label} is not sent: this API dialect does not accept its type",
                    label = media.label()
                );
                self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
            }
        }
        None
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

/// Writes a medium: pictures and documents have a part.
fn part<'a>(media: &Media<'a>) -> Option<Json<'a>> {
    if !takes(Dialect::OpenaiResponses, &media.mime_type) || media.is_stored_elsewhere() {
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
