//! Media in content lists, as each dialect and AIO Hub write them.

use std::borrow::Cow;

use ctx_types::MediaKind;
use serde_json::Value;

use super::{Data, Media, canonical};

/// Reads a part; `None` if it is no medium, or has neither bytes nor an address.
pub(super) fn read(part: &Value) -> Option<Media<'_>> {
    match text(part, "type") {
        Some("image_url") => image_url(part),
        Some("input_image") => input_image(part),
        Some("image") => image(part),
        Some("file") => file(part.get("file")?, part),
        Some("input_file") => file(part, part),
        Some("document" | "audio" | "video") => source(part),
        Some("input_audio") => input_audio(part),
        Some(_) => None,
        None => gemini(part),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn media<'a>(mime_type: Cow<'a, str>, data: Data<'a>, kept: &'a Value) -> Media<'a> {
    Media { kind: MediaKind::from_mime(&mime_type), mime_type, name: "", data, detail: None, kept }
}

/// A chat completion's picture: an address, or bytes as a `data:` address.
fn image_url(part: &Value) -> Option<Media<'_>> {
    let image = part.get("image_url")?;
    let url = text(image, "url").or_else(|| image.as_str())?;
    Some(Media { detail: text(image, "detail"), ..at(url, "image/png", part)? })
}

fn input_image(part: &Value) -> Option<Media<'_>> {
    let detail = text(part, "detail");
    if let Some(id) = text(part, "file_id") {
        let picture = media(Cow::Borrowed("image/png"), Data::FileId(id), part);
        return Some(Media { detail, ..picture });
    }
    Some(Media { detail, ..at(text(part, "image_url")?, "image/png", part)? })
}

/// Anthropic's picture, or AIO Hub's with the bytes under `imageBase64`.
fn image(part: &Value) -> Option<Media<'_>> {
    match text(part, "imageBase64") {
        Some(data) if data.starts_with("data:") => at(data, "image/png", part),
        Some(data) => {
            let mime_type = text(part, "mimeType").map_or(Cow::Borrowed("image/png"), canonical);
            Some(media(mime_type, Data::Base64(data), part))
        }
        None => source(part),
    }
}

/// OpenAI's file: bytes as a `data:` address, an id, or an address on the web.
fn file<'a>(file: &'a Value, part: &'a Value) -> Option<Media<'a>> {
    let name = text(file, "filename").unwrap_or_default();
    let found = match (text(file, "file_data"), text(file, "file_id"), text(file, "file_url")) {
        (Some(data), _, _) if data.starts_with("data:") => at(data, "application/pdf", part)?,
        (Some(data), _, _) => media(Cow::Borrowed("application/pdf"), Data::Base64(data), part),
        (None, Some(id), _) => media(Cow::Borrowed("application/pdf"), Data::FileId(id), part),
        (None, None, url) => at(url?, "application/pdf", part)?,
    };
    Some(Media { name, detail: text(file, "detail"), ..found })
}

/// Anthropic's `source`, which AIO Hub writes for recordings too.
fn source(part: &Value) -> Option<Media<'_>> {
    let source = part.get("source")?;
    let assumed = match text(part, "type") {
        Some("image") => "image/png",
        Some("audio") => "audio/wav",
        Some("video") => "video/mp4",
        _ => "application/pdf",
    };
    let mime_type = text(source, "media_type").map_or(Cow::Borrowed(assumed), canonical);
    let data = match text(source, "type")? {
        "base64" => Data::Base64(text(source, "data")?),
        "text" => Data::Text(text(source, "data")?),
        "url" => Data::Url(text(source, "url")?),
        "file" => Data::FileId(text(source, "file_id")?),
        _ => return None,
    };
    Some(Media { name: text(part, "title").unwrap_or_default(), ..media(mime_type, data, part) })
}

fn input_audio(part: &Value) -> Option<Media<'_>> {
    let audio = part.get("input_audio")?;
    let mime_type = match text(audio, "format")? {
        "mp3" => Cow::Borrowed("audio/mpeg"),
        format => canonical_audio(format),
    };
    Some(media(mime_type, Data::Base64(text(audio, "data")?), part))
}

fn canonical_audio(format: &str) -> Cow<'_, str> {
    Cow::Owned(format!("audio/{format}"))
}

/// Gemini's parts have no type; its older spelling has underscores.
fn gemini(part: &Value) -> Option<Media<'_>> {
    let either = |one: &str, other: &str| part.get(one).or_else(|| part.get(other));
    let mime_type = |value| {
        let found = text(value, "mimeType").or_else(|| text(value, "mime_type"));
        found.map_or(Cow::Borrowed(super::UNKNOWN), canonical)
    };
    if let Some(inline) = either("inlineData", "inline_data") {
        return Some(media(mime_type(inline), Data::Base64(text(inline, "data")?), part));
    }
    let file = either("fileData", "file_data")?;
    let uri = text(file, "fileUri").or_else(|| text(file, "file_uri"))?;
    let is_stored = STORES.iter().any(|store| uri.starts_with(store));
    let data = if is_stored { Data::FileId(uri) } else { Data::Url(uri) };
    Some(media(mime_type(file), data, part))
}

/// Where Gemini's files are, which only Gemini can read.
const STORES: [&str; 2] = ["gs://", "https://generativelanguage.googleapis.com/"];

/// The scheme of an address that contains its data, in any case.
const DATA: &str = "data:";

/// Reads a `data:` address in base64, or takes an address as one.
fn at<'a>(url: &'a str, assumed: &'static str, part: &'a Value) -> Option<Media<'a>> {
    let Some(inline) = url.get(..DATA.len()).filter(|start| start.eq_ignore_ascii_case(DATA)) else {
        let is_web = url.starts_with("https://") || url.starts_with("http://") || url.starts_with("gs://");
        return is_web.then(|| media(Cow::Borrowed(assumed), Data::Url(url), part));
    };
    let (head, data) = url.get(inline.len()..)?.split_once(',')?;
    let (mime_type, word) = head.rsplit_once(';')?;
    if !word.eq_ignore_ascii_case("base64") {
        return None;
    }
    Some(media(canonical(mime_type), Data::Base64(data), part))
}
