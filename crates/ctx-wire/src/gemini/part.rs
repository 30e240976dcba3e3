//! Media as parts.

use ctx_types::MediaKind;
use ctx_types::internal::PartOwner;
use serde_json::Value;

use crate::Dialect;
use crate::json::{Json, object};
use crate::media::{Data, Media, takes};

/// Returns whether a part is written as this dialect has it already.
pub(super) fn is_own(part: &Value) -> bool {
    part.get("type").is_none() && matches!(PartOwner::of(part), PartOwner::Gemini | PartOwner::Several)
}

/// Writes a medium; `None` if the provider does not read its type.
pub(super) fn of_media<'a>(media: &Media<'a>) -> Option<Json<'a>> {
    if !takes(Dialect::Gemini, &media.mime_type) {
        return None;
    }
    let mime_type = ("mimeType", Json::from(media.mime_type.clone()));
    let mut part = match media.data {
        Data::Url(url) => object([("fileData", object([mime_type, ("fileUri", url.into())]))]),
        Data::FileId(_) => return None,
        Data::Bytes(_) | Data::Base64(_) | Data::Text(_) => {
            object([("inlineData", object([mime_type, ("data", media.base64()?)]))])
        }
    };
    if media.kind == MediaKind::Video
        && let Some(metadata) = media.kept.get("videoMetadata").filter(|metadata| metadata.is_object())
    {
        part.set("videoMetadata", metadata);
    }
    Some(part)
}
