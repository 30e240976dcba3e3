//! Pictures, recordings and documents in one shape, whatever file or dialect they came from.

mod accept;
mod foreign;

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_types::{Attachment, MediaKind, Phrase, phrase};
use serde_json::Value;

use crate::json::{File, Json};

pub(crate) use accept::takes;

/// A medium of a message.
#[derive(Debug)]
pub(crate) struct Media<'a> {
    /// What it is to a model.
    pub(crate) kind: MediaKind,
    /// Its media type in the spelling of the registry; `application/octet-stream` if unknown.
    pub(crate) mime_type: Cow<'a, str>,
    /// The file name; empty if it has none.
    pub(crate) name: &'a str,
    /// Its bytes, or where they are.
    pub(crate) data: Data<'a>,
    /// How closely a picture is to be looked at, in OpenAI's words.
    pub(crate) detail: Option<&'a str>,
    /// The reference or part that it was read from, for what single dialects know more.
    pub(crate) kept: &'a Value,
}

/// Bytes, or where they are.
#[derive(Debug)]
pub(crate) enum Data<'a> {
    Bytes(&'a [u8]),
    Base64(&'a str),
    Text(&'a str),
    /// An address that the provider fetches.
    Url(&'a str),
    /// The provider's own id of a file that was uploaded.
    FileId(&'a str),
}

impl<'a> Media<'a> {
    /// Reads an attachment; `None` while nothing has loaded its bytes and no address stands for them.
    pub(crate) fn of_attachment(file: &'a Attachment) -> Option<Self> {
        let data = match &file.loaded {
            Some(asset) => Data::Bytes(&asset.bytes),
            None => Data::Url(file.url()?),
        };
        let loaded = file.loaded.as_ref().and_then(|asset| asset.mime_type.as_deref());
        let mime_type = canonical(file.mime_type.as_deref().or(loaded).unwrap_or(UNKNOWN));
        Some(Self {
            kind: MediaKind::from_mime(&mime_type),
            mime_type,
            name: &file.name,
            data,
            detail: file.kept.get("detail").and_then(Value::as_str),
            kept: &file.kept,
        })
    }

    /// Reads a part of a content list in the shape of any dialect; `None` if it is no medium.
    pub(crate) fn of_part(part: &'a Value) -> Option<Self> {
        foreign::read(part)
    }

    /// Returns the bytes in base64; `None` where they are elsewhere.
    pub(crate) fn base64(&self) -> Option<Json<'a>> {
        self.base64_behind(String::new())
    }

    /// Returns the bytes as a `data:` address; `None` where they are elsewhere.
    pub(crate) fn data_url(&self) -> Option<Json<'a>> {
        self.base64_behind(format!("data:{};base64,", self.mime_type))
    }

    fn base64_behind(&self, head: String) -> Option<Json<'a>> {
        let bytes = match self.data {
            Data::Bytes(bytes) => bytes,
            Data::Text(text) => text.as_bytes(),
            Data::Base64(text) if head.is_empty() => return Some(text.into()),
            Data::Base64(text) => return Some((head + text).into()),
            Data::Url(_) | Data::FileId(_) => return None,
        };
        Some(File { head, bytes: Cow::Borrowed(bytes) }.into())
    }

    /// Returns what a document of plain text says; `None` if it is something else, or not in UTF-8.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        if !is_plain_text(&self.mime_type) {
            return None;
        }
        match self.data {
            Data::Text(text) => Some(Cow::Borrowed(text)),
            Data::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Data::Base64(text) => {
                let bytes = STANDARD.decode(text).ok()?;
                String::from_utf8(bytes).ok().map(Cow::Owned)
            }
            Data::Url(_) | Data::FileId(_) => None,
        }
    }

    /// Returns whether the medium is a file that another provider than OpenAI stores.
    pub(crate) fn is_stored_elsewhere(&self) -> bool {
        let kind = self.kept.get("type").and_then(Value::as_str);
        matches!(self.data, Data::FileId(_)) && matches!(kind, None | Some("image" | "document"))
    }

    /// Returns a file name, as some dialects demand one.
    pub(crate) fn file_name(&self) -> &'a str {
        match (self.name, &*self.mime_type) {
            ("", "application/pdf") => "document.pdf",
            ("", _) => "file",
            (name, _) => name,
        }
    }

    /// Returns the words by which findings name it.
    pub(crate) fn label(&self) -> Phrase {
        match self.name {
            "" => phrase!(
                "{kind} of type `{type_name}`",
                kind = Phrase::from(self.kind.as_str()),
                type_name = ctx_types::internal::excerpt(&self.mime_type)
            ),
            name => phrase!(
                "`{name}` ({type_name})",
                name = ctx_types::internal::excerpt(name),
                type_name = ctx_types::internal::excerpt(&self.mime_type)
            ),
        }
    }
}

const UNKNOWN: &str = "application/octet-stream";

/// Returns whether the bytes of a media type are words, whatever their encoding.
///
/// ```
/// assert!(ctx_wire::is_plain_text("text/csv") && ctx_wire::is_plain_text("application/json"));
/// assert!(!ctx_wire::is_plain_text("application/pdf"));
/// ```
pub fn is_plain_text(mime_type: &str) -> bool {
    const OTHERS: &[&str] = &[
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    ];
    mime_type.starts_with("text/") || OTHERS.contains(&mime_type)
}

/// Brings a media type into the spelling that providers list: lower case, no parameters, no old names.
///
/// ```
/// assert_eq!(ctx_wire::canonical_media_type("Audio/X-WAV; rate=16000"), "audio/wav");
/// ```
pub fn canonical(mime_type: &str) -> Cow<'_, str> {
    let bare = mime_type.split(';').next().unwrap_or_default().trim();
    let lower = if bare.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(bare.to_ascii_lowercase())
    } else {
        Cow::Borrowed(bare)
    };
    let known = match &*lower {
        "" => UNKNOWN,
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav",
        "audio/mp3" | "audio/x-mp3" | "audio/mpeg3" => "audio/mpeg",
        "audio/x-flac" => "audio/flac",
        "audio/x-aiff" => "audio/aiff",
        "audio/x-aac" => "audio/aac",
        "application/x-pdf" => "application/pdf",
        _ => return lower,
    };
    Cow::Borrowed(known)
}
