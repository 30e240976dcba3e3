//! Media tokens by published formulas; all are estimates.
//!
//! Sources: OpenAI "Images and vision", Anthropic "Vision" (28-pixel patches), Google "Token counting" and
//! "Media resolution" (258 per 768-pixel tile; 1,120 per image, 70 per frame, 560 per page, 32 per second of
//! audio).

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_types::{Attachment, Content, ContentPart, MediaKind, Message, words};
use serde_json::Value;

use crate::image::ImageRule;

words! {
    /// Media prices of a model family.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum MediaFamily: [as_str, parse, ALL, WORDS] {
        /// Unknown; guesses with GPT-4o's formula.
        #[default]
        Unknown = "unknown",
        /// GPT-4o, GPT-4.1, GPT-4.5, GPT-4 Turbo.
        Gpt4o = "gpt-4o",
        /// GPT-4o mini.
        Gpt4oMini = "gpt-4o-mini",
        /// GPT-5 to GPT-5.3.
        Gpt5 = "gpt-5",
        /// GPT-5 mini and GPT-4.1 mini.
        Gpt5Mini = "gpt-5-mini",
        /// GPT-5 nano and GPT-4.1 nano.
        Gpt5Nano = "gpt-5-nano",
        /// GPT-5.4 and later, GPT-6.
        Gpt6 = "gpt-6",
        /// o1 and o3.
        O3 = "o3",
        /// o4-mini.
        O4Mini = "o4-mini",
        /// Claude up to 4.6.
        Claude = "claude",
        /// Claude 4.7 and later.
        ClaudeLarge = "claude-4.7",
        /// Gemini 1.5 to 2.5.
        Gemini2 = "gemini-2",
        /// Gemini 3 and later.
        Gemini3 = "gemini-3",
        /// Qwen vision models.
        QwenVl = "qwen-vl",
    }
}

/// A medium, with the properties that affect its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaItem {
    /// An image.
    Image {
        /// Width and height in pixels; `None` assumes 1,024 × 1,024.
        size: Option<(NonZeroU32, NonZeroU32)>,
        /// Detail level.
        detail: Detail,
    },
    /// Audio seconds; `None` assumes 60.
    Audio(Option<u32>),
    /// Video seconds; `None` assumes 60.
    Video(Option<u32>),
    /// Pages; `None` assumes 4.
    Document(Option<u32>),
}

/// OpenAI's detail level of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A small version.
    Low,
    /// Default and `auto`.
    #[default]
    High,
    /// Original size, up to a limit.
    Original,
}

impl Detail {
    fn from_value(value: Option<&Value>) -> Self {
        match value.and_then(Value::as_str) {
            Some("low") => Self::Low,
            Some("original") => Self::Original,
            _ => Self::High,
        }
    }
}

/// Estimates the tokens of a medium.
///
/// ```
/// use std::num::NonZeroU32;
/// use ctx_tokens::internal::{Detail, MediaFamily, MediaItem, media_cost};
///
/// let size = NonZeroU32::new(1_024).map(|side| (side, side));
/// let image = MediaItem::Image { size, detail: Detail::High };
/// assert_eq!(media_cost(MediaFamily::Gpt4o, &image), 765);
/// assert_eq!(media_cost(MediaFamily::Gpt6, &image), 1_229);
/// ```
pub fn media_cost(family: MediaFamily, item: &MediaItem) -> u32 {
    let rates = rates(family);
    match *item {
        MediaItem::Image { size, detail } => {
            let (width, height) = size.map_or(ASSUMED_SIZE, |(width, height)| (width.get(), height.get()));
            rates.image.tokens(width, height, detail)
        }
        MediaItem::Audio(seconds) => rates.audio_second.saturating_mul(seconds.unwrap_or(ASSUMED_SECONDS)),
        MediaItem::Video(seconds) => rates.video_second.saturating_mul(seconds.unwrap_or(ASSUMED_SECONDS)),
        MediaItem::Document(pages) => {
            rates.page.tokens(rates.image).saturating_mul(pages.unwrap_or(ASSUMED_PAGES))
        }
    }
}

const ASSUMED_SIZE: (u32, u32) = (1_024, 1_024);
const ASSUMED_SECONDS: u32 = 60;
const ASSUMED_PAGES: u32 = 4;

impl MediaItem {
    /// Reads an attachment. Measured sizes override `width`, `height`, `duration` (seconds), and `pages` in
    /// its fields or `metadata`.
    pub fn from_attachment(attachment: &Attachment) -> Self {
        let kept = &attachment.kept;
        let number = |key: &str| {
            kept.get("metadata")
                .and_then(|metadata| metadata.get(key))
                .or_else(|| kept.get(key))
                .and_then(whole_number)
        };
        let side = |key: &str| number(key).and_then(NonZeroU32::new);
        let measured = attachment.loaded.as_ref().map(|asset| asset.measures).unwrap_or_default();
        let seconds = || measured.seconds.or_else(|| number("duration"));
        match attachment.kind() {
            MediaKind::Image => {
                let size = measured.size.or_else(|| side("width").zip(side("height")));
                Self::Image { size, detail: Detail::from_value(kept.get("detail")) }
            }
            MediaKind::Audio => Self::Audio(seconds()),
            MediaKind::Video => Self::Video(seconds()),
            MediaKind::Document => Self::Document(measured.pages.or_else(|| number("pages"))),
        }
    }

    /// Reads a media part of OpenAI, Anthropic, or Gemini; `None` for other parts.
    pub fn from_part(part: &Value) -> Option<Self> {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let detail = Detail::from_value(part.get("image_url").unwrap_or(part).get("detail"));
        match kind {
            "image" | "image_url" | "input_image" => {
                Some(Self::Image { size: image_data(part).and_then(image_size), detail })
            }
            "audio" | "input_audio" => Some(Self::Audio(None)),
            "video" => Some(Self::Video(None)),
            "document" | "file" | "input_file" => Some(Self::Document(None)),
            "" => Self::from_gemini_part(part, detail),
            _ => None,
        }
    }

    fn from_gemini_part(part: &Value, detail: Detail) -> Option<Self> {
        let either = |one: &str, other: &str| part.get(one).or_else(|| part.get(other));
        let inline = either("inlineData", "inline_data");
        let media = inline.or_else(|| either("fileData", "file_data"))?;
        let mime_type = media.get("mimeType").or_else(|| media.get("mime_type"));
        Some(match MediaKind::from_mime(mime_type.and_then(Value::as_str).unwrap_or_default()) {
            MediaKind::Image => {
                let data = inline.and_then(|inline| inline.get("data")?.as_str());
                Self::Image { size: data.and_then(image_size), detail }
            }
            MediaKind::Audio => Self::Audio(None),
            MediaKind::Video => Self::Video(None),
            MediaKind::Document => Self::Document(None),
        })
    }
}

fn image_data(part: &Value) -> Option<&str> {
    let image = part.get("image_url").map(|image| image.get("url").unwrap_or(image));
    let source = part.get("source").and_then(|source| source.get("data"));
    let data = image.or(source).or_else(|| part.get("imageBase64"))?.as_str()?;
    // Schemes and `base64` are case-insensitive.
    let is_start =
        |part: &str, word: &str| part.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
    if !is_start(data, "data:") {
        return (!data.contains("://")).then_some(data);
    }
    let (head, data) = data.split_once(',')?;
    head.rsplit_once(';').filter(|(_, word)| word.eq_ignore_ascii_case("base64")).map(|_| data)
}

/// Decodes only the header.
fn image_size(base64: &str) -> Option<(NonZeroU32, NonZeroU32)> {
    /// A JPEG can have a preview before its header.
    const HEADERS: [usize; 2] = [4 << 10, 512 << 10];
    let side = |pixels: usize| NonZeroU32::new(u32::try_from(pixels).unwrap_or(u32::MAX));
    HEADERS.into_iter().find_map(|header| {
        let start = base64.get(..header).unwrap_or(base64);
        let start = start.get(..start.len() / 4 * 4)?;
        let bytes = STANDARD.decode(start).ok()?;
        let size = imagesize::blob_size(&bytes).ok()?;
        side(size.width).zip(side(size.height))
    })
}

/// Returns whether a message has media, whose tokens are estimates.
pub fn has_media(message: &Message) -> bool {
    let is_medium = |part: &ContentPart| match part {
        ContentPart::Text(_) => false,
        ContentPart::Other(part) => MediaItem::from_part(part).is_some(),
    };
    let in_parts = match &message.content {
        Content::Text(_) => false,
        Content::Parts(parts) => parts.iter().any(is_medium),
    };
    in_parts || !message.attachments.is_empty()
}

fn whole_number(value: &Value) -> Option<u32> {
    let number = value.as_f64().filter(|number| *number > 0.0 && *number <= f64::from(u32::MAX))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range is checked above")]
    Some(number.ceil() as u32)
}

#[derive(Clone, Copy)]
struct Rates {
    image: ImageRule,
    audio_second: u32,
    video_second: u32,
    page: PageRule,
}

#[derive(Clone, Copy)]
enum PageRule {
    TextAndImage,
    Fixed(u32),
}

impl PageRule {
    fn tokens(self, image: ImageRule) -> u32 {
        const TEXT: u32 = 600;
        const SIZE: (u32, u32) = (1_024, 1_448);
        match self {
            Self::TextAndImage => image.tokens(SIZE.0, SIZE.1, Detail::High).saturating_add(TEXT),
            Self::Fixed(tokens) => tokens,
        }
    }
}

/// Defaults: OpenAI's 10 tokens per second of audio, Gemini's 263 per second of video.
const USUAL: Rates = Rates {
    image: ImageRule::Tiles { base: 85, tile: 170 },
    audio_second: 10,
    video_second: 263,
    page: PageRule::TextAndImage,
};

const fn rates(family: MediaFamily) -> Rates {
    match family {
        MediaFamily::Unknown | MediaFamily::Gpt4o => USUAL,
        MediaFamily::Gpt4oMini => tiles(2_833, 5_667),
        MediaFamily::Gpt5 => tiles(70, 140),
        MediaFamily::O3 => tiles(75, 150),
        MediaFamily::Gpt5Mini => patches(32, 1_620, u32::MAX, 1_536),
        MediaFamily::Gpt5Nano => patches(32, 2_460, u32::MAX, 1_536),
        MediaFamily::O4Mini => patches(32, 1_720, u32::MAX, 1_536),
        MediaFamily::Gpt6 => patches(32, 1_200, 2_048, 2_500),
        MediaFamily::Claude => patches(28, 1_000, 1_568, 1_568),
        MediaFamily::ClaudeLarge => patches(28, 1_000, 2_576, 4_784),
        MediaFamily::QwenVl => patches(28, 1_000, u32::MAX, 1_280),
        MediaFamily::Gemini2 => {
            Rates { image: ImageRule::Blocks, audio_second: 32, page: PageRule::Fixed(258), ..USUAL }
        }
        MediaFamily::Gemini3 => Rates {
            image: ImageRule::Fixed(1_120),
            audio_second: 32,
            // A frame (70) and a second of audio (32).
            video_second: 102,
            page: PageRule::Fixed(560),
        },
    }
}

const fn tiles(base: u32, tile: u32) -> Rates {
    Rates { image: ImageRule::Tiles { base, tile }, ..USUAL }
}

const fn patches(side: u32, permille: u32, longest: u32, most: u32) -> Rates {
    Rates { image: ImageRule::Patches { side, permille, longest, most }, ..USUAL }
}
