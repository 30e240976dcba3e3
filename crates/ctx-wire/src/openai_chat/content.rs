//! The content of one message: its texts, its parts, its files.

use std::borrow::Cow;

use ctx_types::internal::{BlockKind, PartOwner, excerpt};
use ctx_types::{CacheMark, Content, ContentPart, Diagnostic, Message, Role, phrase};
use serde_json::Value;

use crate::blocks::{fields, is_from, not_sent, put_fields};
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Json, object};
use crate::media::{Data, Media};
use crate::request::nothing_loaded;

/// Writes the content of a message.
pub(super) struct Parts<'a, 'f> {
    message: &'a Message,
    /// Whether the content goes back in the form in which a client of this dialect sent it.
    is_own: bool,
    index: usize,
    written: Vec<Json<'a>>,
    homeless: Vec<Json<'a>>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Parts<'a, 'f> {
    /// Starts with a message that stands at an index of the body.
    pub(super) fn new(message: &'a Message, index: usize, found: &'f mut Vec<Diagnostic>) -> Self {
        let is_own = is_from(message, Dialect::OpenaiChat);
        Self { message, is_own, index, written: Vec::new(), homeless: Vec::new(), found }
    }

    /// Writes all parts: those of the content, then the files.
    pub(super) fn add_all(&mut self) {
        match &self.message.content {
            // Written whole at the end, unless something stands beside it.
            Content::Text(_) => {}
            Content::Parts(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.add_part(index, part);
                }
            }
        }
        for file in &self.message.attachments {
            match Media::of_attachment(file) {
                Some(media) => self.add_media(&media),
                None => self.report(nothing_loaded(file)),
            }
        }
    }

    /// Returns the content, and the media that have no place in it.
    ///
    /// Text alone is a string, also if it was read as one part. With a cache mark, it is a list, because the mark belongs
    /// to a part. A message with only calls has the content `null`. The content of a client of this dialect keeps its form.
    pub(super) fn finish(mut self, mark: Option<CacheMark>) -> (Json<'a>, Vec<Json<'a>>) {
        let message = self.message;
        let only_calls = message.role == Role::Assistant && !message.tool_calls.is_empty() && !self.is_own;
        if let Content::Text(text) = &message.content {
            if only_calls && text.is_empty() && self.written.is_empty() {
                return (Json::Null, self.homeless);
            }
            if self.written.is_empty() && (mark.is_none() || text.is_empty()) {
                return (text.as_str().into(), self.homeless);
            }
            if !text.is_empty() {
                self.written.insert(0, text_part(text.as_str()));
            }
        }
        if let (Some(_), Some(last)) = (mark, self.written.last_mut()) {
            last.set("prompt_cache_breakpoint", object([("mode", "explicit".into())]));
        }
        let content = match self.written.as_mut_slice() {
            parts if only_calls && parts.iter().all(is_empty_text) => Json::Null,
            [] if !self.is_own => "".into(),
            [part] if mark.is_none() && !self.is_own && is_plain_text(part) => part.take_field("text"),
            _ => self.written.into(),
        };
        (content, self.homeless)
    }

    fn add_part(&mut self, index: usize, part: &'a ContentPart) {
        let value = match part {
            ContentPart::Text(text) => {
                let mut part = text_part(text.as_str());
                if let Some(part) = part.as_object_mut() {
                    put_fields(part, fields(self.message, BlockKind::Content, index, Dialect::OpenaiChat));
                }
                return self.written.push(part);
            }
            ContentPart::Other(value) if self.is_own => return self.written.push(Json::from(&**value)),
            ContentPart::Other(value) => &**value,
        };
        let kind = value.get("type").and_then(Value::as_str);
        let is_own = matches!(kind, Some("image_url" | "input_audio" | "file" | "text" | "refusal"));
        match Media::of_part(value) {
            Some(_) if is_own && self.message.role == Role::User => self.written.push(value.into()),
            Some(_) if is_own => self.put_aside(value.into()),
            Some(media) => self.add_media(&media),
            None => match (PartOwner::of(value), kind) {
                (PartOwner::Several, Some(_)) if !is_own => self.report(not_sent(value)),
                (PartOwner::Several | PartOwner::Chat | PartOwner::Unknown, Some(kind)) => {
                    if !accepts(self.message.role, kind) {
                        self.report_refused(kind);
                    }
                    self.written.push(value.into());
                }
                _ => self.report(not_sent(value)),
            },
        }
    }

    fn report_refused(&mut self, kind: &str) {
        let kind = phrase!("`{kind}`", kind = excerpt(kind));
        let text =
            phrase!("role `{role}` cannot have part {kind}", role = self.message.role.to_string(), kind);
        let found = Diagnostic::error(codes::PART_NOT_ACCEPTED, text)
            .with_help(phrase!("remove the part; the provider will probably reject the request"));
        let place = format!("/messages/{}/content/{}", self.index, self.written.len());
        self.found.push(found.at_pointer(place));
    }

    fn add_media(&mut self, media: &Media<'a>) {
        match media_part(media) {
            Ok(part) if is_text(&part) || self.message.role == Role::User => self.written.push(part),
            Ok(part) => self.put_aside(part),
            Err(why) => {
                let text = phrase!("{label} is not sent: {why}", label = media.label(), why);
                self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
            }
        }
    }

    fn put_aside(&mut self, part: Json<'a>) {
        if self.homeless.is_empty() {
            let text = phrase!(
                "role `{role}` cannot have media; they are sent in the following user message",
                role = self.message.role.to_string()
            );
            self.report(Diagnostic::info(codes::MESSAGE_MOVED, text));
        }
        self.homeless.push(part);
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.index)));
    }
}

/// Writes a medium as this API takes it, or says why it takes none.
fn media_part<'a>(media: &Media<'a>) -> Result<Json<'a>, &'static str> {
    if media.is_stored_elsewhere() {
        return Err("another provider stores it");
    }
    if let Some(text) = media.text() {
        return Ok(text_part(named(media.name, text)));
    }
    match (&*media.mime_type, &media.data) {
        (mime_type, data) if mime_type.starts_with("image/") => {
            let url = match data {
                Data::Url(url) => Json::from(*url),
                _ => media.data_url().ok_or("this API dialect does not accept image ids")?,
            };
            let mut image = object([("url", url)]);
            if let Some(detail) = media.detail {
                image.set("detail", detail);
            }
            Ok(object([("type", "image_url".into()), ("image_url", image)]))
        }
        ("application/pdf", Data::FileId(id)) => {
            let file = object([("file_id", (*id).into())]);
            Ok(object([("type", "file".into()), ("file", file)]))
        }
        ("application/pdf", _) => {
            let data = media.data_url().ok_or("this API dialect does not accept document URLs")?;
            let file = object([("filename", media.file_name().into()), ("file_data", data)]);
            Ok(object([("type", "file".into()), ("file", file)]))
        }
        ("audio/wav" | "audio/mpeg", _) => {
            let format = if media.mime_type == "audio/wav" { "wav" } else { "mp3" };
            let data = media.base64().ok_or("this API dialect does not accept audio URLs")?;
            let audio = object([("data", data), ("format", format.into())]);
            Ok(object([("type", "input_audio".into()), ("input_audio", audio)]))
        }
        _ => Err("this API dialect does not support it"),
    }
}

/// A text file as words, headed by its name.
fn named<'a>(name: &str, text: Cow<'a, str>) -> Cow<'a, str> {
    if name.is_empty() { text } else { Cow::Owned(format!("{name}:\n{text}")) }
}

fn text_part<'a>(text: impl Into<Json<'a>>) -> Json<'a> {
    object([("type", "text".into()), ("text", text.into())])
}

fn is_text(part: &Json<'_>) -> bool {
    part.get("type").and_then(Json::as_str) == Some("text") && part.get("text").is_some()
}

/// Returns whether a part has nothing but a text, so that it can be a string.
fn is_plain_text(part: &Json<'_>) -> bool {
    is_text(part) && part.as_object().is_some_and(|part| part.len() == 2)
}

fn is_empty_text(part: &Json<'_>) -> bool {
    is_text(part) && part.get("text").and_then(Json::as_str) == Some("")
}

/// Media stand only in user messages, refusals and thinking only in the assistant's.
fn accepts(role: Role, kind: &str) -> bool {
    match kind {
        "text" => true,
        "refusal" | "thinking" => role == Role::Assistant,
        _ => role == Role::User,
    }
}
