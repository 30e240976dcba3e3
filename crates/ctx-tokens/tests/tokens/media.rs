//! Compares media costs with published numbers.

use std::num::NonZeroU32;

use ctx_tokens::internal::{Detail, MediaFamily, MediaItem, media_cost};
use ctx_types::Attachment;
use proptest::prelude::*;
use serde_json::json;

fn image(width: u32, height: u32, detail: Detail) -> MediaItem {
    let size = NonZeroU32::new(width).zip(NonZeroU32::new(height));
    MediaItem::Image { size, detail }
}

#[track_caller]
fn check(family: MediaFamily, item: MediaItem, expected: u32) {
    assert_eq!(media_cost(family, &item), expected, "{item:?} for {}", family.as_str());
}

/// The header of a PNG file.
fn png(width: u32, height: u32) -> String {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
    bytes.extend(b"\x08\x06\0\0\0");
    bytes.resize(6_000, 0);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn measures_inline_pictures_by_their_header() {
    let data = png(2_048, 4_096);
    let url = format!("data:image/png;base64,{data}");
    for part in [
        json!({ "type": "image_url", "image_url": { "url": url } }),
        json!({ "type": "image_url", "image_url": url }),
        json!({ "type": "image_url", "image_url": format!("DATA:image/png;BASE64,{data}") }),
        json!({ "type": "input_image", "image_url": url }),
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }),
        json!({ "inlineData": { "mimeType": "image/png", "data": data } }),
    ] {
        assert_eq!(MediaItem::from_part(&part), Some(image(2_048, 4_096, Detail::High)), "{part}");
    }
    for part in [
        json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } }),
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,é" } }),
        json!({ "type": "image", "source": { "type": "base64", "data": "iVBORw0KGgo=" } }),
    ] {
        let item = MediaItem::from_part(&part);
        assert_eq!(item, Some(MediaItem::Image { size: None, detail: Detail::High }), "{part}");
    }
}

#[test]
fn charges_gpt_4o_tiles_of_scaled_image() {
    check(MediaFamily::Gpt4o, image(1_024, 1_024, Detail::High), 765);
    check(MediaFamily::Gpt4o, image(2_048, 4_096, Detail::High), 1_105);
    check(MediaFamily::Gpt4o, image(512, 512, Detail::High), 255);
    check(MediaFamily::Gpt4o, image(1, 1, Detail::High), 255);
    check(MediaFamily::Gpt4o, image(4_096, 8_192, Detail::Low), 85);
}

#[test]
fn charges_other_tile_families_by_rate() {
    check(MediaFamily::Gpt5, image(1_024, 1_024, Detail::High), 70 + 4 * 140);
    check(MediaFamily::O3, image(1_024, 1_024, Detail::High), 75 + 4 * 150);
    check(MediaFamily::Gpt4oMini, image(1_024, 1_024, Detail::High), 2_833 + 4 * 5_667);
}

#[test]
fn limits_gpt_5_mini_to_1536_patches() {
    // OpenAI's examples: 1,024 × 1,024 has 1,024 patches, and 1,800 × 2,400 is scaled to 1,452.
    check(MediaFamily::Gpt5Mini, image(1_024, 1_024, Detail::High), 1_659);
    check(MediaFamily::Gpt5Mini, image(1_800, 2_400, Detail::High), 2_353);
    check(MediaFamily::O4Mini, image(1_024, 1_024, Detail::High), 1_762);
    check(MediaFamily::Gpt5Nano, image(1_024, 1_024, Detail::High), 2_520);
}

#[test]
fn charges_gpt_6_by_patch() {
    check(MediaFamily::Gpt6, image(1_024, 1_024, Detail::High), 1_229);
    check(MediaFamily::Gpt6, image(1_920, 1_080, Detail::High), 2_448);
    check(MediaFamily::Gpt6, image(2_400, 3_200, Detail::Original), 9_000);
    check(MediaFamily::Gpt6, image(2_400, 3_200, Detail::Low), 231);
}

#[test]
fn charges_claude_by_28_pixel_patch() {
    check(MediaFamily::ClaudeLarge, image(256, 256, Detail::High), 100);
    check(MediaFamily::ClaudeLarge, image(1_920, 1_080, Detail::High), 2_691);
    check(MediaFamily::Claude, image(1_024, 1_024, Detail::High), 1_369);
    check(MediaFamily::Claude, image(1_920, 1_080, Detail::High), 1_508);
}

#[test]
fn charges_gemini_2_by_768_pixel_tile() {
    check(MediaFamily::Gemini2, image(384, 384, Detail::High), 258);
    check(MediaFamily::Gemini2, image(385, 384, Detail::High), 258);
    check(MediaFamily::Gemini2, image(769, 768, Detail::High), 516);
    check(MediaFamily::Gemini3, image(4_000, 4_000, Detail::High), 1_120);
}

#[test]
fn charges_recordings_by_second_and_documents_by_page() {
    check(MediaFamily::Gemini2, MediaItem::Audio(Some(10)), 320);
    check(MediaFamily::Gemini2, MediaItem::Video(Some(10)), 2_630);
    check(MediaFamily::Gemini3, MediaItem::Video(Some(10)), 1_020);
    check(MediaFamily::Gemini2, MediaItem::Document(Some(3)), 774);
    check(MediaFamily::Gpt4o, MediaItem::Document(Some(1)), 600 + 85 + 6 * 170);
    check(MediaFamily::Gemini3, MediaItem::Document(Some(u32::MAX)), u32::MAX);
}

#[test]
fn assumes_size_of_unknown_images() {
    let known = image(1_024, 1_024, Detail::High);
    let unknown = MediaItem::Image { size: None, detail: Detail::High };
    assert_eq!(media_cost(MediaFamily::Gpt4o, &known), 765);
    assert_eq!(media_cost(MediaFamily::Gpt4o, &unknown), 765);
    assert_eq!(media_cost(MediaFamily::Unknown, &known), 765);
}

#[test]
fn round_trips_family_names() {
    for family in MediaFamily::ALL {
        assert_eq!(MediaFamily::parse(family.as_str()), Some(family));
    }
    assert_eq!(MediaFamily::parse("GPT-4o"), None);
}

#[track_caller]
fn check_attachment(value: &serde_json::Value, expected: MediaItem) {
    assert_eq!(MediaItem::from_attachment(&Attachment::from_value(value)), expected, "{value}");
}

#[test]
fn reads_media_type_and_size_of_attachment() {
    let sized = json!({"mimeType": "image/webp", "metadata": {"width": 640, "height": 480}});
    check_attachment(&sized, image(640, 480, Detail::High));
    check_attachment(
        &json!({"mimeType": "audio/wav", "metadata": {"duration": 2.1}}),
        MediaItem::Audio(Some(3)),
    );
    check_attachment(&json!({"mimeType": "video/mp4"}), MediaItem::Video(None));
    check_attachment(&json!({"mimeType": "application/pdf", "pages": 7}), MediaItem::Document(Some(7)));
    check_attachment(&json!({}), MediaItem::Document(None));
}

#[test]
fn ignores_invalid_sizes() {
    for width in [json!(0), json!(-5), json!("640"), json!(1e300), json!(null)] {
        let value = json!({"mimeType": "image/png", "width": width, "height": 10});
        check_attachment(&value, MediaItem::Image { size: None, detail: Detail::High });
    }
}

#[test]
fn distinguishes_parts_of_each_api_dialect() {
    let part = |value: serde_json::Value| MediaItem::from_part(&value);
    let picture = |detail| Some(MediaItem::Image { size: None, detail });
    assert_eq!(part(json!({"type": "image_url", "image_url": {"detail": "low"}})), picture(Detail::Low));
    assert_eq!(part(json!({"type": "input_image", "detail": "original"})), picture(Detail::Original));
    assert_eq!(part(json!({"type": "image", "source": {}})), picture(Detail::High));
    assert_eq!(part(json!({"type": "input_audio"})), Some(MediaItem::Audio(None)));
    assert_eq!(part(json!({"type": "document"})), Some(MediaItem::Document(None)));
    assert_eq!(part(json!({"type": "refusal"})), None);
    assert_eq!(part(json!("image")), None);
}

proptest! {
    #[test]
    fn bounds_cost_of_any_image(width in 1..=u32::MAX, height in 1..=u32::MAX) {
        for family in MediaFamily::ALL {
            for detail in [Detail::Low, Detail::High, Detail::Original] {
                let cost = media_cost(family, &image(width, height, detail));
                prop_assert!(cost >= 1);
                let is_capped = !matches!(family, MediaFamily::Gemini2);
                prop_assert!(!is_capped || cost <= 100_000, "{family:?} {cost}");
            }
        }
    }
}
