use std::io::Cursor;

use ctx_types::ports::Asset;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};

const MAX_MEMORY: u64 = 160 << 20;

/// JPEG quality; AIO Hub's default.
const QUALITY: u8 = 85;

/// Resizes an image to a longest side of `max_side` pixels.
///
/// Returns `None` for small images and for types other than JPEG, PNG, and WebP. JPEG stays JPEG, with its
/// EXIF orientation applied; others become PNG. The error explains an unchanged image.
pub(crate) fn shrink(
    asset: &Asset,
    mime_type: &str,
    max_side: u32,
) -> Option<Result<(Asset, &'static str), &'static str>> {
    let (width, height) = asset.measures.size?;
    if max_side == 0 || width.get().max(height.get()) <= max_side {
        return None;
    }
    let format = match mime_type {
        "image/jpeg" => ImageFormat::Jpeg,
        "image/png" => ImageFormat::Png,
        "image/webp" => ImageFormat::WebP,
        _ => return None,
    };
    let resized = read(asset, format).and_then(|(picture, orientation)| {
        let mut picture = picture.resize(max_side, max_side, FilterType::Triangle);
        picture.apply_orientation(orientation);
        write(&picture, format).ok_or("cannot encode the image")
    });
    let mime_type = if format == ImageFormat::Jpeg { "image/jpeg" } else { "image/png" };
    Some(resized.map(|bytes| (Asset::new(bytes), mime_type)))
}

fn read(asset: &Asset, format: ImageFormat) -> Result<(DynamicImage, Orientation), &'static str> {
    const UNREADABLE: &str = "it cannot be read";
    let mut reader = ImageReader::with_format(Cursor::new(&asset.bytes[..]), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|_| UNREADABLE)?;
    if decoder.total_bytes() > MAX_MEMORY {
        return Err("decoding needs too much memory");
    }
    let orientation = decoder.orientation().map_err(|_| UNREADABLE)?;
    let picture = DynamicImage::from_decoder(decoder).map_err(|_| UNREADABLE)?;
    Ok((picture, orientation))
}

fn write(picture: &DynamicImage, format: ImageFormat) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = match format {
        ImageFormat::Jpeg => {
            let picture = DynamicImage::ImageRgb8(picture.to_rgb8());
            JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode_image(&picture)
        }
        _ => picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png),
    };
    written.ok().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::measure::measure;

    fn picture(width: u32, height: u32, format: ImageFormat, mime_type: &str) -> Asset {
        let mut bytes = Vec::new();
        DynamicImage::new_rgb8(width, height).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        let measures = measure(&bytes, mime_type);
        Asset { measures, ..Asset::new(bytes) }
    }

    #[track_caller]
    fn check(
        asset: &Asset,
        mime_type: &str,
        max_side: u32,
        expected: Option<Result<(u32, u32, &str), &str>>,
    ) {
        let found = shrink(asset, mime_type, max_side).map(|resized| {
            resized.map(|(asset, mime_type)| {
                let (width, height) = measure(&asset.bytes, mime_type).size.unwrap();
                (width.get(), height.get(), mime_type)
            })
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn shrinks_large_pictures() {
        let png = picture(400, 200, ImageFormat::Png, "image/png");
        check(&png, "image/png", 100, Some(Ok((100, 50, "image/png"))));
        check(&png, "image/png", 400, None);
        check(&png, "image/png", 0, None);
        let jpeg = picture(90, 180, ImageFormat::Jpeg, "image/jpeg");
        check(&jpeg, "image/jpeg", 60, Some(Ok((30, 60, "image/jpeg"))));
    }

    #[test]
    fn keeps_broken_or_huge_pictures_and_reports_why() {
        let png = picture(400, 200, ImageFormat::Png, "image/png");
        let cut = Asset { bytes: png.bytes[..60].into(), ..png };
        check(&cut, "image/png", 100, Some(Err("it cannot be read")));
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x27\x10\0\0\x27\x10\x08\x06\0\0\0\0\0\0\0";
        let huge = Asset { measures: measure(head, "image/png"), ..Asset::new(&head[..]) };
        check(&huge, "image/png", 100, Some(Err("it cannot be read")));
        check(&huge, "image/gif", 100, None);
    }
}
