//! Sizes of images in bodies of Anthropic's messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_types::{Diagnostic, phrase};

use super::anthropic::blocks;
use super::refused;
use crate::codes;
use crate::json::Json;

/// The longest side of an image, in pixels.
const MAX_SIDE: usize = 8_000;

/// The longest side of an image in a request with many images.
const MAX_SIDE_OF_MANY: usize = 2_000;

/// The most images with sides up to [`MAX_SIDE`].
const MANY: usize = 20;

/// Reports images that are too large. Only their headers are decoded.
pub(super) fn check(messages: &[Json<'_>], found: &mut Vec<Diagnostic>) {
    let mut images = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        for (position, block) in blocks(message).iter().enumerate() {
            let place = format!("/messages/{index}/content/{position}");
            let nested = blocks(block).iter().enumerate();
            images.extend(
                nested
                    .filter(|(_, block)| is_image(block))
                    .map(|(inner, block)| (format!("{place}/content/{inner}"), block)),
            );
            if is_image(block) {
                images.push((place, block));
            }
        }
    }
    let limit = if images.len() > MANY { MAX_SIDE_OF_MANY } else { MAX_SIDE };
    for (place, image) in images {
        let Some(size) = image.at(["source", "data"]).and_then(Json::as_str).and_then(size) else { continue };
        if size.width > limit || size.height > limit {
            let (width, height) = (size.width, size.height);
            let text = phrase!(
                "the image has {width} × {height} pixels; the limit of a side is {limit}",
                width,
                height,
                limit
            );
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(place));
        }
    }
}

fn is_image(block: &Json<'_>) -> bool {
    block.get("type").and_then(Json::as_str) == Some("image")
}

/// Reads the size of an image in base64 from its header.
fn size(base64: &str) -> Option<imagesize::ImageSize> {
    /// Characters of base64 that contain the header: JPEG may have a preview before it.
    const HEADERS: [usize; 2] = [4 << 10, 512 << 10];
    HEADERS.into_iter().find_map(|header| {
        let start = base64.get(..header).unwrap_or(base64);
        // Whole groups of 4 characters decode by themselves.
        let bytes = STANDARD.decode(start.get(..start.len() / 4 * 4)?).ok()?;
        imagesize::blob_size(&bytes).ok()
    })
}
