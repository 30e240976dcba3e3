//! Which media each dialect has a shape for, and its provider reads.
//!
//! Sources: the providers' pages on vision, files and audio (November 2026). What a single model cannot do is
//! another question, and the caller's.

use ctx_types::MediaKind;

use crate::dialect::Dialect;
use crate::media::{canonical, is_plain_text};

/// Pictures that all of them read.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Documents that are read beside plain text.
const OFFICE: &[&str] = &[
    "application/pdf",
    "application/msword",
    "application/rtf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
];

/// One row a dialect and kind; a pair that has none is taken in no form.
const TABLE: &[(Dialect, MediaKind, &[&str])] = &[
    (Dialect::OpenaiChat, MediaKind::Image, PICTURES),
    (Dialect::OpenaiChat, MediaKind::Audio, &["audio/wav", "audio/mpeg"]),
    (Dialect::OpenaiChat, MediaKind::Document, &["application/pdf"]),
    (Dialect::OpenaiResponses, MediaKind::Image, PICTURES),
    (Dialect::OpenaiResponses, MediaKind::Document, OFFICE),
    (Dialect::Anthropic, MediaKind::Image, PICTURES),
    (Dialect::Anthropic, MediaKind::Document, &["application/pdf"]),
    (
        Dialect::Gemini,
        MediaKind::Image,
        &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    ),
    (
        Dialect::Gemini,
        MediaKind::Audio,
        &["audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"],
    ),
    (
        Dialect::Gemini,
        MediaKind::Video,
        &[
            "video/mp4",
            "video/mpeg",
            "video/mov",
            "video/quicktime",
            "video/avi",
            "video/x-msvideo",
            "video/x-flv",
            "video/mpg",
            "video/webm",
            "video/wmv",
            "video/x-ms-wmv",
            "video/3gpp",
        ],
    ),
    (Dialect::Gemini, MediaKind::Document, &["application/pdf"]),
];

/// Returns whether a dialect has a shape for a medium of this type; plain text has one wherever documents have.
pub(crate) fn takes(dialect: Dialect, mime_type: &str) -> bool {
    let mime_type = canonical(mime_type);
    let kind = MediaKind::from_mime(&mime_type);
    let row = TABLE.iter().find(|(of, what, _)| *of == dialect && *what == kind);
    row.is_some_and(|(_, _, types)| {
        types.contains(&&*mime_type) || (kind == MediaKind::Document && is_plain_text(&mime_type))
    })
}
